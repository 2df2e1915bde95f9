import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree, with_names
from bayesclust.report import findings, report_page

SETTINGS = {"sampler": "collapsed", "family": "gaussian"}


@pytest.fixture(scope="session")
def make():
    """Make a posterior of 24 items in three clusters, with links of two sources and triplets."""

    def build(*, shape=(4, 50), settings=SETTINGS, constraints=True, X=True):
        rng = np.random.default_rng(5)
        truth = np.repeat([0, 1, 2], [10, 8, 6])
        z = np.tile(truth, (*shape, 1))
        moved = rng.random(z.shape) < np.where(np.arange(24) % 8 == 3, 0.4, 0.0)
        z[moved] = rng.integers(0, 4, moved.sum())
        draws = {"z": z, "concentration": rng.gamma(2, 1, shape)}
        dims, given = {}, []
        if constraints:
            links = bc.PairwiseConstraints.sample(
                truth, size=80, error_rate=[0.02, 0.4], n_sources=2, seed=1
            )
            given = [links, bc.RelativeConstraints.sample(truth, size=20, error_rate=0.2, seed=2)]
            draws |= {"p": rng.beta(90, 9, (*shape, 2)), "q": rng.beta(60, 20, (*shape, 2))}
            draws |= {"noise": rng.beta(2, 9, (*shape, 1))}
            dims = {"p": ("links_source",), "q": ("links_source",), "noise": ("triplets_source",)}
        data = truth[:, None] * 3 + rng.normal(size=(24, 4)) if X else None
        attrs = {
            "settings": settings,
            "seed": 1,
            "version": "0.1",
            "fit_seconds": 1.25,
            "data": "a<b>.csv",
        }
        tree = to_datatree(
            draws,
            {"log_joint": rng.normal(-50, 3, shape)},
            X=data,
            constraints=given,
            dims=dims,
            attrs=attrs,
        )
        names = [f"item {i}" for i in range(24)]
        names[3] = '<b>bold</b> & "co"'
        return with_names(
            tree, items=names, sources={"links": ["ann", "</script>"]} if constraints else None
        )

    return build


@pytest.fixture(scope="session")
def tree(make):
    return make()


@pytest.fixture(scope="session")
def found(tree):
    return findings(tree)


@pytest.fixture(scope="session")
def page(tree):
    return report_page(tree)
