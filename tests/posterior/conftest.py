from functools import partial

import numpy as np
import pytest


def make_draws(rng, n, clusters, draws, noise=0.05, uncertain=0.2):
    """Partitions around a centre: items stray, some often, and two clusters merge at times."""
    centre = rng.integers(clusters, size=n)
    other = rng.integers(clusters, size=n)
    stray = np.where(rng.random(n) < uncertain, 0.4, noise)
    z = np.where(rng.random((draws, n)) < stray, other, centre)
    merged = rng.random(draws) < 0.25
    z[merged] = np.where(z[merged] == clusters - 1, 0, z[merged])
    return z


@pytest.fixture
def noisy_draws(rng):
    return partial(make_draws, rng)
