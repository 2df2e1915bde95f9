"""Clusters are numbered by size, ties by first item, wherever a number is shown."""

import json

import numpy as np
import pytest

import bayesclust as bc
from bayesclust._io import load_netcdf, write_netcdf
from bayesclust.comparison import read_partitions
from bayesclust.estimators import restored
from bayesclust.report import findings

KIND = np.repeat([0, 1, 2, 3], [5, 10, 10, 15])
EXPECTED = np.repeat([3, 1, 2, 0], [5, 10, 10, 15])
X = np.random.default_rng(0).normal(np.c_[9 * (KIND % 2), 9 * (KIND // 2)], 0.5)
LINKS = bc.PairwiseConstraints.sample(KIND, fraction=0.4, seed=0)
CHAINS = {"num_chains": 2, "num_warmup": 60, "num_samples": 60, "random_state": 0}
ESTIMATORS = {
    "DPMeans": bc.DPMeans(n_clusters=4),
    "RDPMeans": bc.RDPMeans(n_clusters=4, random_state=0),
    "several centres": bc.RDPMeans(
        cluster_model="mixture", within_penalty=1.0, xi=90.0, random_state=0
    ),
    "SpectralRDPMeans": bc.SpectralRDPMeans(n_clusters=4, random_state=0),
    "MPCKMeans": bc.MPCKMeans(4, per_cluster=True, random_state=0),
    "DCRC": bc.DCRC(4, random_state=0),
    "DCRC gibbs": bc.DCRC(4, inference="gibbs", **CHAINS),
    "TVClust": bc.TVClust(cluster_model="single", **CHAINS),
    "variational": bc.TVClust("variational", cluster_model="single", random_state=0),
}


def fitted(name):
    return ESTIMATORS[name].fit(X, constraints=None if name == "DPMeans" else LINKS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_numbers_clusters_by_size(name):
    est = fitted(name)
    assert est.labels_.tolist() == EXPECTED.tolist()
    assert est.predict(X).tolist() == EXPECTED.tolist()
    for shares in ("proba_", "responsibilities_"):
        if hasattr(est, shares):
            assert getattr(est, shares).argmax(axis=1).tolist() == EXPECTED.tolist()
    for k, center in enumerate(getattr(est, "cluster_centers_", ())):
        np.testing.assert_allclose(center, X[k == EXPECTED].mean(axis=0))
    if hasattr(est, "components_"):
        assert (est.component_clusters_[est.components_] == EXPECTED).all()
        sizes = np.bincount(est.components_)
        assert len(sizes) > 4
        assert (np.diff(sizes) <= 0).all()
    if hasattr(est, "posterior_"):  # draws stay numbered by first items
        z = est.posterior_["posterior"]["z"].values
        assert (z[..., 0] == 0).all()


def test_reports_profiles_and_plots_use_the_numbers_of_labels():
    est = fitted("TVClust")
    found = findings(est, max_listed=1)
    assert (found.labels == est.labels_).all()
    assert found.clusters[["cluster", "items"]].to_numpy().tolist() == [
        [0, 15], [1, 10], [2, 10], [3, 5]
    ]  # fmt: skip
    assert found.profiles["size"].groupby("cluster").first().tolist() == [15, 10, 10, 5]
    assert (bc.credible_ball(est).labels == est.labels_).all()
    labels, names = read_partitions({"fit": est})["fit"]
    assert np.array(names, int)[labels].tolist() == est.labels_.tolist()
    legend = bc.plots.partitions(est)[0].get_legend()
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == ["0 (15)", "1 (10)", "2 (10)", "3 (5)"]


def test_reports_have_the_partition_that_the_fit_settled_on(tmp_path):
    """By another loss than that of point estimates, also from a file and for new items."""
    blob = np.random.default_rng(3).normal(size=(30, 1))
    est = bc.TVClust(cluster_model="single", loss="binder", **CHAINS, progress=False).fit(blob)
    assert not np.array_equal(bc.point_estimate(est), est.labels_)
    write_netcdf(est.posterior_, tmp_path / "run.nc")
    tree = load_netcdf(tmp_path / "run.nc")
    for posterior in (est, est.posterior_, tree):
        assert findings(posterior).labels.tolist() == est.labels_.tolist()
        labels, names = read_partitions({"fit": posterior})["fit"]
        assert np.array(names, int)[labels].tolist() == est.labels_.tolist()
    again = restored(tree)
    np.testing.assert_array_equal(again.predict_proba(blob), est.predict_proba(blob))
    for rest in (
        lambda: again.fit(blob),
        lambda: again.fit_predict(blob),
        lambda: again.extend(blob),
        lambda: again.log_joint(again.labels_),
        lambda: again.to_arviz(),
    ):
        with pytest.raises(AttributeError, match=r"from saved draws, .* only predicts: keep "):
            rest()
    assert bc.cluster_profiles(again).equals(bc.cluster_profiles(est))
    assert bc.compare({"saved": again})["n_clusters"].item() == est.n_clusters_
    earlier = tree.copy()
    earlier.attrs["model"] = json.dumps(json.loads(tree.attrs["model"])[:2])
    np.testing.assert_array_equal(restored(earlier).predict(blob), est.predict(blob))
    earlier.attrs["model"] = "{"
    with pytest.raises(ValueError, match=r"the attribute 'model' of the posterior is '\{', which"):
        restored(earlier)
    plain = bc.TVClust(cluster_model="single", **CHAINS, progress=False).fit(blob)
    assert plain.labels_.tolist() == bc.point_estimate(plain).tolist()
