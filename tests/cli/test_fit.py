"""From tables to a posterior, and what the posterior says."""

import inspect
import json
import re
import signal
import threading

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesclust as bc
from bayesclust import cli
from bayesclust.cli.fit import NAMED, OPTIONS, option_of
from bayesclust.families.base import COMPOSED, FAMILIES
from bayesclust.inference.chain import Chain
from bayesclust.inference.samplers import SAMPLERS
from bayesclust.partition_priors.nested import WORDS
from bayesclust.posterior.tree import feature_names, item_names, source_names

SHORT = "--chains 2 --warmup 20 --samples 30 --no-progress"


def opened(path):
    return xr.open_datatree(path, engine="h5netcdf")


def refused(capsys, code=1):
    assert code == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    return error


def test_the_posterior_is_that_of_python_with_names(files, run_nc):
    X = np.genfromtxt(files / "data.csv", delimiter=",", skip_header=1, usecols=(1, 2))
    names = [f"n{i:02d}" for i in range(12)]
    links = bc.PairwiseConstraints.from_frame(pd.read_csv(files / "pairs.csv"), ids=names)
    triplets = bc.RelativeConstraints(
        [(0, 1, 7), (7, 2, 8), (3, 9, 10), (6, 7, 8)], ["yes", "no", "dnk", "dnk"], n_items=12
    )
    short = {"num_chains": 2, "num_warmup": 30, "num_samples": 60, "cluster_model": "single"}
    est = bc.TVClust(random_state=0, progress=False, **short)
    own = est.fit(X, constraints=[links, triplets]).posterior_
    with opened(run_nc) as tree:
        assert item_names(tree) == names
        assert feature_names(tree) == ["width", "height"]
        assert source_names(tree, "links", 2) == ["ann", "bob"]
        np.testing.assert_allclose(tree["observed_data"]["X"], X)
        np.testing.assert_array_equal(tree["posterior"]["z"], own["posterior"]["z"])
        np.testing.assert_array_equal(tree["posterior"]["p"], own["posterior"]["p"])
        assert tree.attrs["data"] == "data.csv"


def test_classes_of_some_items_are_read(tmp_path, fit):
    rows = ["n00,a,ann", "n00,a,bob", "n06,b,ann", "n07,b,bob"]
    (tmp_path / "labels.csv").write_text("\n".join(["i,answer,source", *rows]))
    out = tmp_path / "labelled.nc"
    short = "--chains 2 --warmup 10 --samples 10 --no-progress"
    assert fit(out, f"--labels {tmp_path / 'labels.csv'} {short}") == 0
    with opened(out) as tree:
        assert tree["posterior"]["confusion"].shape == (2, 10, 2, 3, 2)
        table = bc.constraint_credibility(tree)
    assert table["answer"].tolist() == ["a", "a", "b", "b"]


def test_groups_are_read(tmp_path, fit):
    rows = ["a,n00,", "a,n01,", "a,n02,", "b,n06,2", "b,n07,2", "b,n00,2"]
    (tmp_path / "groups.csv").write_text("\n".join(["group,i,most", *rows]).replace(",\n", ",1\n"))
    out = tmp_path / "grouped.nc"
    short = "--chains 2 --warmup 10 --samples 10 --no-progress"
    assert fit(out, f"--groups {tmp_path / 'groups.csv'} {short}") == 0
    with opened(out) as tree:
        rules = bc.constraint_credibility(tree)["rule"].tolist()
    assert rules == ["n00, n01, n02 together", "n06, n07, n00 in at most 2 clusters"]


def test_a_limit_of_scaled_columns_is_written(fit, tmp_path, capsys):
    out = tmp_path / "limit.nc"
    assert fit(out, "--pairs {pairs} --model rdp-means --n-clusters 2 --standardize") == 0
    said, error = capsys.readouterr()
    assert said == f"{out}: one partition of 12 items, 2 clusters.\n"
    assert "12 items, 2 features, 24 answers" in error
    with opened(out) as tree:
        X = tree["observed_data"]["X"].values
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [[0, 0], [1, 1]], atol=1e-12)


