"""Notebooks: equal to the scripts beside them, stripped, and what their text says is so.

They are run as scripts, in this process, where compiled code and imports are shared. Running them
in kernels, with what they display, is left to `make docs` and to the slow suite.
"""

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tools import pair_notebooks as pairs

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
SCRIPTS = sorted(FOLDER.glob("[0-9]*.py"))


def run(path):
    """Run the cells in order, show their last values, and return the names left behind."""
    names = {"__name__": "__main__"}
    for number, (kind, source) in enumerate(pairs.read_script(path.read_text(encoding="utf-8"))):
        if kind != "code":
            continue
        where, tree = f"{path.name}, cell {number}", ast.parse(source)
        seen = isinstance(tree.body[-1], ast.Expr) and not source.endswith(";")
        shown = tree.body.pop() if seen else None
        exec(compile(tree, where, "exec"), names)
        if shown is not None:
            value = eval(compile(ast.Expression(shown.value), where, "eval"), names)
            repr(value), getattr(value, "_repr_html_", str)()
    return names


def f(names, fit, truth):
    return names["bc"].metrics.pairwise_f(names[fit].labels_, truth)


def first_fit(names):
    assert names["bc"].diagnose(names["est"]).ok
    assert f(names, "est", names["iris"].y) > 0.95
    assert names["suspect"]["flipped"].sum() >= 9
    assert min(float(names["est"].posterior_["posterior"][name].mean()) for name in "pq") > 0.85
    assert names["est"].predict_proba(names["new"])[0].argmax() == 1
    assert (names["est"].predict_novelty(names["new"]) > 0.5).tolist() == [False, True]
    shares = len(names["links"]) / (150 * 149 / 2), names["links"].flipped.mean()
    assert shares == pytest.approx((0.03, 1 / 15), abs=0.002)


def which_answers(names):
    table = names["reliability"].set_index(["source", "parameter"])
    for parameter in "pq":
        assert table.loc[(0, parameter), "lower"] > table.loc[(1, parameter), "upper"]
        assert table.loc[(1, parameter), "lower"] < 0.6
    assert table["truth"].between(table["lower"] - 0.05, table["upper"] + 0.05).all()
    assert names["area"] > 0.95
    assert ((names["answers"]["credibility"] - 0.5).abs() > 0.4).mean() > 0.9
    assert (names["rests"]["gain"] > 0.04).all()


def triplets(names):
    assert f(names, "full", names["iris"].y) > f(names, "reduced", names["iris"].y) + 0.05
    assert f(names, "learned", names["iris"].y) > f(names, "fixed", names["iris"].y) + 0.03
    assert f(names, "est", names["iris"].y) > 0.95
    matrix = names["matrix"]
    assert matrix["truth"].between(matrix["lower"] - 0.03, matrix["upper"] + 0.03).sum() >= 8
    information, classes = names["bc"].information, names["classes"]
    assert (information.triplet(classes) > information.triplet(classes, dnk=False)).all()
    assert (information.triplet(classes) > information.pair(classes)).all()


def limit(names):
    vi = names["path"]["vi"].sel(statistic="mean").values
    assert vi[0] > 0.5
    np.testing.assert_allclose(vi[-1], 0.0, atol=1e-9)
    within = names["path"]["vi_within"].values
    assert within[0] > 0.5
    np.testing.assert_allclose(within[-1], 0.0, atol=1e-9)
    for way in names["ways"].values():
        assert way["vi"].sel(statistic="mean")[0] > 0.5
        np.testing.assert_allclose(way["vi"].sel(statistic="mean")[-1], 0.0, atol=1e-9)
    assert {"inside", "objective", "log_joint"} <= set(names["table"])
    assert names["bc"].metrics.adjusted_rand(names["priced"].labels_, names["est"].labels_) > 0.7


def trusted(names):
    assert not names["report"].ok
    assert "Do not trust" in str(names["report"])
    assert names["better"].ok
    assert names["report"].table["rhat"].max() > 1.5
    distances = names["report"].distances.to_numpy()
    assert (distances - np.diag(distances)[:, None]).max() > 0.15


def own_family(names):
    found = names["bound"].log_marginal(names["times"], np.array([2.0]))
    assert found == pytest.approx(np.log(names["whole"]), abs=1e-6)
    assert names["bc"].diagnose(names["est"]).ok
    assert f(names, "est", names["kind"]) > f(names, "look", names["kind"])
    assert names["est"].n_clusters_ == 3


def numpyro_model(names):
    assert names["bc"].diagnose(names["tree"]).ok
    assert names["found"].max() + 1 == 3
    suspect, wrong = names["suspect"].to_numpy(), names["links"].flipped
    assert suspect[wrong].mean() > 0.4
    assert suspect[~wrong].mean() < 0.05


