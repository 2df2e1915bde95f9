"""MPCKMeans as users call it, PCK-Means, MK-Means and Supervised-Means among its settings."""

import numpy as np
import pytest
from sklearn.base import clone

import bayesclust as bc
from bayesclust.constraints.entailment import must_link_components
from tests.inference.limits.mpck import plain
from tests.refusals import refused


@pytest.fixture
def stripes(rng):
    y = np.repeat([0, 1, 2], 30)
    return np.column_stack([rng.normal(scale=5.0, size=90), rng.normal(4.0 * y)]), y


@pytest.mark.parametrize("metric", ["diagonal", "full"])
@pytest.mark.parametrize("per_cluster", [False, True])
def test_learned_attributes_fit_together(stripes, metric, per_cluster):
    X, y = stripes
    links = bc.PairwiseConstraints.sample(y, size=120, error_rate=0.1, seed=0)
    est = bc.MPCKMeans(3, metric, per_cluster, cost=0.7, random_state=0).fit(X, constraints=links)
    assert est.closure_ is False
    assert est.n_clusters_ == 3
    A = plain.matrices(est.metric_, 3, metric == "diagonal")
    weight = np.full(120, 0.7)
    terms = (X, est.labels_, est.cluster_centers_, A, links.items, links.answers == 1, weight)
    assert est.objective_ == pytest.approx(
        plain.objective(*terms, 1.0, per_cluster, metric == "diagonal")
    )
    assert (np.diff(est.objective_path_) <= 1e-9 * np.abs(est.objective_path_[:-1])).all()
    assert est.n_violated_ == (links.truths(est.labels_) != links.answers).sum()
    joined = must_link_components(links.may_links, len(X))[links.may_not_links]
    assert len(est.contradictions_) == (joined[:, 0] == joined[:, 1]).sum()
    for k, center in enumerate(est.cluster_centers_):
        np.testing.assert_allclose(center, X[est.labels_ == k].mean(axis=0))
    clusters = list(zip(est.cluster_centers_, A, strict=True))
    near = [[plain.length(x - m, B) - np.linalg.slogdet(B)[1] for m, B in clusters] for x in X]
    assert (est.predict(X) == np.argmin(near, axis=1)).all()
    assert (clone(est).fit_predict(X, constraints=[links]) == est.labels_).all()


@pytest.mark.parametrize("metric", ["diagonal", "euclidean"])
def test_cost_and_number_of_clusters_that_predict_constraints_best(metric):
    """A tenth of the answers is wrong: at the paper's cost they pull the clusters apart."""
    data = bc.datasets.load("wine")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    gains = []
    for seed in range(3):
        links = bc.PairwiseConstraints.sample(data.y, size=470, error_rate=0.1, seed=seed)
        ends = [
            bc.MPCKMeans(3, metric, cost=cost, random_state=0).fit(X, constraints=links)
            for cost in (1.0, "data")
        ]
        scores = [bc.metrics.pairwise_f(est.labels_, data.y) for est in ends]
        gains.append(scores[1] - scores[0])
    assert min(gains) > 0.01
    chosen = ends[1]
    told = clone(chosen).set_params(cost=chosen.cost_).fit(X, constraints=links)
    assert (told.labels_ == chosen.labels_).all()
    free = clone(chosen).set_params(n_clusters="data").fit(X, constraints=links)
    assert free.n_clusters_ == 3
    started = free.set_params(init=np.arange(len(X)) % 4).fit(X, constraints=links)
    assert started.n_clusters_ >= 4  # not fewer than the labels it starts from have


def test_constraints_of_one_kind_choose_no_number(stripes):
    X, y = stripes
    i, j = np.triu_indices(40, 1)
    apart = np.c_[i, j][y[i] != y[j]][:40]
    with pytest.raises(ValueError, match=r'n_clusters="data" needs constraints of both kinds'):
        bc.MPCKMeans("data").fit(
            X[:40], constraints=bc.PairwiseConstraints(apart, [False] * 40, 40)
        )


@pytest.mark.parametrize("per_cluster", [False, True])
def test_units_of_the_data_change_nothing(stripes, per_cluster):
    """In small units the log det of a metric is large, beside which lengths would be lost."""
    X, y = stripes
    links = bc.PairwiseConstraints.sample(y, fraction=0.02, seed=0)
    given = {"n_clusters": 2, "per_cluster": per_cluster, "random_state": 0}
    plain, small = (
        bc.MPCKMeans(**given).fit(scale * X, constraints=links) for scale in (1.0, 1e-9)
    )
    np.testing.assert_array_equal(small.labels_, plain.labels_)
    np.testing.assert_array_equal(small.predict(1e-9 * X), plain.predict(X))
    moved = 2 * X.shape[1] * np.log(1e-9)  # of each log det
    np.testing.assert_allclose(small.transform(1e-9 * X), plain.transform(X) + moved, atol=1e-6)


