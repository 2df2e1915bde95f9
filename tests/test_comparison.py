"""Comparisons of fits, of posteriors without a view, and of methods over many data sets."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix

import bayesclust as bc
from bayesclust.constraints import LinkNoise
from bayesclust.estimators.base import NO_LIKELIHOOD
from bayesclust.metrics import pairwise_f, variation_of_information
from bayesclust.partition_priors import DirichletProcess
from bayesclust.posterior.losses import VI
from tests.exactness.exact import partitions
from tests.refusals import refused

Y = np.repeat([0, 1, 2], 8)
DRAWS = np.array([[0, 0, 1, 1]] * 16 + [[0, 0, 0, 0]] * 3 + [[0, 1, 2, 3]])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 2)) + 3.0 * np.c_[Y == 1, Y == 2]
    return X, bc.PairwiseConstraints.sample(Y, size=30, error_rate=0.1, seed=1)


@pytest.fixture(scope="module")
def fits(data):
    X, links = data
    short = {"num_chains": 2, "num_warmup": 60, "num_samples": 60, "progress": False}
    sampler = bc.TVClust(cluster_model="single", random_state=0, **short)
    return {
        "sampler": sampler.fit(X, constraints=links),
        "mean field": bc.TVClust("variational", num_samples=50, random_state=0).fit(
            X, constraints=links
        ),
        "limit": bc.RDPMeans(n_clusters=3, random_state=0).fit(X, constraints=links),
        "no answers": bc.DPMeans(n_clusters=3).fit(X),
        "relaxed": bc.SpectralRDPMeans(n_clusters=3, random_state=0).fit(X, constraints=links),
        "classifier": bc.DCRC(3, n_init=2, max_iter=20, random_state=0).fit(X, constraints=links),
        "k-means": KMeans(3, n_init=3, random_state=0).fit(X),
        "truth": np.array(["a", "b", "c"])[Y],
    }


def test_position_in_a_posterior_by_hand():
    table = bc.compare(
        {"draws": DRAWS, "joined": [0, 0, 0, 0], "split": [0, 1, 2, 3], "crossed": [0, 1, 0, 1]}
    )
    assert table.index.tolist() == ["draws", "joined", "split", "crossed"]
    assert table["n_clusters"].tolist() == [2, 1, 4, 2]
    assert table["distance"].tolist() == [0.0, 1.0, 1.0, 2.0]
    assert table["ball_level"].tolist() == [0.8, 1.0, 1.0, 1.0]
    assert table["inside"].tolist() == [True, True, True, False]
    # VI of one cluster from halves 1, from singletons 2; of halves across from the other halves 2,
    # from both ends 1
    np.testing.assert_allclose(
        table["expected_loss"], [4 / 20, 18 / 20, 22 / 20, 36 / 20], atol=1e-12
    )
    assert table.attrs == {"loss": "VI(a=1.0)", "level": 0.95, "reference": "draws", "radius": 1.0}
    columns = ["n_clusters", "distance", "ball_level", "inside", "expected_loss"]
    assert list(table.columns) == columns


def test_scores_against_true_labels_by_scikit_learn(rng):
    labels, y = rng.integers(3, size=(2, 30))
    table = bc.compare({"labels": labels, "draws": rng.integers(3, size=(2, 5, 30))}, y)
    (_, wrong), (lost, both) = pair_confusion_matrix(y, labels)
    assert table.loc["labels", "f"] == pytest.approx(2 * both / (2 * both + wrong + lost))
    assert table.loc["labels", "ari"] == pytest.approx(adjusted_rand_score(y, labels))
    assert table.loc["labels", "nmi"] == pytest.approx(normalized_mutual_info_score(y, labels))
    assert table.attrs["reference"] == "draws"


def test_all_kinds_of_fits_in_one_table(fits):
    table = bc.compare(fits, Y)
    assert table.index.tolist() == list(fits)
    assert not table.drop(columns="seconds").isna().any(axis=None)
    assert table["seconds"].notna().tolist() == [True] * 6 + [False] * 2
    named = [table.attrs[name] for name in ("reference", "log_joint_of", "objective_of")]
    assert named == ["sampler", "sampler", "limit"]
    for name in ("limit", "relaxed", "k-means"):
        assert table.loc[name, "log_joint"] == fits["sampler"].log_joint(fits[name].labels_)
        assert table.loc[name, "objective"] == pytest.approx(
            fits["limit"].objective(fits[name].labels_), rel=1e-12
        )
        assert table.loc[name, "distance"] == pytest.approx(
            variation_of_information(fits[name].labels_, fits["sampler"].labels_), abs=1e-12
        )
    draws = fits["sampler"].posterior_["posterior"]["z"].values.reshape(-1, 24)
    losses = [VI().expected(labels, draws) for labels in (fits["k-means"].labels_, Y)]
    np.testing.assert_allclose(table.loc[["k-means", "truth"], "expected_loss"], losses, atol=1e-12)
    assert table.loc["truth", "ari"] == 1


def test_the_reference_can_be_named(fits):
    table = bc.compare(fits, reference="classifier")
    assert table.loc["classifier", "distance"] == 0
    assert table.attrs["log_joint_of"] == "sampler"  # a classifier has no such density
    assert bc.compare(fits, reference="mean field").attrs["log_joint_of"] == "mean field"


def test_objective_counts_each_answer_once(data, fits):
    X, links = data
    est = bc.RDPMeans(penalty=2.5, xi=(0.7, 0.3)).fit(X, constraints=links)
    for z in (Y, np.zeros(24, int), np.arange(24) % 5):
        same = z[links.items[:, 0]] == z[links.items[:, 1]]
        scatter = sum(((X[z == k] - X[z == k].mean(axis=0)) ** 2).sum() for k in set(z.tolist()))
        won, lost = (int((same & (links.answers == answer)).sum()) for answer in (1, 0))
        expected = scatter - 0.7 * won + 0.3 * lost + 2.5 * len(set(z.tolist()))
        assert est.objective(z) == pytest.approx(expected, rel=1e-12)
    for name in ("limit", "no answers", "relaxed"):
        est = fits[name]
        assert est.objective(100 - 7 * est.labels_) == pytest.approx(est.objective_, rel=1e-12)


def test_seconds_are_kept_with_the_draws(fits, tmp_path):
    est = fits["sampler"]
    assert 0 < est.fit_seconds_ < 600
    est.posterior_.to_netcdf(tmp_path / "fit.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "fit.nc", engine="h5netcdf") as tree:
        table = bc.compare({"saved": tree.load()})
    assert table.loc["saved", "seconds"] == est.fit_seconds_


@pytest.mark.parametrize(
    ("measure", "function"),
    [
        ("vi", variation_of_information),
        ("ari", adjusted_rand_score),
        ("nmi", normalized_mutual_info_score),
        ("f", pairwise_f),
    ],
)
def test_agreement_is_the_measure_of_every_two(rng, measure, function):
    labels = {name: rng.integers(3, size=20) for name in "abc"}
    table = bc.agreement(labels, measure)
    for (one, first), (other, second) in ((a, b) for a in labels.items() for b in labels.items()):
        assert table.loc[one, other] == pytest.approx(function(first, second), abs=1e-12)
    assert table.attrs["measure"] == measure
    assert table.columns.name


LABELS = [0, 0, 1]
NAMES = {"compare": bc.compare, **globals()}
ROWS = """
compare({"a": LABELS}, reference="b")
    ValueError: reference='b' is not one of the methods with draws, of which there are none.
