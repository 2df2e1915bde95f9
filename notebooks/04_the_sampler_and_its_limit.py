# %% [markdown]
# # The sampler and its limit
#
# A sampler takes seconds and gives a posterior. `RDPMeans` takes milliseconds and gives one
# partition. They are two ends of one method: as the variance of the clusters goes to zero, the
# posterior concentrates on a single partition, the one that `RDPMeans` looks for. What is kept
# along this path, and what is lost?

# %%
import matplotlib.pyplot as plt
import numpy as np

import bayesclust as bc

rng = np.random.default_rng(1)
y = rng.permutation(np.arange(60) % 3)
X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])[y] + rng.normal(size=(60, 2))
links = bc.PairwiseConstraints.sample(y, fraction=0.05, error_rate=0.1, seed=2)
links

# %% [markdown]
# Three round clusters that touch, and answers about one pair in twenty, some of them wrong.
#
# ## Two answers to one question
#
# The limit has two parameters, in squared units of the data: the penalty of a cluster (`penalty`),
# and the cost of violating an answer (`xi`). By default both are chosen from the data; here they
# are given, so that they are the same throughout.

# %%
limit = bc.RDPMeans(penalty=20.0, xi=3.0, n_init=20, random_state=0).fit(X, constraints=links)
spheres = {"family": "gaussian_spherical", "cluster_model": "single"}
est = bc.TVClust(**spheres, num_warmup=100, num_samples=250, progress=False, random_state=0)
est.fit(X, constraints=links)
print(bc.diagnose(est.posterior_))
table = bc.compare({"sampler": est, "limit": limit, "truth": y}, y)
table.round(3)

# %% [markdown]
# `inside` tells whether a partition lies in the sampler's 95% credible ball: whether the posterior
# would call it a surprise. `objective` is what the limit minimises and `log_joint` what the sampler
# weighs partitions by, each for all of them.
#
# What the limit cannot say is where it is unsure. The sampler can:

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.scatter(*X.T, c=limit.labels_, cmap="viridis", s=22)
left.set(title="The limit: one partition", xlabel="$x_0$", ylabel="$x_1$")
right.scatter(*X.T, c=bc.posterior.item_entropy(est.posterior_), cmap="cividis_r", s=22)
right.set(title="The sampler: dark items are unsure", xlabel="$x_0$", ylabel="$x_1$");

# %% [markdown]
# ## The path to the limit
#
# At $\gamma$ every item weighs $\gamma$ in the model: clusters have variance $1/(2\gamma)$, answers
# weigh $\gamma\xi$, a cluster costs $\gamma\lambda$. `limit_path` samples at growing $\gamma$, and
# compares the draws with the limit. Its runs are short and not diagnosed: the larger $\gamma$, the
# less a chain can leave the mode it is in, and every chain by itself shows where the path leads.

# %%
path = bc.limit_path(
    X,
    constraints=links,
    limit=limit,
    gammas=[0.05, 0.2, 1, 5, 25, 1000],
    num_warmup=60,
    num_samples=80,
    progress=False,
    random_state=0,
)
path[["vi", "n_clusters", "entropy"]].sel(statistic="mean").to_dataframe().drop(
    columns="statistic"
).round(3)

# %%
bc.plots.limit_path(path);

# %% [markdown]
# Read the panels from left to right. At small $\gamma$ the data hardly speak, and the draws have
# little to do with the limit's partition. Then the distance to it falls to nothing: all draws are
# that one partition, and the objective of the draws is its objective. The last panel shows what is
# lost: two draws no longer differ, so nothing says how certain the result is.
#
# ## The same of DCRC
#
# `DCRC` has a limit too. Its labels have a temperature, and at zero every item is in one
# cluster for certain. That leaves three ways to use one model: a *sampler* of the labels, given
# the classifier and the answers; *mean field*, in which every label has a distribution of its
# own; and the *limit*, hard labels. Here the items are asked about in threes.

# %%
triplets = bc.RelativeConstraints.sample(y, size=40, error_rate=0.1, seed=3)
hard = bc.DCRC(3, temperature=0, random_state=0).fit(X, constraints=triplets)
ways = {
    name: bc.limit_path(
        X,
        constraints=triplets,
        limit=hard,
        sampler=name,
        gammas=np.geomspace(0.1, 1000, 13),
        num_warmup=60,
        num_samples=80,
        progress=False,
        random_state=0,
    )
    for name in ("gibbs", "variational_em")
}
bc.plots.limit_path(ways["gibbs"]);

# %% [markdown]
# $\gamma$ is one over the temperature. At $\gamma = 1$ the draws are from DCRC's own posterior
# under this classifier; to the right both the classifier and the answers weigh more and more,
# until the error rate of the answers is practically zero.

# %%
ax = plt.figure(figsize=(6, 3.4), layout="constrained").subplots()
for (name, way), line in zip(ways.items(), ("-", "--"), strict=True):
    means = way["objective"].sel(statistic="mean")
    ax.plot(way["gamma"], means, line, marker="o", markersize=4, label=name)
ax.axhline(ways["gibbs"].attrs["limit_objective"], color="grey", linewidth=1, label="limit")
ax.set(xscale="log", yscale="log", xlabel="gamma", ylabel="J of the labels (nats)")
ax.legend(frameon=False);

# %% [markdown]
# Mean field leaves out how labels depend on each other, which matters most where the data are
# unsure: there its labels have another J than the sampler's. At the end all three are one
# partition.
#
# ## The limit of this very posterior
#
# Back to TVClust: penalty and weights can also be derived from a posterior, by
# `RDPMeans.from_posterior`. Clustering new data of the same kind then takes milliseconds.

# %%
priced = bc.RDPMeans.from_posterior(est, X).fit(X, constraints=links)
xi = np.round(priced.xi["links"], 2).tolist()  # of each source: must-links, cannot-links
print("penalty:", round(priced.penalty, 2), " xi:", xi)
agreed = bc.metrics.adjusted_rand(priced.labels_, est.labels_)
print(f"adjusted Rand index with the sampler's partition: {agreed:.3f}")

# %% [markdown]
# **What to take away.** Use the limit to look at much data quickly, or where one partition is all
# that is wanted. Use the sampler to know how sure that partition is, which answers are probably
# wrong and how many clusters there may be.
