# %% [markdown]
# # Own data from pandas, own family in one file
#
# A table of calls to a help desk: how long the caller waited, how long the call took, by which way
# it came. Two colleagues who know the calls by name said for some pairs whether both were about the
# same kind of trouble. Items have names, not numbers, and waiting times are not Gaussian.

# %%
import numpy as np
import pandas as pd

import bayesclust as bc

rng = np.random.default_rng(0)
kind = rng.integers(3, size=120)
calls = pd.DataFrame(
    {
        "waited": rng.exponential(np.array([1.0, 4.0, 12.0])[kind]),
        "took": rng.exponential(np.array([8.0, 1.0, 12.0])[kind]),
        "way": np.where(rng.random(120) < np.array([0.8, 0.5, 0.2])[kind], "phone", "chat"),
    },
    index=[f"call-{number:03}" for number in range(120)],
)
asked = bc.PairwiseConstraints.sample(kind, size=250, error_rate=0.1, n_sources=2, seed=0)
answers = pd.DataFrame(
    {
        "first": calls.index[asked.items[:, 0]],
        "second": calls.index[asked.items[:, 1]],
        "answer": np.where(asked.answers == 1, "same", "different"),
        "who": np.array(["Ada", "Ben"])[asked.source],
    }
)
calls.head(3)

# %%
answers.head(3)

# %% [markdown]
# ## Names of items and of people
#
# `from_frame` reads columns `i`, `j`, `answer` and `source`, and looks up the names of items among
# `ids`. A name that is not in the table is refused, with a sentence that says which.

# %%
columns = {"first": "i", "second": "j", "who": "source"}
links = bc.PairwiseConstraints.from_frame(answers.rename(columns=columns), ids=calls.index)
links

# %% [markdown]
# ## With the built-in families
#
# `family="mixed"` takes a table such as this as it is. To choose the families yourself, `Product`
# puts one on each group of columns. Words become codes; missing cells (NaN, of which
# some are made here) are left out of the likelihood where columns are independent. Times are
# positive and skewed, so their logarithms go in as Gaussian. For a first look, mean field instead
# of a sampler: it takes a second, and finds one mode.

# %%
table = np.column_stack(
    [np.log(calls[["waited", "took"]]), pd.factorize(calls["way"], sort=True)[0]]
)
table[rng.random(table.shape) < 0.03] = np.nan
built_in = bc.families.Product([("gaussian_diagonal", [0, 1]), ("categorical", 2)])
look = bc.TVClust("variational", family=built_in, progress=False, random_state=0).fit(
    table, constraints=links
)
f = bc.metrics.pairwise_f(look.labels_, kind)
print(f"{look.n_clusters_} clusters, pairwise F against the truth {f:.2f}")

# %% [markdown]
# ## A family of one's own
#
# The logarithm of an exponential variable is not Gaussian either: its long tail is on the left. The
# file `waiting_times.py` in this folder makes exponential times a family: the sufficient statistic
# (the time itself), one compiled function of its sums, the conjugate posterior, and one line of
# NumPyro; the rest follows. This is that function, the log marginal likelihood of a
# cluster, $\prod_j (a m_j)^a\, \Gamma(a+n) / (\Gamma(a)\, (a m_j + t_j)^{a+n})$:

# %%
import inspect

import waiting_times

print(inspect.getsource(waiting_times._log_normaliser))

# %% [markdown]
# Before it is used, it is tested: the `log_marginal` that follows against an integral, here of
# one column. (The tests of this package check the whole file as they check the built-in families.)

# %%
from scipy import integrate, stats

family = waiting_times.WaitingTimes(spread=2.0)
times = calls[["waited"]].to_numpy()[:5]
bound = family.bind(times)
rate = stats.gamma(2.0, scale=1 / (2.0 * times.mean()))


def joint(value):
    return rate.pdf(value) * stats.expon(scale=1 / value).pdf(times).prod()


whole, _ = integrate.quad(joint, 0, 20 / times.mean(), epsabs=0)
ours = bound.log_marginal(times, np.array([2.0]))
print(f"{ours:.6f} by the file, {np.log(whole):.6f} by the integral")

# %%
est = bc.TVClust(
    family=waiting_times.WaitingTimes(),
    num_warmup=150,
    num_samples=350,
    progress=False,
    random_state=0,
)
est.fit(calls[["waited", "took"]], constraints=links)
print(bc.diagnose(est.posterior_))
f = bc.metrics.pairwise_f(est.labels_, kind)
print(f"{est.n_clusters_} clusters, pairwise F against the truth {f:.2f}")

# %% [markdown]
# The first fit of a session compiles the family into the sampler, which takes half a minute or
# more. A family of your own is compiled again in every process, so that no change of its file is
# missed.
#
# ## Back to the table
#
# Labels, uncertainty and credibilities are put beside the names.

# %%
found = calls.assign(cluster=est.labels_, doubt=bc.posterior.item_entropy(est.posterior_))
found.groupby("cluster")[["waited", "took", "doubt"]].mean().assign(
    calls=found["cluster"].value_counts()
).round(2)

# %%
credibility = bc.constraint_credibility(est.posterior_)["credibility"].to_numpy()
answers.assign(credibility=credibility).nsmallest(5, "credibility")

# %%
bc.plots.similarity(est.posterior_, labels=est.labels_);

# %% [markdown]
# **What to take away.** Names, words and missing cells take a few lines of pandas. A likelihood
# that is not built in is one file; all samplers, credibilities, plots and prediction then work
# with it. CONTRIBUTING.md says what each function in it is for.
