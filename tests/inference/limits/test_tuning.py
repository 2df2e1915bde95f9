"""Penalties and confidence: from a number of clusters, the data, or held-out answers."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bayesclust.constraints import PairwiseConstraints, RelativeConstraints
from bayesclust.estimators import DPMeans, RDPMeans
from bayesclust.inference.limits import rdp_means, tuning
from bayesclust.inference.limits.answers import link_graph
from bayesclust.inference.limits.rdp_means import Problem, Schedule
from bayesclust.inference.limits.search import improve, search
from bayesclust.inference.limits.tuning import (
    candidates,
    choose,
    choose_on_sample,
    enough,
    first_xi,
    held_out_log_prob,
    information_criterion,
    penalties,
    penalty_from_data,
    penalty_of,
    penalty_on_sample,
    sample,
)
from bayesclust.metrics import adjusted_rand
from tests.inference.limits.reference import SQUARED

ZERO = Schedule((0.0, 0.0))


def posed(points, penalty, *links):
    return Problem.of(points, SQUARED, link_graph(links, len(points)), penalty)


def test_penalties_by_hand():
    """Points 0, 2, 12, 14, 32, mean 12: 32 is 20 off; then 0 is 12 off; then 2 and 14 are 2 off."""
    points = np.array([[0.0], [2.0], [12.0], [14.0], [32.0]])
    assert penalties(points, SQUARED, 4) == pytest.approx([400.0, 144.0, 4.0, 4.0], rel=1e-8)


def test_penalties_stay_positive_where_points_repeat():
    points = np.array([[0.0], [0.0], [4.0], [4.0]])
    assert penalties(points, SQUARED, 4) == pytest.approx([4.0, 4.0, 4e-9, 4e-9], rel=1e-8)
    assert penalties(np.ones((3, 2)), SQUARED, 2).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("columns", [2, 8, 16])
def test_the_penalty_of_one_cluster_opens_no_other(columns):
    """The mean of many columns, summed in another order, is not the same to the last bit."""
    for seed in range(20):
        X = 7 + 3 * np.random.default_rng(seed).normal(size=(60, columns))
        assert DPMeans(n_clusters=1, random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize("k", [1, 3, 4])
def test_many_starts_find_the_number_that_is_guessed(k):
    """In four clusters of twenty items; furthest-first's penalty leaves more where k is 3."""
    X = np.repeat(4.0 * np.array([[0, 0], [2, 0], [0, 2], [2, 2]]), 20, axis=0)
    X += np.random.default_rng(1).normal(size=X.shape)
    est = DPMeans(n_clusters=k, n_init=4, random_state=0).fit(X)
    assert est.n_clusters_ == k
    assert est.penalty_ == penalty_of(X, SQUARED, k, n_init=4)
    assert penalty_of(X, SQUARED, k) == penalties(X, SQUARED, k)[-1]
    assert (
        DPMeans(float(penalties(X, SQUARED, 3)[-1]), n_init=4, random_state=0).fit(X).n_clusters_
        > 3
    )


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([["same", "same"], []], True),
        ([["different", "different"], []], True),
        ([["same", "different"], []], False),
        ([[], ["yes"]], False),
        ([[], ["dnk", "dnk"]], True),
        ([["same"], ["yes"]], False),
        ([["different"], ["dnk"]], True),
    ],
)
def test_answers_that_a_trivial_partition_makes_true(answers, expected):
    pairs = PairwiseConstraints([(0, 1), (2, 3)][: len(answers[0])], answers[0], n_items=5)
    triplets = RelativeConstraints([(0, 1, 2), (2, 3, 4)][: len(answers[1])], answers[1], n_items=5)
    given = [one for one in (pairs, triplets) if len(one)]
    assert tuning.one_sided(given, 5) == expected


@pytest.mark.parametrize("n_init", [1, 5])
@pytest.mark.parametrize("n", [2, 3, 30, 4000])
def test_candidates_fall_and_stay_few(rng, n, n_init):
    tried = candidates(rng.normal(size=(n, 2)), SQUARED, n_init)
    assert 1 <= len(tried) <= min(n, 20)
    assert (np.diff(tried) < 0).all()
    assert tried[-1] > 0


