"""What ArviZ does with a posterior of ours, names of items, columns and sources included."""

import arviz as az
import numpy as np
import pandas as pd
import pytest

import bayesclust as bc

SCALARS = ["n_clusters", "concentration", "p", "q"]
PLOTS = [
    "plot_autocorr",
    "plot_convergence_dist",
    "plot_dgof",
    "plot_dgof_dist",
    "plot_dist",
    "plot_ess",
    "plot_ess_evolution",
    "plot_forest",
    "plot_mcse",
    "plot_pair",
    "plot_parallel",
    "plot_rank",
    "plot_rank_dist",
    "plot_ridge",
    "plot_trace",
    "plot_trace_dist",
]
TABLES = ["ess", "eti", "hdi", "mcse", "mean", "median", "mode", "rhat", "summary"]


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(1)
    z = np.repeat([0, 1], 8)
    X = pd.DataFrame(
        rng.normal(4.0 * z[:, None], size=(16, 2)),
        columns=["height", "weight"],
        index=[f"n{i:02d}" for i in range(16)],
    )
    i, j = rng.permuted(np.tile(np.arange(16), (30, 1)), axis=1)[:, :2].T
    table = pd.DataFrame({"i": X.index[i], "j": X.index[j], "answer": z[i] == z[j]})
    table["source"] = np.array(["eve", "ann"])[np.arange(30) % 2]
    links = bc.PairwiseConstraints.from_frame(table, ids=X.index)
    settings = {"num_chains": 2, "num_warmup": 20, "num_samples": 50, "progress": False}
    return bc.TVClust(cluster_model="single", random_state=0, **settings).fit(X, constraints=links)


def test_names_of_a_frame_are_coordinates(fit):
    draws = fit.posterior_["posterior"]
    assert draws["item"].values.tolist() == [f"n{i:02d}" for i in range(16)]
    assert draws["links_source"].values.tolist() == ["ann", "eve"]
    assert fit.posterior_["observed_data"]["feature"].values.tolist() == ["height", "weight"]
    for group in ("posterior", "sample_stats", "observed_data"):
        data = fit.posterior_[group].to_dataset()
        assert set(data.dims) == set(data.coords)
    rows = az.summary(fit.posterior_, var_names=["p"]).index
    assert rows.tolist() == ["p[ann]", "p[eve]"]


def test_sources_by_name_come_back(fit):
    stored = fit.posterior_["constant_data"].to_dataset()
    (links,) = bc.constraints.stored.constraints_from_dataset(stored)
    assert links.source_names == ("ann", "eve")
    named = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, True], 3, source=["eve", "ann"])
    assert named.source.tolist() == [1, 0]
    again = bc.PairwiseConstraints.from_frame(named.to_frame(), n_items=3)
    assert again.source_names == named.source_names
    assert named.to_frame()["source"].tolist() == ["eve", "ann"]


def test_sources_by_name_are_in_every_table_and_plot(fit):
    for table in (bc.constraint_credibility, bc.source_reliability, bc.view_conflict):
        assert set(table(fit)["source"]) == {"ann", "eve"}
    assert set(bc.constraint_ppc(fit)["source"].dropna()) == {"ann", "eve"}
    given = fit.posterior_["constant_data"]["links_source"].values
    names = np.array(["ann", "eve"])[given].tolist()
    assert bc.constraint_credibility(fit)["source"].tolist() == names
    (ax,) = bc.plots.reliability(fit)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ann", "eve"]
    rows = [label.get_text() for label in bc.plots.credibility(fit).get_yticklabels()]
    assert rows[0] == 'ann, "same"'


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.filterwarnings("ignore")
def test_plots_are_drawn(fit, name):
    assert getattr(az, name)(fit.posterior_, var_names=SCALARS) is not None


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore")
def test_summaries_are_made(fit, name):
    found = getattr(az, name)(fit.posterior_, var_names=SCALARS)
    rows = found.index if name == "summary" else found
    assert {str(row).split("[")[0] for row in rows} == set(SCALARS)


@pytest.mark.filterwarnings("ignore")
def test_constraints_are_compared_by_loo(fit):
    tree = bc.constraint_log_likelihood(fit)
    found = az.loo(tree, var_name="links", pointwise=True)
    assert np.isfinite(found.elpd)
    assert az.plot_khat(found) is not None
    table = az.compare({"one": found, "other": found})
    assert az.plot_compare(table) is not None
