import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior import _search
from bayesclust.posterior._exact import next_partition
from bayesclust.posterior.labels import canonical
from bayesclust.posterior.losses import ID, NID, NVI, VI, Binder, Loss, OneMinusARI, expected_losses
from bayesclust.posterior.partition import make_problem, point_estimate
from bayesclust.posterior.tree import to_datatree

LOSSES = [VI(), VI(a=0.5), VI(a=1.5), Binder(), Binder(a=0.5), Binder(a=1.5)]
RATIOS = [OneMinusARI(), NVI(), ID(), NID()]
CHOICE = 'loss must be "vi", "binder", "omari", "nvi", "id", "nid"'


def by_id(loss):
    return repr(loss)


def plain_objective(problem, labels):
    """The fixed-point objective of the items allocated so far, cell by cell."""
    total = 0
    for k in set(labels[labels >= 0].tolist()):
        members = np.flatnonzero(labels == k)
        total += int(problem.size_potential[len(members)])
        _, counts = np.unique(problem.rows[members], return_counts=True)
        total -= 2 * int(problem.potential[counts].sum())
    return total


def plain_visit(problem, labels, i, objective=plain_objective):
    """Put item i where the objective is least; ties keep it, then favour the first cluster and last a new one."""
    own = labels[i]
    alone = own >= 0 and (labels == own).sum() == 1
    used = labels.max() + 1
    choices = list(range(used)) + ([used] if used < problem.limit and not alone else [])
    values = {}
    for k in choices:
        trial = labels.copy()
        trial[i] = k
        values[k] = objective(problem, trial)
    best = min((k for k in choices if k != own), key=values.__getitem__, default=None)
    if best is None or (own >= 0 and values[own] <= values[best]):
        return False
    labels[i] = best
    if alone and own != labels.max() + 1:  # the last cluster takes the emptied one's number
        last = max(used - 1, labels.max())
        labels[labels == last] = own
    return True


def plain_settle(problem, labels, order, objective=plain_objective):
    quiet = 0
    while True:
        for i in order:
            quiet = 0 if plain_visit(problem, labels, i, objective) else quiet + 1
            if quiet == len(order):
                return labels


@pytest.mark.parametrize("loss", LOSSES, ids=by_id)
@pytest.mark.parametrize("limit", [2, 5, 20])
def test_the_compiled_search_visits_items_as_a_plain_one_does(noisy_draws, rng, loss, limit):
    draws = canonical(noisy_draws(24, 4, 30, noise=0.3))
    problem = make_problem(draws, loss, limit)
    for start in (np.full(24, -1, np.int32), (np.arange(24) % limit).astype(np.int32)):
        order = rng.permutation(24)
        labels, objective = _search.run(problem, start, order[None], 0, False)
        expected = plain_settle(problem, start.astype(np.int64), order)
        np.testing.assert_array_equal(labels, expected)
        assert objective == plain_objective(problem, expected)


@pytest.mark.parametrize("loss", LOSSES, ids=by_id)
def test_objective_is_the_expected_loss_up_to_a_constant(noisy_draws, loss):
    draws = canonical(noisy_draws(40, 5, 50))
    problem = make_problem(draws, loss, 40)
    unit = problem.potential[2] / loss.potential(2)
    objectives = np.array([plain_objective(problem, z.astype(np.int64)) for z in draws[:6]])
    scaled = objectives / (unit * len(draws) * loss.scale(40))
    expected = expected_losses(loss, draws[:6], draws)
    np.testing.assert_allclose(np.diff(scaled), np.diff(expected), atol=1e-7)


def plain_ratios(problem, labels):
    """The summed ratios of the items allocated so far, from their contingency tables."""
    seated = np.flatnonzero(labels >= 0)
    larger, constant, average, product, smaller, shared = problem.forms[len(seated)]
    f, total = problem.potential, 0.0
    B = int(f[np.bincount(labels[seated])].sum())
    for b in range(problem.rows.shape[1]):
        rows = problem.rows[seated, b].astype(np.int64) - problem.first[b]
        A = int(f[np.bincount(rows)].sum())
        C = int(f[np.bincount(labels[seated] * (rows.max() + 1) + rows)].sum())
        mean = 0.5 * A + 0.5 * B
        above = larger * max(A, B) + (1.0 - larger) * mean - C
        below = constant + average * mean + product * A * B + smaller * min(A, B) + shared * C
        total += above / below if above > 0 else 0.0
    return total


