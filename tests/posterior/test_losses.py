from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import adjusted_rand_score, mutual_info_score, normalized_mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix

from bayesclust.posterior.losses import (
    ID,
    NID,
    NVI,
    VI,
    AdditiveLoss,
    Binder,
    OneMinusARI,
    as_loss,
    expected_losses,
    pairwise_losses,
)

LOSSES = [VI(), VI(a=0.4), VI(a=1.7), Binder(), Binder(a=0.4), Binder(a=1.7)]
RATIOS = [OneMinusARI(), NVI(), ID(), NID()]
NAMES = '"vi", "binder", "omari", "nvi", "id", "nid"'


def by_id(loss):
    return repr(loss)


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (VI(), 1.0),  # H(truth | estimate) of two halves in one cluster
        (VI(a=0.5), 1.5),
        (Binder(), 2 * 4 / 16),  # four of the pairs are wrongly joined
        (Binder(a=0.5), 1.5 * 2 * 4 / 16),
    ],
)
def test_joining_two_halves_by_hand(loss, expected):
    assert loss.loss([0, 0, 1, 1], [0, 0, 0, 0]) == expected


@pytest.mark.parametrize(
    ("loss", "expected"),
    [(VI(), 1.0), (VI(a=0.5), 0.5), (Binder(), 0.5), (Binder(a=0.5), 0.25)],
)
def test_splitting_in_halves_by_hand(loss, expected):
    assert loss.loss([0, 0, 0, 0], [0, 0, 1, 1]) == expected


@pytest.mark.parametrize("a", [0.3, 1.0, 1.6])
def test_vi_is_two_conditional_entropies(rng, a):
    for _ in range(20):
        truth, estimate = rng.integers(4, size=30), rng.integers(6, size=30)
        shared = mutual_info_score(truth, estimate)
        bits = (
            a * (entropy(np.bincount(estimate)) - shared)
            + (2 - a) * (entropy(np.bincount(truth)) - shared)
        ) / np.log(2)
        assert VI(a).loss(truth, estimate) == pytest.approx(bits, abs=1e-12)


@pytest.mark.parametrize("a", [0.3, 1.0, 1.6])
def test_binder_counts_pairs(rng, a):
    for _ in range(20):
        truth, estimate = rng.integers(4, size=30), rng.integers(6, size=30)
        (_, joined), (split, _) = pair_confusion_matrix(truth, estimate)  # ordered pairs
        assert Binder(a).loss(truth, estimate) == pytest.approx(
            (a * split + (2 - a) * joined) / 30**2, abs=1e-14
        )


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        # pairs together: 2 in the truth, 1 in the estimate, 1 in both, 6 in all
        (OneMinusARI(), 1 - (1 - 2 / 6) / (1.5 - 2 / 6)),
        # entropies 1 and 1.5 bits, 1.5 of both together, so 1 bit in common
        (NVI(), 1 - 1 / 1.5),
        (ID(), 0.5),
        (NID(), 1 - 1 / 1.5),
    ],
)
def test_ratios_by_hand(loss, expected):
    assert loss.loss([0, 0, 1, 1], [0, 0, 1, 2]) == pytest.approx(expected, abs=1e-14)
    assert loss.loss([0, 0, 1, 2], [0, 0, 1, 1]) == pytest.approx(expected, abs=1e-14)


def test_ratios_by_scikit_learn(rng):
    for _ in range(20):
        truth, estimate = rng.integers(4, size=30), rng.integers(6, size=30)
        shared = mutual_info_score(truth, estimate)
        joint = entropy(np.bincount(6 * truth + estimate))
        most = max(entropy(np.bincount(truth)), entropy(np.bincount(estimate)))
        assert OneMinusARI().loss(truth, estimate) == pytest.approx(
            1 - adjusted_rand_score(truth, estimate), abs=1e-12
        )
        assert NVI().loss(truth, estimate) == pytest.approx(1 - shared / joint, abs=1e-12)
        assert ID().loss(truth, estimate) == pytest.approx((most - shared) / np.log(2), abs=1e-12)
        normalised = normalized_mutual_info_score(truth, estimate, average_method="max")
        assert NID().loss(truth, estimate) == pytest.approx(1 - normalised, abs=1e-12)


@pytest.mark.parametrize("loss", RATIOS, ids=by_id)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_ratios_where_there_is_nothing_to_divide_by(loss, n):
    one, each = np.zeros(n, int), np.arange(n)
    assert loss.loss(one, one) == loss.loss(each, each) == 0
    if n > 1:
        assert loss.loss(one, each) == pytest.approx(np.log2(n) if loss == ID() else 1, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES + RATIOS, ids=by_id)
def test_loss_is_zero_for_equal_partitions_only(all_partitions, loss):
    partitions = all_partitions(4)
    for (i, first), (j, second) in product(enumerate(partitions), repeat=2):
        value = loss.loss(first, second)
        assert value < 1e-15 if i == j else value > 0.01


@pytest.mark.parametrize("loss", [loss for loss in LOSSES + RATIOS if loss.is_metric], ids=by_id)
def test_losses_that_claim_to_be_metrics_are(all_partitions, loss):
    partitions = all_partitions(5)
    d = np.array([[loss.loss(first, second) for second in partitions] for first in partitions])
    np.testing.assert_array_equal(d, d.T)
    assert (d[:, None, :] <= d[:, :, None] + d[None] + 1e-12).all()


