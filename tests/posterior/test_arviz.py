"""What ArviZ does with a posterior of ours, names of items, columns and sources included."""

import arviz as az
import matplotlib.pyplot as plt
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
    for name, group in fit.to_arviz(num_prior_draws=9).children.items():
        assert set(group.dims) == set(group.to_dataset().indexes), name
    rows = az.summary(fit.posterior_).index
    reliability = ["p[ann]", "p[eve]", "q[ann]", "q[eve]"]
    assert rows.tolist() == ["n_clusters", "concentration", "base_scale", *reliability]
    assert draws["z"].dims == ("chain", "draw", "item")


def test_draws_of_labels_are_extracted_with_the_rest(fit):
    """As a coordinate: of "z" by itself no summary or plot would mean anything."""
    labels = az.extract(fit.posterior_)["z"]
    expected = fit.posterior_["posterior"]["z"].stack(sample=("chain", "draw"))
    np.testing.assert_array_equal(labels.transpose("item", "sample"), expected)
    assert labels["item"].values.tolist()[:2] == ["n00", "n01"]


def test_known_values_are_no_variables_for_arviz():
    draws = {"z": np.zeros((2, 3, 4), int), "gamma": np.ones((2, 3)), "x": np.arange(6.0)[None]}
    made = bc.posterior.to_datatree(draws | {"x": draws["x"].reshape(2, 3)})["posterior"]
    assert set(made.data_vars) == {"n_clusters", "x"}
    assert made["gamma"].shape == (2, 3)


def test_sources_by_name_come_back(fit):
    stored = fit.posterior_["constant_data"].to_dataset()
    (links,) = bc.constraints.stored.constraints_from_dataset(stored)
    assert links.source_names == ("ann", "eve")
    named = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, True], 3, source=["eve", "ann"])
    assert named.source.tolist() == [1, 0]
    blanks = named.to_frame().assign(source=["eve", "ann "])
    assert bc.PairwiseConstraints.from_frame(blanks, n_items=3).source_names == ("ann", "eve")
    again = bc.PairwiseConstraints.from_frame(named.to_frame(), n_items=3)
    assert again.source_names == named.source_names
    assert named.to_frame()["source"].tolist() == ["eve", "ann"]


def test_sources_and_items_by_name_are_in_every_table_and_plot(fit):
    for table in (bc.constraint_credibility, bc.source_reliability, bc.view_conflict):
        assert set(table(fit)["source"]) == {"ann", "eve"}
    assert set(bc.constraint_ppc(fit)["source"].dropna()) == {"ann", "eve"}
    given = fit.posterior_["constant_data"]["links_source"].values
    names = np.array(["ann", "eve"])[given].tolist()
    table = bc.constraint_credibility(fit)
    assert table["source"].tolist() == names
    items = fit.posterior_["constant_data"]["links_items"].values
    assert table[["i", "j"]].to_numpy().tolist() == [[f"n{i:02d}" for i in row] for row in items]
    (ax,) = bc.plots.reliability(fit)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ann", "eve"]
    rows = [label.get_text() for label in bc.plots.credibility(fit).get_yticklabels()]
    assert rows[0] == 'ann, "same"'
    followed = bc.diagnose(fit).table.index
    pairs = followed[followed.str.startswith("together")]
    assert len(pairs) == 20
    assert pairs.str.fullmatch(r"together\[n\d\d, n\d\d\]").all()
    assert {"p[ann]", "q[eve]"} < set(followed)


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


EVERYTHING = {name: {} for name in PLOTS if name != "plot_pair"}
EVERYTHING |= {name: {} for name in (*TABLES, "mad", "std", "var")}
EVERYTHING |= {
    "plot_pair": {"var_names": ["concentration", "p"]},
    "plot_pair_focus": {"focus_var": "n_clusters"},
    "loo": {"var_name": "links"},
    "loo_pit": {"var_names": ["links"]},
}
OF_ANSWERS = ("dist", "dist_pit", "interval", "pava", "pit", "rootogram", "tstat")
EVERYTHING |= {f"plot_ppc_{name}": {"var_names": ["links"]} for name in OF_ANSWERS}
EVERYTHING |= {f"plot_loo_{name}": {"var_names": ["links"]} for name in ("pit", "pava")}
EVERYTHING |= {name: {} for name in ("plot_prior_posterior", "psense")}
CONSTRAINTS = {"likelihood_var_names": ["links"]}
OF_PRIORS = ("psense_summary", "plot_psense_dist", "plot_psense_quantities")
EVERYTHING |= dict.fromkeys(OF_PRIORS, CONSTRAINTS)
EVERYTHING |= {name: {"var_names": ["p"]} for name in ("plot_bf", "bayes_factor")}


@pytest.mark.filterwarnings("ignore")
def test_arviz_takes_the_tree_as_it_is(fit):
    tree = fit.to_arviz()
    assert len(EVERYTHING) > 35
    for name, options in EVERYTHING.items():
        assert getattr(az, name)(tree, **options) is not None, name
        plt.close("all")


def test_replicates_are_answers_under_the_noise_of_their_draw(fit):
    tree = bc.constraint_log_likelihood(fit)
    stored = tree["constant_data"].to_dataset()
    (links,) = bc.constraints.stored.constraints_from_dataset(stored)
    draws, made = tree["posterior"], tree["posterior_predictive"]["links"].values
    p, q = (draws[name].values[..., links.source] for name in "pq")
    expected = np.where(links.truths(draws["z"].values) == 1, p, 1 - q)
    error = np.sqrt((expected * (1 - expected)).sum(axis=(0, 1))) / 100
    assert (np.abs(made.mean(axis=(0, 1)) - expected.mean(axis=(0, 1))) < 4.5 * error + 1e-9).all()
    np.testing.assert_array_equal(tree["observed_data"]["links"], links.answers)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["links", "X"])
def test_constraints_and_items_are_compared_by_loo(fit, name):
    tree = fit.to_arviz(num_prior_draws=9)
    found = az.loo(tree, var_name=name, pointwise=True)
    assert np.isfinite(found.elpd)
    assert az.plot_khat(found) is not None
    table = az.compare({"one": found, "other": found})
    assert az.plot_compare(table) is not None
