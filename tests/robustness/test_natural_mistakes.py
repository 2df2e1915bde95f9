"""What newcomers try first: each ends in the thing itself, or in one sentence that names it."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import bayesclust as bc
from tests.refusals import cases, refusal

ROOT = Path(__file__).resolve().parents[2]
IDS = [f"p{i}" for i in range(8)]
X = pd.DataFrame({"a": [0.0, 0.2, 0.1, 0.3, 5.0, 5.1, 4.8, 5.2], "b": np.arange(8.0) % 3}, IDS)
WORDS = X.assign(smoker=pd.Categorical(["yes", "no"] * 4))
TABLE = pd.DataFrame({"i": ["p0", "p1"], "j": ["p2", "p5"], "answer": ["must", "cannot"]})
TABLE["source"] = ["eve", "ann"]
NUMBERS = pd.DataFrame({"i": [0.0, 1.0], "j": [2.0, 5.0], "answer": [1, 0]})
LINKS = bc.PairwiseConstraints.from_lists([(0, 1)], [(0, 7)], n_items=8)
SHORT = {"num_chains": 2, "num_warmup": 5, "num_samples": 5, "progress": False, "random_state": 0}
SHORT |= {"cluster_model": "single"}
limit = bc.RDPMeans(penalty=2.0).fit(X)
drawn = bc.posterior.to_datatree({"z": np.zeros((2, 4, 8), int)})


def pairs(answers):
    return bc.PairwiseConstraints([(0, 1), (1, 2)], answers, 8).answers.tolist()


def read(table):
    return bc.PairwiseConstraints.from_frame(table, ids=X.index)


def fit(given=None, data=X, **settings):
    return bc.TVClust(**SHORT | settings).fit(data, constraints=given)


def by_folds_of_items():
    given = {"constraints": LINKS}
    return cross_val_score(bc.RDPMeans(2.0), X, cv=2, params=given, error_score="raise")


REFUSED = """
bc.TVclust
    AttributeError: module 'bayesclust' has no attribute 'TVclust': did you mean 'TVClust'?
bc.PairwiseConstraint
    AttributeError: module 'bayesclust' has no attribute 'PairwiseConstraint': did you mean
    'PairwiseConstraints'?
bc.estimators.mpckmeans
    AttributeError: module 'bayesclust.estimators' has no attribute 'mpckmeans': did you mean
    'MPCKMeans'?
bc.plots.heatmap
    AttributeError: module 'bayesclust.plots' has no attribute 'heatmap': it has agreement,
    alluvial, batch_weights, calibration, confusion, constraint_graph, credibility,
    credibility_ranking, limit_path, n_clusters, partitions, prior_sizes, profiles, ranks,
    reliability, similarity, traces.
bc.TVClust(n_clusters=3)
    TypeError: TVClust takes no 'n_clusters': MPCKMeans and DCRC are told the number, and TVClust
    finds it, at most k under partition_prior=bayesclust.partition_priors.KnownK(k).
bc.TVClust(n_components=3)
    TypeError: TVClust takes no 'n_components': MPCKMeans and DCRC are told the number, and TVClust
    finds it, at most k under partition_prior=bayesclust.partition_priors.KnownK(k).
bc.TVClust().fit(X, n_clusters=3)
    TypeError: TVClust.fit takes no 'n_clusters': MPCKMeans and DCRC are told the number, and
    TVClust finds it, at most k under partition_prior=bayesclust.partition_priors.KnownK(k).
bc.TVClust(constraints=LINKS)
    TypeError: TVClust takes no 'constraints': fit takes them, after X.
bc.TVClust(draws=100)
    TypeError: TVClust takes no 'draws': did you mean 'num_samples'?
bc.TVClust(tune=100)
    TypeError: TVClust takes no 'tune': did you mean 'num_warmup'?
bc.MPCKMeans(k=3)
    TypeError: MPCKMeans takes no 'k': did you mean 'n_clusters'?