def test_a_limit_of_a_single_column_is_written(tmp_path):
    data, out = tmp_path / "data.csv", tmp_path / "limit.nc"
    data.write_text("id,a\nx,1\ny,2\nz,9\n")
    assert cli.main(["fit", str(data), "--model", "rdp-means", "--out", str(out)]) == 0
    with opened(out) as tree:
        assert (item_names(tree), feature_names(tree)) == (["x", "y", "z"], ["a"])


def test_a_limit_keeps_the_pairs_that_labels_imply(fit, tmp_path, capsys):
    labels, out = tmp_path / "labels.csv", tmp_path / "limit.nc"
    labels.write_text("i,answer\nn00,a\nn06,b\nn07,b\n")
    assert fit(out, f"--labels {labels} --model rdp-means --no-progress") == 0
    assert cli.main(["summary", str(out)]) == 0
    assert "0 of 3 answers" in capsys.readouterr().out


def test_sources_are_pooled_where_asked(fit, tmp_path):
    out = tmp_path / "pooled.nc"
    assert fit(out, f"--pairs {{pairs}} --cluster-model single --pooled {SHORT}") == 0
    assert fit(tmp_path / "not.nc", f"--pairs {{pairs}} --cluster-model single {SHORT}") == 0
    with opened(out) as tree, opened(tmp_path / "not.nc") as apart:
        assert tree["posterior"]["p"].shape == apart["posterior"]["p"].shape
        assert (tree["posterior"]["p"].values != apart["posterior"]["p"].values).any()
    assert fit(out, "--pairs {pairs} --pooled --model rdp-means") == 1


def test_hard_queries_are_told_where_asked(fit, tmp_path):
    out = tmp_path / "hard.nc"
    both = "--pairs {pairs} --triplets {triplets} --cluster-model single --hard --pooled"
    assert fit(out, f"{both} {SHORT}") == 0
    with opened(out) as tree:
        assert {"hard_share", "hard_share_triplets", "hard_noise"} <= set(tree["posterior"])
    assert fit(out, "--pairs {pairs} --hard --model dcrc --n-clusters 2") == 1


def test_batches_are_a_column_of_words(tmp_path):
    rows = [f"n{i},{i // 6 * 9 + i % 5},{'Oslo' if i % 3 else 'Rome'}" for i in range(12)]
    data, out = tmp_path / "data.csv", tmp_path / "out.nc"
    data.write_text("\n".join(["id,x,site", *rows]))
    asked = ["fit", str(data), "--out", str(out), *SHORT.split()]
    assert cli.main([*asked, "--batches", "site", "--standardize"]) == 0
    with opened(out) as tree:
        assert tree["observed_data"]["batch"].values.tolist()[:3] == ["Rome", "Oslo", "Oslo"]
        assert tree["observed_data"]["X"].shape == (12, 1)
    placed = tmp_path / "placed.csv"
    assert cli.main(["predict", str(out), str(data), "-o", str(placed)]) == 0
    assert pd.read_csv(placed)["p_0"].between(0, 1).all()
    assert cli.main([*asked, "--batches", "site", "--shifts"]) == 0
    with opened(out) as tree:
        assert tree["posterior"]["batch_shifts"].coords["batch"].values.tolist() == ["Rome"]
    assert cli.main(["predict", str(out), str(data), "-o", str(placed)]) == 0
    assert cli.main([*asked, "--shifts"]) == 1
    assert cli.main([*asked, "--batches", "city"]) == 1
    assert cli.main([*asked, "--batches", "site", "--model", "rdp-means"]) == 1


