"""A fit keeps nothing of an earlier one or, where it fails, all of it."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.inference import runner

SHORT = {"num_chains": 2, "num_warmup": 20, "num_samples": 30, "progress": False}
Y = np.repeat([0, 1], 30)
RNG = np.random.default_rng(1)
TABLE = pd.DataFrame(
    {"a": RNG.normal(0, 1, 60) + 10 * Y, "b": RNG.normal(20, 1, 60) - 20 * Y},
)
ELSEWHERE = bc.PairwiseConstraints([(0, 1)], [True], n_items=7)
ESTIMATORS = [
    bc.TVClust(cluster_model="single", random_state=0, **SHORT),
    bc.RDPMeans(),
    bc.SpectralRDPMeans(),
    bc.MPCKMeans(2),
    bc.DCRC(2),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_refused_fit_leaves_the_earlier_one(estimator):
    """Columns in another order, refused for their constraints, would be read as the old ones."""
    new = TABLE.iloc[[0, 59]]
    est = estimator.fit(TABLE)
    before = dict(vars(est))
    placed = est.predict(new)
    with pytest.raises(ValueError, match="on 7 items, but X has 60"):
        est.fit(TABLE[["b", "a"]], constraints=ELSEWHERE)
    assert vars(est).keys() == before.keys()
    assert all(vars(est)[name] is own for name, own in before.items())
    np.testing.assert_array_equal(est.predict(new), placed)


def test_an_interrupted_fit_leaves_the_earlier_one(monkeypatch):
    est = bc.TVClust(cluster_model="mixture", random_state=0, **SHORT).fit(TABLE)
    before = dict(vars(est))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("bayesclust.estimators.tvclust.run_chains", interrupted)
    assert runner.run_chains is not interrupted
    with pytest.raises(KeyboardInterrupt):
        est.set_params(cluster_model="single").fit(TABLE)
    assert est.cluster_model == "single"  # as it was set
    assert {**vars(est), "cluster_model": "mixture"} == before


def test_a_fit_has_no_attributes_of_an_earlier_one():
    est = bc.TVClust("variational", random_state=0, **SHORT).fit(TABLE)
    assert len(est.responsibilities_) == 60
    est.set_params(sampler="collapsed", cluster_model="single").fit(TABLE[:40])
    assert len(est.labels_) == 40
    for name in ("responsibilities_", "bound_", "bound_path_", "converged_"):
        assert name not in vars(est)


def test_a_fit_may_start_from_its_own_labels():
    est = bc.TVClust(cluster_model="single", random_state=0, **SHORT).fit(TABLE)
    again = est.fit(TABLE, init=est)
    assert again is est
    assert est.n_clusters_ == 2


class Centred(bc.RDPMeans):
    """An estimator of one's own, with state and a parameter that end in an underscore."""

    def __init__(self, lambda_=3.0, n_clusters=None):
        super().__init__(n_clusters=n_clusters)
        self.lambda_ = lambda_

    def fit(self, X, y=None, *, constraints=None):
        self.tried_ = []
        for scale in (1.0, 2.0):
            self.mean_ = scale * np.mean(X, axis=0)
            super().fit(X - self.mean_, constraints=constraints)
            self.tried_.append(self.objective_)
        return self

    def __getstate__(self):
        raise TypeError("not to be copied")


def test_a_subclass_keeps_what_its_fit_sets():
    X = TABLE.to_numpy()
    est = Centred(n_clusters=2).fit(X)
    np.testing.assert_allclose(est.mean_, 2 * X.mean(axis=0))
    assert len(est.tried_) == 2
    assert est.get_params()["lambda_"] == 3.0
    before = dict(vars(est))
    with pytest.raises(ValueError, match="on 7 items"):
        est.fit(X, constraints=ELSEWHERE)
    assert vars(est) == before
