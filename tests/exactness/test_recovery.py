"""The defaults find who errs how often, and which answers are wrong, from noisy data."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import bayesclust as bc

BAD, ERRORS = 1, np.array([0.05, 0.3, 0.05])


@pytest.fixture(scope="module")
def data():
    """120 items in three clusters that touch; three sources of links, one of which errs in 30%."""
    rng = np.random.default_rng(7)
    labels = np.arange(120) % 3
    X = np.array([[0.0, 0.0], [3.2, 0.0], [1.6, 3.0]])[labels] + rng.normal(size=(120, 2))
    links = bc.PairwiseConstraints.sample(
        labels, size=900, error_rate=ERRORS.tolist(), n_sources=3, seed=0
    )
    return X, labels, links


@pytest.fixture(scope="module")
def fitted(data):
    X, _, links = data
    est = bc.TVClust(num_chains=2, num_warmup=150, num_samples=200, random_state=0, progress=False)
    return est.fit(X, constraints=links)


def test_clusters_are_found(data, fitted):
    assert fitted.n_clusters_ == 3
    assert adjusted_rand_score(data[1], fitted.labels_) > 0.85


@pytest.mark.parametrize("parameter", ["p", "q"])
def test_reliability_of_each_source_is_learned(data, fitted, parameter):
    _, labels, links = data
    same = labels[links.items[:, 0]] == labels[links.items[:, 1]]
    asked = same if parameter == "p" else ~same
    table = bc.source_reliability(fitted).set_index(["parameter", "source"]).loc[parameter]
    for source in range(3):
        right = 1 - links.flipped[asked & (links.source == source)].mean()
        row = table.loc[source]
        assert abs(row["mean"] - right) < 4 * row["sd"] + 0.01
        assert row["mean"] == pytest.approx(right, abs=0.08)
    assert table.loc[BAD, "upper"] < table.drop(index=BAD)["lower"].min()


def test_credibility_finds_the_wrong_answers(data, fitted):
    _, _, links = data
    credibility = bc.constraint_credibility(fitted)["credibility"]
    assert links.flipped.sum() > 90
    assert roc_auc_score(links.flipped, 1 - credibility) >= 0.95
    # stated probabilities are the shares they claim to be
    assert credibility.mean() == pytest.approx(1 - links.flipped.mean(), abs=0.04)


def test_checks_find_that_the_model_fits(fitted):
    conflict = bc.view_conflict(fitted)
    assert conflict["finding"].tolist() == ["agrees"] * 3
    assert conflict["gain_over_marginal"].idxmin() == BAD
    checked = bc.constraint_ppc(fitted, num_draws=100)
    # a few of the fifteen checks or so may be extreme by chance
    assert (checked["finding"] != "as expected").mean() < 0.2
