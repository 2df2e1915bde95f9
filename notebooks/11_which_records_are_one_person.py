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

NAMES = """Anna Anne Bernd Carla Carola Clara David Daniel Elena Elisa Emil Emma Erik Erika Felix
Georg Greta Hanna Hannes Helena Helga Ida Ines Jakob Jan Jana Johann Johanna Jonas Julia Karl Karla
Lars Laura Lea Lena Leonie Lisa Lukas Maria Marie Marina Mark Markus Martin Martina Max Michael
Nina Nora Otto Paul Paula Peter Petra Rosa Sara Simon Sofia Stefan Theo Thomas Tim Vera"""
STEMS = "Acker Baum Berg Birk Brand Busch Eich Feld Gold Hart Hof Kirch Lang Neu Rosen Stein"
ENDS = "er", "mann", "bach", "berg", "ing", "hoff"
FIRST = NAMES.split()
SURNAMES = [stem + end for stem in STEMS.split() for end in ENDS]
TOWNS = [a + b for a in ("Alten", "Bad", "Frei", "Hoch", "Neu") for b in ("au", "burg", "dorf")]
COLUMNS = ["first", "last", "born", "town"]


def misspelt(word, rng):
    at = rng.integers(len(word))
    other = "abcdefghijklmnopqrstuvwxyz"[rng.integers(26)]
    middle = ["", other, word[at] + other, word[at : at + 2][::-1]][kind := rng.integers(4)]
    return word[:at] + middle + word[at + 1 + (kind == 3) :]


def record(person, rng):
    first, last, (year, month, day), town = person
    if rng.random() < 0.05:
        first, last = last, first
    if rng.random() < 0.05:
        month, day = day, month
    if rng.random() < 0.08:
        year += rng.choice([-10, -1, 1, 10])
    if rng.random() < 0.1:  # moved
        town = rng.choice(TOWNS)
    cells = [first, last, f"{year}-{month:02}-{day:02}", town]
    words = [
        misspelt(c, rng) if at != 2 and rng.random() < 0.12 else c for at, c in enumerate(cells)
    ]
    return [None if rng.random() < 0.05 else word for word in words]


def register(n, rng):
    """Records, and the number of the person that each is of."""
    rows, who, number = [], [], 0
    while len(rows) < n:
        birthday = rng.integers(1950, 2005), rng.integers(1, 13), rng.integers(1, 29)
        person = rng.choice(FIRST), rng.choice(SURNAMES), birthday, rng.choice(TOWNS)
        for _ in range(min(rng.geometric(0.55), n - len(rows))):
            rows.append(record(person, rng))
            who.append(number)
        number += 1
    order = rng.permutation(n)
    return pd.DataFrame(rows, columns=COLUMNS).iloc[order].reset_index(drop=True), np.array(who)[
        order
    ]


people, who = register(1500, np.random.default_rng(0))
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
import bayesclust as bc

n = len(people)
rows, column = np.nonzero(~np.isnan(alike))
scored = bc.PairwiseConstraints.from_scores(
    pairs[rows], alike[rows, column], n_items=n, source=np.array(COLUMNS)[column]
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
