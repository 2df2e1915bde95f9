"""Entity resolution: fits of scores alone, whose clusters are linked by candidates."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.moves.candidate_links import link_up, linked_start
from bayesclust.partition_priors import CandidateLinks, Microclustering
from tests.exactness.exact import codes

SHORT = {"num_chains": 2, "num_warmup": 120, "num_samples": 150, "progress": False}


def records(n=400, seed=0):
    """(pairs, scores (k, 3), person): people of one to four records, in blocks of three."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(n), rng.integers(1, 5, size=n))[:n])
    block = rng.permutation(n)[person] // 3
    i, j = np.triu_indices(n, 1)
    found = (block[i] == block[j]) & (rng.random(len(i)) < 0.95)
    pairs = np.column_stack([i, j])[found]
    same = (person[pairs[:, 0]] == person[pairs[:, 1]])[:, None]
    scores = np.where(same, rng.beta(6, 3, (len(same), 3)), rng.beta(3, 5, (len(same), 3)))
    return pairs, scores, person


def test_people_are_found_and_draws_are_connected_by_candidates():
    pairs, scores, person = records()
    columns = np.tile(["name", "town", "born"], len(pairs))
    every = np.repeat(pairs, 3, axis=0)
    given = bc.PairwiseConstraints.from_scores(every, scores.ravel(), 400, source=columns)
    est = bc.TVClust(partition_prior=CandidateLinks(pairs, 400), random_state=0, **SHORT)
    est.fit(None, constraints=given)
    same, found = (z[pairs[:, 0]] == z[pairs[:, 1]] for z in (person, est.labels_))
    at_best = min((same != (scores.mean(axis=1) >= t)).sum() for t in np.linspace(0.2, 0.9, 71))
    assert (found != same).sum() < 0.75 * at_best
    near = CandidateLinks(pairs, 400).candidates
    for z in est.posterior_["posterior"]["z"].values[:, -1].astype(np.int64):
        links = np.full(400, -1)
        assert link_up(near, z, links) == z.max() + 1
    assert "observed_data" not in est.posterior_.children
    assert bc.diagnose(est).ok
    credibility = bc.constraint_credibility(est.posterior_)
    assert len(credibility) == 3 * len(pairs)
    assert set(est.to_arviz(num_prior_draws=20).children) > {"prior", "log_likelihood"}


def test_scores_alone_are_enough_without_candidates():
    table = pd.DataFrame({"i": list("abc"), "j": list("bcd"), "score": [0.99, 0.99, 0.01]})
    given = [bc.PairwiseConstraints.from_frame(table, ids=list("abcd")) for _ in range(3)]
    est = bc.TVClust(partition_prior=Microclustering(), random_state=0, **SHORT)
    est.fit(None, constraints=given)
    assert codes(est.labels_[None]) == codes(np.array([[0, 0, 0, 1]]))
    assert est.posterior_["posterior"]["item"].values.tolist() == ["a", "b", "c", "d"]


def test_starts_are_of_the_best_answers():
    pairs = np.array([(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8), (9, 10), (10, 11)])
    scores = [0.99, 0.96, 0.92, 0.85, 0.7, 0.6, 0.2, 0.1]
    given = bc.PairwiseConstraints.from_scores(pairs, scores, 12)
    family = bc.families.Bernoulli(strength=1.0).bind(np.full((12, 1), np.nan))
    problem = TVClustProblem(family, (given,), CandidateLinks(pairs[:-3], 12))
    # answers about others than candidates do not count
    numbers = [int(linked_start(problem, chain).max()) + 1 for chain in range(5)]
    assert numbers == [11, 10, 9, 7, 11]
    none = TVClustProblem(family, (), CandidateLinks(pairs, 12))
    assert linked_start(none, 3).tolist() == list(range(12))


def test_refusals_say_what_to_do():
    prior = CandidateLinks([(0, 1), (1, 2)], 3)
    given = bc.PairwiseConstraints.from_scores([(0, 1)], [0.9], 3)

    def fit(X=None, constraints=given, init=None, **settings):
        return bc.TVClust(**{"partition_prior": prior, **SHORT, **settings}).fit(
            X, constraints=constraints, init=init
        )

    with pytest.raises(ValueError, match="no constraints are given: pass the data"):
        fit(constraints=None)
    for settings in ({"sampler": "gibbs"}, {"moves": bc.Moves()}):
        with pytest.raises(ValueError, match="leave sampler, cluster_model and moves"):
            fit(**settings)
    with pytest.raises(ValueError, match="are of 3 items, but there are 4"):
        fit(np.zeros((4, 1)), None)
    with pytest.raises(ValueError, match="no candidates connect"):
        fit(init=[0, 1, 0])
    with pytest.raises(ValueError, match=r"pairs\[0\] names item 3"):
        CandidateLinks([(0, 3)], 3)
    est = fit(num_samples=5, num_warmup=5)
    with pytest.raises(ValueError, match="fit all again"):
        est.extend([[0.0]])
    with pytest.raises(ValueError, match="the fit had no data: it takes no new items"):
        est.predict([[0.0]])
    est = fit(np.array([[0.0], [0.1], [5.0]]), num_samples=5, num_warmup=5)
    with pytest.raises(ValueError, match="none for new items"):
        est.predict([[0.0]])


def test_what_needs_no_formula_of_the_prior_works():
    """Profiles, classes of clusters without labels and comparisons, of data with candidates."""
    y = np.repeat([0, 1, 2], 10)
    X = np.random.default_rng(0).normal(8.0 * np.c_[y == 1, y == 2], 1.0)
    i, j = np.triu_indices(30, 1)
    pairs = np.c_[i, j][y[i] == y[j]]
    labels = bc.LabelConstraints([(0, "a"), (10, "b"), (11, "b")], 30)
    links = bc.PairwiseConstraints.sample(y, size=40, seed=0)
    prior = CandidateLinks(pairs, 30, recall=0.9)
    est = bc.TVClust(partition_prior=prior, random_state=0, **SHORT)
    est.fit(X, constraints=[links, labels])
    proba = est.predict_label_proba()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (proba.loc[y == 1, "b"] > 0.7).all()
    np.testing.assert_allclose(proba.loc[y == 2, "a"], proba.loc[y == 2, "b"], atol=0.2)
    profiles = bc.cluster_profiles(est)
    assert profiles["weight"].groupby("cluster").first().sum() == pytest.approx(1.0, abs=0.05)
    assert bc.compare({"fit": est, "truth": y}).loc["truth", "n_clusters"] == 3
