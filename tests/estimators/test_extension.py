"""Posteriors that go on with more items and answers, against enumeration and fits of all."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.constraints import LinkNoise
from bayesclust.estimators import extension
from bayesclust.families import FullGaussian
from bayesclust.metrics import adjusted_rand
from tests.exactness import exact
from tests.exactness.test_two_level import ABOVE, exact_posterior
from tests.refusals import refusal

FAMILY = FullGaussian(scale=0.4, strength=3.0, mean_precision=0.2)
SHORT = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "progress": False}


def two_groups(n, seed=0, d=2):
    """Items in two groups, one after the other in turn, and their groups."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    return rng.normal(0, 1, (n, d)) + 9.0 * group[:, None], group


def grown(n=6, first=4, **settings):
    """A fit of the first of a few items that has gone on with the others and with answers."""
    X = np.random.default_rng(3).normal(0, 1, (n, 2))
    links = bc.PairwiseConstraints([(0, 1), (1, 2), (0, 3)], [1, 0, 1], n_items=first)
    more = bc.PairwiseConstraints([(0, n - 1), (n - 2, n - 1)], [0, 1], n_items=n)
    triplet = bc.RelativeConstraints([(0, n - 1, 2)], ["yes"], n_items=n)
    est = bc.TVClust(family=FAMILY, num_chains=1, num_warmup=50, num_samples=20, random_state=1)
    est.set_params(progress=False, **settings)
    est.fit(X[:first], constraints=links)
    return est.extend(X[first:], constraints=[more, triplet], num_warmup=200, num_samples=3000)


@pytest.mark.parametrize("sampler", ["collapsed", "gibbs", "blocked"])
def test_exact_posterior_of_all_items_and_answers(sampler):
    est = grown(sampler=sampler)
    problem = est._problem
    states, values = exact.log_posterior(
        problem.family, problem.constraints, problem.partition_prior
    )
    result = exact.compare(est.posterior_["posterior"]["z"].values[0], states, values)
    assert [len(one) for one in problem.constraints] == [5, 1]
    assert result.agrees, result
    assert result.number >= 5, "hardly any partition was compared"


def test_exact_posterior_of_mixtures():
    est = grown(n=5, first=3 + 1, cluster_model="mixture")
    draws = est.posterior_["posterior"]
    both = np.concatenate([draws["component"].values[0], draws["z"].values[0] + ABOVE], axis=1)
    result = exact.compare(both, *exact_posterior(est._problem))
    assert result.agrees, result
    assert result.number > 10, "hardly any state was compared"


def test_chains_begin_where_they_ended():
    """New items at the first draw join the cluster that is theirs, and parameters are kept."""
    X, group = two_groups(60)
    est = bc.TVClust(cluster_model="mixture", random_state=0, **SHORT).fit(X[:40])
    last = est.posterior_["posterior"].isel(draw=-1)
    est.extend(X[40:], num_warmup=0, num_samples=1)
    first = est.posterior_["posterior"].isel(draw=0)
    assert first.sizes["item"] == 60
    for z in first["z"].values:
        assert adjusted_rand(z, group) > 0.9
    near = np.log(first["base_scale"].values / last["base_scale"].values)
    assert np.abs(near).max() < 1.0


@pytest.mark.parametrize("family", ["gaussian_tied", "mixed", "bernoulli"])
def test_agrees_with_a_fit_of_all_items(family):
    X, group = two_groups(80, seed=4, d=4)
    data = (X > 4).astype(float) if family == "bernoulli" else X
    est = bc.TVClust(family=family, random_state=2, **SHORT).fit(data[:72])
    est.extend(data[72:], num_samples=100)
    whole = bc.TVClust(family=family, random_state=3, **SHORT).fit(data)
    assert adjusted_rand(est.labels_, group) == adjusted_rand(whole.labels_, group) == 1.0
    gap = bc.similarity_matrix(est.posterior_) - bc.similarity_matrix(whole.posterior_)
    assert np.abs(gap).mean() < 0.05


def test_models_that_were_chosen_go_on():
    """Principal components and classifiers are remembered, and names go with the items."""
    X, group = two_groups(120, seed=5, d=30)
    rng = np.random.default_rng(0)
    links = bc.PairwiseConstraints.sample(group[:100], size=60, seed=rng)
    table = pd.DataFrame(X, index=[f"item {i}" for i in range(120)]).add_prefix("x")
    est = bc.TVClust(random_state=0, **SHORT).fit(table[:100], constraints=links)
    assert est.reduction_ is not None or est.cluster_model_ == "classifier"
    est.extend(table[100:])
    assert est.posterior_["posterior"]["item"].values.tolist() == list(table.index)
    assert adjusted_rand(est.labels_, group) == 1.0
    assert est.predict(table).shape == (120,)


def test_a_refused_extension_changes_nothing():
    X, _ = two_groups(30)
    table = pd.DataFrame(X, index=[f"item {i}" for i in range(30)])
    est = bc.TVClust(random_state=0, **SHORT).fit(table[:24])
    wrong = bc.PairwiseConstraints([(0, 1)], [0], 24)
    assert "on 24 items, but X has 30" in refusal(
        "est.extend(X, constraints=wrong)", {"est": est, "X": table[24:], "wrong": wrong}
    )
    est.set_params(num_chains=3)  # chains go on, as many as there are
    est.extend(table[24:])
    assert est.posterior_["posterior"]["item"].values.tolist() == list(table.index)
    assert est.posterior_["posterior"].sizes["chain"] == SHORT["num_chains"]