compare({1: LABELS, "1": LABELS})
    ValueError: methods has the names 1 and '1', which are the same word: give each fit a name
    of its own.
compare({"a": LABELS}, y=[0, 1])
    ValueError: y has 2 labels, but methods are about 3 items: pass one each.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, NAMES)


def test_partitions_of_other_items_are_refused(fits):
    for rate in (fits["sampler"].log_joint, fits["limit"].objective):
        with pytest.raises(
            ValueError, match=r"^labels .*\b3\b.* 24|^labels .* \(24,\); got \(3,\)"
        ):
            rate(LABELS)


HALVES = np.repeat([0, 1], 15)


@pytest.fixture(scope="module")
def fitted():
    X = np.random.default_rng(0).normal(size=(30, 2)) + 4.0 * HALVES[:, None]
    links = bc.PairwiseConstraints.sample(HALVES, size=25, error_rate=0.1, seed=0)
    triplets = bc.RelativeConstraints.sample(
        np.tile([0, 1, 2], 10), size=30, error_rate=0.05, seed=1
    )
    est = bc.TVClust("variational", num_samples=100, random_state=0)
    return X, [links, triplets], est.fit(X, constraints=[links, triplets])


def test_leave_view_out_is_what_fits_by_hand_give(fitted):
    X, views, est = fitted
    table = bc.leave_view_out(est, X, views)
    assert table.index.tolist() == ["links", "triplets", "data"]
    without = clone(est).fit(X, constraints=[views[1]])
    apart = bc.posterior.posterior_distance(est, without)
    assert table.loc["links", ["n_clusters", "distance", "self_distance"]].tolist() == [
        without.n_clusters_,
        apart.wasserstein,
        apart.self_distance,
    ]
    z = without.posterior_["posterior"]["z"].values.reshape(-1, 30)
    assert table.loc["links", "right_without"] == pytest.approx(
        (views[0].truths(z) == views[0].answers).mean()
    )
    log_p = np.array([views[0].noise.log_marginal(views[0].counts(one)) for one in z])
    same = int((views[0].answers == 1).sum())
    # uniform prior: m answers in their order have probability same! different! / (m + 1)!
    habit = -sum(np.log(np.arange(same + 1, 27))) + sum(np.log(np.arange(1, 26 - same)))
    assert table.loc["links", "gain_over_marginal"] == pytest.approx(
        (np.log(np.exp(log_p).mean()) - habit) / 25, abs=1e-9
    )
    assert table["finding"].tolist()[:2] == ["agrees with the rest", "conflicts with the rest"]
    assert table.loc["data", "distance"] > table.loc["data", "self_distance"]


