"""Dismissed answers: conflicts of data and answers are told, bad sources told differently, good fits not accused."""

from itertools import combinations

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.dismissed import dismissal, won_by_merging
from bayesclust.posterior.tree import to_datatree

Y = np.repeat([0, 1, 2], 40)
PIECES = np.arange(120) // 10
"""Each class of Y in four pieces."""
SETTINGS = {"sampler": "collapsed", "family": "gaussian", "cluster_model": "single", "power": None}


def fitted(z, *views, settings=SETTINGS, columns=2):
    return to_datatree(
        {"z": np.tile(z, (2, 4, 1))},
        X=np.zeros((len(z), columns)),
        views=views,
        attrs={"settings": settings},
    )


def asked(flip, size=300, seed=0, y=Y, **more):
    return bc.PairwiseConstraints.sample(y, size=size, flip=flip, seed=seed, **more)


def test_best_merges_of_few_groups_are_found(rng):
    """Greedy contraction wins no more than the best of all partitions, and mostly that."""
    partitions = [np.unique(z, return_inverse=True)[1] for z in np.ndindex((4,) * 4)]
    pairs, hits = np.array(list(combinations(range(4), 2))), 0
    for _ in range(100):
        weight = rng.integers(-3, 4, size=6).astype(float)
        best = max(weight[z[pairs[:, 0]] == z[pairs[:, 1]]].sum() for z in partitions)
        found = won_by_merging(pairs, weight)
        assert found <= best
        hits += found == best
    assert hits > 85


def test_repeated_and_idle_pairs_add_up():
    pairs = np.array([[0, 1], [1, 0], [2, 2], [1, 2], [0, 2]])
    assert won_by_merging(pairs, np.array([1.0, 2.0, 9.0, -1.0, 3.0])) == 3 + 3 - 1


@pytest.mark.parametrize("flip", [0.0, 0.1])
def test_a_class_in_pieces_is_a_conflict(flip):
    found = dismissal(fitted(PIECES, asked(flip)))
    assert found.finding == "data against constraints"
    assert found.reconciled > 30 > 2 * found.chance
    said = str(found)
    assert said.startswith("Data and constraints conflict: the fit violates ")
    assert 'cluster_model="mixture"' in said
    assert "power=" in said
    assert "gaussian_tied" not in said


def test_remedies_are_what_has_not_been_tried():
    said = str(
        dismissal(
            fitted(PIECES, asked(0.0), settings=SETTINGS | {"cluster_model": "auto"}, columns=34)
        )
    )
    assert 'cluster_model="mixture"' not in said
    assert 'family="gaussian_tied", one covariance for 34 columns' in said
    tied = str(
        dismissal(
            fitted(PIECES, asked(0.0), settings=SETTINGS | {"family": "gaussian_tied"}, columns=34)
        )
    )
    assert "gaussian_tied" not in tied
    everything = {
        "sampler": "collapsed",
        "family": "multinomial",
        "cluster_model": "auto",
        "power": None,
    }
    assert "leave_view_out" in str(dismissal(fitted(PIECES, asked(0.0), settings=everything)))


def test_sources_that_contradict_themselves_are_told_differently():
    rng = np.random.default_rng(1)
    pairs = np.array(list(combinations(range(0, 120, 4), 2)))
    right = Y[pairs[:, 0]] == Y[pairs[:, 1]]
    links = bc.PairwiseConstraints(pairs, right ^ (rng.random(len(pairs)) < 0.45), 120)
    found = dismissal(fitted(Y, links))
    assert found.finding == "constraints against each other"
    assert 0.5 * found.wrong <= found.alone <= found.wrong
    assert "The sources are at fault" in str(found)
    assert "cluster_model=" not in str(found)