def test_dcrc_is_written_and_sampled_where_asked(fit, tmp_path, capsys):
    asked = "--triplets {triplets} --model dcrc --n-clusters 2 --no-progress"
    assert fit(tmp_path / "em.nc", f"{asked} --noise learn") == 0
    assert capsys.readouterr().err == ""
    with opened(tmp_path / "em.nc") as tree:
        settings = json.loads(tree.attrs["settings"])
        assert (settings["n_clusters"], settings["noise"]) == (2, "learn")
    assert fit(tmp_path / "gibbs.nc", f"{asked} --inference gibbs {SHORT}") == 0
    with opened(tmp_path / "gibbs.nc") as tree:
        assert tree["posterior"]["z"].shape == (2, 30, 12)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--model dcrc", r"dcrc needs the number of clusters: pass --n-clusters K\."),
        ("--model dcrc --n-clusters 2 --sampler gibbs", "--sampler is not an option of dcrc"),
        ("--model rdp-means --checkpoint x", "rdp-means has no draws for --checkpoint"),
        ("--penalty 2", "--penalty is not an option of tvclust"),
        ("--drop colour", r"data\.csv has no column 'colour'"),
        ("--pairs nowhere.csv", r"there is no file nowhere\.csv: correct its name\.$"),
        ("--pairs .", r": \. is a folder: name a file\.$"),
        ("--model rdp-means --cluster-model auto", "--cluster-model must be"),
    ],
)
def test_bad_settings_are_refused_and_nothing_is_written(fit, tmp_path, capsys, options, sentence):
    error = refused(capsys, fit(tmp_path / "out.nc", f"{options} --no-progress"))
    assert error.startswith("bayesclust: ")
    assert re.search(sentence, error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--chains 0", "--chains: '0' is not a whole number from 1 on"),
        ("--chains two", "--chains: 'two' is not a whole number from 1 on"),
        ("--warmup -1", "--warmup: expected one argument|'-1' is not a whole number from 0 on"),
        ("--power half", "--power: invalid float value: 'half'"),
        ("--sampler gibs", "--sampler: invalid choice: 'gibs' .choose from '?collapsed"),
        ("--partition-prior Chinese", "--partition-prior: invalid choice: 'Chinese'"),
    ],
)
def test_values_that_an_option_does_not_take_are_misuse(fit, tmp_path, capsys, options, sentence):
    with pytest.raises(SystemExit) as end:
        fit(tmp_path / "out.nc", options)
    assert end.value.code == 2
    out, error = capsys.readouterr()
    assert (out, "fitting" in error) == ("", False)
    assert re.search(sentence, error)


def test_words_of_options_are_those_of_python():
    known = {"family": {*FAMILIES, *COMPOSED}, "partition_prior": {*WORDS}}
    known["sampler"] = {*SAMPLERS, "blocked", "variational"}
    for name, words in known.items():
        assert set(NAMED[name]) == words


def test_a_posterior_is_a_file_of_netcdf(fit, tmp_path, capsys):
    error = refused(capsys, fit(tmp_path / "x.csv", "--no-progress"))
    assert "x.csv does not end in .nc, but netCDF is written: name it" in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", ["", "--model rdp-means"])
def test_empty_cells_are_refused_by_item_where_the_family_takes_none(tmp_path, capsys, options):
    data = tmp_path / "data.csv"
    data.write_text("id,a,b\nx,1,2\ny,3,\nz,5,6\n")
    asked = ["fit", str(data), "--out", str(tmp_path / "o.nc"), "--no-progress"]
    error = refused(capsys, cli.main([*asked, *options.split()]))
    assert "data.csv: b of item y is missing: fill it in, or leave the item out" in error
    assert "--family gaussian_diagonal" in error


def test_a_place_that_cannot_be_written_is_refused_at_once(fit, tmp_path, capsys):
    error = refused(capsys, fit(tmp_path / "none" / "out.nc", "--no-progress"))
    assert f"there is no folder {tmp_path / 'none'}" in error
    error = refused(capsys, fit(tmp_path, "--no-progress"))
    assert "is a folder: name a file" in error
    store = tmp_path / "run.zarr"
    error = refused(capsys, fit(store, f"--no-progress --checkpoint {store}"))
    assert "run.zarr is the input" in error


def test_ctrl_c_keeps_the_draws_so_far(fit, tmp_path, monkeypatch, capsys):
    drawn, draw = [], Chain.draw

    def interrupting(self):
        drawn.append(self)
        if len(drawn) == 40:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return draw(self)

    monkeypatch.setattr(Chain, "draw", interrupting)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    long = "--chains 1 --warmup 5 --samples 1000000 --no-progress"
    try:
        code = fit(tmp_path / "out.nc", long)
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    out, error = capsys.readouterr()
    assert "Interrupted: the first" in error
    with opened(tmp_path / "out.nc") as tree:
        kept = tree["posterior"].sizes["draw"]
        assert 40 <= kept < 1_000_000
        assert tree.attrs["interrupted"] == 1
    assert f"1 chain of {kept} draws" in out


