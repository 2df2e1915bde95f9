"""TVClust on items in batches: what it reads, says, predicts and refuses."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import bayesclust as bc
from bayesclust.estimators import restored
from bayesclust.inference.batches import InBatches
from bayesclust.partition_priors import HierarchicalDirichletProcess

SHORT = {"num_chains": 2, "num_warmup": 150, "num_samples": 150, "random_state": 0}
SITES = np.repeat(["Oslo", "Rome"], 40)
TRUTH = np.repeat([0, 1, 0, 1], [36, 4, 6, 34])


def table():
    rng = np.random.default_rng(0)
    X = np.where(TRUTH == 0, 0.0, 6.0)[:, None] + rng.normal(size=(80, 2))
    return pd.DataFrame({"a": X[:, 0], "site": SITES, "b": X[:, 1]})


def fitted(data, column="site", checkpoint=None, shifts=False, **given):
    prior = HierarchicalDirichletProcess(column, shifts=shifts)
    est = bc.TVClust(partition_prior=prior, progress=False, **SHORT | given)
    return est.fit(data, checkpoint=checkpoint)


@pytest.fixture(scope="module")
def est():
    return fitted(table())


def test_weights_are_those_of_each_batch(est):
    weights = est.batch_weights(prob=0.95)
    assert bc.metrics.pairwise_f(est.labels_, TRUTH) == 1.0
    own = est.labels_[0]
    assert weights["items"].unstack().loc["Oslo", own] == 36
    share = weights.loc[("Oslo", own)]
    assert share["weight_low"] < 36 / 40 < share["weight_high"]
    assert share["weight_high"] - share["weight_low"] < 0.35
    total = weights["weight"].groupby("batch").sum()
    assert total.between(0.9, 1.0).all()
    assert weights.attrs["prob"] == 0.95
    first, second = bc.plots.batch_weights(est, prob=0.95)
    assert [tick.get_text() for tick in first.get_yticklabels()] == [
        f"{site} (40 items)" for site in ("Oslo", "Rome")
    ]
    for cluster, ax in enumerate((first, second)):
        intervals, dots = ax.lines[::2], ax.lines[1::2]
        rows = weights.xs(cluster, level="cluster")
        np.testing.assert_allclose(
            [line.get_xdata() for line in intervals], rows[["weight_low", "weight_high"]]
        )
        np.testing.assert_allclose(np.ravel([dot.get_xdata() for dot in dots]), rows["weight"])
    (only,) = bc.plots.batch_weights(est, max_listed=1)
    assert only.get_title(loc="left") == "weight of cluster 0"


def test_a_column_by_number_gives_the_same_draws(est):
    frame = table()
    codes = np.column_stack([frame["a"], (SITES == "Rome"), frame["b"]]).astype(float)
    again = fitted(codes, 1)
    assert np.array_equal(again.posterior_["posterior"]["z"], est.posterior_["posterior"]["z"])
    assert again.batch_weights().index.levels[0].tolist() == ["0", "1"]
    assert est.posterior_["observed_data"]["batch"].values.tolist() == SITES.tolist()
    assert est.feature_names_in_.tolist() == ["a", "b"]


def test_a_doubtful_item_goes_where_its_batch_is(est):
    new = pd.DataFrame({"a": [3.0] * 4, "b": [3.0] * 4, "site": ["Oslo", "Rome", "Bonn", None]})
    share = est.predict_proba(new)[:, est.labels_[0]]
    assert share[0] > share[2] == share[3] > share[1]
    assert est.predict(new[:2]).tolist() == [est.labels_[0], est.labels_[-1]]
    assert np.isfinite(est.score_samples(new)).all()


def test_a_batch_is_added_at_the_end():
    est = fitted(table()[:60])
    rest = table()[60:].assign(site="Bonn")
    est.extend(rest)
    whole = fitted(pd.concat([table()[:60], rest]))
    first, second = (one.batch_weights()["weight"].unstack() for one in (est, whole))
    assert first.index.tolist() == ["Bonn", "Oslo", "Rome"]
    own, other = est.labels_[-1], whole.labels_[-1]
    assert first.loc["Bonn", own] == pytest.approx(second.loc["Bonn", other], abs=0.06)
    assert first.loc["Oslo", own] == pytest.approx(second.loc["Oslo", other], abs=0.06)
    assert bc.metrics.pairwise_f(est.labels_, whole.labels_) == 1.0


def test_a_run_resumes_bit_for_bit(est, tmp_path):
    path = tmp_path / "run.zarr"
    fitted(table(), checkpoint=path, num_samples=60)
    draws = fitted(table(), checkpoint=path).posterior_["posterior"]
    for name in ("z", "weight", "batch_concentration"):
        assert np.array_equal(draws[name], est.posterior_["posterior"][name])
    other = table().assign(site=np.roll(SITES, 1))
    with pytest.raises(ValueError, match="batches"):
        fitted(other, checkpoint=path)


def test_arviz_has_all_groups(est):
    tree = est.to_arviz(num_prior_draws=30)
    assert {"concentration", "batch_concentration", "partition"} <= set(tree["log_prior"].data_vars)
    assert tree["prior"]["n_clusters"].shape == (1, 30)
    assert np.isfinite(tree["log_likelihood"]["X"].values).all()
    # z does not cross between far clusters, so that a row is as likely as under the truth
    mean = tree["log_likelihood"]["X"].values.mean()
    assert mean == pytest.approx(est.score_samples(table()).mean(), abs=0.2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sampler": "gibbs"}, "sampler='collapsed'"),
        ({"sampler": "variational"}, "sampler='collapsed'"),
        ({"cluster_model": "mixture"}, "cluster_model='single'"),
        ({"family": "gaussian_tied"}, "all clusters share"),
    ],
)
def test_what_cannot_have_batches_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        fitted(table(), **given)


def test_data_without_batches_are_refused():
    with pytest.raises(ValueError, match="column='site', which X lacks"):
        fitted(table()[["a", "b"]])
    with pytest.raises(ValueError, match="column=5, which X lacks"):
        fitted(table()[["a", "b"]].to_numpy(), 5)
    with pytest.raises(ValueError, match="no batch in row 3"):
        fitted(table().assign(site=np.where(np.arange(80) == 3, None, SITES)))
    without = bc.TVClust(progress=False, **SHORT).fit(table()[["a", "b"]])
    assert not hasattr(without, "batch_weights")
    with pytest.raises(TypeError, match="got TVClust without batches"):
        bc.plots.batch_weights(without)


def test_weights_of_further_items_sum_to_one():
    labels = np.array([0, 0, 1, 2])
    own = InBatches(np.array([0, 1, 1, 0]), np.array([[0.3, 0.3, 0.2, 0.1]]), np.zeros(0))
    found = np.exp(own.log_weights(0, labels, {"batch_concentration": 2.0}, np.array([1, -1])))
    assert found[0] == pytest.approx(np.array([1.6, 1.4, 0.2, 0.8]) / 4)
    assert found[1] == pytest.approx([0.3, 0.2, 0.1, 0.4])


def test_numbers_of_batches_may_have_decimals():
    data = table()
    years = data.assign(site=pd.factorize(data["site"])[0] + 2001)
    est = fitted(years)
    other = years.head(6).assign(site=years["site"].head(6).astype(float).astype(str))
    np.testing.assert_array_equal(est.predict_proba(other), est.predict_proba(years.head(6)))
    with pytest.raises(ValueError, match=r"^X has no batch in row 1: say which, to extend\.$"):
        est.extend(years.head(2).assign(site=[2001, None]))


# --- batches that are shifted


MOVED = {"Oslo": [0.0, 0.0], "Rome": [3.0, -2.0], "Bonn": [-2.0, 2.5]}


def shifted_table(sites=SITES):
    data = table()
    data["site"] = sites
    data[["a", "b"]] += np.array([MOVED[one] for one in sites])
    return data


shifted_fit = partial(fitted, shifts=True)


@pytest.fixture(scope="module")
def moved():
    return shifted_fit(shifted_table())


def found_shifts(est):
    return est.posterior_["posterior"]["batch_shifts"].mean(["chain", "draw"]).to_pandas()


def test_shifts_are_found_and_named(moved):
    draws = moved.posterior_["posterior"]["batch_shifts"]
    assert draws.dims == ("chain", "draw", "batch", "shifted_feature")
    found = found_shifts(moved)
    assert found.index.tolist() == ["Rome"]  # Oslo, as large and earlier, has none
    assert found.columns.tolist() == ["a", "b"]
    error = 2.0 / np.sqrt(40)  # of a difference of two means of 40, but for the other batches'
    assert found.to_numpy()[0] == pytest.approx(MOVED["Rome"], abs=2.5 * error)
    assert bc.metrics.pairwise_f(moved.labels_, TRUTH) > 0.95
    assert np.abs(np.diff(draws.mean("draw"), axis=0)).max() < error


def test_prediction_uses_the_shift_of_the_batch(moved):
    own = moved.labels_[0]
    new = pd.DataFrame({"a": [3.0, 3.0], "b": [-2.0, -2.0], "site": ["Rome", "Oslo"]})
    assert moved.predict(new)[0] == own
    scores = moved.score_samples(new)
    assert scores[0] > scores[1] + 2
    assert (moved.predict(shifted_table()) == moved.labels_).mean() > 0.95
    profile = bc.cluster_profiles(moved)
    assert profile["mean"].loc[own].to_numpy() == pytest.approx([0.0, 0.0], abs=0.7)
    assert (profile["sd"] < 1.4).all()  # of one batch, without the shift
    for word in ("Bonn", None):
        with pytest.raises(ValueError, match="shift is not known"):
            moved.predict(new.assign(site=["Rome", word]))


def test_a_shifted_batch_is_added_at_the_end():
    sites = np.where(np.arange(80) % 4 == 3, "Bonn", SITES)
    data = shifted_table(sites)
    last = np.flatnonzero(sites == "Bonn")
    order = np.append(np.setdiff1d(np.arange(80), last), last)
    est = shifted_fit(data.iloc[order[:60]]).extend(data.iloc[last])
    found = found_shifts(est)
    assert found.index.tolist() == ["Rome", "Bonn"]
    assert found.loc["Bonn"].to_numpy() == pytest.approx(MOVED["Bonn"], abs=1.0)
    assert bc.metrics.pairwise_f(est.labels_, TRUTH[order]) > 0.95
    whole = found_shifts(shifted_fit(data.iloc[order]))
    assert found.loc["Rome"].to_numpy() == pytest.approx(whole.loc["Rome"].to_numpy(), abs=0.25)


def test_a_run_with_shifts_resumes_and_is_restored(moved, tmp_path):
    path = tmp_path / "run.zarr"
    for number in (60, 150):
        est = shifted_fit(shifted_table(), checkpoint=path, num_samples=number)
    draws, whole = est.posterior_["posterior"], moved.posterior_["posterior"]
    for name in ("z", "batch_shifts", "shift_precision"):
        assert np.array_equal(draws[name], whole[name])
    again = restored(moved.posterior_)
    assert np.array_equal(
        again.score_samples(shifted_table()), moved.score_samples(shifted_table())
    )


def test_arviz_has_the_prior_of_shifts(moved):
    tree = moved.to_arviz(num_prior_draws=400)
    shift, precision = tree["prior"]["batch_shifts"], tree["prior"]["shift_precision"]
    unit = shifted_table()[["a", "b"]].std(ddof=0).to_numpy()
    standard = shift.values[0] / unit * np.sqrt(precision.values[0])[:, None, None]
    assert standard.std() == pytest.approx(1.0, abs=0.12)
    own = moved.posterior_["posterior"]
    sd = unit / np.sqrt(own["shift_precision"].values[0, 0])
    density = norm.logpdf(own["batch_shifts"].values[0, 0], scale=sd).sum()
    assert tree["log_prior"]["batch_shifts"].values[0, 0] == pytest.approx(density)
    mean = tree["log_likelihood"]["X"].values.mean()
    assert mean == pytest.approx(moved.score_samples(shifted_table()).mean(), abs=0.2)


def test_shifts_are_refused_without_gaussian_clusters():
    counts = table()[["site"]].assign(a=np.arange(80), b=1 + np.arange(80) % 7)
    with pytest.raises(ValueError, match="needs Gaussian clusters"):
        shifted_fit(counts, family="poisson")
    with pytest.raises(TypeError, match="shifts"):
        HierarchicalDirichletProcess("site", shifts="yes")


def test_a_single_batch_has_no_shifts():
    est = shifted_fit(table().assign(site="Oslo"))
    assert est.posterior_["posterior"]["batch_shifts"].sizes["batch"] == 0
    new = table().head(3).assign(site=["Oslo", "Oslo", "Oslo"])
    assert est.predict(new).shape == (3,)
    assert len(bc.cluster_profiles(est)) == 2 * est.n_clusters_
    assert "prior" in est.to_arviz().children


def test_other_tables_are_read_as_frames_are():
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    data = table()
    own, batches = HierarchicalDirichletProcess("site").take_batches(data)
    for given in (polars.from_pandas(data), polars.from_pandas(data).to_arrow()):
        for column in ("site", 1):
            kept, sites = HierarchicalDirichletProcess(column).take_batches(given)
            pd.testing.assert_frame_equal(kept, own)
            np.testing.assert_array_equal(sites, batches)


def test_words_beside_numbers_in_an_array_are_refused_and_in_lists_read():
    data = table()[["a", "b", "site"]]
    prior = HierarchicalDirichletProcess(2)
    kept, batches = prior.take_batches(data.to_numpy().tolist())
    np.testing.assert_array_equal(kept.astype(float), data[["a", "b"]])
    np.testing.assert_array_equal(batches, SITES)
    with pytest.raises(TypeError, match=r"^X is an array of words, its numbers too: pass a Data"):
        prior.take_batches(np.column_stack([data[["a", "b"]], SITES]).astype(str))
    twice = pd.concat([data, data[["site"]]], axis=1)
    with pytest.raises(ValueError, match=r"^X has several columns called 'site': keep that of the"):
        HierarchicalDirichletProcess("site").take_batches(twice)
