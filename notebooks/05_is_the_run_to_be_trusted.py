# %% [markdown]
# # Can the run be trusted?
#
# Every sampler returns draws. Whether they are draws from the posterior is another question, and
# numbers of clusters or labels do not answer it: labels have no meaning from one draw to the next,
# and chains that found different partitions can have the same number of clusters. This is how such
# runs look, and what to do about them.

# %%
import warnings

import arviz as az

import bayesclust as bc

# `fit` ends with a warning where `bc.diagnose` says no, which is looked at here
warnings.simplefilter("ignore", bc.posterior.DiagnosisWarning)

iris = bc.datasets.load("iris")
X = (iris.X - iris.X.mean(axis=0)) / iris.X.std(axis=0)
links = bc.PairwiseConstraints.sample(iris.y, fraction=0.03, error_rate=0.1, seed=0)
links

# %% [markdown]
# ## A run that cannot be trusted
#
# `sampler="gibbs"` is the sampler of the TVClust paper. It moves one item at a time, so two
# clusters that should be one, or one that should be two, stay as they are for a long time. Its
# sweeps are few here, to make it worse.

# %%
hasty = bc.TVClust("gibbs", num_warmup=10, num_samples=40, progress=False, random_state=3)
hasty.fit(X, constraints=links)
report = bc.diagnose(hasty.posterior_)
print(report)

# %% [markdown]
# The verdict is made from quantities that do not depend on labels: number and sizes of clusters,
# whether pairs of items are together, the log joint density, the parameters. The table has them
# all; R-hat compares the spread between chains with that within chains, and should be 1.

# %%
report.table.sort_values("rhat", ascending=False).head(8).round(2)

# %% [markdown]
# Partitions are also compared as wholes. On the diagonal is the mean distance (variation of
# information) of two draws of the same chain, beside it that of draws of two chains. Chains that
# sample the same posterior are no farther from each other than from themselves. Here one chain
# stands apart from the other three.

# %%
bc.plots.agreement(report.distances);

# %% [markdown]
# The eye sees the same in the traces: that chain keeps to a level of its own.

# %%
bc.plots.traces(hasty.posterior_, ["log_joint", "n_clusters"]);

# %% [markdown]
# ## One chain would have hidden it
#
# One chain by itself cannot tell whether others would find other partitions, however settled it
# looks. So the verdict on a single one is never good.

# %%
z = hasty.posterior_["posterior"]["z"].values
print(bc.diagnose(bc.posterior.to_datatree({"z": z[:1]})))

# %% [markdown]
# ## What to do
#
# Use `"collapsed"`, the default: it integrates the cluster parameters out, moves whole groups that
# answers tie together, and splits and merges clusters. And let it run longer.

# %%
est = bc.TVClust(num_warmup=200, num_samples=300, progress=False, random_state=0).fit(
    X, constraints=links
)
better = bc.diagnose(est.posterior_)
print(better)

# %%
bc.plots.agreement(better.distances);

# %% [markdown]
# Ranks show what R-hat has in one number. All draws of a quantity are ranked; of chains that sample
# the same posterior, each has its share of low and of high ranks, so that its line stays near 0.

# %%
bc.plots.ranks(est.posterior_, ["log_joint", "entropy"]);

# %% [markdown]
# What ArviZ has for chains works as well: `posterior_` is in its groups. Labels are kept apart from
# the variables there, so that only what means something is drawn.

# %%
az.plot_rank_dist(est.posterior_, var_names=["n_clusters", "concentration", "p", "q"]);

# %% [markdown]
# ## If chains stay apart all the same
#
# The posterior may have several modes that no sampler crosses in reasonable time. Then the report
# says which chains differ. Compare their log joint density (the verdict names chains that are far
# below the best), start more chains, and report only what all of them agree on: pairs that are
# together in every chain, answers that are credible in every chain.
#
# **What to take away.** Read the verdict first; run at least four chains; look at distances between
# partitions, not at labels or numbers of clusters alone.
