"""Tables: means by hand from cells made up, and the paper's numbers where they belong."""

import re

import numpy as np
import pytest

from experiments.reproduce import sources
from experiments.reproduce.tvclust import Plan, paper
from experiments.reproduce.tvclust.methods import COUNT_METHODS, METHODS
from experiments.reproduce.tvclust.reports import report
from experiments.reproduce.tvclust.tables import MEAN, MEAN_WITH_ID, tables

PLAN = Plan(methods=("kmeans", "rdp-means"), figures=(), trials=2)


@pytest.fixture(scope="module")
def frame(scored):
    return scored(PLAN.cells())


def entry(entries, table, method, column, sampling="ordered", glass="glass"):
    found = entries[
        (entries.table == table) & (entries.method == method) & (entries.column == column)
    ]
    return found[(found.sampling == sampling) & (found.glass == glass)].squeeze()


def mean(frame, **settings):
    for name, value in settings.items():
        frame = (
            frame[frame[name] == value]
            if not isinstance(value, list)
            else frame[frame[name].isin(value)]
        )
    return pytest.approx(float(frame.f.mean()), abs=1e-6)


def test_means_are_over_what_the_table_says(frame):
    entries = tables(frame, PLAN)
    mine = {"method": "rdp-means", "sampling": "unordered", "deviation": 0}
    assert entry(entries, 1, "rdp-means", "wine", "unordered").f == mean(frame, **mine, data="wine")
    plain, leaky = list(sources.UCI), ["iris", "wine", "ecoli", sources.WITH_ID, "balance"]
    assert entry(entries, 1, "rdp-means", MEAN, "unordered").f == mean(frame, **mine, data=plain)
    with_id = entry(entries, 1, "rdp-means", MEAN_WITH_ID, "unordered", sources.WITH_ID)
    assert with_id.f == mean(frame, **mine, data=leaky)
    assert with_id.rand == pytest.approx(with_id.f / 2, abs=1e-4)
    assert entry(entries, 2, "rdp-means", "p = 0.9", "unordered").f == mean(
        frame, **mine, data=plain, accuracy=0.9
    )
    third = entry(entries, 3, "rdp-means", "r = 0.03, p = 0.8", "unordered", sources.WITH_ID)
    assert third.f == mean(frame, **mine, data=leaky, accuracy=0.8, fraction=0.03)
    assert third.trials == 2
    by_trial = [
        mean(frame, **mine, data=leaky, accuracy=0.8, fraction=0.03, trial=trial)
        for trial in (0, 1)
    ]
    assert third.f_error == pytest.approx(
        abs(by_trial[0].expected - by_trial[1].expected) / 2, abs=1e-6
    )


def test_methods_without_answers_are_the_same_everywhere(frame):
    entries = tables(frame, PLAN)
    once = {"method": "kmeans", "data": list(sources.UCI), "sampling": "none"}
    expected = mean(frame, **once)
    assert len(frame[frame.method == "kmeans"]) == 2 * 6
    for sampling in PLAN.samplings:
        assert entry(entries, 1, "kmeans", MEAN, sampling).f == expected
        assert entry(entries, 2, "kmeans", "p = 0.8", sampling).f == expected
        assert entry(entries, 3, "kmeans", "r = 0.05, p = 1", sampling).f == expected


