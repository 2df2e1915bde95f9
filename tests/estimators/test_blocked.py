"""The front door to the blocked sampler."""

import numpy as np
import pytest

import bayesclust as bc

SHORT = {"num_chains": 2, "num_warmup": 60, "num_samples": 40, "progress": False}


@pytest.fixture(scope="module")
def answered():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = np.array([[0, 0], [9, 0], [0, 9]])[y] + rng.normal(size=(60, 2))
    return X, y, bc.PairwiseConstraints.sample(y, size=40, error_rate=0.1, seed=1)


def draws(est):
    return {
        name: np.asarray(array) for name, array in est.posterior_["posterior"].data_vars.items()
    }


def test_blocked_draws_have_the_shapes_of_others(answered):
    X, y, links = answered
    est = bc.TVClust("blocked", random_state=0, **SHORT).fit(X, constraints=links)
    assert bc.metrics.adjusted_rand(est.labels_, y) > 0.9
    other = bc.TVClust(
        "collapsed", random_state=0, num_chains=2, num_warmup=5, num_samples=40, progress=False
    )
    shapes = {name: array.shape for name, array in draws(other.fit(X, constraints=links)).items()}
    assert {name: array.shape for name, array in draws(est).items()} == shapes
    assert est.posterior_["sample_stats"]["log_joint"].shape == (2, 40)


@pytest.mark.parametrize("sampler", ["blocked", "variational"])
def test_moves_are_refused_by_samplers_without_them(answered, sampler):
    with pytest.raises(ValueError, match=f"^moves is given, but sampler='{sampler}' has no moves"):
        bc.TVClust(sampler, moves=bc.Moves()).fit(answered[0])
