"""Results do not follow the unit, labels have no gaps, extremes are taken."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesclust as bc
from tests.robustness.world import LINKS, PARTITION, SHORT, X

QUICK = {
    "DPMeans": lambda k: bc.DPMeans(n_clusters=k),
    "RDPMeans": lambda k: bc.RDPMeans(n_clusters=k, random_state=0),
    "standardized": lambda k: bc.DPMeans(n_clusters=k, divergence="standardized"),
    "PCK-Means": lambda k: bc.MPCKMeans(k, "euclidean", random_state=0),
    "Supervised-Means": lambda k: bc.MPCKMeans(k, "euclidean", max_iter=0, random_state=0),
}
SLOW = {
    "mahalanobis": lambda: bc.RDPMeans(n_clusters=3, divergence="mahalanobis"),
    "several centres": lambda: bc.RDPMeans(cluster_model="mixture", n_clusters=3, random_state=0),
    "SpectralRDPMeans": lambda: bc.SpectralRDPMeans(n_clusters=3, random_state=0),
    "MPCKMeans": lambda: bc.MPCKMeans(3, random_state=0),
    "MPCKMeans full": lambda: bc.MPCKMeans(3, metric="full", per_cluster=True, random_state=0),
    "MinimalModification": lambda: bc.MinimalModification(0.5, 1.0, time_limit=None),
    "DCRC": lambda: bc.DCRC(3, random_state=0),
    "DCRC rbf": lambda: bc.DCRC(3, kernel="rbf", random_state=0),
    "TVClust": lambda: bc.TVClust(**SHORT),
    "diagonal": lambda: bc.TVClust(family="gaussian_diagonal", **SHORT),
    "spherical": lambda: bc.TVClust(family="gaussian_spherical", **SHORT),
    "tied": lambda: bc.TVClust(family="gaussian_tied", **SHORT),
    "variational": lambda: bc.TVClust("variational", random_state=0, progress=False),
}
FROM, TO = -495, 490
"""Powers of two that take the data from 1e-149 to 1e149; such factors change no digit."""


@st.composite
def tables(draw):
    """Whole numbers with ties, items that are there twice, and constant columns."""
    n, d = draw(st.integers(3, 9)), draw(st.integers(1, 3))
    rows = draw(
        st.lists(st.lists(st.integers(-9, 60), min_size=d, max_size=d), min_size=n, max_size=n)
    )
    table = np.array(rows, dtype=np.float64)
    if draw(st.booleans()):
        table[:, draw(st.integers(0, d - 1))] = draw(st.integers(-9, 60))
    if draw(st.booleans()):
        table[draw(st.integers(0, n - 1))] = table[draw(st.integers(0, n - 1))]
    return table


@pytest.mark.parametrize("name", QUICK)
@given(data=st.data())
@settings(max_examples=25)
def test_results_do_not_follow_the_unit(name, data):
    table = data.draw(tables())
    k = data.draw(st.integers(1, min(3, len(np.unique(table, axis=0)))))
    links = None
    if name in ("RDPMeans", "Supervised-Means"):  # the cost of PCK-Means is in units of the data
        answers = data.draw(st.lists(st.booleans(), min_size=2, max_size=2))
        links = bc.PairwiseConstraints([(0, 1), (1, 2)], answers, len(table))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        moved = table * 2.0 ** data.draw(st.integers(FROM, TO))
        first, second = (QUICK[name](k).fit(X, constraints=links) for X in (table, moved))
    for fit in (first, second):
        np.testing.assert_array_equal(fit.labels_, first.labels_)
        assert sorted(set(fit.labels_.tolist())) == list(range(fit.n_clusters_))
        assert np.isfinite(fit.cluster_centers_).all()


USUAL = ("MPCKMeans", "MinimalModification", "TVClust")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in USUAL else pytest.mark.slow) for name in SLOW],
)
def test_extreme_units(name):
    """Data near 1e-149 and near 1e149, and near where their squares leave the range of floats."""
    more, make = PARTITION.get(name, {}), SLOW[name]
    labels = make().fit(X, constraints=LINKS, **more).labels_
    for power in (FROM, TO) if name in USUAL else (FROM, -330, 330, TO):
        found = make().fit(X * 2.0**power, constraints=LINKS, **more).labels_
        np.testing.assert_array_equal(found, labels, err_msg=str(power))


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in SLOW])
def test_a_place_far_from_zero(name):
    """Whole numbers that are moved by 2^36 are moved exactly; times in milliseconds lie there."""
    more, make = PARTITION.get(name, {}), SLOW[name]
    first, second = (make().fit(X + far, constraints=LINKS, **more) for far in (0.0, 2.0**36))
    np.testing.assert_array_equal(second.labels_, first.labels_)


@pytest.mark.parametrize("seed", range(4))
def test_a_modification_far_from_zero(seed):
    """Groups of items that move together, and anchors, are those of the data near zero."""
    rng, y = np.random.default_rng(seed), np.repeat([0, 1, 2], 20)
    items = (50.0 * y + rng.integers(0, 60, 60))[:, None]
    links = bc.PairwiseConstraints.sample(y, size=12, seed=seed)
    first, second = (
        bc.MinimalModification().fit(items + far, partition=np.roll(y, 3), constraints=links)
        for far in (0.0, 2.0**36)
    )
    np.testing.assert_array_equal(second.labels_, first.labels_)
    assert second.cost_ == first.cost_
