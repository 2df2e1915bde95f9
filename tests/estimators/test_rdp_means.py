"""RDPMeans and DPMeans as users call them, with one centre a cluster or several."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons

import bayesclust as bc
from bayesclust.families import as_divergence
from tests.inference.limits.reference import KINDS
from tests.refusals import refused

SHORT = {"num_chains": 2, "num_warmup": 60, "num_samples": 20, "progress": False, "random_state": 0}
CORNERS = np.array([[0.0, 0.0], [8.0, 8.0], [0.0, 8.0], [8.0, 0.0]])


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


def groups(labels):
    """A partition free of label numbers."""
    return (np.asarray(labels)[:, None] == labels).tolist()


def link_terms(links, z, xi1, xi2):
    """The links' share of J."""
    together = z[links.items[:, 0]] == z[links.items[:, 1]]
    may = links.answers == 1
    return xi2 * (together & ~may).sum() - xi1 * (together & may).sum()


def plain_objective(est, X, terms):
    data = np.square(X - est.cluster_centers_[est.labels_]).sum()
    return data + est.penalty_ * est.n_clusters_ + terms


def test_attributes_fit_together(blobs):
    X, y = blobs
    links = bc.PairwiseConstraints.sample(y, size=200, error_rate=0.1, seed=0)
    est = bc.RDPMeans(n_clusters=3, random_state=0).fit(X, constraints=links)
    assert sorted(set(est.labels_)) == list(range(est.n_clusters_))
    for k in range(est.n_clusters_):
        np.testing.assert_allclose(est.cluster_centers_[k], X[est.labels_ == k].mean(axis=0))
    assert est.n_iter_ == len(est.objective_path_)
    assert est.objective_ == est.objective_path_[-1]
    assert est.n_features_in_ == 2
    terms = link_terms(links, est.labels_, *est.xi_)
    assert est.objective_ == pytest.approx(plain_objective(est, X, terms))
    fixed = bc.RDPMeans(n_clusters=3, xi=(2.0, 0.5)).fit(X, constraints=links)
    assert fixed.xi_ == (2.0, 0.5)
    assert (np.diff(fixed.objective_path_) <= 1e-9 * np.abs(fixed.objective_path_[:-1])).all()


def test_predict_is_the_nearest_centre(blobs, rng):
    X, _ = blobs
    est = bc.DPMeans(n_clusters=3).fit(X)
    new = rng.normal(size=(20, 2))
    assert (
        est.predict(new)
        == np.square(new[:, None] - est.cluster_centers_).sum(axis=2).argmin(axis=1)
    ).all()
    assert est.predict(new[:1]).shape == (1,)


def test_without_answers_it_is_dp_means(blobs):
    X, _ = blobs
    none = bc.PairwiseConstraints(np.empty((0, 2), dtype=int), [], n_items=120)
    for settings in ({}, {"n_clusters": 4}, {"penalty": 2.0}):
        plain = bc.DPMeans(**settings).fit(X)
        for constraints in (None, [], none, [none, none]):
            est = bc.RDPMeans(**settings).fit(X, constraints=constraints)
            assert (est.labels_ == plain.labels_).all()
            assert est.objective_ == plain.objective_


def test_xi_between_data_and_answers(blobs):
    """xi = 0 leaves answers aside; growth without end follows right answers to the letter."""
    X, y = blobs
    noisy_X = X + np.random.default_rng(0).normal(scale=3, size=X.shape)
    links = bc.PairwiseConstraints.sample(y, size=1500, seed=0)
    blind = bc.RDPMeans(n_clusters=3, xi=0.0).fit(noisy_X, constraints=links)
    assert (blind.labels_ == bc.DPMeans(n_clusters=3).fit(noisy_X).labels_).all()
    literal = bc.RDPMeans(n_clusters=3, xi=float("inf"), n_init=5, random_state=0).fit(
        noisy_X, constraints=links
    )
    together = literal.labels_[links.items[:, 0]] == literal.labels_[links.items[:, 1]]
    assert (together == (links.answers == 1)).all()
    assert groups(literal.labels_) == groups(y)