def test_few_answers_about_an_item_leave_it_undecided():
    """A chain of questions cannot contradict itself, whatever is answered."""
    pairs = np.c_[np.arange(119), np.arange(1, 120)]
    z = np.tile([0, 1], 60)
    links = bc.PairwiseConstraints(pairs, np.ones(119, bool), 120)
    # all answers alike: shuffled they are the same
    assert dismissal(fitted(z, links)).finding == "undecided"
    inside = bc.PairwiseConstraints(pairs, np.zeros(119, bool), 120)
    found = dismissal(fitted(np.zeros(120, int), inside))
    assert (found.finding, found.wrong, found.alone) == ("undecided", 119, 0)
    assert "too few are about the same items" in str(found)


@pytest.mark.parametrize("flip", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("size", [30, 300, 3000])
def test_good_fits_are_not_accused(size, flip):
    for seed in range(20):
        found = dismissal(fitted(Y, asked(flip, size=size, seed=seed)))
        assert (found.finding, str(found)) == ("as expected", ""), (seed, found)


@pytest.mark.parametrize("size", [100, 1000])
def test_wrong_answers_about_many_true_clusters_are_not_accused(size):
    """Where clusters are small, few answers are about each two of them, and merges win something by chance."""
    y = np.arange(120) // 6
    for seed in range(20):
        assert dismissal(fitted(y, asked(0.15, size=size, seed=seed, y=y))).finding == "as expected"


def test_expected_wrong_answers_follow_the_prior():
    noise = bc.LinkNoise(p=(9.0, 1.0), q=0.7)
    links = asked(0.0).with_noise(noise)
    (view,) = bc.posterior.tree.stored_views(fitted(Y, links))
    assert view.prior == pytest.approx({"p": 0.9, "q": 0.7})
    same = int((Y[links.items[:, 0]] == Y[links.items[:, 1]]).sum())
    found = dismissal(fitted(Y, links))
    assert found.expected == pytest.approx(0.1 * same + 0.3 * (300 - same))
    assert found.wrong == 0


def test_what_cannot_be_judged():
    assert dismissal(np.tile(Y, (2, 4, 1))) is None
    assert dismissal(fitted(Y)) is None
    triplets = bc.RelativeConstraints([(0, 1, 80)], ["yes"], n_items=120)
    assert dismissal(fitted(Y, triplets)) is None
    # trees of before priors were kept
    tree = fitted(Y, asked(0.4))
    del tree["constant_data"]["links_items"].attrs["prior"]
    old = dismissal(tree)
    assert np.isnan(old.expected)
    assert old.finding == "as expected"


def test_diagnose_says_so(rng):
    z = np.where(rng.random((2, 100, 120)) < 0.02, 0, PIECES)
    links, log_joint = asked(0.1), rng.normal(size=(2, 100))
    told = bc.diagnose(to_datatree({"z": z}, {"log_joint": log_joint}, views=[links]))
    silent = bc.diagnose(to_datatree({"z": z}, {"log_joint": log_joint}))
    assert told.ok == silent.ok
    assert told.verdict == silent.verdict
    assert silent.conflict == ""
    assert told.conflict.startswith("Data and constraints conflict")
    assert str(told) == f"{told.verdict} {told.conflict}"
    assert told.conflict.split(":")[0] in told._repr_html_()


def test_classes_of_two_ellipses_each():
    """Classes of opposite corners, as a plain fit and a fit of mixtures see them."""
    corners, y = np.array([[0, 0], [8, 8], [0, 8], [8, 0]]), np.repeat([0, 0, 1, 1], 20)
    X = np.repeat(corners, 20, axis=0) + np.random.default_rng(0).normal(size=(80, 2))
    links = bc.PairwiseConstraints.sample(y, size=120, flip=0.1, seed=1)
    short = {
        "num_chains": 2,
        "num_warmup": 60,
        "num_samples": 60,
        "progress": False,
        "random_state": 0,
    }
    plain = bc.TVClust(concentration=1.0, **short).fit(X, constraints=links)
    told = bc.diagnose(plain).conflict
    assert told.startswith("Data and constraints conflict") == (plain.n_clusters_ == 4)
    assert plain.n_clusters_ == 4
    assert (
        bc.diagnose(bc.TVClust(cluster_model="mixture", **short).fit(X, constraints=links)).conflict
        == ""
    )
