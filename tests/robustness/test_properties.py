"""Results follow neither layout nor unit, labels have no gaps, extremes are taken or refused."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesclust as bc
from bayesclust.checks import LARGEST, check_items
from tests.robustness import world
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


@given(power=st.floats(150.01, 300.0), sign=st.sampled_from([-1.0, 1.0]))
def test_values_too_large_are_refused(power, sign):
    values = X.copy()
    values[1, 0] = sign * 10.0**power
    assert abs(values[1, 0]) > LARGEST
    with pytest.raises(
        ValueError, match=r"^X has values beyond 1e\+150 in row 1: rescale the features\.$"
    ):
        bc.DPMeans(penalty=1.0).fit(values)


labels = st.lists(st.integers(-5, 5), min_size=1, max_size=9)


@given(data=st.data(), z=labels)
@settings(max_examples=30)
def test_scores_do_not_depend_on_names_of_labels(data, z):
    """Under other names, types and orders scores and losses are the same."""
    other = data.draw(st.lists(st.integers(0, 3), min_size=len(z), max_size=len(z)))
    names = data.draw(st.permutations(range(100, 111)))
    kind = data.draw(st.sampled_from(["int16", "uint8", ">i4", "int64"]))
    renamed = np.array([names[label + 5] for label in z], dtype=kind)
    renamed = ORDERS[data.draw(st.sampled_from(sorted(ORDERS)))](renamed)
    for score in (
        bc.metrics.adjusted_rand,
        bc.metrics.nmi,
        bc.metrics.pairwise_f,
        bc.metrics.variation_of_information,
    ):
        assert score(renamed, other) == pytest.approx(score(z, other), abs=1e-12)
    for loss in (bc.losses.VI(), bc.losses.Binder(), bc.losses.NVI()):
        assert loss.loss(renamed, other) == pytest.approx(loss.loss(z, other), abs=1e-12)
        assert loss.loss(z, renamed) == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(bc.posterior.canonical(z), bc.posterior.canonical(renamed))


def test_polars_frames_are_read():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=["a", "b"])
    np.testing.assert_array_equal(check_items(frame), X)
    np.testing.assert_array_equal(
        bc.DPMeans(penalty=200.0).fit(frame).labels_, world.fitted("DPMeans").labels_
    )