def test_the_criterion_is_that_of_spherical_gaussians(rng):
    """Differences between partitions, against SciPy's density at the maximum likelihood."""
    points = np.concatenate([rng.normal(0, 1, (20, 3)), rng.normal(4, 1, (30, 3))])

    def plain(labels, centers):
        variance = np.square(points - centers[labels]).mean()
        shares = np.bincount(labels) / len(labels)
        log_lik = sum(
            multivariate_normal(centers[k], variance).logpdf(x) + np.log(shares[k])
            for x, k in zip(points, labels, strict=True)
        )
        return -log_lik + len(centers) * 4 / 2 * np.log(50)

    ends = [search(posed(points, penalty), ZERO) for penalty in (300.0, 20.0, 6.0)]
    assert len({len(end.centers) for end in ends}) == 3
    got = [information_criterion(points, SQUARED, end) for end in ends]
    expected = [plain(end.labels, end.centers) for end in ends]
    np.testing.assert_allclose(np.diff(got), np.diff(expected), rtol=1e-9)


@pytest.mark.parametrize("n_init", [1, 20])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_separated_clusters_are_counted(rng, k, n_init):
    points = np.concatenate([rng.normal(12 * number, 1, size=(40, 2)) for number in range(k)])
    end = search(posed(points, penalty_from_data(points, SQUARED, n_init)), ZERO, n_init, rng=rng)
    assert len(end.centers) == k


@pytest.mark.parametrize("k", [2, 5])
def test_a_chosen_penalty_suits_the_lowest_of_many_starts(rng, k):
    """Under the penalties that numbers of clusters suggest, the lowest J has more of them."""
    points = np.concatenate([rng.normal(8 * number, 1, size=(40, 3)) for number in range(k)])
    y = np.repeat(np.arange(k), 40)
    links = PairwiseConstraints.sample(y, size=300, error_rate=0.1, seed=0)
    found = RDPMeans(n_init=20, random_state=0).fit(points, constraints=links)
    assert found.n_clusters_ == k
    assert adjusted_rand(found.labels_, y) == 1.0


@pytest.fixture
def blobs(rng):
    y = np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 2)) + 3.0 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


def chosen(links, points, tried):
    problem = posed(points, 1.0, links)
    rng = np.random.default_rng(0)
    return choose([links], problem, (1.0, 1.0), np.array(tried), None, 2.0, rng)


def test_first_xi_is_a_share_of_the_mean_divergence(rng):
    points = rng.normal(size=(30, 2))
    assert first_xi(posed(points, 1.0), 0.01) == pytest.approx(0.01 * points.var(axis=0).sum())
    assert first_xi(posed(np.ones((3, 2)), 1.0), 0.01) == 0.01


def test_wrong_answers_lower_the_confidence(blobs):
    points, y = blobs
    most = {}
    for rate in (0.0, 0.3):
        links = PairwiseConstraints.sample(y, size=400, error_rate=rate, seed=0)
        most[rate] = chosen(links, points, [12.0])[1].most
    assert most[0.3] < most[0.0]


def test_held_out_answers_are_not_seen(blobs, rng):
    """Answers by coin: a partition that has seen them fits nearly all; they cannot be predicted."""
    points, y = blobs
    pairs = PairwiseConstraints.sample(y, size=100, seed=0).items
    coins = PairwiseConstraints(pairs, rng.random(100) < 0.5, n_items=120)
    problem = posed(points, 12.0, coins)
    end = improve(problem, np.zeros(120, np.int64), None, (1e3, 1e3))
    assert coins.noise.log_marginal(coins.counts(end.labels)) > -50
    scores = held_out_log_prob([coins], problem, np.array([1e-3, 1e3]), np.random.default_rng(0))
    assert (scores < -100 * np.log(2)).all()


def test_the_penalty_is_chosen_with_it(blobs):
    points, y = blobs
    links = PairwiseConstraints.sample(y, size=300, error_rate=0.1, seed=0)
    assert chosen(links, points, [1e3, 12.0, 0.1])[0].penalty == 12.0


def test_ten_answers_are_enough():
    pairs = [(0, i) for i in range(1, 11)]
    assert enough([PairwiseConstraints(pairs, [True] * 10, n_items=11)])
    assert not enough([PairwiseConstraints(pairs[:9], [True] * 9, n_items=11)])
    assert not enough([])


