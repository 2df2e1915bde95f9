"""RDPMeans and DPMeans with every divergence, every kind of answers and every start."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.families import as_divergence
from bayesclust.families.gaussian import Mahalanobis
from tests.inference.limits.reference import KINDS


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


def groups(labels):
    """A partition free of label numbers."""
    return (np.asarray(labels)[:, None] == labels).tolist()


def fails(error, sentence, call):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == sentence


def separated(name, rng):
    """Two clusters that every divergence can tell apart, with empty cells where the name says so."""
    y = np.repeat([0, 1], 30)
    real = rng.normal(size=(60, 2)) + 8.0 * y[:, None]
    ones = (rng.random((60, 8)) < np.where(y[:, None] == 1, 0.9, 0.1)).astype(float)
    if name in ("euclidean", "mahalanobis", "standardized"):
        X = real
    elif name == "kl" or name.startswith("poisson"):
        X = rng.poisson(np.where(y[:, None] == 1, [1.0, 20.0, 5.0], [20.0, 1.0, 5.0])).astype(float)
    elif name == "bernoulli":
        X = ones
    elif name.startswith("categorical"):
        X = ones + (rng.random((60, 8)) < 0.05)
    else:
        X = np.column_stack([real, ones[:, 0], ones[:, 1] + (rng.random(60) < 0.1)])
    if name.endswith("holes"):
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


@pytest.mark.parametrize("name", KINDS)
def test_every_divergence_finds_what_is_there(rng, name):
    X, y = separated(name, rng)
    links = bc.PairwiseConstraints.sample(y, size=40, seed=0)
    divergence = as_divergence(KINDS[name]).bind(X)
    points = divergence.points(X)
    penalty = 0.25 * divergence.between(points, points.mean(axis=0)[None]).sum()
    for constraints in (None, links):
        est = bc.RDPMeans(penalty, divergence=KINDS[name], n_init=8, random_state=0).fit(
            X, constraints=constraints
        )
        assert bc.metrics.adjusted_rand(y, est.labels_) > 0.9
        assert np.isfinite(est.cluster_centers_).all()
        assert np.isfinite(est.objective_path_).all()
        assert (est.predict(X) == est.labels_).mean() > 0.9
    assert bc.DPMeans(divergence=KINDS[name]).fit(X).n_clusters_ >= 2  # a penalty from the data


def test_centres_are_in_the_units_of_the_data(rng):
    X, _ = separated("poisson with holes", rng)
    est = bc.DPMeans(n_clusters=2, divergence="poisson").fit(X)
    for k, center in enumerate(est.cluster_centers_):
        np.testing.assert_allclose(center, np.nanmean(X[est.labels_ == k], axis=0))
    real = rng.normal(size=(40, 3)) * [1.0, 1e3, 1e-2] + 7.0
    for divergence in ("mahalanobis", "standardized"):
        est = bc.DPMeans(n_clusters=3, divergence=divergence).fit(real)
        for k, center in enumerate(est.cluster_centers_):
            np.testing.assert_allclose(center, real[est.labels_ == k].mean(axis=0))


def plain_objective(est, X, terms):
    data = np.square(X - est.cluster_centers_[est.labels_]).sum()
    return data + est.penalty_ * est.n_clusters_ + terms


def test_views_and_sources_have_their_own_confidence(blobs):
    X, y = blobs
    first = bc.PairwiseConstraints.sample(
        y, size=80, error_rate=0.1, n_sources=2, seed=0, name="first"
    )
    second = bc.PairwiseConstraints.sample(y, size=60, error_rate=0.3, seed=1, name="second")
    triplets = bc.RelativeConstraints.sample(y, size=90, error_rate=0.2, seed=2)
    costs = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [0.7, 0.7, 0.0]])
    xi = {"first": {0: 2.0, 1: (1.0, 0.5)}, "second": (0.3, 0.1), "triplets": costs}
    est = bc.RDPMeans(penalty=12.0, xi=xi).fit(X, constraints=[first, second, triplets])
    z, terms = est.labels_, 0.0
    weight = {("first", 0): (2.0, 2.0), ("first", 1): (1.0, 0.5), ("second", 0): (0.3, 0.1)}
    for view in (first, second):
        for (i, j), answer, source in zip(view.items, view.answers, view.source, strict=True):
            may, may_not = weight[view.name, int(source)]
            terms += (z[i] == z[j]) * (-may if answer == 1 else may_not)
    terms += sum(
        costs[truth, answer]
        for truth, answer in zip(triplets.truths(z), triplets.answers, strict=True)
    )
    assert est.objective_ == pytest.approx(plain_objective(est, X, terms))
    assert (np.diff(est.objective_path_) <= 1e-9 * np.abs(est.objective_path_[:-1])).all()
    assert est.xi_["first"].tolist() == [[2.0, 2.0], [1.0, 0.5]]
    assert est.xi_["second"].tolist() == [[0.3, 0.1]]
    np.testing.assert_array_equal(est.xi_["triplets"], [costs])


def test_one_number_counts_true_triplet_answers(blobs):
    X, y = blobs
    triplets = bc.RelativeConstraints.sample(y, size=90, error_rate=0.2, seed=2)
    est = bc.RDPMeans(penalty=12.0, xi=1.5).fit(X, constraints=triplets)
    true = int((triplets.truths(est.labels_) == triplets.answers).sum())
    assert est.objective_ == pytest.approx(plain_objective(est, X, -1.5 * true))


def test_triplets_alone_join_and_part(rng):
    """Data without clusters: what the answers say decides."""
    y = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 2))
    triplets = bc.RelativeConstraints.sample(y, size=800, error_rate=0.0, seed=0)
    for xi in (float("inf"), None):
        est = bc.RDPMeans(n_clusters=2, xi=xi, n_init=5, random_state=0).fit(
            X, constraints=triplets
        )
        assert groups(est.labels_) == groups(y)
        assert set(est.xi_) == {"triplets"}


def test_a_warm_start_is_where_passes_begin(blobs, rng):
    X, y = blobs
    for init in (y, [f"cluster {k}" for k in y], bc.DPMeans(n_clusters=3).fit(X)):
        est = bc.RDPMeans(penalty=30.0, xi=0.0, init=init).fit(X)
        labels = np.asarray(init.labels_ if isinstance(init, bc.DPMeans) else init)
        centers = np.stack([X[labels == name].mean(axis=0) for name in np.unique(labels)])
        inside = np.square(X - centers[np.unique(labels, return_inverse=True)[1]]).sum()
        assert est.objective_path_[0] <= inside + 90.0 + 1e-9
    far = bc.DPMeans(penalty=1e-6, init=rng.permutation(120)).fit(X)
    assert far.n_clusters_ == 120


def test_a_posterior_is_a_start(blobs):
    X, y = blobs
    links = bc.PairwiseConstraints.sample(y, size=60, error_rate=0.1, seed=0)
    chains = bc.TVClust(num_chains=2, num_warmup=60, num_samples=60, random_state=0, progress=False)
    chains.fit(X, constraints=links)
    given = [chains, chains.posterior_, chains.labels_]
    ends = [
        bc.RDPMeans(penalty=12.0, xi=1.0, init=init).fit(X, constraints=links).objective_
        for init in given
    ]
    assert ends[0] == ends[1] == ends[2]


def test_a_random_order_is_told_by_the_seed(blobs):
    X, _ = blobs
    settings = {"penalty": 1.5, "order": "random"}
    first = [
        bc.DPMeans(**settings, random_state=seed).fit(X).objective_ for seed in (0, 0, 1, 2, 3)
    ]
    assert first[0] == first[1]
    assert len(set(first)) > 1


def test_a_covariance_of_ones_own(blobs):
    X, _ = blobs
    wide = np.diag([1e6, 1.0])
    est = bc.DPMeans(penalty=6.0, divergence=Mahalanobis(wide)).fit(X)
    assert groups(est.labels_) == groups(bc.DPMeans(penalty=6.0).fit(X[:, 1:]).labels_)


GOOD = np.arange(12.0).reshape(6, 2)
LINKS = bc.PairwiseConstraints([(0, 1)], [True], n_items=6)
TRIPLETS = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=6)

XI = {
    "a pair beside triplets": (
        (1.0, 2.0),
        "xi=(1.0, 2.0) says nothing about triplets: give a dict by the names of the constraints, "
        "{'links': ..., 'triplets': ...}.",
    ),
    "no entry": (
        {"links": 1.0},
        "xi has no entry for the constraints 'triplets': give one to each, 0 to leave it aside.",
    ),
    "an unknown view": (
        {"links": 1.0, "triplets": 1.0, "more": 1.0},
        "xi names the constraints 'more', but there are 'links' and 'triplets': use these names.",
    ),
    "a source too many": (
        {"links": {0: 1.0, 1: 2.0}, "triplets": 1.0},
        "xi['links'] is for the sources [0, 1], but the answers come from 1 numbered from 0: give each an entry.",
    ),
}


@pytest.mark.parametrize("case", XI)
def test_confidence_by_view(case):
    xi, sentence = XI[case]
    fails(ValueError, sentence, lambda: bc.RDPMeans(xi=xi).fit(GOOD, constraints=[LINKS, TRIPLETS]))
