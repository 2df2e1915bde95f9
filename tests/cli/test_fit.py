"""From tables to a posterior, and what the posterior says."""

import json
import re
import signal
import stat
import threading

import numpy as np
import pytest
import xarray as xr

import bayesclust as bc
from bayesclust import cli
from bayesclust.families import COMPOSED, FAMILIES
from bayesclust.inference.chain import Chain
from bayesclust.posterior.tree import feature_names, item_names, source_names

SHORT = ["--chains", "2", "--warmup", "20", "--samples", "30", "--no-progress"]


def fit(files, out, *arguments, data="data.csv"):
    return cli.main(["fit", str(files / data), "--out", str(out), *map(str, arguments)])


def refused(capsys, code=1):
    assert code == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    return error


def test_the_posterior_is_that_of_python_with_names(files, run_nc):
    with xr.open_datatree(run_nc, engine="h5netcdf") as tree:
        X = np.genfromtxt(files / "data.csv", delimiter=",", skip_header=1, usecols=(1, 2))
        names = [f"n{i:02d}" for i in range(12)]
        assert item_names(tree) == names
        assert feature_names(tree) == ["width", "height"]
        assert source_names(tree, "links", 2) == ["ann", "bob"]
        np.testing.assert_allclose(tree["observed_data"]["X"], X)
        rows = [
            line.split(",")
            for line in (files / "pairs.csv").read_text(encoding="utf-8").split()[1:]
        ]
        pairs = [[names.index(i), names.index(j)] for i, j, _, _ in rows]
        links = bc.PairwiseConstraints(
            pairs,
            [row[2] for row in rows],
            n_items=12,
            source=[["ann", "bob"].index(row[3]) for row in rows],
        )
        triplets = bc.RelativeConstraints(
            [(0, 1, 7), (7, 2, 8), (3, 9, 10), (6, 7, 8)], ["yes", "no", "dnk", "dnk"], n_items=12
        )
        est = bc.TVClust(
            num_chains=2, num_warmup=30, num_samples=60, random_state=0, progress=False
        )
        own = est.fit(X, constraints=[links, triplets]).posterior_
        np.testing.assert_array_equal(tree["posterior"]["z"], own["posterior"]["z"])
        np.testing.assert_array_equal(tree["posterior"]["p"], own["posterior"]["p"])
        assert tree.attrs["data"] == "data.csv"


def test_arviz_reads_it(run_nc):
    import arviz as az

    tree = az.from_netcdf(run_nc)
    assert {"posterior", "sample_stats", "observed_data", "constant_data"} <= set(tree.children)
    assert list(az.summary(tree["posterior"].dataset[["p"]], round_to=3).index) == [
        "p[ann]",
        "p[bob]",
    ]


def test_a_limit_and_dcrc_are_written_too(files, tmp_path, capsys):
    assert (
        fit(
            files,
            tmp_path / "limit.nc",
            "--pairs",
            files / "pairs.csv",
            "--model",
            "rdp-means",
            "--n-clusters",
            2,
        )
        == 0
    )
    out, error = capsys.readouterr()
    assert out == f"{tmp_path / 'limit.nc'}: one partition of 12 items, 2 clusters.\n"
    assert "12 items, 2 features, 24 answers" in error
    asked = [
        "--triplets",
        files / "triplets.csv",
        "--model",
        "dcrc",
        "--n-clusters",
        2,
        "--noise",
        "learn",
        "--no-progress",
    ]
    assert fit(files, tmp_path / "dcrc.nc", *asked) == 0
    out, error = capsys.readouterr()
    assert error == ""
    with xr.open_datatree(tmp_path / "dcrc.nc", engine="h5netcdf") as tree:
        settings = json.loads(tree.attrs["settings"])
        assert (settings["n_clusters"], settings["noise"]) == (2, "learn")


def test_columns_are_standardised_when_asked_for(files, tmp_path):
    asked = ["--model", "rdp-means", "--n-clusters", 2, "--standardize", "--no-progress"]
    assert fit(files, tmp_path / "out.nc", *asked) == 0
    with xr.open_datatree(tmp_path / "out.nc", engine="h5netcdf") as tree:
        X = tree["observed_data"]["X"].values
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0)], [[0, 0], [1, 1]], atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "dcrc"], r"dcrc needs the number of clusters: pass --n-clusters K\."),
        (
            ["--model", "dcrc", "--n-clusters", "2", "--samples", "9"],
            "--samples says how to sample, .* add --inference gibbs",
        ),
        (
            ["--model", "dcrc", "--n-clusters", "2", "--sampler", "gibbs"],
            "--sampler is an option of tvclust, not of dcrc",
        ),
        (
            ["--model", "rdp-means", "--checkpoint", "x"],
            "--checkpoint is an option of tvclust, not of rdp-means",
        ),
        (["--penalty", "2"], "--penalty is an option of rdp-means, not of tvclust"),
        (["--chains", "0"], "num_chains must be"),
        (["--drop", "colour"], r"data\.csv, line 1: there is no column 'colour'"),
        (["--pairs", "nowhere.csv"], r"nowhere\.csv"),
    ],
)
def test_bad_settings_are_refused_and_nothing_is_written(
    files, tmp_path, capsys, arguments, sentence
):
    error = refused(capsys, fit(files, tmp_path / "out.nc", *arguments, "--no-progress"))
    assert error.startswith("bayesclust: ")
    assert re.search(sentence, error)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_before_fitting(files, tmp_path, capsys):
    error = refused(capsys, fit(files, tmp_path / "none" / "out.nc", "--no-progress"))
    assert f"there is no folder {tmp_path / 'none'}" in error
    error = refused(capsys, fit(files, tmp_path, "--no-progress"))
    assert "is a folder: name a file" in error


