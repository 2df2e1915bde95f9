"""The Bayesian signed-rank test, in closed form and by a plain loop."""

import numpy as np
import pytest

from experiments.signed_rank import bayesian_signed_rank

SAMPLES = 40_000
ERROR = 4 * 0.5 / np.sqrt(SAMPLES)


def signed_rank(differences, **settings):
    return bayesian_signed_rank(differences, num_samples=SAMPLES, **settings)


@pytest.mark.parametrize("strength", [0.5, 2.0])
def test_signed_rank_of_one_data_set_in_closed_form(strength):
    """w_0 is Beta(s, 1): w_0^2 is no difference for a large one, all but w_1^2 for a middling."""
    large = 0.5 ** (strength / 2)
    middling = (1 - np.sqrt(0.5)) ** strength
    settings = {"rope": 0.1, "strength": strength}
    assert signed_rank([0.25], **settings) == pytest.approx((0.0, 1 - large, large), abs=ERROR)
    assert signed_rank([0.15], **settings) == pytest.approx(
        (0.0, 1 - middling, middling), abs=ERROR
    )
    assert signed_rank([-0.15], **settings) == pytest.approx(
        (middling, 1 - middling, 0.0), abs=ERROR
    )
    assert signed_rank([0.05], **settings) == (0.0, 1.0, 0.0)


def test_signed_rank_of_many_data_sets_by_a_plain_loop(rng):
    z, half, s = rng.normal(0.02, 0.05, size=6), 0.01, 0.5
    wins = np.zeros(3)
    for gammas in rng.gamma([s, 1, 1, 1, 1, 1, 1], size=(3000, 7)):
        share = np.zeros(3)
        for first, w in zip([0.0, *z], gammas / gammas.sum(), strict=True):
            for second, v in zip([0.0, *z], gammas / gammas.sum(), strict=True):
                middle = (first + second) / 2
                share[0 if middle < -half else 2 if middle > half else 1] += w * v
        wins[share.argmax()] += 1
    assert signed_rank(z) == pytest.approx(tuple(wins / 3000), abs=ERROR + 4 * 0.5 / np.sqrt(3000))