def test_few_constraints_choose_nothing(stripes):
    X, y = stripes
    links = bc.PairwiseConstraints.sample(y, size=9, seed=0)
    assert bc.MPCKMeans(random_state=0).fit(X, constraints=links).cost_ == 1.0
    with pytest.raises(ValueError, match="needs 10 constraints and max_iter=1 at least; got 9 and"):
        bc.MPCKMeans("data").fit(X, constraints=links)


def test_must_links_and_cannot_links_may_differ_in_cost(stripes):
    X, y = stripes
    links = bc.PairwiseConstraints.sample(y, size=80, error_rate=0.1, seed=0)
    pck = bc.MPCKMeans(metric="euclidean", cost=(2.0, 0.5), closure=False, random_state=0)
    end = pck.fit(X, constraints=links)
    violated = links.truths(end.labels_) != links.answers
    wanted = (
        np.square(X - end.cluster_centers_[end.labels_]).sum()
        + np.where(links.answers == 1, 2.0, 0.5)[violated].sum()
    )
    assert end.objective_ == pytest.approx(wanted)


def graph(pairs, n):
    """The matrix of these links."""
    adjacent = np.zeros((n, n))
    adjacent[tuple(pairs.T)] = 1
    return adjacent + adjacent.T


def test_closure_counts_where_nothing_is_contradicted(stripes):
    X, y = stripes
    links = bc.PairwiseConstraints.sample(y, size=60, seed=0)
    est = bc.MPCKMeans(metric="euclidean", cost=1.0, random_state=0).fit(X, constraints=links)
    assert est.closure_
    pck = bc.MPCKMeans(metric="euclidean", cost=1.0, closure=False, random_state=0)
    together = np.linalg.matrix_power(np.eye(len(X)) + graph(links.may_links, len(X)), len(X)) > 0
    apart = together @ graph(links.may_not_links, len(X)) @ together
    closure = np.where(together, 1.0, np.where(apart > 0, 0.0, np.nan))
    closure = bc.PairwiseConstraints.from_matrix(closure)
    by_hand = clone(pck).fit(X, constraints=closure)
    assert by_hand.objective_ == pytest.approx(est.objective_)
    assert pck.fit(X, constraints=links).objective_ < est.objective_


def test_long_chain_of_must_links_is_not_closed():
    n = 100_001
    chain = bc.PairwiseConstraints(
        np.column_stack([np.arange(n - 1), np.arange(1, n)]), np.ones(n - 1, dtype=int), n_items=n
    )
    X = np.arange(n, dtype=float)[:, None]
    est = bc.MPCKMeans(2, cost=1.0, max_iter=3, growth=1, random_state=0)
    with pytest.warns(UserWarning, match="items still move"):
        est.fit(X, constraints=chain)
    assert not est.closure_
    assert np.isfinite(est.objective_)


def test_no_rounds_are_supervised_means(stripes):
    X, y = stripes
    links = bc.PairwiseConstraints.sample(y, size=200, seed=0)
    est = bc.MPCKMeans(metric="euclidean", max_iter=0, random_state=0).fit(X, constraints=links)
    component = must_link_components(links.may_links, len(X))
    sizes = np.bincount(component)
    largest = np.argsort(-sizes, kind="stable")[:3]
    centers = np.stack([X[component == c].mean(axis=0) for c in largest])
    gaps = np.square(X[:, None] - centers).sum(axis=2)
    assert bc.metrics.adjusted_rand(est.labels_, gaps.argmin(axis=1)) == 1.0
    assert (est.predict(X) == est.labels_).all()


def test_every_start_ends(stripes):
    X, y = stripes
    first = bc.MPCKMeans(init=y, random_state=0).fit(X)
    assert bc.metrics.pairwise_f(first.labels_, y) > 0.8
    again = bc.MPCKMeans(init=first, random_state=0).fit(X)
    assert again.objective_ <= first.objective_ + 1e-3
    many = bc.MPCKMeans(init="k-means++", n_init=6, random_state=0).fit(X)
    one = bc.MPCKMeans(init="k-means++", n_init=1, random_state=0).fit(X)
    assert many.objective_ <= one.objective_
    assert bc.MPCKMeans(init="paper", random_state=0).fit(X).n_clusters_ == 3