def test_a_file_is_replaced_whole_or_not_at_all(files, tmp_path, monkeypatch, capsys):
    target = tmp_path / "out.nc"
    target.write_text("before", encoding="utf-8")
    asked = ["--model", "rdp-means", "--n-clusters", 2, "--no-progress"]

    def broken(tree, path, **settings):
        path.write_text("half", encoding="utf-8")
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(xr.DataTree, "to_netcdf", broken)
        assert "no space left" in refused(capsys, fit(files, target, *asked))
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["before"]
    assert fit(files, target, *asked) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.nc"]
    assert stat.S_IMODE(target.stat().st_mode) & 0o400
    assert target.read_bytes()[1:4] == b"HDF"


def test_ctrl_c_keeps_the_draws_so_far(files, tmp_path, monkeypatch, capsys):
    drawn, draw = [], Chain.draw

    def interrupting(self):
        drawn.append(self)
        if len(drawn) == 40:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return draw(self)

    monkeypatch.setattr(Chain, "draw", interrupting)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code = fit(
            files,
            tmp_path / "out.nc",
            "--chains",
            1,
            "--warmup",
            5,
            "--samples",
            1_000_000,
            "--no-progress",
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    out, error = capsys.readouterr()
    assert "Interrupted: the first" in error
    with xr.open_datatree(tmp_path / "out.nc", engine="h5netcdf") as tree:
        kept = tree["posterior"].sizes["draw"]
        assert 40 <= kept < 1_000_000
        assert tree.attrs["interrupted"] == 1
    assert f"1 chain of {kept} draws" in out


def test_a_checkpoint_is_gone_on_with(files, tmp_path):
    once, again = tmp_path / "once.nc", tmp_path / "again.nc"
    assert fit(files, once, *SHORT, "--checkpoint", tmp_path / "run.zarr") == 0
    assert fit(files, again, *SHORT, "--checkpoint", tmp_path / "run.zarr") == 0
    with (
        xr.open_datatree(once, engine="h5netcdf") as first,
        xr.open_datatree(again, engine="h5netcdf") as second,
    ):
        np.testing.assert_array_equal(first["posterior"]["z"], second["posterior"]["z"])
    assert (tmp_path / "run.zarr").is_dir()


def test_the_noise_of_triplets_can_be_a_confusion_matrix(files, tmp_path):
    asked = ["--triplets", files / "triplets.csv", "--triplet-noise", "confusion", *SHORT]
    assert fit(files, tmp_path / "out.nc", *asked) == 0
    with xr.open_datatree(tmp_path / "out.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["confusion"].shape == (2, 30, 1, 3, 3)


def test_a_view_can_be_chosen_by_the_answers(files, tmp_path, capsys):
    short = ["--chains", "2", "--warmup", "10", "--samples", "10", "--pairs", files / "pairs.csv"]
    assert (
        fit(files, tmp_path / "auto.nc", "--cluster-model", "auto", "--power", "0.5", *short) == 0
    )
    assert re.search(
        r"best: cluster model (single|mixture), gaussian, power 0.5\.\n", capsys.readouterr().err
    )
    with xr.open_datatree(tmp_path / "auto.nc", engine="h5netcdf") as tree:
        assert json.loads(tree.attrs["settings"])["power"] == 0.5
    assert (
        fit(files, tmp_path / "means.nc", "--model", "rdp-means", "--cluster-model", "mixture") == 0
    )
    capsys.readouterr()
    code = fit(
        files,
        tmp_path / "none.nc",
        "--model",
        "rdp-means",
        "--cluster-model",
        "auto",
        "--no-progress",
    )
    assert "cluster_model must be" in refused(capsys, code)


def test_dcrc_is_sampled_when_asked_to(files, tmp_path):
    arguments = [
        "--model",
        "dcrc",
        "--n-clusters",
        2,
        "--inference",
        "gibbs",
        "--triplets",
        files / "triplets.csv",
        *SHORT,
    ]
    assert fit(files, tmp_path / "dcrc.nc", *arguments) == 0
    with xr.open_datatree(tmp_path / "dcrc.nc", engine="h5netcdf") as tree:
        assert tree["posterior"]["z"].shape == (2, 30, 12)


def test_options_are_those_of_the_estimators(capsys):
    with pytest.raises(SystemExit):
        cli.main(["fit", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(name in shown for name in FAMILIES | COMPOSED)
    assert "--chains VALUE" in shown
    assert "--n-clusters VALUE" in shown
    assert "Chains, from dispersed starts" in shown
    assert "VALUE ()" not in shown


def test_the_worked_example_of_the_help_works(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["fit", "--help"])
    lines = capsys.readouterr().out.splitlines()
    start = next(at for at, line in enumerate(lines) if "$ cat data.csv" in line)
    split = lines[start].index("$ cat pairs.csv")
    rows = lines[start + 1 : start + 6]
    for name, cells in (
        ("data.csv", [row[:split] for row in rows]),
        ("pairs.csv", [row[split:] for row in rows]),
    ):
        (tmp_path / name).write_text(
            "\n".join(cell.strip() for cell in cells) + "\n", encoding="utf-8"
        )
    assert fit(tmp_path, tmp_path / "run.nc", "--pairs", tmp_path / "pairs.csv", *SHORT) == 0
    with xr.open_datatree(tmp_path / "run.nc", engine="h5netcdf") as tree:
        assert item_names(tree) == ["ant", "bee", "cow", "dog"]
        assert source_names(tree, "links", 2) == ["ann", "bob"]