def test_no_data_leave_prior_and_constraints():
    """What `fit` takes for no data has probability one under every partition."""
    bound = bc.families.get_family(NO_LIKELIHOOD).bind(np.full((4, 1), np.nan))
    prior, every = DirichletProcess(1.0), [np.asarray(z) for z in partitions(4)]
    found = [bc.models.log_joint(z, bound, partition_prior=prior) for z in every]
    expected = [prior.log_marginal(np.bincount(z)) for z in every]
    np.testing.assert_allclose(np.diff(found), np.diff(expected), atol=1e-12)


def test_batches_leave_no_row_without_data():
    """Their prior needs the column that says which item is in which."""
    rng, y = np.random.default_rng(0), np.tile([0, 1], 15)
    X = pd.DataFrame(rng.normal(size=(30, 2)) + 6 * y[:, None], columns=["a", "b"])
    X["site"] = np.repeat(["Oslo", "Rome"], 15)
    links = bc.PairwiseConstraints.sample(y, size=20, seed=0)
    prior = bc.partition_priors.HierarchicalDirichletProcess("site")
    short = {"num_chains": 2, "num_warmup": 50, "num_samples": 50, "random_state": 0}
    est = bc.TVClust(partition_prior=prior, **short).fit(X, constraints=links)
    assert bc.leave_view_out(est, X, links).index.tolist() == ["links"]


def test_leave_view_out_refuses_bad_input(fitted):
    X, views, est = fitted
    with pytest.raises(NotFittedError, match="This DCRC instance is not fitted yet"):
        bc.leave_view_out(bc.DCRC(2), X, views)
    with pytest.raises(TypeError, match="must have draws, and a RDPMeans has none"):
        bc.leave_view_out(bc.RDPMeans(), X, views)
    with pytest.raises(ValueError, match="there are no constraints to leave out"):
        bc.leave_view_out(est, X, None)
    turned = bc.PairwiseConstraints(views[0].items, 1 - views[0].answers, 30)
    with pytest.raises(ValueError, match="was not fitted to the constraints 'links' as they are"):
        bc.leave_view_out(est, X, [turned, views[1]])
    surer = views[0].with_noise(LinkNoise(p=0.99))
    with pytest.raises(ValueError, match="was not fitted to the constraints 'links' as they are"):
        bc.leave_view_out(est, X, [surer, views[1]])
    with pytest.raises(ValueError, match="was fitted to the constraints 'triplets', too: pass all"):
        bc.leave_view_out(est, X, views[:1])
    with pytest.raises(ValueError, match="X is not the data that the estimator was fitted to"):
        bc.leave_view_out(est, X[::-1], views)


ESTIMATORS = [bc.TVClust("variational", num_samples=30, random_state=0), bc.RDPMeans(xi=2.0)]
ESTIMATORS += [bc.DCRC(3, n_init=2, noise=None, random_state=0)]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_cross_validation_is_what_fits_by_hand_give(data, estimator):
    X, links = data
    table = bc.cross_validate(estimator, X, links, n_folds=4, random_state=5)
    assert (table.index.name, table["answers"].sum()) == ("fold", 30)
    out = np.random.default_rng(5).permutation(30) % 4 == 1
    kept = bc.PairwiseConstraints(links.items[~out], links.answers[~out], 24)
    fit = clone(estimator).fit(X, constraints=kept)
    right = (links.truths(fit.labels_) == links.answers)[out]
    assert table.loc[1, "satisfied"] == right.mean()
    score = np.nan
    if hasattr(fit, "posterior_"):
        draws = fit.posterior_["posterior"]
        z, p, q = (draws[name].values.reshape(-1, draws[name].shape[-1]) for name in "zpq")
        together = z[:, links.items[out, 0]] == z[:, links.items[out, 1]]
        same = np.where(together, p, 1 - q).mean(axis=0)
        score = np.log(np.where(links.answers[out] == 1, same, 1 - same)).mean()
    np.testing.assert_allclose(table.loc[1, "log_score"], score)


def test_cross_validation_warns_once(data):
    X, links = data
    short = {"num_chains": 1, "num_warmup": 2, "num_samples": 9, "progress": False}
    estimator = bc.TVClust(cluster_model="single", random_state=0, **short)
    with pytest.warns(UserWarning, match="^4 warnings of 4 fits, the first: This run") as caught:
        bc.cross_validate(estimator, X, links, n_folds=4, random_state=0)
    assert [one.category for one in caught] == [bc.posterior.DiagnosisWarning]
    assert caught[0].filename == __file__
