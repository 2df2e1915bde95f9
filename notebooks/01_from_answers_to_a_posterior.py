# %% [markdown]
# # From answers to a posterior
#
# Somebody was shown pairs of flowers and said of each pair whether both are of one species. Some of
# the answers are wrong, and nobody says which. The flowers were also measured. What can be
# inferred about the species, and about the answers?

# %%
import matplotlib.pyplot as plt
import numpy as np

import bayesclust as bc

iris = bc.datasets.load("iris")
X = (iris.X - iris.X.mean(axis=0)) / iris.X.std(axis=0)
links = bc.PairwiseConstraints.sample(iris.y, fraction=0.03, error_rate=0.1, seed=0)
links

# %% [markdown]
# The answers are drawn here, from the true species, so that we can check later what was found;
# `error_rate` is the probability of a wrong one. Your own answers come as
# `bc.PairwiseConstraints(pairs, same, n_items)`, or in another of the forms that the reference
# shows.
#
# Measurements alone separate one species from the other two. Between these two, the answers have to
# tell.

# %%
fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
length, width = iris.X[:, 2], iris.X[:, 3]
for (i, j), same in zip(links.items, links.answers, strict=True):
    style = (
        {"color": "tab:blue", "alpha": 0.35}
        if same
        else {"color": "0.6", "alpha": 0.2, "linestyle": ":"}
    )
    ax.plot(length[[i, j]], width[[i, j]], linewidth=0.8, zorder=1, **style)
ax.scatter(length, width, s=14, color="0.15", zorder=2)
ax.set(
    xlabel="petal length (cm)",
    ylabel="petal width (cm)",
    title='Answers: "same" in blue, "different" dotted',
);

# %% [markdown]
# The model is a mixture with an unknown number of clusters. An answer about two flowers of one
# cluster is "same" with probability $p$; about two of different clusters it is "different" with
# probability $q$. Partition, $p$ and $q$ are sampled together: answers that contradict the
# measurements and the other answers lower $p$ and $q$, and count for less.

# %%
est = bc.TVClust(num_chains=4, num_warmup=200, num_samples=300, progress=False, random_state=0)
est.fit(X, constraints=links)
print(bc.diagnose(est.posterior_))

# %% [markdown]
# That is the first thing to read: four chains started far apart, and the verdict says whether they
# came to agree. A notebook of its own is about [runs that are not to be
# trusted](05_is_the_run_to_be_trusted.ipynb).
#
# ## How many clusters, and how good are the answers?
#
# The posterior is an `xarray.DataTree` in ArviZ's groups, so everything that ArviZ does works on
# it.

# %%
bc.plots.n_clusters(est.posterior_, labels=est.labels_);

# %%
bc.source_reliability(est.posterior_)[
    ["parameter", "mean", "lower", "upper", "answers", "wrong"]
].round(2)

# %% [markdown]
# `wrong` is the expected number of wrong answers; how many there really are, only a simulation
# knows:

# %%
int(links.flipped.sum())

# %% [markdown]
# ## Which flowers belong together?
#
# Each cell of the picture is the posterior probability that two flowers share a cluster. Frames are
# the clusters of `est.labels_`, the partition of least expected loss; the strip above shows how
# unsure each flower is. Dark squares are certain; what is neither dark nor white is not.

# %%
bc.plots.similarity(est.posterior_, labels=est.labels_);

# %% [markdown]
# One partition stands for the posterior, and the credible ball tells how far the posterior reaches
# around it: 95% of the draws are no farther, in bits of information (VI), than its radius.

# %%
ball = bc.credible_ball(est.posterior_, est.labels_)
print(ball)
print(f"pairwise F against the species: {bc.metrics.pairwise_f(est.labels_, iris.y):.3f}")

# %% [markdown]
# ## Which answers are wrong?
#
# `credibility` is the posterior probability that an answer is right. These ten are the least
# credible; `flipped`, which the sampler never sees, tells whether they are in fact wrong.

# %%
credibility = bc.constraint_credibility(est.posterior_).assign(flipped=links.flipped)
suspect = credibility.nsmallest(10, "credibility")
suspect[["i", "j", "answer", "credibility", "flipped"]]

# %% [markdown]
# ## A flower that nobody was asked about
#
# New items are placed by their measurements. The first of these two is the mean of a cluster's
# flowers; the second lies far away from all of them. `predict_proba` supposes that the flower
# belongs to one of the clusters, and says which is the likeliest; `predict_novelty` is the
# probability that it belongs to none, so read it first.

# %%
new = np.stack([X[est.labels_ == 1].mean(axis=0), X.mean(axis=0) + 6.0])
print("probability of a cluster of its own:", est.predict_novelty(new).round(3).tolist())
print("of each cluster, if in one of them:", est.predict_proba(new).round(3).tolist())

# %% [markdown]
# **What to take away.** Answers about three pairs in a hundred, one in fifteen of them wrong, are
# enough to tell apart what the measurements leave together; and the same run says which of the
# answers are probably wrong.