@pytest.mark.parametrize("loss", RATIOS, ids=by_id)
@pytest.mark.parametrize("limit", [2, 20])
def test_ratios_are_searched_as_a_plain_search_does(noisy_draws, rng, loss, limit):
    draws = canonical(noisy_draws(18, 4, 15, noise=0.3))
    problem = make_problem(draws, loss, limit)
    for start in (np.full(18, -1, np.int32), (np.arange(18) % limit).astype(np.int32)):
        order = rng.permutation(18)
        labels, objective = _search.run(problem, start, order[None], 0, False)
        expected = plain_settle(problem, start.astype(np.int64), order, plain_ratios)
        np.testing.assert_array_equal(labels, expected)
        assert objective == plain_ratios(problem, expected)
        assert objective / 15 == pytest.approx(loss.expected(expected, draws), abs=1e-7)


def test_a_loss_of_another_form_has_no_search():
    class Unlike(Loss):
        is_metric = False

        def potential(self, counts):
            return np.asarray(counts, float) ** 2

        def of_sums(self, truth, estimate, both, n):
            return np.sqrt(truth) + np.sqrt(estimate) - 2 * np.sqrt(both)

    draws = np.repeat([[0, 0, 1, 1, 1, 2, 2, 2]], 4, axis=0)
    assert point_estimate(draws, Unlike(), exact=True).tolist() == draws[0].tolist()
    with pytest.raises(
        TypeError, match=r"the search knows no steps for .*: make it an AdditiveLoss or a RatioLoss"
    ):
        point_estimate(draws, Unlike())


@pytest.mark.parametrize("loss", [VI(), Binder(), *RATIOS], ids=by_id)
def test_nine_items_by_enumeration(all_partitions, noisy_draws, loss):
    """21147 partitions; draws as another package gives them, an array of any labels."""
    every = all_partitions(9)
    for seed in range(3):
        draws = 5 - 2 * noisy_draws(9, 4, 25, noise=0.3, uncertain=0.5)
        least = expected_losses(loss, every, draws).min()
        assert loss.expected(
            point_estimate(draws, loss, max_clusters=9, seed=seed), draws
        ) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("loss", RATIOS, ids=by_id)
def test_rebuilding_ratios_only_ever_lowers_the_objective(noisy_draws, rng, loss):
    gains = 0
    for _ in range(80):
        problem = make_problem(canonical(noisy_draws(20, 5, 20, noise=0.4)), loss, 20)
        orders = np.stack([rng.permutation(20) for _ in range(4)])
        start = np.full(20, -1, np.int32)
        _, before = _search.run(problem, start, orders, 0, False)
        labels, after = _search.run(problem, start, orders, 10, False)
        assert after == plain_ratios(problem, labels.astype(np.int64)) <= before
        gains += after < before
    assert gains > 0


def test_rebuilding_only_ever_lowers_the_objective(noisy_draws, rng):
    gains = 0
    for _ in range(30):
        problem = make_problem(canonical(noisy_draws(20, 5, 20, noise=0.4)), VI(), 20)
        orders = np.stack([rng.permutation(20) for _ in range(4)])
        start = np.full(20, -1, np.int32)
        _, before = _search.run(problem, start, orders, 0, False)
        labels, after = _search.run(problem, start, orders, 10, False)
        assert after == plain_objective(problem, labels.astype(np.int64))
        assert after <= before
        gains += after < before
    assert gains > 0


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_every_partition_is_visited_once(all_partitions, n):
    z, seen = np.zeros(n, np.int64), []
    seen.append(tuple(z))
    while next_partition(z, n):
        seen.append(tuple(z))
    assert seen == [tuple(row) for row in all_partitions(n)]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_partitions_into_few_clusters_are_visited_once(all_partitions, limit):
    z, seen = np.zeros(5, np.int64), [(0,) * 5]
    while next_partition(z, limit):
        seen.append(tuple(z.tolist()))
    assert sorted(seen) == sorted(
        tuple(row) for row in all_partitions(5).tolist() if max(row) < limit
    )


@pytest.mark.parametrize("loss", LOSSES + RATIOS, ids=by_id)
def test_the_exact_answer_is_the_best_of_all_partitions(all_partitions, noisy_draws, loss):
    draws = noisy_draws(6, 3, 15, noise=0.3)
    labels = point_estimate(draws, loss, exact=True, max_clusters=6)
    assert loss.expected(labels, draws) == pytest.approx(
        min(loss.expected(z, draws) for z in all_partitions(6)), abs=1e-9
    )