def test_which_losses_are_metrics(all_partitions):
    assert [type(loss) for loss in LOSSES + RATIOS if loss.is_metric] == [VI, Binder, NVI, ID, NID]
    partitions = all_partitions(4)
    d = pairwise_losses(OneMinusARI(), partitions, partitions)
    assert (d[:, None, :] > d[:, :, None] + d[None] + 0.1).any()


@pytest.mark.parametrize("loss", LOSSES, ids=by_id)
def test_weights_swap_with_the_roles(rng, loss):
    first, second = rng.integers(3, size=(2, 12))
    assert loss.loss(first, second) == pytest.approx(
        type(loss)(2 - loss.a).loss(second, first), abs=1e-13
    )


@pytest.mark.parametrize("loss", LOSSES + RATIOS, ids=by_id)
def test_expected_loss_is_the_mean_over_draws(noisy_draws, loss):
    draws = noisy_draws(25, 4, 40)
    estimate = draws[3]
    plain = np.mean([loss.loss(draw, estimate) for draw in draws])
    assert loss.expected(estimate, draws) == pytest.approx(plain, abs=1e-12)
    several = expected_losses(loss, draws[:5], draws)
    np.testing.assert_allclose(several, [loss.expected(z, draws) for z in draws[:5]], atol=1e-12)
    matrix = [[loss.loss(draw, z) for draw in draws] for z in draws[:5]]
    np.testing.assert_allclose(pairwise_losses(loss, draws[:5], draws), matrix, atol=1e-12)


def test_many_estimates_are_judged_in_parts(noisy_draws, monkeypatch):
    draws = noisy_draws(12, 3, 30)
    whole = expected_losses(VI(), draws, draws)
    monkeypatch.setattr("bayesclust.posterior.losses.base.CELLS", 100)
    np.testing.assert_array_equal(expected_losses(VI(), draws, draws), whole)


def test_pairs_at_the_threshold_of_binder_cost_the_same_joined_or_apart():
    a = 0.8
    share = (2 - a) / 2
    together = round(share * 10)
    draws = [[0, 0]] * together + [[0, 1]] * (10 - together)
    assert Binder(a).expected([0, 0], draws) == pytest.approx(Binder(a).expected([0, 1], draws))


def test_labels_are_names_only(rng):
    z, other = rng.integers(3, size=(2, 20))
    for loss in LOSSES + RATIOS:
        assert loss.loss(z, other) == pytest.approx(
            loss.loss(-100 * z, 10**12 + 7 * other), abs=1e-14
        )


def test_a_new_loss_is_a_potential_and_a_scale(rng):
    class Quartic(AdditiveLoss):
        def potential(self, counts):
            return np.asarray(counts, float) ** 4

        def scale(self, n):
            return 1.0

    z, other = rng.integers(3, size=(2, 15))
    quads = [list(q) for q in product(range(15), repeat=4)]
    same = [np.array([len(set(labels[q])) == 1 for q in quads]) for labels in (z, other)]
    assert Quartic().loss(z, other) == pytest.approx((same[0] != same[1]).sum())


def test_names_of_losses():
    assert as_loss("vi") == VI()
    assert as_loss("Binder") == Binder()
    assert as_loss(VI(a=0.5)) == VI(0.5)
    assert [as_loss(name) for name in ("omARI", "NVI", "id", "nid")] == RATIOS


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: as_loss("rand"),
            ValueError,
            f"loss must be {NAMES} or a loss such as VI(a=0.5); got 'rand'.",
        ),
        (
            lambda: as_loss(1),
            TypeError,
            f"loss must be {NAMES} or a loss such as VI(a=0.5); got 1.",
        ),
        (lambda: VI(a=2), ValueError, "a must lie in (0, 2); got 2."),
        (lambda: Binder(a=0), ValueError, "a must lie in (0, 2); got 0."),
        (lambda: VI(a="1"), TypeError, "a must be a number in (0, 2); got '1' of type str."),
        (
            lambda: VI().loss([0, 1], [0]),
            ValueError,
            "truth names 2 items and estimate 1: pass two partitions of the same items.",
        ),
        (
            lambda: VI().expected([0, 1, 1], [[0, 1]]),
            ValueError,
            "draws name 2 items and estimate 3: pass draws of the items of the estimate.",
        ),
        (
            lambda: VI().loss([0.5, 1], [0, 1]),
            TypeError,
            "truth must be integers; got dtype float64: number the clusters 0, 1, 2, ...",
        ),
        (
            lambda: VI().loss([[0, 1]], [0, 1]),
            ValueError,
            "truth must have shape (n,) with n at least 1; got (1, 2): pass one label per item.",
        ),
        (
            lambda: expected_losses(VI(), [[0, 0, 1]], [[0, 1]]),
            ValueError,
            "draws name 2 items and estimates 3: pass draws of the items of the estimates.",
        ),
    ],
)
def test_bad_input(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == sentence


def test_binder_of_pairs_matches_a_plain_sum(rng):
    truth, estimate = rng.integers(3, size=(2, 9))
    total = sum(
        0.6 * (truth[i] == truth[j] and estimate[i] != estimate[j])
        + 1.4 * (truth[i] != truth[j] and estimate[i] == estimate[j])
        for i, j in combinations(range(9), 2)
    )
    assert Binder(a=0.6).loss(truth, estimate) == pytest.approx(2 * total / 81)
