# %% [markdown]
# # Which cluster model for which data
#
# Answers are about classes, and a model of the data says what a cluster can look like. Where no
# cluster looks like a class, the two conflict, and a model that learns how reliable answers are
# concludes that they are wrong. This page shows three kinds of data, what each model finds in them,
# and how to choose a model without knowing the classes.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import bayesclust as bc

# of a kind of data, and of models that are wrong for theirs; we come to both
warnings.simplefilter("ignore", bc.families.TiedColumnsWarning)
warnings.simplefilter("ignore", bc.posterior.DiagnosisWarning)


def spikes(n=180, seed=0):
    """Three classes; three columns are zero in many items, as amounts of trace elements are."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    zero, mean = rng.uniform(0.2, 0.9, size=(3, 3)), rng.normal(2, 1.2, size=(3, 3))
    amounts = np.where(
        rng.random((n, 3)) < zero[y], 0.0, np.exp(0.4 * (mean[y] + rng.normal(size=(n, 3))))
    )
    return np.c_[amounts, 2.5 * y + rng.normal(size=n)], y


ellipses = bc.datasets.make_mixture(150, 2, 3, separation=5, seed=4)
spirals = bc.datasets.make_shape("spirals", 180, noise=0.03, seed=0)
data = {"ellipses": (ellipses.X, ellipses.y), "spirals": (spirals.X, spirals.y), "spikes": spikes()}
data = {name: ((X - X.mean(axis=0)) / X.std(axis=0), y) for name, (X, y) in data.items()}
answers = {
    name: bc.PairwiseConstraints.sample(y, size=300, error_rate=0.1, seed=1)
    for name, (_, y) in data.items()
}

# %% [markdown]
# Every set has 300 answers about pairs, one in ten of them wrong. Four models use them:
#
# - *single*: a cluster is one Gaussian (`cluster_model="single"`);
# - *mixture*: a cluster is one or several Gaussians, and answers say which of them belong together
# (`cluster_model="mixture"`);
# - *power*: as single, but every item weighs a quarter (`power=0.25`);
# - *mixed*: columns in which many items share a value have families of their own
# (`family="mixed"`).

# %%
models = {
    "single": {"cluster_model": "single"},
    "mixture": {"cluster_model": "mixture"},
    "power": {"cluster_model": "single", "power": 0.25},
    "mixed": {"cluster_model": "single", "family": "mixed"},
}
short = {"num_warmup": 300, "num_samples": 100, "progress": False, "random_state": 0}
fits = {
    (name, model): bc.TVClust(**settings, **short).fit(X, constraints=answers[name])
    for name, (X, _) in data.items()
    for model, settings in models.items()
}

# %%
fig, axes = plt.subplots(3, 5, figsize=(11, 6.6), layout="constrained")
for row, (name, (X, y)) in zip(axes, data.items(), strict=True):
    at = X[:, [-1, 0]]
    for ax, (title, labels) in zip(
        row,
        {"classes": y, **{model: fits[name, model].labels_ for model in models}}.items(),
        strict=True,
    ):
        f = "" if title == "classes" else f", F {bc.metrics.pairwise_f(labels, y):.2f}"
        number = np.unique(labels, return_inverse=True)[1]
        ax.scatter(*at.T, c=(2 * number + number // 10) % 20, cmap="tab20", vmin=0, vmax=19, s=7)
        ax.set(title=f"{title}{f}", xticks=[], yticks=[])
    row[0].set_ylabel(name)

# %% [markdown]
# On ellipses every model works: the mixture does not need second components. On spirals one
# Gaussian per cluster is wrong, and the mixture finds the arms. On spikes both fail: a Gaussian
# over items that are all zero in a column can be arbitrarily narrow, and no answer outweighs that.
# There the mixed family works.
#
# ## What the wrong model says of the people who answered
#
# Nine answers in ten are right, among pairs of one class as among others. This is what the models
# have learned of it:

# %%
def summary(name, model):
    est = fits[name, model]
    learned = est.posterior_["posterior"]
    return {
        "data": name,
        "model": model,
        "clusters": est.n_clusters_,
        "right if same (p)": float(learned["p"].mean()),
        "right if different (q)": float(learned["q"].mean()),
    }


table = pd.DataFrame([summary(*key) for key in fits]).set_index(["data", "model"])
table.round(2)

# %% [markdown]
# Where the model fits, the noise is estimated well. Where it does not, many good answers are called
# wrong, and more of them would not help. That can be seen without knowing any class: `diagnose`
# reports a fit that violates far more answers than the prior of their noise expects, and says what
# to try. (It also says that these short chains cannot be trusted.)

# %%
print(bc.diagnose(fits["spirals", "single"]))

# %% [markdown]
# ## Ties are visible before any fit
#
# `TVClust` warns of the third set, and `describe_columns` says more:

# %%
bc.describe_columns(data["spikes"][0])

# %% [markdown]
# ## Letting the answers choose
#
# Between one Gaussian, several, and a classifier, answers can decide: a model is good if it
# predicts answers that it was not given. `cluster_model="auto"`, the default, tries them in short
# runs, and takes the best one.

# %%
auto = bc.TVClust(**short).fit(data["spirals"][0], constraints=answers["spirals"])
f = bc.metrics.pairwise_f(auto.labels_, data["spirals"][1])
print(f"chosen: cluster_model={auto.cluster_model_!r}; F {f:.2f}")
auto.model_scores_.round(3)

# %% [markdown]
# `power` below 1 is for data that no model at hand describes, with many answers. A quarter of 180
# items is 45, and such weak data leave spirals and spikes in one cluster, which 300 answers are too
# few to divide.
#
# **What to take away.** Look at `describe_columns` first, and take `family="mixed"` where columns
# have ties. With answers at hand, let `cluster_model="auto"` choose. And when `p` or `q` come out
# lower than you expect of the people you asked, run `diagnose` before you blame them.