@pytest.mark.parametrize("loss", LOSSES + RATIOS, ids=by_id)
def test_the_search_finds_the_optimum_of_small_problems(noisy_draws, loss):
    found = 0
    for seed in range(40):
        draws = noisy_draws(8, 3, 12, noise=0.4, uncertain=0.4)
        exact = loss.expected(point_estimate(draws, loss, exact=True), draws)
        value = loss.expected(point_estimate(draws, loss, exact=False, seed=seed, n_jobs=1), draws)
        assert value >= exact - 1e-9
        found += value <= exact + 1e-9
    assert found >= 39


@pytest.mark.parametrize("loss", LOSSES + RATIOS, ids=by_id)
@pytest.mark.parametrize(("n", "clusters"), [(60, 3), (150, 8)])
def test_no_draw_is_better(noisy_draws, loss, n, clusters):
    draws = noisy_draws(n, clusters, 200)
    labels = point_estimate(draws, loss)
    assert loss.expected(labels, draws) <= expected_losses(loss, draws, draws).min() + 1e-12


def test_equal_draws_are_their_own_estimate(rng):
    z = canonical(
        rng.integers(40, size=200)
    )  # more clusters than the tables have room for at first
    for loss in LOSSES + RATIOS:
        np.testing.assert_array_equal(point_estimate(np.tile(z, (5, 1)), loss, n_runs=2), z)


def test_many_clusters_make_the_tables_grow(rng):
    z = rng.integers(50, size=300)
    draws = np.where(rng.random((30, 300)) < 0.05, rng.integers(50, size=(30, 300)), z)
    labels = point_estimate(draws, n_runs=4)
    assert len(np.unique(labels)) > 16
    assert bc.metrics.adjusted_rand(labels, z) > 0.99


def test_a_cheaper_split_gives_more_clusters(noisy_draws):
    draws = noisy_draws(100, 6, 100, noise=0.3)
    for loss in (VI, Binder):
        numbers = [point_estimate(draws, loss(a)).max() + 1 for a in (1.9, 1.0, 0.3)]
        assert numbers[0] < numbers[1] <= numbers[2]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_max_clusters_is_kept(noisy_draws, limit):
    draws = noisy_draws(50, 5, 60)
    labels = point_estimate(draws, max_clusters=limit)
    assert labels.max() + 1 == limit


def test_by_default_no_more_clusters_than_some_draw_has():
    draws = np.array([[0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1, 0, 1]])
    assert point_estimate(draws, Binder(a=0.02), exact=False).max() == 1
    assert point_estimate(draws, Binder(a=0.02), exact=False, max_clusters=8).max() > 1


def test_the_seed_decides_and_threads_do_not(noisy_draws):
    draws = noisy_draws(80, 6, 40, noise=0.5, uncertain=0.6)
    first = point_estimate(draws, n_runs=2, seed=3, n_jobs=1)
    np.testing.assert_array_equal(first, point_estimate(draws, n_runs=2, seed=3, n_jobs=2))
    values = expected_losses(
        VI(), [point_estimate(draws, n_runs=1, seed=s) for s in range(20)], draws
    )
    assert len(set(values)) > 1
    assert VI().expected(point_estimate(draws, n_runs=16), draws) < np.quantile(values, 0.3)


def test_relabelled_draws_and_chains_give_the_same_estimate(noisy_draws, rng):
    draws = noisy_draws(40, 4, 50)
    expected = point_estimate(draws)
    assert expected.dtype == np.int64
    np.testing.assert_array_equal(expected, canonical(expected))
    names = np.array([rng.permutation(4) for _ in range(50)])
    np.testing.assert_array_equal(
        point_estimate(np.take_along_axis(names, draws, axis=1)), expected
    )
    tree = to_datatree({"z": draws.reshape(2, 25, 40)})
    np.testing.assert_array_equal(point_estimate(tree), expected)


def test_one_item_and_one_draw():
    assert point_estimate([[3]]).tolist() == [0]
    assert point_estimate([[3, 1, 3] * 4]).tolist() == [0, 1, 0] * 4


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"n_runs": 0}, ValueError, "n_runs must be an integer of at least 1; got 0."),
        (
            {"max_clusters": -1},
            ValueError,
            "max_clusters must be an integer of at least 0; got -1.",
        ),
        ({"n_jobs": 0}, ValueError, "n_jobs must be an integer of at least 1; got 0."),
        (
            {"exact": True},
            ValueError,
            "exact goes through all partitions of at most 10 items; got 12: leave it out.",
        ),
        ({"loss": "ari"}, ValueError, f"{CHOICE} or a loss such as VI(a=0.5); got 'ari'."),
    ],
)
def test_bad_settings(settings, error, sentence):
    with pytest.raises(error) as caught:
        point_estimate(np.zeros((3, 12), int), **settings)
    assert str(caught.value) == sentence