def test_the_papers_numbers_stand_where_its_data_and_draws_are_ours(frame):
    entries = tables(frame, PLAN)
    leaky = {"glass": sources.WITH_ID}
    assert entry(entries, 1, "rdp-means", "iris").paper_f == 0.86
    assert entry(entries, 1, "rdp-means", sources.WITH_ID, **leaky).paper_f == 0.82
    assert entry(entries, 1, "rdp-means", MEAN_WITH_ID, **leaky).paper_rand == 0.81
    assert entry(entries, 2, "kmeans", "p = 0.9", **leaky).paper_nmi == 0.53
    assert entry(entries, 3, "rdp-means", "r = 0.01, p = 0.8", **leaky).paper_f == 0.56
    fewer = tables(frame, Plan(methods=PLAN.methods, fractions=(0.01, 0.03), trials=2))
    assert np.isnan(entry(fewer, 1, "rdp-means", "iris").paper_f)
    assert np.isnan(entry(fewer, 2, "kmeans", "p = 0.9", **leaky).paper_f)
    assert entry(fewer, 3, "rdp-means", "r = 0.01, p = 0.8", **leaky).paper_f == 0.56
    for table, column, more in (
        (1, "glass", {}),
        (1, MEAN, {}),
        (2, "p = 0.9", {}),
        (1, "iris", {"sampling": "unordered"}),
    ):
        assert np.isnan(entry(entries, table, "rdp-means", column, **more).paper_f)


def test_what_is_partly_done_is_left_out(frame):
    lacking = frame[
        ~((frame.method == "rdp-means") & (frame.data == "wine") & (frame.fraction == 0.05))
    ]
    entries = tables(lacking, PLAN)
    assert entry(entries, 1, "rdp-means", "wine").empty
    assert entry(entries, 1, "rdp-means", MEAN).empty
    assert entry(entries, 3, "rdp-means", "r = 0.05, p = 1").empty
    assert not entry(entries, 3, "rdp-means", "r = 0.03, p = 1").empty
    assert not entry(entries, 1, "kmeans", MEAN).empty


def test_settings_weigh_the_same_however_many_trials_are_done(frame):
    lacking = frame[~((frame.method == "rdp-means") & (frame.accuracy == 0.8) & (frame.trial == 1))]
    found = entry(tables(lacking, PLAN), 1, "rdp-means", "wine")
    mine = {"method": "rdp-means", "sampling": "ordered", "deviation": 0, "data": "wine"}
    rest = [mean(frame, **mine, accuracy=p).expected for p in (1.0, 0.95, 0.9)]
    assert found.f == pytest.approx(
        np.mean([*rest, mean(frame, **mine, accuracy=0.8, trial=0).expected]), abs=1e-6
    )
    assert found.trials == 1
    assert np.isnan(found.f_error)
    assert "| RDP-means (1 draw) |" in report(tables(lacking, PLAN), PLAN)


def test_counts(scored):
    plan = Plan(methods=(), tables=(4,), figures=(), trials=3)
    entries = tables(scored(plan.cells()), plan)
    assert len(entries) == len(COUNT_METHODS) * len(sources.COUNTS)
    assert (entries.trials == 3).all()
    generated, real = sources.COUNTS
    assert entry(entries, 4, "rdp-means-multinomial", generated, glass="").paper_f == 0.44
    assert np.isnan(entry(entries, 4, "rdp-means-multinomial", real, glass="").paper_f)


def test_the_report_sets_ours_beside_the_papers(frame):
    entries = tables(frame, PLAN)
    text = report(entries, PLAN)
    f = entry(entries, 1, "rdp-means", "iris").f
    assert f"| RDP-means | {f:.3f} (0.86) | " in text
    assert f"| k-means [k] | {entry(entries, 1, 'kmeans', 'iris').f:.3f} (0.81) | " in text
    third = entry(entries, 3, "rdp-means", "r = 0.05, p = 0.9").f
    assert re.search(
        rf"^r = 0\.05:\n\n.*p = 0\.9.*\n.*\n.*\n\| RDP-means (?:\| \S+ ){{2}}\| {third:.3f} \| ",
        text,
        re.M,
    )
    # Table 1 once per sampling; 2 and 3 for both copies of glass too
    assert [text.count(f"## Table {number}") for number in (1, 2, 3, 4)] == [2, 4, 4, 1]
    assert report(entries.iloc[:0], PLAN) == "No cell of the tables is done yet.\n"


def test_every_row_of_the_paper_is_known():
    for method in (*METHODS.values(), *COUNT_METHODS.values()):
        assert method.paper in ("", *paper.METHODS)
    for method in COUNT_METHODS.values():
        assert (method.paper, method.model) in paper.TABLE_4
