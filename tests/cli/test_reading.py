"""What is made of posteriors: summaries, reports and comparisons."""

import csv
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import bayesclust as bc
from bayesclust import cli
from bayesclust.cli.fit import in_options
from bayesclust.posterior.similarity import cluster_confidence
from bayesclust.posterior.tree import to_datatree
from bayesclust.report import as_text, findings
from bayesclust.report.page import page_of


def main(*arguments):
    return cli.main([str(argument) for argument in arguments])


@pytest.fixture(scope="session")
def tree(run_nc):
    from bayesclust.cli.summary import read_posterior

    return read_posterior(run_nc)


def test_the_summary_is_what_the_posterior_says(run_nc, tree, capsys):
    assert main("summary", run_nc, "--max-listed", 3) == 0
    out, error = capsys.readouterr()
    found = findings(tree, max_listed=3)
    assert out == as_text(replace(found, verdict=in_options(found.verdict))) + "\n"
    assert error == ""
    assert "links, ann" in out
    assert "WHAT TELLS THE CLUSTERS APART\n  cluster  feature" in out


def test_labels_are_written_by_name(run_nc, tree, tmp_path, capsys):
    assert main("summary", run_nc, "--clusters", tmp_path / "labels.csv") == 0
    with (tmp_path / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = bc.point_estimate(tree)
    assert [row["id"] for row in rows] == [f"n{i:02d}" for i in range(12)]
    assert [int(row["cluster"]) for row in rows] == labels.tolist()
    np.testing.assert_allclose(
        [float(row["confidence"]) for row in rows], cluster_confidence(tree, labels), atol=5e-5
    )


def test_the_report_is_the_page(run_nc, tree, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("bayesclust.report.figures.DPI", 20)
    assert main("report", run_nc, "--out", tmp_path / "run.html", "--title", "A <b> title") == 0
    out, error = capsys.readouterr()
    assert out == f"{tmp_path / 'run.html'}\n"
    assert "figures" in error
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    found = findings(tree)
    advice = {"verdict": in_options(found.verdict)}
    advice["surprises"] = [in_options(sentence) for sentence in found.surprises]
    assert page == page_of(tree, replace(found, **advice), "A <b> title")
    assert "num_warmup" in found.verdict
    assert "--warmup" in page


def test_fits_and_labels_are_put_side_by_side(files, run_nc, tree, tmp_path, capsys):
    truth = files / "truth.csv"
    asked = ["--truth", truth, "--out", tmp_path / "t.csv"]
    assert main("compare", run_nc, truth, *asked) == 0
    out, error = capsys.readouterr()
    y = np.repeat([0, 1], 6)
    expected = bc.compare({"run": tree, "truth": y}, y)
    agreement = bc.agreement({"run": tree, "truth": y})
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["fit"] for row in rows] == [str(run_nc), str(truth)]
    for row, own in zip(rows, expected.to_dict("records"), strict=True):
        assert float(row["distance"]) == pytest.approx(own["distance"])
        assert float(row["ari"]) == pytest.approx(own["ari"])
        assert row["inside"] == str(own["inside"])
    told = out.partition("agreement: variation of information")[2]
    assert f"{agreement.loc['run', 'truth']:.3f}" in told
    radius = f"has radius {expected.attrs['radius']:.3f} bits."
    assert f"The reference is {run_nc}: its 95% credible ball {radius}" in out
    assert str(tmp_path / "t.csv") in error


def test_labels_alone_are_compared_by_name_or_by_row(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("id,cluster\nx,1\ny,1\nz,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("cluster,id\nred,z\nblue,x\nblue,y\n", encoding="utf-8")
    assert main("compare", tmp_path / "a.csv", tmp_path / "b.csv") == 0
    out = capsys.readouterr().out
    assert out.partition("agreement")[2].count("0.000") == 4
    (tmp_path / "c.csv").write_text("cluster\none\ntwo\ntwo\n", encoding="utf-8")
    (tmp_path / "d.csv").write_text("cluster\n3\n4\n4\n", encoding="utf-8")
    assert main("compare", tmp_path / "c.csv", tmp_path / "d.csv") == 0
    assert capsys.readouterr().out.partition("agreement")[2].count("0.000") == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,label\nn00,1\nm99,1\n", r"l\.csv names other items than the other files do"),
        ("id,label\nn00,1\nn00,1\n", r"l\.csv has id 'n00' twice"),
        ("id,label\nn00,1\n", r"names other items than the other files do, such as 'n01'"),
        ("id,a,b\nn00,1,2\n", r"l\.csv has the columns a, b: rename that of the labels"),
        ('label\n1\n""\n2\n', r"l\.csv has no label for 1"),
        ("label\n1\n2\n", r"run\.nc'\] is about 12 items and methods\['.*l\.csv'\] about 2"),
    ],
)
def test_tables_of_labels_that_do_not_fit_are_refused(run_nc, tmp_path, capsys, text, sentence):
    (tmp_path / "l.csv").write_text(text, encoding="utf-8")
    assert main("compare", run_nc, tmp_path / "l.csv") == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    assert re.search(sentence, error)


def test_tables_with_and_without_names_are_not_matched(files, tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("label\n" + "1\n" * 12, encoding="utf-8")
    for pair in (
        [tmp_path / "rows.csv", files / "truth.csv"],
        [files / "truth.csv", tmp_path / "rows.csv"],
    ):
        assert main("compare", *pair) == 1
        assert "rows.csv does not: name them in both" in capsys.readouterr().err


def test_one_partition_is_no_reference(run_nc, files, fit, tmp_path, capsys):
    limit = tmp_path / "limit.nc"
    assert fit(limit, "--model rdp-means --n-clusters 2 --no-progress") == 0
    assert main("compare", limit, run_nc) == 0
    assert f"The reference is {run_nc}:" in capsys.readouterr().out
    assert main("compare", limit, files / "truth.csv") == 0
    out = capsys.readouterr().out
    assert "reference" not in out
    assert out.split()[:2] == ["n_clusters", "seconds"]


@pytest.mark.parametrize(
    "command",
    ["summary {} --clusters {}", "report {} --out {}", "compare {} --out {}"],
)
def test_no_command_replaces_what_it_reads(run_nc, command, capsys):
    before = run_nc.read_bytes()
    assert main(*command.format(run_nc, run_nc).split()) == 1
    assert re.fullmatch(r"bayesclust: .* is the input .* too: name .*\n", capsys.readouterr().err)
    assert run_nc.read_bytes() == before


def test_a_reader_that_leaves_ends_it_quietly(run_nc):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "bayesclust", "summary", str(run_nc)]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("command", [["summary"], ["report", "--out", "x.html"], ["compare"]])
def test_what_is_no_posterior_is_refused(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(*command, tmp_path / "none.nc") == 1
    assert "there is no file" in capsys.readouterr().err
    (tmp_path / "text.nc").write_text("no netCDF", encoding="utf-8")
    assert main(*command, tmp_path / "text.nc") == 1
    assert "text.nc is damaged or not a netCDF file" in capsys.readouterr().err
    to_datatree({"z": [[[0, 1]]]}).drop_nodes("posterior").to_netcdf(
        tmp_path / "empty.nc", engine="h5netcdf"
    )
    assert main(*command, tmp_path / "empty.nc") == 1
    assert "holds no draws of a partition" in capsys.readouterr().err
    assert not (tmp_path / "x.html").exists()


def test_advice_names_options_of_the_shell(run_nc, tmp_path, capsys):
    """The run is short, and its verdict names settings."""
    assert cli.main(["summary", str(run_nc)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "increase --warmup and --samples" in told
    assert "num_" not in told
    said = 'run four chains, num_chains=4; try cluster_model="auto" or power=0.25 (n_clusters)'
    assert in_options(said) == (
        "run four chains, --chains 4; try --cluster-model auto or --power 0.25 (--n-clusters)"
    )
    assert in_options("the noise, the family and the power of a model, tau=3") == (
        "the noise, the family and the power of a model, tau=3"
    )