def test_wrong_answers_do_not_overrule_the_data(blobs):
    """With one answer in five wrong, confidence by held-out answers beats one without end."""
    X, y = blobs
    right = {}
    for xi in (None, float("inf")):
        scores = []
        for seed in range(3):
            links = bc.PairwiseConstraints.sample(y, size=200, error_rate=0.2, seed=seed)
            est = bc.RDPMeans(n_clusters=3, xi=xi, random_state=0).fit(X, constraints=links)
            scores.append(bc.metrics.pairwise_f(y, est.labels_))
        right[xi] = np.mean(scores)
    assert right[None] > 0.95
    assert right[None] > right[float("inf")] + 0.1


@pytest.mark.parametrize(
    "X", [np.ones((5, 2)), [[0.0], [1.0]], np.repeat([[0.0], [7.0]], 5, axis=0)]
)
@pytest.mark.parametrize(
    "estimator", [bc.DPMeans(), bc.RDPMeans(n_clusters=2), bc.SpectralRDPMeans(n_clusters=2)]
)
def test_few_different_items(X, estimator):
    labels = clone(estimator).set_params(random_state=0).fit(X).labels_
    distinct = np.unique(X, axis=0)
    assert len(set(labels)) <= len(distinct)


def separated(name, rng):
    """Two clusters that every divergence can tell apart."""
    y = np.repeat([0, 1], 30)
    real = rng.normal(size=(60, 2)) + 8.0 * y[:, None]
    ones = (rng.random((60, 8)) < np.where(y[:, None] == 1, 0.9, 0.1)).astype(float)
    if name in ("euclidean", "mahalanobis", "standardized"):
        X = real
    elif name in ("kl", "poisson"):
        X = rng.poisson(np.where(y[:, None] == 1, [1.0, 20.0, 5.0], [20.0, 1.0, 5.0])).astype(float)
    elif name == "bernoulli":
        X = ones
    elif name == "categorical":
        X = ones + (rng.random((60, 8)) < 0.05)
    else:
        X = np.column_stack([real, ones[:, 0], ones[:, 1] + (rng.random(60) < 0.1)])
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


def test_every_source_has_its_own_confidence(blobs):
    X, y = blobs
    first = bc.PairwiseConstraints.sample(
        y, size=80, error_rate=0.1, n_sources=2, seed=0, name="first"
    )
    second = bc.PairwiseConstraints.sample(y, size=60, error_rate=0.3, seed=1, name="second")
    triplets = bc.RelativeConstraints.sample(y, size=90, error_rate=0.2, seed=2)
    costs = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 1.0], [0.7, 0.7, 0.0]])
    xi = {"first": [(2.0, 2.0), (1.0, 0.5)], "second": (0.3, 0.1), "triplets": costs}
    est = bc.RDPMeans(penalty=12.0, xi=xi).fit(X, constraints=[first, second, triplets])
    z = est.labels_
    terms = costs[triplets.truths(z), triplets.answers].sum()
    terms += link_terms(second, z, 0.3, 0.1)
    xi1, xi2 = np.array([2.0, 1.0])[first.source], np.array([2.0, 0.5])[first.source]
    terms += np.sum(
        (z[first.items[:, 0]] == z[first.items[:, 1]]) * np.where(first.answers == 1, -xi1, xi2)
    )
    assert est.objective_ == pytest.approx(plain_objective(est, X, terms))
    assert (np.diff(est.objective_path_) <= 1e-9 * np.abs(est.objective_path_[:-1])).all()
    assert est.xi_["first"].tolist() == [[2.0, 2.0], [1.0, 0.5]]
    assert est.xi_["second"].tolist() == [[0.3, 0.1]]
    np.testing.assert_array_equal(est.xi_["triplets"], [costs])


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


