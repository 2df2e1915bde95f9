"""The signed-rank test against closed forms, quadrature and a plain loop."""

import numpy as np
import pytest
from scipy import stats

import bayesclust as bc

SAMPLES = 40_000
ERROR = 4 * 0.5 / np.sqrt(SAMPLES)


def found(differences, **settings):
    return bc.bayesian_signed_rank(differences, num_samples=SAMPLES, **settings)


@pytest.mark.parametrize("strength", [0.5, 2.0])
def test_one_data_set_in_closed_form(strength):
    """w_0 is Beta(s, 1): of a large difference only w_0^2 speaks for no difference, of a middling one all but w_1^2."""
    large = 0.5 ** (strength / 2)
    middling = (1 - np.sqrt(0.5)) ** strength
    settings = {"rope": 0.1, "strength": strength}
    assert found([0.25], **settings) == pytest.approx((0.0, 1 - large, large), abs=ERROR)
    assert found([0.15], **settings) == pytest.approx((0.0, 1 - middling, middling), abs=ERROR)
    assert found([-0.15], **settings) == pytest.approx((middling, 1 - middling, 0.0), abs=ERROR)
    assert found([0.05], **settings) == (0.0, 1.0, 0.0)


def test_two_data_sets_by_quadrature():
    """Differences of +5 and -5 and a prior that counts as one data set: w is uniform on the triangle."""
    cells = (np.arange(600) + 0.5) / 600
    up, down = np.meshgrid(cells, cells)
    inside = up + down < 1
    up, down = up[inside], down[inside]
    prior = 1 - up - down
    better, worse = up**2 + 2 * up * prior, down**2 + 2 * down * prior
    none = prior**2 + 2 * up * down
    wins = [
        (share >= np.maximum(*others)).mean()
        for share, *others in ((worse, none, better), (none, worse, better))
    ]
    result = found([5.0, -5.0], strength=1.0)
    assert result == pytest.approx((*wins, 1 - sum(wins)), abs=ERROR + 0.005)
    assert result.worse == pytest.approx(result.better, abs=2 * ERROR)


def test_many_data_sets_by_a_plain_loop(rng):
    z, half, s = rng.normal(0.02, 0.05, size=6), 0.01, 0.5
    wins = np.zeros(3)
    for gammas in rng.gamma([s, 1, 1, 1, 1, 1, 1], size=(3000, 7)):
        share = np.zeros(3)
        for first, w in zip([0.0, *z], gammas / gammas.sum(), strict=True):
            for second, v in zip([0.0, *z], gammas / gammas.sum(), strict=True):
                middle = (first + second) / 2
                share[0 if middle < -half else 2 if middle > half else 1] += w * v
        wins[share.argmax()] += 1
    assert found(z) == pytest.approx(tuple(wins / 3000), abs=ERROR + 4 * 0.5 / np.sqrt(3000))


def test_with_many_data_sets_it_sees_what_wilcoxon_sees(rng):
    z = rng.normal(0.06, 0.08, size=40)
    assert stats.wilcoxon(z, alternative="greater").pvalue < 0.001
    assert found(z, rope=0.0).better > 0.999
    assert found(-z, rope=0.0) == pytest.approx(found(z, rope=0.0)[::-1], abs=ERROR)


@pytest.mark.parametrize(
    ("differences", "settings", "sentence"),
    [
        ([], {}, r"differences have shape \(0,\): pass one for each data set\."),
        ([0.1, np.nan], {}, r"differences\[1\] is not a number: leave such data sets out\."),
        ([0.1], {"rope": -1.0}, r"rope .* -1"),
        ([0.1], {"strength": 0.0}, r"strength .* 0"),
        ([0.1], {"num_samples": 0}, r"num_samples .* 0"),
    ],
)
def test_bad_input_is_refused(differences, settings, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        bc.bayesian_signed_rank(differences, **settings)
