# %% [markdown]
# # A crowd looks at pictures
#
# Forty people were paid to look at pairs of handwritten digits and to say whether both are the same
# digit. Some look closely, some hurry, and some do not look at all. Every pair was shown to three
# of them. Which pictures belong together? Whose answers are worth anything? And whom should we
# ask next?

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

import bayesclust as bc

# of models that are given less, which the last table looks at
warnings.simplefilter("ignore", bc.posterior.DiagnosisWarning)

rng = np.random.default_rng(2)
digits = bc.datasets.load("digits")
chosen = rng.choice(np.flatnonzero(np.isin(digits.y, [3, 8, 9])), 180, replace=False)
pictures, y = digits.X[chosen].reshape(-1, 8, 8), digits.y[chosen]
X = PCA(6).fit_transform(digits.X[chosen])

# %% [markdown]
# The pictures are real: 180 threes, eights and nines of 8 x 8 pixels, of which we keep six
# principal components. The people are simulated, so that what is found can be checked. Every one
# has two habits: how often "same" is said of two pictures of one digit, $p$, and how often
# "different" of two digits, $q$. Twenty-four people are careful and eight hasty; four
# never look and answer "different", which is the safer guess, and four toss a coin.

# %%
kinds = {"careful": 24, "hasty": 8, "always different": 4, "coin": 4}
people = pd.DataFrame(
    {
        "kind": np.repeat(list(kinds), list(kinds.values())),
        "p": np.r_[
            rng.uniform(0.85, 0.98, 24), rng.uniform(0.6, 0.8, 8), np.full(4, 0.05), np.full(4, 0.5)
        ],
        "q": np.r_[
            rng.uniform(0.85, 0.98, 24), rng.uniform(0.6, 0.8, 8), np.full(4, 0.95), np.full(4, 0.5)
        ],
    }
).sample(frac=1, random_state=0, ignore_index=True)
people.index = [f"w{number:02}" for number in people.index]

pairs = bc.PairwiseConstraints.sample(y, size=200, seed=2).items.repeat(3, axis=0)
who = np.concatenate([rng.permutation(40) for _ in range(15)])
together = y[pairs[:, 0]] == y[pairs[:, 1]]
right = rng.random(600) < np.where(together, people["p"].iloc[who], people["q"].iloc[who])
answers = pd.DataFrame(pairs, columns=["i", "j"]).assign(
    answer=np.where(together == right, "same", "different"), source=people.index[who]
)
answers.head(3)

# %% [markdown]
# That is all one has in practice: 600 answers, fifteen of each person, about five of them on two
# pictures of one digit. Some of the pairs, with what was said of them:

# %%
def show_pairs(places, titles):
    figure = plt.figure(figsize=(1.45 * len(places), 1.75), layout="constrained")
    axes = figure.subplots(1, len(places))
    for ax, (i, j), title in zip(axes, places, titles, strict=True):
        ax.imshow(np.hstack([pictures[i], np.zeros((8, 1)), pictures[j]]), cmap="Greys")
        ax.set_title(title, fontsize=8)
        ax.axis("off")


show_pairs(
    pairs[: 3 * 6 : 3],
    [
        "\n".join(f"{row.source}: {row.answer}" for row in answers[k : k + 3].itertuples())
        for k in range(0, 18, 3)
    ],
)

# %% [markdown]
# ## The usual way: a majority
#
# Three people a pair are asked so that two can outvote one.

# %%
votes = (answers["answer"] == "same").to_numpy().reshape(-1, 3).sum(axis=1) > 1
majority = pd.DataFrame({"together": together[::3], "votes": votes})
print(
    f"single answers: {right.mean():.1%} right; majorities: {(votes == together[::3]).mean():.1%}"
)
majority.groupby("together")["votes"].agg(pairs="size", same="mean").round(2)

# %% [markdown]
# Those who never look agree with each other, and outvote whoever sees that a pair is the same.
#
# ## All answers, everybody's habits, and the pictures
#
# `source` says who answered. With `pooled=True` the forty are a sample of a crowd: how good the
# crowd is, and how much people differ, is learned with everything else, and somebody of whom
# little is known is taken for one of the crowd. A digit is written in more than one way, so a
# cluster is a mixture.

# %%
links = bc.PairwiseConstraints.from_frame(answers, n_items=180)
model = {"cluster_model": "mixture", "num_warmup": 400, "progress": False, "random_state": 0}
est = bc.TVClust(**model).fit(X, constraints=links.with_noise(bc.LinkNoise(pooled=True)))
print(bc.diagnose(est.posterior_))

# %% [markdown]
# ## Which pictures belong together
#
# The posterior is over partitions: how many groups, and how surely two pictures share one.

# %%
bc.plots.similarity(est.posterior_, labels=est.labels_);

# %%
print(bc.credible_ball(est.posterior_, est.labels_))
doubt = bc.posterior.item_entropy(est.posterior_)
fig, axes = plt.subplots(
    est.n_clusters_, 9, figsize=(8, 1.0 * est.n_clusters_), layout="constrained"
)
for cluster, row in enumerate(axes):
    own = np.flatnonzero(est.labels_ == cluster)
    shown = [pictures[own].mean(axis=0), *pictures[own[doubt[own].argsort()[::-1]][:8]]]
    for ax, picture in zip(row, shown, strict=True):
        ax.imshow(picture, cmap="Greys")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(ax is row[0])
    row[0].set_ylabel(f"{len(own)}", rotation=0, ha="right", va="center")
fig.suptitle("Size and mean of each group, and its eight least certain pictures", fontsize=10);

