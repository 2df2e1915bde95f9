"""Partitions that come from a fit are of named items, which must be those of X, in its order."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc

Y = np.repeat([0, 1], [8, 7])
X = pd.DataFrame(
    np.random.default_rng(0).normal(6.0 * Y[:, None], 1, (15, 2)), [f"n{i:02}" for i in range(15)]
)
TURNED = X.iloc[::-1]
LINKS = bc.PairwiseConstraints([(0, 1), (0, 14)], [True, False], n_items=15)
SHORT = {"num_chains": 2, "num_warmup": 20, "num_samples": 20, "random_state": 0, "progress": False}
SAMPLER = bc.TVClust(cluster_model="single", **SHORT)
USES = {
    "init of TVClust": lambda fit, X: SAMPLER.fit(X, init=fit),
    "init of RDPMeans": lambda fit, X: bc.RDPMeans(init=fit).fit(X),
    "init of MPCKMeans": lambda fit, X: bc.MPCKMeans(2, init=fit).fit(X, constraints=LINKS),
    "partition to modify": lambda fit, X: bc.MinimalModification().fit(X, partition=fit),
    "partition of a session": lambda fit, X: bc.InteractiveSession(X, fit),
    "from_posterior": lambda fit, X: bc.RDPMeans.from_posterior(fit, X),
}


@pytest.fixture(scope="module")
def fit():
    return bc.TVClust(cluster_model="single", family="gaussian_spherical", **SHORT).fit(X)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("tree", [False, True])
def test_a_partition_of_items_in_another_order_is_refused(fit, use, tree):
    given = fit.posterior_ if tree else fit
    USES[use](given, X)
    USES[use](given, X.to_numpy())  # without names there is nothing to compare
    if use != "from_posterior":
        USES[use](fit.labels_, TURNED)
    with pytest.raises(
        ValueError, match=r"name items differently .*, 'n00' there and 'n14' in X: "
    ):
        USES[use](given, TURNED)


def test_a_limit_of_items_in_another_order_is_refused():
    limit = bc.RDPMeans(n_clusters=2).fit(X)
    with pytest.raises(
        ValueError, match=r"limit and X name items .*: fit it to this X, or pass it"
    ):
        bc.limit_path(TURNED, limit=limit, **SHORT)


def test_fits_of_items_in_another_order_are_not_compared(fit):
    limits = {name: bc.DPMeans(n_clusters=2).fit(of) for name, of in (("a", X), ("b", TURNED))}
    for compared in (bc.compare, bc.agreement):
        compared({"labels": Y, "fit": fit, "same": limits["a"]})
        said = (
            r"^methods\['b'\] and methods\['fit'\] name items .* 'n14' there and 'n00' in methods"
        )
        with pytest.raises(ValueError, match=said):
            compared({"labels": Y, "fit": fit.posterior_, "b": limits["b"]})


def test_numbers_are_names_however_they_are_written(fit):
    whole = pd.DataFrame(X.to_numpy(), index=2 * np.arange(15))
    parted = whole.set_axis(2.0 * np.arange(15))
    SAMPLER.fit(parted, init=bc.RDPMeans(n_clusters=2).fit(whole))
    plain = bc.TVClust(cluster_model="single", **SHORT).fit(X.to_numpy())
    SAMPLER.fit(X, init=bc.estimators.restored(plain.posterior_))