def test_classifiers_go_on(monkeypatch):
    from bayesclust.estimators import cluster_models

    def classifier(candidates, constraints, tried, *rest):
        return cluster_models.Choice("classifier", 1.0, "logistic", 2, n_classes=2), None

    monkeypatch.setattr(cluster_models, "choose", classifier)
    X, group = two_groups(60, seed=6)
    links = bc.PairwiseConstraints.sample(group[:50], size=40, seed=1)
    more = bc.PairwiseConstraints.sample(group, size=20, seed=2)
    est = bc.TVClust(random_state=0, **SHORT).fit(X[:50], constraints=links)
    est.extend(X[50:], constraints=more)
    assert est.cluster_model_ == "classifier"
    assert adjusted_rand(est.labels_, group) == 1.0
    assert len(est._problem.constraints[0]) == 60
    assert est.predict_proba(X).shape == (60, est.n_clusters_)


def test_sources_are_told_by_name():
    X, _ = two_groups(30)
    old = bc.PairwiseConstraints([(0, 2), (1, 4)], [1, 0], 30, source=["ann", "bob"])
    new = bc.PairwiseConstraints([(0, 4), (1, 2)], [1, 0], 30, source=["eve", "ann"])
    est = bc.TVClust(random_state=0, **SHORT).fit(X, constraints=old).extend(constraints=new)
    (joined,) = est._problem.constraints
    assert joined.source_names == ("ann", "bob", "eve")
    assert joined.source.tolist() == [0, 1, 2, 0]
    assert est.posterior_["posterior"]["p"].shape[-1] == 3
    assert bc.source_reliability(est.posterior_)["source"].unique().tolist() == [
        "ann",
        "bob",
        "eve",
    ]


def test_numbers_of_sources_are_names_beside_numbers_that_are():
    first, further = ([0, 1], [1, 1])
    rows = {"i": [0, 1], "j": [2, 4], "answer": ["same", "different"]}
    old = bc.PairwiseConstraints.from_frame(pd.DataFrame(rows | {"source": first}), n_items=6)
    new = bc.PairwiseConstraints.from_frame(pd.DataFrame(rows | {"source": further}), n_items=6)
    (joined,) = extension.with_more([old], [new], 6)
    assert (old.source_names, new.source_names) == (None, ("1",))
    assert joined.source_names == ("0", "1")
    assert joined.source.tolist() == [0, 1, 1, 1]


def test_answers_without_data_go_on():
    y = np.repeat([0, 1], 10)
    first, more = (bc.PairwiseConstraints.sample(y, size=40, seed=seed) for seed in range(2))
    est = bc.TVClust(random_state=0, **SHORT).fit(None, constraints=first)
    est.extend(constraints=more, num_warmup=50, num_samples=50)
    assert len(bc.constraint_credibility(est)) == 80
    assert adjusted_rand(est.labels_, y) > 0.9
    with pytest.raises(ValueError, match="the fit had no data: it takes no new items"):
        est.extend([[1.0]])
    for method in (est.predict, est.predict_proba, est.score_samples, est.predict_novelty):
        with pytest.raises(ValueError, match="the fit had no data: it takes no new items"):
            method([[1.0]])


def test_names_that_the_fit_has_are_refused_and_nothing_changes():
    X, _ = two_groups(10)
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(10)], columns=["a", "b"])
    est = bc.TVClust(random_state=0, **SHORT).fit(frame)
    with pytest.raises(ValueError, match=r"^an item of the fit is called 's0', too: give new ones"):
        est.extend(frame[:2])
    est.extend(frame[:2].set_axis(["t0", "t1"]), num_samples=5)
    assert est.posterior_["posterior"]["item"].values[-3:].tolist() == ["s9", "t0", "t1"]


@pytest.fixture
def fitted():
    X, _ = two_groups(20)
    links = bc.PairwiseConstraints([(0, 1)], [0], 20)
    est = bc.TVClust(random_state=0, **SHORT).fit(X, constraints=links)
    field = bc.TVClust(sampler="variational", random_state=0, progress=False).fit(X)
    other = links.with_noise(replace(links.noise, p=0.9))
    kind = bc.RelativeConstraints([(0, 1, 2)], ["yes"], 20, name="links")
    paired = bc.LabelConstraints([(0, "a")], 20, noise=LinkNoise())
    both = {"kind": kind, "paired": paired}
    return {"X": X, "links": links, "other": other, "est": est, "field": field, **both}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("est.extend()", "there is nothing new"),
        ("est.extend(X[:, :1])", "feature"),
        ("est.extend(X, num_samples=0)", "num_samples"),
        ("est.extend(X[:2], constraints=links)", "on 20 items, but X has 22"),
        ("est.extend(constraints=other)", "another noise model"),
        (
            "est.extend(constraints=kind)",
            "'relative', and those of this name in the fit of the kind",
        ),
        ("est.extend(constraints=[paired])", "labels that become pairs under a LinkNoise"),
        ("field.extend(X)", "has no chains"),
    ],
)
def test_refusals(fitted, call, said):
    assert said in refusal(call, fitted)
    assert len(fitted["est"].labels_) == 20