@pytest.fixture
def passes(monkeypatch):
    """Items seen by every pass."""
    visit, seen = rdp_means.visit, []

    def counted(problem, *more):
        seen.append(len(problem.points))
        return visit(problem, *more)

    for module in (rdp_means, tuning):
        monkeypatch.setattr(module, "visit", counted)
    return seen


def corners(n):
    """Four clusters and n items, in eight columns, all alike in shape."""
    y = np.arange(n) % 4
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X + 8.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[y], y


def test_many_items_are_seen_in_a_sample(passes):
    """The choice costs at most ten passes over all items, and finds the clusters."""
    n = 60_000
    X, y = corners(n)
    links = PairwiseConstraints.sample(y, size=20_000, error_rate=0.1, seed=0)
    graph = link_graph([links], n)
    problem = Problem.of(X, SQUARED, graph, 0.0)
    rng = np.random.default_rng(0)
    chosen, schedule, start = choose_on_sample([links], problem, (1.0, 1.0), None, None, 2.0, rng)
    assert 0 < sum(passes) <= 10 * n
    assert sorted(passes)[-2] < n / 4  # but for the pass that starts from the sample's centres
    assert chosen.graph is graph
    end = search(chosen, schedule, start=start)
    assert adjusted_rand(end.labels, y) > 0.99
    given, schedule, start = choose_on_sample([links], problem, (1.0, 1.0), 30.0, None, 2.0, rng)
    assert (given.penalty, schedule.rate, start) == (30.0, 2.0, None)


def test_many_items_without_answers_are_seen_in_a_sample(passes):
    """The same by the criterion, without chance; a few items far out do not decide."""
    n = 60_000
    X, y = corners(n)
    X[:3] += 1000.0
    penalty, start = penalty_on_sample(X, SQUARED)
    assert 0 < sum(passes) <= 10 * n
    again, _ = penalty_on_sample(X, SQUARED)
    assert again == penalty
    end = search(posed(X, penalty), ZERO, start=start)
    assert adjusted_rand(end.labels[3:], y[3:]) > 0.99


@pytest.mark.parametrize("seeds", [[3], pytest.param(range(4), marks=pytest.mark.slow)])
def test_a_choice_on_samples_is_as_good_as_on_all(monkeypatch, seeds):
    """Clusters of unequal sizes, and answers, one in ten of them wrong."""
    for share, value in (("SAMPLED", 1 / 6), ("PREDICTED", 1 / 2)):
        monkeypatch.setattr(tuning, share, value)
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, weights = 9000, 1.0 / np.arange(1, 9)
        y = rng.choice(8, size=n, p=weights / weights.sum())
        X = 2.2 * rng.normal(size=(8, 6))[y] + rng.normal(size=(n, 6))
        links = PairwiseConstraints.sample(y, size=4000, error_rate=0.1, seed=seed)
        task = [links], posed(X, 0.0, links), (1.0, 1.0)
        whole = choose(*task, candidates(X, SQUARED), None, 2.0, np.random.default_rng(0))
        part, schedule, start = choose_on_sample(*task, None, None, 2.0, np.random.default_rng(0))
        ends = search(*whole), search(part, schedule, start=start)
        found.append([adjusted_rand(end.labels, y) for end in ends])
    on_all, on_samples = np.mean(found, axis=0)
    assert on_samples > on_all - 0.02
    assert on_all > 0.9


def test_a_sample_has_all_answers_among_its_items(rng):
    y = rng.integers(3, size=400)
    views = [
        PairwiseConstraints.sample(y, size=600, error_rate=0.1, seed=0),
        RelativeConstraints.sample(y, size=50, seed=0),
    ]
    problem = Problem.of(rng.normal(size=(400, 2)), SQUARED, link_graph([], 400), 1.0)
    rows = problem.points.tolist()
    answers, few = sample(views, problem, 1 / 40, rng)
    assert len(few.points) <= 15
    chosen = np.array([rows.index(point) for point in few.points.tolist()])
    for one, part in zip(views, answers, strict=True):
        inside = np.isin(one.items, chosen).all(axis=1)
        assert (chosen[part.items] == one.items[inside]).all()
        assert (part.answers == one.answers[inside]).all()
        assert len(part) > 0
    np.testing.assert_array_equal(few.phi, problem.phi[chosen])
