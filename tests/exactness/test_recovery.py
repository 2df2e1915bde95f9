"""What the defaults are for: from data with doubtful answers, find who errs how often, and which answers are wrong."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import bayesclust as bc


@pytest.fixture(scope="module")
def data():
    """Ninety items in three clusters that touch, two sources of links: one errs in 8%, one in 30% of its answers."""
    rng = np.random.default_rng(7)
    labels = np.arange(90) % 3
    centres = np.array([[0.0, 0.0], [3.2, 0.0], [1.6, 3.0]])
    X = centres[labels] + rng.normal(size=(90, 2))
    pairs = np.array([rng.choice(90, 2, replace=False) for _ in range(400)])
    source = np.arange(400) % 2
    flipped = rng.random(400) < np.array([0.08, 0.3])[source]
    same = (labels[pairs[:, 0]] == labels[pairs[:, 1]]) ^ flipped
    return X, labels, bc.PairwiseConstraints(pairs, same, n_items=90, source=source), flipped


@pytest.fixture(scope="module")
def fitted(data):
    X, _, links, _ = data
    est = bc.TVClust(num_chains=2, num_warmup=300, num_samples=300, random_state=0, progress=False)
    return est.fit(X, constraints=links)


def test_clusters(data, fitted):
    assert fitted.n_clusters_ == 3
    assert adjusted_rand_score(data[1], fitted.labels_) > 0.85


def test_error_rates_of_each_source(data, fitted):
    _, labels, links, flipped = data
    draws = fitted.posterior_["posterior"]
    same = labels[links.items[:, 0]] == labels[links.items[:, 1]]
    for name, which in (("p", same), ("q", ~same)):
        values = draws[name].values.reshape(-1, 2)
        for source in (0, 1):
            asked = which & (links.source == source)
            share_right = 1 - flipped[asked].mean()
            low, high = np.quantile(values[:, source], [0.005, 0.995])
            assert low < share_right < high
            assert values[:, source].mean() == pytest.approx(share_right, abs=0.08)
    assert (draws["q"].values[..., 0] > draws["q"].values[..., 1]).mean() > 0.99


def test_wrong_answers_are_told_from_right_ones(data, fitted):
    _, _, links, flipped = data
    frame = bc.constraint_credibility(fitted.posterior_)
    credibility = frame["credibility"].to_numpy()
    assert len(credibility) == len(links)
    assert roc_auc_score(~flipped, credibility) > 0.97
    # stated probabilities are the shares they claim to be
    assert credibility.mean() == pytest.approx(1 - flipped.mean(), abs=0.04)