def which_model(names):
    score, data = names["bc"].metrics.pairwise_f, names["data"]
    found = {
        (name, model): score(est.labels_, data[name][1])
        for (name, model), est in names["fits"].items()
    }
    assert min(found["ellipses", model] for model in ("single", "mixture", "mixed")) > 0.9
    assert found["spirals", "mixture"] > found["spirals", "single"] + 0.3
    assert found["spikes", "mixed"] > 0.85
    assert max(found["spikes", model] for model in ("single", "mixture", "power")) < 0.6
    best = {"ellipses": "single", "spirals": "mixture", "spikes": "mixed"}
    assert all(found[name, "power"] < found[name, model] for name, model in best.items())
    table = names["table"]
    assert [table.loc[(name, "power"), "clusters"] for name in ("spirals", "spikes")] == [1, 1]
    p, q = "right if same (p)", "right if different (q)"
    right = table.loc[[("spirals", "mixture"), ("spikes", "mixed")], [p, q]]
    assert (abs(right - 0.9) < 0.07).all(axis=None)
    assert table.loc[("spirals", "single"), p] < 0.75
    assert names["auto"].cluster_model_ == "mixture"
    assert "Violated constraints" in str(names["bc"].diagnose(names["fits"]["spirals", "single"]))


def crowd(names):
    people, table = names["people"], names["table"]
    assert names["bc"].diagnose(names["est"]).ok
    assert people["useless"][people["kind"] == "always different"].min() > 0.5
    assert (people["useless"][people["kind"] == "careful"] > 0.5).sum() <= 2
    majority = (names["votes"] == names["together"][::3]).mean()
    assert table.loc["pooled habits", "pairs right"] > majority + 0.05
    assert table.loc["pooled habits", "clusters"] == 3
    f = table["pairwise F"]
    assert abs(f["pooled habits"] - f["each person alone"]) < 0.03
    assert f["pooled habits"] > f["majorities"] + 0.03
    assert f["no answers"] < 0.6
    assert table.loc["no answers", "clusters"] >= 10
    assert (names["doubted"] & ~names["right"]).sum() > 0.85 * names["doubted"].sum()
    assert names["asked"]["kind"].isin(["careful", "hasty"]).all()
    assert names["asked"]["worth"].min() > people["worth"].median()


def documents(names):
    losses, table = names["losses"], names["table"]
    assert names["bc"].diagnose(names["est"]).ok
    assert (losses["as stated"] > losses["learned curve"] + 0.05).all()
    assert losses.loc["small", "as stated"] > losses.loc["small", "share alone"] + 0.2
    assert (losses["learned curve"] < losses["share alone"]).all()
    assert (losses["posterior"] < losses["learned curve"]).all()
    assert losses.loc["large", "learned curve"] < losses.loc["small", "learned curve"] - 0.1
    worth = names["bc"].view_conflict(names["est"].posterior_).set_index("source")
    gain = worth["gain_over_marginal"]
    assert gain["large"] > 2 * gain["small"] > 0
    curves = names["curves"]
    assert curves["large", "together[0.98-1]"] > 0.9
    assert curves["small", "together[0.98-1]"] < 0.75
    assert max(curves[who, "together[0.65-0.8]"] for who in ("large", "small")) < 0.6
    assert names["wrong"].mean() > 0.8
    f = table["pairwise F"]
    assert f["graded answers"] > f.drop("graded answers").max()


def records(names):
    assert names["bc"].diagnose(names["est"]).ok
    best = max(names["by_components"] + names["by_linkage"])
    assert f(names, "est", names["who"]) > best + 0.02
    table = names["calibration"]
    assert (abs(table["posterior"] - table["of one person"]).iloc[[0, -1]] < 0.03).all()
    assert (table["of one person"] >= table["posterior"] - 0.03).all()


CLAIMS = {
    "01_from_answers_to_a_posterior": first_fit,
    "02_which_answers_to_believe": which_answers,
    "03_triplets_and_do_not_know": triplets,
    "04_the_sampler_and_its_limit": limit,
    "05_is_the_run_to_be_trusted": trusted,
    "06_own_data_own_family": own_family,
    "07_composing_with_numpyro": numpyro_model,
    "08_which_model_for_which_data": which_model,
    "09_a_crowd_looks_at_pictures": crowd,
    "10_a_language_model_reads": documents,
    "11_which_records_are_one_person": records,
}
"""What the text of each notebook says of its numbers."""
LONG = {"04", "06", "07", "08", "09", "10", "11"}
"""Notebooks that take more than ten seconds."""


def test_every_notebook_has_a_script_and_claims():
    notebooks = [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]
    assert [path.stem for path in SCRIPTS] == notebooks == list(CLAIMS)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_pairs_are_equal_and_stripped(path):
    """Both ways: `tools/pair_notebooks.py` would change neither side."""
    script = path.read_text(encoding="utf-8")
    notebook = path.with_suffix(".ipynb").read_text(encoding="utf-8")
    written = pairs.write_notebook(pairs.read_script(script))
    assert written == notebook, "run python tools/pair_notebooks.py"
    assert pairs.write_script(pairs.read_notebook(notebook)) == script
    for cell in json.loads(notebook)["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem[:2] in LONG else ())
        for path in SCRIPTS
    ],
)
def test_notebooks_run_and_hold_what_they_say(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(str(FOLDER))
    try:
        CLAIMS[path.stem](run(path))
    finally:
        sys.modules.pop("waiting_times", None)
