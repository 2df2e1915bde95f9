import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree


@pytest.fixture(scope="session")
def views():
    truth = np.repeat([0, 1, 2], [8, 6, 4])
    links = bc.PairwiseConstraints.sample(truth, size=60, error_rate=0.2, n_sources=2, seed=1)
    triplets = bc.RelativeConstraints.sample(truth, size=50, error_rate=0.2, seed=2)
    return [links, triplets]


@pytest.fixture(scope="session")
def posterior(views):
    """Three chains around a partition of 18 items, some of them unsure, with two views."""
    rng = np.random.default_rng(20_260_101)
    z = np.tile(rng.permutation(np.repeat([0, 1, 2], [8, 6, 4])), (3, 40, 1))
    moved = rng.random(z.shape) < rng.choice([0.0, 0.4], 18)
    z[moved] = rng.integers(0, 4, moved.sum())
    draws = {
        "z": z,
        "concentration": rng.gamma(2, 1, (3, 40)),
        "p": rng.beta(90, 3, (3, 40, 2)),
        "q": rng.beta(8, 2, (3, 40, 2)),
        "noise": rng.beta(2, 9, (3, 40, 1)),
        "base_scale": rng.gamma(2, 1, (3, 40)),
    }
    dims = {"p": ("links_source",), "q": ("links_source",), "noise": ("triplets_source",)}
    stats = {"log_joint": rng.normal(-800, 3, (3, 40)), "moved": rng.random((3, 40))}
    return to_datatree(draws, stats, X=rng.normal(size=(18, 2)), constraints=views, dims=dims)


@pytest.fixture(scope="session")
def flipped(views):
    """Which answers are wrong in truth."""
    return np.concatenate([view.flipped for view in views])