bc.DPMeans(penality=1.0)
    TypeError: DPMeans takes no 'penality': did you mean 'penalty'?
bc.DPMeans().fit(X, partition=[0])
    TypeError: DPMeans.fit takes no 'partition': it takes self, X, y, constraints.
bc.DCRC(2, y=[0])
    TypeError: DCRC takes no 'y': to use labels of some items, pass
    constraints=bayesclust.LabelConstraints([(item, label), ...], n_items=len(X)) to fit.
bc.compare({}, truth=[0])
    TypeError: compare takes no 'truth': did you mean 'y'?
fit([(0, 1)])
    TypeError: constraints[0] must be PairwiseConstraints, RelativeConstraints, LabelConstraints or
    another kind; got tuple: wrap your pairs, for instance in
    bayesclust.PairwiseConstraints.from_lists(must_link, cannot_link, n_items=8), or a table in
    .from_frame(table, n_items=8).
fit(TABLE)
    TypeError: constraints must be PairwiseConstraints, RelativeConstraints, LabelConstraints or
    another kind; got DataFrame: wrap your pairs, for instance in
    bayesclust.PairwiseConstraints.from_lists(must_link, cannot_link, n_items=8), or a table in
    .from_frame(table, n_items=8).
fit({"must": [(0, 1)], "cannot": [(0, 7)]})
    TypeError: constraints must be PairwiseConstraints, RelativeConstraints, LabelConstraints or
    another kind; got dict: wrap your pairs, for instance in
    bayesclust.PairwiseConstraints.from_lists(must_link, cannot_link, n_items=8), or a table in
    .from_frame(table, n_items=8).
read(TABLE.assign(source=["eve", np.nan]))
    ValueError: row 1 has no source: say who answered, or leave the column source out.
read(TABLE.assign(answer=["must", "perhaps"]))
    ValueError: answer[1] is 'perhaps', not an answer: pass for each row of the table "different"
    (0) or "same" (1); leave out rows without one.
read(TABLE.assign(j=["p0", "p5"]))
    ValueError: row 0 names 'p0' twice: remove this row.
bc.PairwiseConstraints(TABLE[["i", "j"]], TABLE["answer"], 8)
    TypeError: pairs must hold integers; got dtype object: pass one row of 2 item indices per
    answer, or names of items by from_frame.
pairs([1.0, np.nan])
    ValueError: same[1] is nan, not an answer: pass for each row of pairs "different" (0) or "same"
    (1); leave out rows without one.
fit(data=X.where(X < 5))
    ValueError: X has NaN in rows 4, 5 and 7: remove these items, fill in values, or use a family
    that takes NaN, such as 'gaussian_diagonal' or 'mixed' of TVClust.
fit(data=WORDS)
    TypeError: X must hold numbers, unlike column smoker: drop such columns or encode them as
    numbers; family='mixed' of TVClust takes columns of words.
bc.constraint_credibility(bc.TVClust())
    TypeError: a posterior is an xarray.DataTree or a fitted estimator with posterior_; got
    TVClust, which is not fitted or has no draws.
bc.constraint_credibility(drawn)
    ValueError: this fit had no constraints: pass a fit with constraints.
bc.plots.similarity(X)
    TypeError: a posterior is an xarray.DataTree or a fitted estimator with posterior_; got
    DataFrame; labels alone are an array (draws, n).
by_folds_of_items()
    ValueError: the constraints 'links' are on 8 items, but X has 4: pass the X they were made
    for, or restrict(items) them; bayesclust.cross_validate holds answers out in place of items.
bc.TVClust().labels_
    AttributeError: TVClust has no 'labels_': call fit first.
limit.posterior_
    AttributeError: RDPMeans has no 'posterior_': it finds one partition; TVClust and DCRC have
    draws from a posterior.
limit.predict_proba
    AttributeError: RDPMeans has no 'predict_proba': it finds one partition; TVClust and DCRC have
    draws from a posterior.
