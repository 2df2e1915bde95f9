# %% [markdown]
# # A language model reads documents
#
# Language models are asked about pairs of documents, "are both about the same subject?", and the
# probability of the token "yes" is kept as a score. A score of 0.98 sounds sure. Is it? What are
# such probabilities worth, whose are worth more, and what do they add to embeddings?

# %%
import importlib
import inspect
import re
import warnings

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import log_loss

import bayesclust as bc

# of models that are given less, which the last table looks at
warnings.simplefilter("ignore", bc.posterior.DiagnosisWarning)


def descriptions(subject):
    """Return what the functions of a module say of themselves, without examples, by name."""
    module = importlib.import_module(f"scipy.{subject}")
    whole = {name: inspect.getdoc(getattr(module, name)) or "" for name in sorted(module.__all__)}
    cut = {
        name: re.split(r"\n(?:See Also|Examples|References)\n-", whole[name])[0] for name in whole
    }
    return {
        f"{subject}.{name}": re.sub(r"scipy(\.\w+)+", "", text)
        for name, text in cut.items()
        if callable(getattr(module, name)) and len(text) > 200
    }


subjects = ["signal", "linalg", "ndimage", "stats", "interpolate"]
rng = np.random.default_rng(0)
texts = {}
for subject in subjects:
    found = descriptions(subject)
    texts |= {name: found[name] for name in rng.choice(list(found), 30, replace=False)}
y = np.repeat(np.arange(5), 30)

# %% [markdown]
# The documents are real: 150 descriptions of functions of SciPy, thirty from each of five modules,
# whose names are cut out of the texts. Words are counted (TF-IDF) and reduced to five numbers for
# each document (latent semantic analysis), each called after the word that weighs most and the one
# that weighs least. Embeddings by a neural network would take the same place.

# %%
words = TfidfVectorizer(
    stop_words="english", sublinear_tf=True, min_df=2, token_pattern=r"[a-zA-Z]{3,}"
)
counts = words.fit_transform(texts.values())
semantics = TruncatedSVD(5, random_state=0)
X = pd.DataFrame(semantics.fit_transform(counts), index=list(texts))
vocabulary = words.get_feature_names_out()
X.columns = [f"{vocabulary[w.argmax()]} / {vocabulary[w.argmin()]}" for w in semantics.components_]
X.head(3).round(2)

# %% [markdown]
# Two language models, a large one and a small one, read 500 pairs each. Both are simulated, so that
# what is found can be checked, with two failings known of real ones: they are too sure, and the
# small one leans to "yes". An answer is the probability that the model gives to "yes". They err
# whatever the texts are; real ones err more about texts that look alike, which no curve of scores
# can say.

# %%
asked = bc.PairwiseConstraints.sample(y, size=1000, n_sources=2, seed=0)
pairs, together = asked.items, asked.answers == 1
model = np.array(["large", "small"])[asked.source]
evidence = np.where(model == "large", np.where(together, 1.5, -1.5), np.where(together, 1.2, -0.2))
scores = 1 / (1 + np.exp(-2.5 * rng.normal(evidence, 1.2)))
graded = bc.PairwiseConstraints.from_scores(pairs, scores, n_items=150, source=model)
graded

# %% [markdown]
# ## A family for directions
#
# Of an embedding only the direction matters: its length is no sign of the subject, here only how
# much of a text five numbers catch. `von_mises_fisher` is the family for directions, with one
# concentration for all components. The texts of a subject go in more than one direction, so a
# cluster is a mixture of such components, and the answers say which of them belong together.

# %%
settings = {"family": "von_mises_fisher", "cluster_model": "mixture", "num_warmup": 400}
settings |= {"progress": False, "random_state": 0}
est = bc.TVClust(**settings).fit(X, constraints=graded)
print(bc.diagnose(est.posterior_))
pd.crosstab(np.repeat(subjects, 30), est.labels_, rownames=["module"], colnames=["cluster"])

# %% [markdown]
# Nobody said how many subjects there are: five of the clusters are the modules, and a few documents
# are strays. What is a cluster about? These words are more frequent in it than elsewhere:

# %%
weights = counts.toarray()
typical = {
    cluster: weights[est.labels_ == cluster].mean(axis=0) - weights.mean(axis=0)
    for cluster in range(est.n_clusters_)
}
pd.DataFrame(
    {
        "documents": np.bincount(est.labels_),
        "typical words": [
            ", ".join(vocabulary[more.argsort()[::-1][:4]]) for more in typical.values()
        ],
    }
)

