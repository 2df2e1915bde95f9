# %% [markdown]
# # Which records are of one person?
#
# A register of people has been filled by hand, and most of them are in it more than once: with
# typing errors, with first name and surname swapped, with cells left empty. Entity resolution asks
# which records are of the same person, and how sure that is. What one has is a search for pairs
# that are worth comparing (blocking), and a score of each such pair.
#
# ## The register
#
# Generated, so that the truth is known.

# %%
import numpy as np
import pandas as pd

import bayesclust as bc

people, who = bc.datasets.make_register(1500, seed=0)
print(f"{len(people)} records of {who.max() + 1} people")
people.head()

# %% [markdown]
# ## Candidates and scores
#
# Two records are compared if they agree on one of four keys. That finds a few thousand of the
# million pairs, and most of those of one person.

# %%
from difflib import SequenceMatcher
from itertools import combinations

KEYS = [("first", "last"), ("first", "born"), ("last", "year"), ("born", "town")]
keyed = people.assign(year=people.born.str[:4])
found = set()
for key in KEYS:
    for _, block in keyed.dropna(subset=list(key)).groupby(list(key)):
        found.update(combinations(block.index, 2))
pairs = np.array(sorted(found))


def likeness(i, j):
    """How alike two records are in each column, from 0 to 1, or nan."""
    cells = zip(people.loc[i], people.loc[j], strict=True)
    return [SequenceMatcher(None, a, b).ratio() if a and b else np.nan for a, b in cells]


alike = np.array([likeness(i, j) for i, j in pairs])

same = who[pairs[:, 0]] == who[pairs[:, 1]]
sizes = np.bincount(who)
every = (sizes * (sizes - 1) // 2).sum()
print(f"{len(pairs)} candidates; {same.sum()} are of one person, of {every} such pairs")

# %% [markdown]
# ## The posterior
#
# There is no data but the scores. `CandidateLinks` says that clusters are connected by candidates.
# Each column is a source of its own, and an empty cell says nothing. What a score is worth is
# learned, from these scores alone: no pair has a label.

# %%
n = len(people)
rows, column = np.nonzero(~np.isnan(alike))
scored = bc.PairwiseConstraints.from_scores(
    pairs[rows], alike[rows, column], n_items=n, source=people.columns.to_numpy()[column]
)
links = bc.partition_priors.CandidateLinks(pairs, n_items=n)
est = bc.TVClust(
    partition_prior=links, num_samples=1000, thinning=4, progress=False, random_state=0
)
est.fit(None, constraints=scored)
print(bc.diagnose(est))
print(f"{est.n_clusters_} people found")

# %% [markdown]
# A point for each column and score: the probability that such a candidate is of one person. A
# surname says little among candidates, which mostly share it; a birthday that differs says much.

# %%
ax = bc.plots.reliability(est.posterior_)

# %% [markdown]
# ## Beside a threshold
#
# The usual way joins all pairs whose mean score is above a threshold: by connected components, or
# by average linkage, where pairs that are no candidates are not alike at all. Both are drawn at
# every threshold. Which one is best only the truth tells; the posterior needs none.

# %%
import matplotlib.pyplot as plt
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

mean = np.nanmean(alike, axis=1)
thresholds = np.linspace(0.4, 0.98, 59)
apart = 1 - coo_array((mean, pairs.T), (n, n)).toarray()
tree = linkage(squareform(np.minimum(apart, apart.T), checks=False), "average")


def components(threshold):
    kept = pairs[mean >= threshold]
    return connected_components(coo_array((np.ones(len(kept)), kept.T), (n, n)))[1]


f = bc.metrics.pairwise_f
by_components = [f(components(t), who) for t in thresholds]
by_linkage = [f(fcluster(tree, 1 - t, "distance"), who) for t in thresholds]
posterior = f(est.labels_, who)

figure, ax = plt.subplots(figsize=(6, 3.5))
ax.plot(thresholds, by_components, label="connected components")
ax.plot(thresholds, by_linkage, label="average linkage")
ax.axhline(posterior, color="black", linestyle="--", label="posterior, no threshold")
ax.set(xlabel="threshold of the mean score", ylabel="pairwise F", ylim=(0, 1))
ax.legend()
print(f"best: {max(by_components):.3f} and {max(by_linkage):.3f}; posterior {posterior:.3f}")

# %% [markdown]
# ## Whom to look at
#
# The posterior says of each pair how probable it is that both are of one person. Where that is
# near one half, a person should look.

# %%
z = est.posterior_["posterior"]["z"].values.reshape(-1, n)
together = (z[:, pairs[:, 0]] == z[:, pairs[:, 1]]).mean(axis=0)
unsure = np.argsort(abs(together - 0.5), kind="stable")[:4]
truth = np.where(same, "one person", "two")
pd.concat({f"{together[at]:.2f}, {truth[at]}": people.loc[pairs[at]] for at in unsure})

# %% [markdown]
# Are the probabilities right? In each row the mean probability of some pairs, and how many of these
# are of one person. Those near 0 and 1 are right, and they are nearly all; of those in between more
# are of one person than stated. The model has the columns of a pair err independently of each other
# and of other pairs, which real keys and real errors never do.

# %%
edges = np.array([0, 0.02, 0.2, 0.5, 0.8, 0.98, 1.0001])
grade = np.digitize(together, edges) - 1
calibration = pd.DataFrame({"posterior": together, "of one person": same}).groupby(grade).mean()
calibration.assign(pairs=np.bincount(grade, minlength=6)).round(2)