limit.inertia_
    AttributeError: RDPMeans has no 'inertia_': objective_ is what it lowers.
limit.lables_
    AttributeError: RDPMeans has no 'lables_': did you mean 'labels_'?
bc.DCRC(2).score
    AttributeError: DCRC has no 'score': items have a density under TVClust alone;
    bayesclust.cross_validate compares methods.
bc.MinimalModification().predict
    AttributeError: MinimalModification has no 'predict': it partitions its own items alone; a
    classifier fitted to labels_ places new ones.
"""


@pytest.mark.parametrize(("call", "error"), cases(REFUSED))
def test_mistakes_are_answered_in_a_sentence(call, error):
    assert refusal(call, globals()) == error


TAKEN = {
    "pairs([1, -1])": [1, 0],
    "pairs(['must', 'cannot'])": [1, 0],
    "pairs(['yes', 'no'])": [1, 0],
    "read(TABLE).items.tolist()": [[0, 2], [1, 5]],
    "read(TABLE).source_names": ("ann", "eve"),
    "read(TABLE).to_frame().j.tolist()": ["p2", "p5"],
    "read(TABLE.assign(source=['ann', 'ann '])).source_names": ("ann",),
    "bc.PairwiseConstraints.from_frame(NUMBERS, n_items=8).items.tolist()": [[0, 2], [1, 5]],
    "limit.score(X) == -limit.transform(X).min(axis=1).sum()": True,
    "LINKS._repr_html_().count('<table')": 2,
}


@pytest.mark.parametrize("call", TAKEN)
def test_what_is_natural_is_taken(call):
    assert eval(call) == TAKEN[call]


WARNED = {
    "bc.DPMeans(penalty=1.0).fit(X, y=[0, 1] * 4)": r"^y is ignored: to use labels .*LabelConstr",
    "fit(LINKS)": r"^Do not trust this run: .* What to do: increase num_warmup and num_samples",
}


@pytest.mark.parametrize("call", WARNED)
def test_what_would_pass_in_silence_is_warned_of(call):
    with pytest.warns(UserWarning, match=WARNED[call]):
        eval(call)


def test_words_labels_and_known_numbers_have_their_place():
    known = bc.partition_priors.KnownK(2)
    labels = bc.LabelConstraints([(0, "low"), (5, "high")], n_items=8)
    est = fit(labels, WORDS, family="mixed", partition_prior=known)
    assert est.predict_label_proba().columns.tolist() == ["high", "low"]
    features = set(bc.cluster_profiles(est).index.get_level_values("feature"))
    assert features == {"a", "b", "smoker=no", "smoker=yes"}
    assert len(bc.cross_validate(bc.RDPMeans(2.0), X, LINKS, n_folds=2)) == 2


SEARCHED = {
    "a prior on the number of clusters": ("README.md", "bc.plots.prior_sizes"),
    "cross-validation by answers": ("README.md", "bc.cross_validate"),
    "how long will it take": ("docs/howto/large_data.md", "## How long will it take"),
    "wide data": ("docs/howto/large_data.md", r"\*\*Wide data\.\*\*.*principal components"),
    "a plot gallery": ("docs/index.md", r"\[gallery\]\(gallery\.rst\)"),
    "what each cluster is": ("README.md", "bc.cluster_profiles"),
    "labels of some items": ("README.md", "bc.LabelConstraints"),
    "predict from the shell": ("docs/howto/command_line.md", "bayesclust predict"),
    "where kernels are kept": ("docs/howto/troubleshooting.md", "NUMBA_CACHE_DIR"),
    "how to cite": ("README.md", r"To cite bayesclust see \[CITATION\.cff\]"),
    "what power is": ("docs/howto/not_gaussian.md", r"`power=0\.3` the likelihood"),
}


@pytest.mark.parametrize("what", SEARCHED)
def test_what_is_searched_for_is_in_the_docs(what):
    page, words = SEARCHED[what]
    assert re.search(words, (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
