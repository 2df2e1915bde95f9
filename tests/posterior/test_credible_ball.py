from collections import Counter

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.losses import VI, Binder
from tests.exactness.exact import partitions


def weighted_draws(every, rng):
    """Draws in which each partition stands a random number of times, many of them not at all."""
    times = rng.poisson(rng.gamma(0.3, 4.0, size=len(every)))
    times[rng.integers(len(every))] += 20
    return rng.permutation(np.repeat(every, times, axis=0))


def by_definition(draws, centre, level, loss):
    """Ball and bounds as Wade and Ghahramani define them, one partition at a time."""
    share = Counter(map(tuple, draws.tolist()))
    distance = {z: round(loss.loss(centre, z), 9) for z in share}
    radius = next(
        r
        for r in sorted(set(distance.values()))
        if sum(times for z, times in share.items() if distance[z] <= r) >= level * len(draws) - 1e-9
    )
    ball = [z for z in share if distance[z] <= radius]
    number = {z: len(set(z)) for z in ball}

    def farthest(members):
        far = max(distance[z] for z in members)
        return {z for z in members if distance[z] == far}

    fewest, most = min(number.values()), max(number.values())
    upper = farthest([z for z in ball if number[z] == fewest])
    lower = farthest([z for z in ball if number[z] == most])
    return radius, upper, lower, farthest(ball), sum(share[z] for z in ball) / len(draws)


@pytest.mark.parametrize("loss", [VI(), Binder()], ids=repr)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_ball_is_the_definition_on_six_items(loss, level, seed):
    rng = np.random.default_rng(seed)
    draws = weighted_draws(partitions(6), rng)
    centre = draws[0] if seed % 2 else bc.point_estimate(draws, loss)
    ball = bc.credible_ball(draws, centre, level=level, loss=loss)
    radius, upper, lower, horizontal, probability = by_definition(draws, centre, level, loss)
    assert ball.radius == pytest.approx(radius, abs=1e-8)
    assert ball.probability == pytest.approx(probability)
    found = [set(map(tuple, z.tolist())) for z in (ball.upper, ball.lower, ball.horizontal)]
    assert found == [upper, lower, horizontal]


def test_a_sure_posterior_has_a_ball_of_radius_zero():
    ball = bc.credible_ball(np.tile([0, 0, 1], (10, 1)))
    assert ball.radius == 0
    assert ball.upper.tolist() == ball.lower.tolist() == ball.horizontal.tolist() == [[0, 0, 1]]
    assert [1, 1, 0] in ball
    assert [0, 1, 1] not in ball