def test_a_cluster_model_can_be_chosen_by_the_answers(fit, tmp_path, capsys):
    short = "--chains 2 --warmup 10 --samples 10 --pairs {pairs}"
    assert fit(tmp_path / "auto.nc", f"--cluster-model auto --power 1.0 {short}") == 0
    chosen = (
        r"^Predicts the constraints best: (single|mixture|classifier), (gaussian|K = \d), d = 2$"
    )
    assert re.search(chosen, capsys.readouterr().err, re.M)
    with opened(tmp_path / "auto.nc") as tree:
        assert json.loads(tree.attrs["settings"])["power"] == 1.0


def test_options_are_parameters_of_the_estimators(capsys):
    with pytest.raises(SystemExit):
        cli.main(["fit", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    parameters = [inspect.signature(model).parameters for model in (bc.TVClust, bc.DCRC)]
    parameters.append(inspect.signature(bc.RDPMeans).parameters)
    for name in OPTIONS:
        assert any(name in own for own in parameters)
        assert f"{option_of(name)} VALUE" in shown


def test_new_items_are_placed_as_python_does(files, tmp_path, capsys):
    """Words, scaled columns and missing cells too; numbered as the summary does."""
    rows = [f"n{i:02d},{i % 2 * 9 + i / 50},{'ab'[i % 2]},{i % 5}" for i in range(24)]
    rows[4] = "n04,,a,3"
    data = tmp_path / "data.csv"
    data.write_text("\n".join(["call,width,kind,note", *rows]))
    new = tmp_path / "new.csv"
    new.write_text("kind,width,call,more\na,0.1,x,?\nb,9.2,y,!\n,,z,\nb,60,far,1")
    run_nc, out = tmp_path / "run.nc", tmp_path / "labels.csv"
    fit = f"fit {data} --out {run_nc} --family mixed --standardize --id call --drop note"
    assert (
        cli.main([*fit.split(), "--samples=40", "--warmup=40", "--chains=2", "--no-progress"]) == 0
    )
    assert cli.main(["predict", str(run_nc), str(new), "-o", str(out)]) == 0
    assert capsys.readouterr().out.endswith(f"{out}: 4 new items placed in 2 clusters.\n")
    table = pd.read_csv(out)
    assert list(table) == ["id", "cluster", "p_0", "p_1", "novelty"]
    assert table["id"].tolist() == ["x", "y", "z", "far"]

    X = pd.read_csv(data, index_col="call")[["width", "kind"]]
    placed = pd.read_csv(new, index_col="call")[["width", "kind"]]
    mean, sd = X["width"].mean(), X["width"].std(ddof=0)
    settings = {"num_samples": 40, "num_warmup": 40, "num_chains": 2, "random_state": 0}
    est = bc.TVClust(family="mixed", progress=False, **settings)
    est.fit(X.assign(width=(X["width"] - mean) / sd))
    placed["width"] = (placed["width"] - mean) / sd
    np.testing.assert_allclose(table[["p_0", "p_1"]], est.predict_proba(placed), atol=1e-4)
    np.testing.assert_allclose(table["novelty"], est.predict_novelty(placed), atol=1e-4)
    assert table["cluster"].tolist()[:2] == est.labels_[:2].tolist()

    new.write_text("kind,width,id\na,0.1,x\nc,9.2,y")
    error = refused(capsys, cli.main(["predict", str(run_nc), str(new), "-o", str(out)]))
    assert "kind of item y is 'c', a word that the data of the fit do not have" in error


def test_a_file_without_a_model_predicts_nothing(files, fit, tmp_path, capsys):
    limit, out = tmp_path / "limit.nc", tmp_path / "labels.csv"
    assert fit(limit, "--pairs {pairs} --model rdp-means --n-clusters 2 --no-progress") == 0
    capsys.readouterr()
    error = refused(
        capsys, cli.main(["predict", str(limit), str(files / "data.csv"), "-o", str(out)])
    )
    assert "limit.nc is a fit of rdp-means: predict takes fits of --model tvclust." in error
    assert not out.exists()