@pytest.mark.parametrize("estimator", [bc.RDPMeans, bc.SpectralRDPMeans])
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("size", [10, 40])
def test_answers_of_one_kind_leave_the_number_to_the_data(rng, estimator, together, size):
    """One cluster makes all of "together" true, and one for each item all of "apart"."""
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 2)) + 8.0 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    i, j = np.triu_indices(90, 1)
    own = rng.choice(np.flatnonzero((y[i] == y[j]) == together), size, replace=False)
    links = bc.PairwiseConstraints(np.c_[i, j][own], [together] * size, n_items=90)
    est = estimator(random_state=0).fit(X, constraints=links)
    assert bc.metrics.adjusted_rand(est.labels_, y) > 0.95


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


# --- clusters of several centres


@pytest.fixture
def corners(rng):
    """Two classes of two opposite corners each, and answers, one of ten wrong."""
    y = np.repeat([0, 0, 1, 1], 15)
    X = np.repeat(CORNERS, 15, axis=0) + rng.normal(size=(60, 2))
    return X, y, bc.PairwiseConstraints.sample(y, size=80, error_rate=0.1, seed=1)


@pytest.fixture
def fitted(corners):
    X, _, answers = corners
    return bc.RDPMeans(cluster_model="mixture", within_penalty=40.0, xi=2.0).fit(
        X, constraints=answers
    )


@pytest.mark.parametrize(("shape", "within"), [("moons", 0.3), ("rings", 0.2)])
def test_shapes_that_are_no_balls_with_a_few_answers(shape, within):
    """Plain clusters fail, at this penalty or their own choice; several centres do not."""
    if shape == "moons":
        X, y = make_moons(200, noise=0.06, random_state=0)
    else:
        X, y = make_circles(200, factor=0.4, noise=0.04, random_state=0)
    few = bc.PairwiseConstraints.sample(y, size=20, seed=0)
    several = bc.RDPMeans(cluster_model="mixture", within_penalty=within, xi=1.0).fit(
        X, constraints=few
    )
    assert bc.metrics.adjusted_rand(y, several.labels_) > 0.95
    for plain in (bc.RDPMeans(penalty=within, xi=1.0), bc.RDPMeans(random_state=0)):
        assert bc.metrics.adjusted_rand(y, plain.fit(X, constraints=few).labels_) < 0.5


def test_attributes_of_several_centres(corners, fitted):
    X, y, answers = corners
    assert (fitted.labels_ == y).all()
    assert (fitted.components_ == np.repeat([0, 1, 2, 3], 15)).all()
    assert fitted.component_clusters_.tolist() == [0, 0, 1, 1]
    assert (fitted.component_clusters_[fitted.components_] == fitted.labels_).all()
    assert fitted.n_clusters_ == 2
    assert (fitted.within_penalty_, fitted.penalty_) == (40.0, 0.04)
    for k, center in enumerate(fitted.component_centers_):
        np.testing.assert_allclose(center, X[fitted.components_ == k].mean(axis=0))
    for k, center in enumerate(fitted.cluster_centers_):
        np.testing.assert_allclose(center, X[y == k].mean(axis=0))
    terms = np.square(X - fitted.component_centers_[fitted.components_]).sum() + 40.0 * 4 + 0.04 * 2
    terms += link_terms(answers, y, 2.0, 2.0)
    assert fitted.objective_ == pytest.approx(terms)
    assert fitted.objective_path_[-1] == fitted.objective_
    assert (np.diff(fitted.objective_path_) <= 1e-9).all()


def test_objective_of_any_clusters(corners, fitted):
    X, y, _ = corners
    # clusters of one component: two wide balls in the place of four
    data = sum(np.square(X[y == k] - X[y == k].mean(axis=0)).sum() for k in (0, 1))
    own = sum(
        np.square(X[fitted.components_ == k] - c).sum()
        for k, c in enumerate(fitted.component_centers_)
    )
    assert fitted.objective(y) == pytest.approx(fitted.objective_ + data - own - 2 * 40.0)


def test_new_items_go_to_the_cluster_of_the_nearest_centre(fitted):
    assert fitted.predict(CORNERS + np.array([0.5, -0.5])).tolist() == [0, 0, 1, 1]