# %% [markdown]
# Its profile says where it lies: the posterior of its mean in each column, and how far its
# documents spread.

# %%
bc.plots.profiles(est);

# %% [markdown]
# ## What a score is worth
#
# The learned curve of each model: of the pairs that got such a score, the share that is about one
# subject. It is learned from the posterior, not from known subjects.

# %%
bc.plots.reliability(est.posterior_);

# %% [markdown]
# A score of 0.7 sounds like "rather yes". But only one pair in five is about one subject, which the
# models do not reckon with, and after such a score it is still rather no. Here the truth is known,
# and we can see what the probabilities are worth: their log loss, in nats per answer (less is
# better), as stated, after the learned curve, and from the posterior, which also knows the
# documents and all other answers. "Share alone" is of somebody who knows how many pairs are of one
# subject and nothing else: taken at its word, the small model is worse than that.

# %%
curves = bc.source_reliability(est.posterior_).set_index(["source", "parameter"])["mean"]
grade = [f"together[{graded.vocabulary[code]}]" for code in graded.answers]
judged = {
    "as stated": scores,
    "learned curve": curves.loc[list(zip(model, grade, strict=True))].to_numpy(),
    "posterior": bc.similarity_matrix(est.posterior_)[*pairs.T],
    "share alone": np.full(1000, together.mean()),
}
losses = pd.DataFrame(
    {
        name: [log_loss(together[model == who], value[model == who]) for who in ("large", "small")]
        for name, value in judged.items()
    },
    index=["large", "small"],
)
losses.round(3)

# %% [markdown]
# Without the truth, `view_conflict` says whose answers are worth more: every answer is forecast
# from the documents and all others, and `gain_over_marginal` is by how much better, in nats, than
# from how often that model gives each score.

# %%
bc.view_conflict(est.posterior_)[["source", "answers", "gain_over_marginal", "finding"]].round(3)

# %% [markdown]
# ## Which answers to distrust
#
# Sure answers that the posterior takes for wrong. Names of documents come from the index of the
# table.

# %%
credibility = bc.constraint_credibility(est.posterior_).assign(score=scores, truth=together)
sure = credibility[(scores < 0.1) | (scores > 0.9)]
distrusted = sure[sure["credibility"] < 0.5]
wrong = (distrusted["score"] > 0.5) != distrusted["truth"]
print(f"{len(distrusted)} of {len(sure)} sure answers are distrusted, and {wrong.sum()} rightly")
distrusted.groupby("source").size()

# %%
shown = ["i", "j", "score", "source", "credibility", "truth"]
distrusted.nsmallest(6, "credibility")[shown].round(3)

# %% [markdown]
# ## Was it worth the trouble?
#
# The same without the curves (answers cut to yes and no at 0.5), without any answers, and as it is
# often done: documents are joined where a score is above 0.9, and what hangs together is a cluster;
# or k-means of the embeddings, which is told that there are five clusters. `RDPMeans` gives one
# partition and no uncertainty.

# %%
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

joined = coo_array((np.ones((scores > 0.9).sum()), pairs[scores > 0.9].T), shape=(150, 150))
unit = X.to_numpy() / np.linalg.norm(X, axis=1, keepdims=True)
cut = bc.TVClust(**settings).fit(X, constraints=graded.cut())
alone = bc.TVClust(**settings).fit(X)
limit = bc.RDPMeans(random_state=0).fit(unit, constraints=graded)
found = {
    "graded answers": est.labels_,
    "answers cut to yes and no": cut.labels_,
    "no answers": alone.labels_,
    "RDPMeans, graded answers": limit.labels_,
    "joined above 0.9": connected_components(joined, directed=False)[1],
    "k-means, told five": KMeans(5, n_init=10, random_state=0).fit_predict(unit),
}
table = pd.DataFrame(
    {
        "clusters": [len(np.unique(labels)) for labels in found.values()],
        "pairwise F": [bc.metrics.pairwise_f(labels, y) for labels in found.values()],
    },
    index=list(found),
)
for name, fit in {"cut": cut, "no answers": alone}.items():
    print(f"{name}: {bc.diagnose(fit.posterior_)}")
table.round(3)

# %% [markdown]
# Joining by single scores fails, as one wrong sure answer joins two subjects. Cutting at 0.5 throws
# away which answers were sure. Without answers the texts fall into many small groups, about which
# the chains do not come to agree so soon: that row is rough.
#
# **What to take away.** Keep the probabilities, with the name of the model they come from, and do
# not take them at their word: what they are worth is learned from the same answers. Then even a
# model that leans to "yes" helps.
