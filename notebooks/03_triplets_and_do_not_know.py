# %% [markdown]
# # Triplets and "don't know"
#
# "Are these two the same?" is hard to answer for somebody who does not know how fine the classes
# are meant to be. "Is $i$ more like $j$ than like $k$?" is easier, and may be answered by "don't
# know". It looks as if such an answer says nothing. It says a lot.

# %%
import matplotlib.pyplot as plt
import numpy as np

import bayesclust as bc

# %% [markdown]
# ## What an honest "don't know" says
#
# If $j$ and $k$ are of the same class, or all three are of different ones, nobody can answer yes or
# no. So "don't know" (`"dnk"`) rules out two of the five patterns in which three items can be equal
# or different. In nats of information about the three labels, with $K$ classes of equal size:

# %%
classes = np.arange(2, 16)
fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
ax.plot(classes, bc.information.triplet(classes), label='triplet, "don\'t know" used')
ax.plot(
    classes,
    bc.information.triplet(classes, dnk=False),
    "--",
    label='triplet, "don\'t know" left out',
)
ax.plot(classes, bc.information.pair(classes), ":", label="pair")
ax.set(
    xlabel="number of classes",
    ylabel="nats per question",
    ylim=(0, None),
    title="What one answer tells",
)
ax.legend(frameon=False);

# %% [markdown]
# ## With and without them
#
# On iris, 60 questions, one answer in twenty wrong. `DCRC` fits a logistic classifier of
# the clusters under which the answers are probable. Once it uses all answers, and once only "yes"
# and "no". This is one draw of answers: on the mean of four sets and six numbers of questions
# "do not know" adds .03 to F (RESULTS.md).

# %%
iris = bc.datasets.load("iris")
triplets = bc.RelativeConstraints.sample(iris.y, size=60, error_rate=0.05, seed=1)
given = triplets.answers != triplets.vocabulary.index("dnk")
only = bc.RelativeConstraints(triplets.items[given], triplets.answers[given], n_items=len(iris.y))
print(triplets)

full = bc.DCRC(3, random_state=0).fit(iris.X, constraints=triplets)
reduced = bc.DCRC(3, random_state=0).fit(iris.X, constraints=only)
for name, fit in (("all answers", full), ("yes and no only", reduced)):
    print(f"{name:>15}: pairwise F {bc.metrics.pairwise_f(fit.labels_, iris.y):.3f}")

# %%
fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained", sharex=True, sharey=True)
for ax, (name, labels) in zip(
    axes,
    {"species": iris.y, "all answers": full.labels_, "yes and no only": reduced.labels_}.items(),
    strict=True,
):
    ax.scatter(iris.X[:, 2], iris.X[:, 3], c=labels, cmap="viridis", s=12)
    ax.set(title=name, xlabel="petal length (cm)")
axes[0].set_ylabel("petal width (cm)");

# %% [markdown]
# ## People who say "don't know" too often
#
# Real people also say it where they could know. That is no error spread evenly over the other two
# answers, but a habit, and a habit can be learned: `noise="confusion"` gives every source a 3 x 3
# matrix of what it answers (columns) under each truth (rows).

# %%
habit = np.array([[0.60, 0.05, 0.35], [0.05, 0.60, 0.35], [0.05, 0.05, 0.90]])
shy = bc.RelativeConstraints.sample(iris.y, size=300, confusion=habit, seed=0)
learned = bc.DCRC(3, noise="confusion", random_state=0).fit(iris.X, constraints=shy)
fixed = bc.DCRC(3, noise=0.05, random_state=0).fit(iris.X, constraints=shy)
print("learned habit:", learned.confusion_["triplets"][0].round(2).tolist(), sep="\n")
for name, fit in (("habit learned", learned), ("5% wrong assumed", fixed)):
    print(f"{name:>16}: pairwise F {bc.metrics.pairwise_f(fit.labels_, iris.y):.3f}")

# %% [markdown]
# ## The same answers in a model that finds the number of clusters
#
# `DCRC` requires the number of clusters. Nothing binds triplets to it: `TVClust` uses them too,
# with the same noise models, and gives the posterior of the matrix instead of one value.

# %%
view = bc.RelativeConstraints(
    shy.items, shy.answers, n_items=len(iris.y), noise=bc.ConfusionNoise()
)
X = (iris.X - iris.X.mean(axis=0)) / iris.X.std(axis=0)
est = bc.TVClust(num_warmup=100, num_samples=200, progress=False, random_state=0).fit(
    X, constraints=view
)
print(bc.diagnose(est.posterior_))
print(f"{est.n_clusters_} clusters, pairwise F {bc.metrics.pairwise_f(est.labels_, iris.y):.3f}")
matrix = bc.source_reliability(est.posterior_).assign(truth=habit.ravel())
matrix[["parameter", "mean", "lower", "upper", "truth"]].round(2)

# %% [markdown]
# **What to take away.** Keep the "don't know" answers and pass them on. If people differ in when
# they say it, let their habits be learned; assuming an even error rate that they do not have costs
# accuracy.