def test_a_whole_penalty_is_the_number_that_it_is(corners):
    X, _ = corners[:2]
    own = {"cluster_model": "mixture", "within_penalty": 4, "random_state": 0}
    whole, real = (bc.RDPMeans(penalty=one, **own).fit(X) for one in (20, 20.0))
    assert whole.objective_ == real.objective_


def test_penalties_are_chosen_by_answers_held_out(corners):
    X, y, answers = corners
    est = bc.RDPMeans(cluster_model="mixture", random_state=0).fit(X, constraints=answers)
    assert bc.metrics.adjusted_rand(est.labels_, y) > 0.9
    assert est.penalty_ == pytest.approx(est.within_penalty_ / 1000)
    again = bc.RDPMeans(cluster_model="mixture", random_state=0).fit(X, constraints=answers)
    assert (again.components_ == est.components_).all()


def test_the_penalty_decides_where_nothing_is_answered(corners):
    """Above zero all is one cluster of four centres; below, as by default, each is one."""
    X, _, _ = corners
    one = bc.RDPMeans(cluster_model="mixture", within_penalty=40.0, penalty=1.0).fit(X)
    assert (one.n_clusters_, len(one.component_centers_)) == (1, 4)
    four = bc.RDPMeans(cluster_model="mixture", within_penalty=40.0, penalty=-1.0).fit(X)
    assert (four.labels_ == bc.DPMeans(penalty=39.0).fit(X).labels_).all()
    assert four.n_clusters_ == 4
    default = bc.RDPMeans(cluster_model="mixture", n_clusters=4).fit(X)
    assert (default.labels_ == four.labels_).all()
    assert default.penalty_ == pytest.approx(-default.within_penalty_ / 1000)


X = np.arange(12.0).reshape(6, 2)
BOTH = [
    bc.PairwiseConstraints([(0, 1)], [True], n_items=6),
    bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=6),
]


def fit(constraints=None, **settings):
    return bc.RDPMeans(**settings).fit(X, constraints=constraints)


ROWS = """
fit(xi=(1.0, 2.0), constraints=BOTH)
    ValueError: xi=(1.0, 2.0) says nothing about 'triplets', which are no links: give a dict by the
    names of the constraints, {'links': ..., 'triplets': ...}.
fit(xi={'links': 1.0}, constraints=BOTH)
    ValueError: xi names the constraints 'links', but there are 'links' and 'triplets': give one
    entry to each, 0 to leave it aside.
fit(xi={'links': [(1.0, 1.0), (2.0, 2.0)], 'triplets': 1.0}, constraints=BOTH)
    ValueError: xi['links'] has shape (2, 2): pass a number, or shape (2,) for all sources or
    (1, 2) for each.
fit(within_penalty=2.0)
    ValueError: within_penalty=2.0 is the cost of a component, and single clusters have none:
    leave it out, or set cluster_model="mixture".
fit(cluster_model='mixture', penalty=-3.0, within_penalty=3.0)
    ValueError: penalty must lie in (-3.0, inf); got -3.0.
bc.RDPMeans(divergence="standardized", n_clusters=2).fit(CORNERS).predict(CORNERS[:, :1])
    ValueError: X has 1 features, but RDPMeans is expecting 2 features as input.
bc.RDPMeans(divergence="categorical", n_clusters=2).fit(CORNERS).predict(CORNERS[:, :1])
    ValueError: X has 1 features, but RDPMeans is expecting 2 features as input.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, globals())


@pytest.mark.parametrize("divergence", ["euclidean", "standardized"])
def test_constant_columns_open_no_clusters(divergence):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    X[:10, 0] += 5
    alone, beside = (
        bc.DPMeans(divergence=divergence).fit(np.column_stack([X, np.zeros((20, more))]))
        for more in (0, 4)
    )
    np.testing.assert_array_equal(alone.labels_, beside.labels_)
    assert alone.n_clusters_ < 4