def test_sizes_are_kept_and_the_objective_falls(stripes):
    X, y = stripes[0][:70], stripes[1][:70]  # 30, 30 and 10 items

    def kept(est):
        number = np.bincount(est.labels_, minlength=3)
        return 18 <= number.min() <= number.max() <= 28

    links = bc.PairwiseConstraints.sample(y, size=60, seed=0)
    free = bc.MPCKMeans(random_state=0).fit(X, constraints=links)
    assert not kept(free)
    bounds = {"min_size": 18, "max_size": 28, "random_state": 0}
    for given in ({}, {"max_iter": 0}, {"init": free}, {"n_clusters": "data"}):
        est = bc.MPCKMeans(**given, **bounds).fit(X, constraints=links)
        assert est.n_clusters_ == 3  # no other number fits
        assert kept(est)
        assert (np.diff(est.objective_path_) <= 1e-9 * np.abs(est.objective_path_[:-1])).all()


def test_no_cluster_is_wider_than_allowed_and_the_objective_falls(stripes):
    X, y = stripes[0][:70], stripes[1][:70]
    between = np.linalg.norm(X[:, None] - X, axis=2)

    def widest(est):
        return between[est.labels_[:, None] == est.labels_].max()

    links = bc.PairwiseConstraints.sample(y, size=60, seed=0)
    free = bc.MPCKMeans(6, random_state=0).fit(X, constraints=links)
    most = 0.8 * widest(free)
    for given in ({}, {"init": free}, {"n_init": 3}, {"n_clusters": "data"}):
        settings = {"n_clusters": 6, "max_diameter": most, "random_state": 0, **given}
        est = bc.MPCKMeans(**settings).fit(X, constraints=links)
        assert widest(est) <= most
        assert (np.diff(est.objective_path_) <= 1e-9 * np.abs(est.objective_path_[:-1])).all()
    loose = bc.MPCKMeans(6, max_diameter=between.max(), random_state=0)
    assert widest(loose.fit(X, constraints=links)) > most


def test_narrow_clusters_are_a_local_minimum():
    """No item can move to where J is lower, by the labels of all partitions that are allowed."""
    X = np.random.default_rng(3).normal(size=(12, 2))
    links = bc.PairwiseConstraints([(0, 1), (2, 3), (4, 5)], [True, False, True], n_items=12)
    between = np.linalg.norm(X[:, None] - X, axis=2)
    settings = {"metric": "euclidean", "cost": 0.5, "closure": False, "constant_cost": True}
    est = bc.MPCKMeans(5, max_diameter=1.9, random_state=0, **settings).fit(X, constraints=links)

    def cost(z):
        same = z[links.items[:, 0]] == z[links.items[:, 1]]
        wrong = 0.5 * (same != links.answers.astype(bool)).sum()
        return np.square(X - est.cluster_centers_[z]).sum() + wrong

    tried = 0
    for item, k in np.ndindex(12, est.n_clusters_):
        z = est.labels_.copy()
        z[item] = k
        if between[z[:, None] == z].max() <= 1.9:
            tried += k != est.labels_[item]
            assert cost(z) >= cost(est.labels_) - 1e-9
    assert tried > 2


GOOD = np.arange(12.0).reshape(6, 2)
LINKS = bc.PairwiseConstraints([(0, 1), (1, 2), (2, 0)], [True, True, False], n_items=6)


def fit(**settings):
    return bc.MPCKMeans(**settings).fit(GOOD, constraints=LINKS)


ROWS = """
fit(per_cluster=1)
    TypeError: per_cluster must be True or False; got 1.
fit(init=[0, 1, 2, 3, 4, 5])
    ValueError: init has 6 clusters, more than n_clusters=3: pass labels of at most 3.
fit(max_iter=0, init=[0, 1, 2, 0, 1, 2])
    ValueError: init must be "neighbourhoods", "paper" or "k-means++" under max_iter=0: labels
    leave nothing to be placed.
fit(min_size=3)
    ValueError: 3 clusters of 3 to 6 items have 9 to 18, but X has 6: change n_clusters, min_size
    or max_size.
fit(n_clusters="data", max_size=0)
    ValueError: max_size must be an integer of at least 1; got 0.
fit(max_diameter=1.0)
    ValueError: max_diameter=1 needs 6 clusters by complete linkage, but n_clusters=3: raise one of
    them.
fit(max_diameter=4.0, max_size=3)
    ValueError: max_diameter goes neither with min_size or max_size nor with max_iter=0: leave one
    of them out.
fit(cost='much')
    TypeError: cost must be "data", a number or a pair (must-links, cannot-links); got 'much'.
fit(cost=(1.0, np.inf))
    ValueError: cost[1] must lie in [0, inf); got inf.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, globals())