# %% [markdown]
# ## Who is reliable
#
# Somebody who says "same" as often of two digits as of one tells nothing: $p + q = 1$. Every draw
# of the posterior has a $p + q$ for everybody, so we get an interval for each person.

# %%
draws = est.posterior_["posterior"]
value = (draws["p"] + draws["q"] - 1).stack(draw_of=("chain", "draw"))
people["worth"] = value.mean("draw_of").values
people["low"], people["high"] = value.quantile([0.05, 0.95], dim="draw_of").values
people["useless"] = (value < 0.3).mean("draw_of").values
ranked = people.sort_values("worth")
fig, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for kind, colour in zip(kinds, ("#0072B2", "#56B4E9", "#D55E00", "#E69F00"), strict=True):
    at = np.flatnonzero(ranked["kind"] == kind)
    own = ranked.iloc[at]
    ax.vlines(at, own["low"], own["high"], color=colour, linewidth=2)
    ax.plot(at, own["worth"], "o", color=colour, markersize=5, label=kind)
ax.axhline(0, color="0.6", linewidth=0.8)
ax.set(ylabel="$p + q - 1$ (mean, 90% interval)", title="How much an answer of each person tells")
ax.set_xticks(range(40), ranked.index, rotation=90, fontsize=7)
ax.legend(frameon=False);

# %%
caught = people["useless"] > 0.5
pd.crosstab(people["kind"], caught.rename("probably useless"))

# %% [markdown]
# Nobody was told who looks. Those who always say "different" are right about most pairs, and still
# stand among the coins. Intervals are wide, as fifteen answers a person allow: a few of the hasty,
# and one of the careful who had bad luck, cannot be told from people who do not look.
#
# ## Which answers are right
#
# Every answer has its own probability of being right, which knows the pictures, what others said of
# these two pictures, and what follows from answers about others. The least credible ones:

# %%
credibility = bc.constraint_credibility(est.posterior_)["credibility"].to_numpy()
suspect = answers.assign(credibility=credibility).nsmallest(6, "credibility")
show_pairs(
    suspect[["i", "j"]].to_numpy(),
    [f"{row.source}: {row.answer}\n{row.credibility:.2f}" for row in suspect.itertuples()],
)

# %%
doubted = credibility < 0.5
print(f"{doubted.sum()} answers are probably wrong; {(~right).sum()} are wrong in truth,")
print(f"{(doubted & ~right).sum()} of them among the former.")

# %% [markdown]
# ## Was it worth the trouble?
#
# The same pictures with less: everybody's habits learned alone, without the crowd; one habit for
# all; the votes of majorities in place of answers; no answers. `RDPMeans` gives one partition and
# no uncertainty. "Pairs right" is the share of the 200 pairs that a partition answers rightly.

# %%
unsigned = bc.PairwiseConstraints(links.items, links.answers, n_items=180)
voted = bc.PairwiseConstraints(pairs[::3], votes, n_items=180)
ways = {
    "pooled habits": est,
    "each person alone": bc.TVClust(**model).fit(X, constraints=links),
    "one habit for all": bc.TVClust(**model).fit(X, constraints=unsigned),
    "majorities": bc.TVClust(**model).fit(X, constraints=voted),
    "no answers": bc.TVClust(**model).fit(X),
    "RDPMeans, all answers": bc.RDPMeans(random_state=0).fit(X, constraints=links),
    "RDPMeans, majorities": bc.RDPMeans(random_state=0).fit(X, constraints=voted),
}
i, j = pairs[::3].T
table = pd.DataFrame(
    {
        "clusters": [way.n_clusters_ for way in ways.values()],
        "pairs right": [
            ((way.labels_[i] == way.labels_[j]) == together[::3]).mean() for way in ways.values()
        ],
        "pairwise F": [bc.metrics.pairwise_f(way.labels_, y) for way in ways.values()],
        "chains agree": [
            bc.diagnose(way.posterior_).ok if isinstance(way, bc.TVClust) else "one partition"
            for way in ways.values()
        ],
    },
    index=list(ways),
)
table.round(3)

# %% [markdown]
# The pictures alone fall into a dozen groups, and majorities keep the errors of those who never
# look. What helps most is to keep all answers. Here the crowd adds nothing to what each person's
# own fifteen answers tell: the default prior of $p$ and $q$ has a mean of 0.8, which is about right
# for these people. Pooling is for those who do not know that, or have fewer answers of each. With
# less to go by, chains do not come to agree within so many sweeps: those rows are rough.
#
# ## Whom to ask next
#
# Money for more answers is short, and the ten who have been there longest, w00 to w09, take twice
# as much. `PosteriorQueries` looks for the pairs whose answers are expected to tell most about the
# partition, each of somebody whose answer tells most for what it costs.

# %%
costs = {name: 2.0 if name < "w10" else 1.0 for name in people.index}
strategy = bc.active.PosteriorQueries(
    estimator=bc.TVClust(**model), noise=bc.LinkNoise(pooled=True), costs=costs
)
state = bc.active.QueryState(X, est.labels_, [links], [])
queries = strategy(state, 8, np.random.default_rng(0))
show_pairs(
    [query.items for query in queries],
    [f"ask {query.source}" for query in queries],
)

# %%
asked = people.loc[[query.source for query in queries]].drop_duplicates()
asked.assign(cost=[costs[name] for name in asked.index])[["kind", "cost", "worth", "low"]].round(2)

# %% [markdown]
# The pairs are those where the groups meet, and of people who cost 1 those are asked whose answers
# tell most.
#
# **What to take away.** Keep every answer with the name of who gave it, rather than a vote. The
# posterior finds those who do not look, although they are right most of the time, and the answers
# that are wrong; its groups have intervals; and it says which picture to show next, and to whom.
