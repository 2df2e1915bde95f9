"""Results follow neither layout nor unit, labels have no gaps, extremes are taken or refused."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesclust as bc
from bayesclust.checks import check_items
from tests.robustness.layouts import NUMBERS, ORDERS
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


def arranged(draw, table):
    """The same numbers in another type, container and order."""
    wanted = [name for name in NUMBERS if table.min() >= 0 or not name.startswith("uint")]
    return ORDERS[draw(st.sampled_from(sorted(ORDERS)))](
        table.astype(draw(st.sampled_from(wanted)))
    )


@given(data=st.data())
@settings(max_examples=200)
def test_check_items_reads_any_layout(data):
    table = data.draw(tables())
    given_as = arranged(data.draw, table)
    before = given_as.copy()
    read = check_items(given_as)
    np.testing.assert_array_equal(read, table)
    np.testing.assert_array_equal(given_as, before)
    assert read.dtype == np.float64
    assert read.flags.c_contiguous


@pytest.mark.parametrize("name", QUICK)
@given(data=st.data())
@settings(max_examples=25)
def test_results_follow_neither_layout_nor_unit(name, data):
    table = data.draw(tables())
    k = data.draw(st.integers(1, min(3, len(np.unique(table, axis=0)))))
    links = None
    if name in ("RDPMeans", "Supervised-Means"):  # the cost of PCK-Means is in units of the data
        answers = data.draw(st.lists(st.booleans(), min_size=2, max_size=2))
        links = bc.PairwiseConstraints([(0, 1), (1, 2)], answers, len(table))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fits = [
            QUICK[name](k).fit(values, constraints=links)
            for values in (
                table,
                arranged(data.draw, table),
                table * 2.0 ** data.draw(st.integers(FROM, TO)),
            )
        ]
    for fit in fits:
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)
        assert sorted(set(fit.labels_.tolist())) == list(range(fit.n_clusters_))
        assert np.isfinite(fit.cluster_centers_).all()


def check_units(make, name, powers):
    more = PARTITION.get(name, {})
    labels = make().fit(X, constraints=LINKS, **more).labels_
    for power in powers:
        found = make().fit(X * 2.0**power, constraints=LINKS, **more).labels_
        np.testing.assert_array_equal(found, labels, err_msg=str(power))


@pytest.mark.parametrize("name", ["MPCKMeans", "MinimalModification", "TVClust"])
def test_extreme_units(name):
    """Data near 1e-149 and near 1e149; every estimator is in the slow suite."""
    check_units(SLOW[name], name, (FROM, TO))


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_all_extreme_units(name):
    check_units(SLOW[name], name, (FROM, -400, -330, -100, 100, 330, 400, TO))
