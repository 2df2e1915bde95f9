# %% [markdown]
# # Which answers are probably wrong
#
# Two people were asked about pairs of wines: are these from the same cultivar? One knows the wines
# well. The other is hardly better than a coin. Nothing in the data says who is who.

# %%
import bayesclust as bc

wine = bc.datasets.load("wine")
X = (wine.X - wine.X.mean(axis=0)) / wine.X.std(axis=0)
links = bc.PairwiseConstraints.sample(wine.y, size=300, error_rate=[0.05, 0.4], n_sources=2, seed=1)
links.to_frame().head()

# %% [markdown]
# `source` says who answered. Each source has a $p$ and a $q$ of its own in the model: how often it
# says "same" of two wines that are the same, and "different" of two that differ.

# %%
est = bc.TVClust(num_chains=4, num_warmup=150, num_samples=250, progress=False, random_state=0)
est.fit(X, constraints=links)
print(bc.diagnose(est.posterior_))

# %% [markdown]
# ## Who is reliable?
#
# The posterior of each source's $p$ and $q$. Beside them the truth, which only a simulation knows:
# the share of right answers of each person about wines of one cultivar and of different ones.

# %%
reliability = bc.source_reliability(est.posterior_)
within = wine.y[links.items[:, 0]] == wine.y[links.items[:, 1]]
asked = [
    (links.source == row.source) & (within if row.parameter == "p" else ~within)
    for row in reliability.itertuples()
]
reliability = reliability.assign(truth=[(~links.flipped[mask]).mean() for mask in asked])
reliability[["source", "parameter", "mean", "lower", "upper", "truth"]].round(2)

# %%
bc.plots.reliability(est.posterior_);

# %% [markdown]
# The second person's intervals lie near one half, where an answer carries no information. The
# model gives this person's answers little weight; nobody had to remove them.
#
# ## Answer by answer
#
# One dot an answer, at the probability that it is right; crosses are wrong in truth.

# %%
bc.plots.credibility(est.posterior_, flipped=links.flipped);

# %% [markdown]
# How well does credibility tell wrong answers from right ones? The area under the ROC curve is the
# probability that a right answer has a higher credibility than a wrong one.

# %%
from sklearn.metrics import roc_auc_score

answers = bc.constraint_credibility(est.posterior_).assign(flipped=links.flipped)
area = roc_auc_score(~links.flipped, answers["credibility"])
print(f"area under the ROC curve: {area:.3f}")
answers.groupby("source")[["credibility", "flipped"]].mean().round(3)

# %% [markdown]
# The least credible answers:

# %%
answers.sort_values("credibility").head(10).round(3)

# %% [markdown]
# ## Leave-one-out
#
# An answer is evidence for itself: it pulls its two wines together or apart. `credibility_loo` is
# the credibility that it would have given the wines and all other answers. Where the two differ
# much, the posterior rests on this one answer, and asking somebody else is worth most.

# %%
answers["gain"] = answers["credibility"] - answers["credibility_loo"]
rests = answers.nlargest(5, "gain")
rests[["i", "j", "answer", "source", "credibility", "credibility_loo", "flipped"]].round(3)

# %% [markdown]
# **What to take away.** Write down who gave each answer: `source=` is all that it takes. The
# reliability of each person is estimated with an interval, unreliable answers get little weight,
# and every answer comes with the probability that it is right.
