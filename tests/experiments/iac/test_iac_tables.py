"""Plans, tables and figures of the IAC experiments, from scores that were made up."""

import numpy as np
import pandas as pd
import pytest
from experiments.reproduce.cells import load
from experiments.reproduce.iac.cells import KINDS, Cell
from experiments.reproduce.iac.figures import compared, loop, runtime, settings, soft
from experiments.reproduce.iac.methods import MODIFICATIONS
from experiments.reproduce.iac.plans import DATA, find
from experiments.reproduce.iac.reports import claims, report
from scipy import stats

import bayesclust as bc
from experiments import command
from experiments.reproduce import sources
from experiments.reproduce.iac import METHODS, Plan, paper, reproduce, run
from experiments.reproduce.iac.tables import comparisons, curves, means, tables, wins

FOUR = ("iac-0-10", "iac-0-100", "iac-20-10", "iac-20-100")
ONLY = {"runtime": False, "soft": False, "loop": False}


@pytest.fixture
def folder(tmp_path):
    """Files that stand for sets of the slides, of one item."""
    for name in ("mk2.csv", "lsun.csv"):
        (tmp_path / name).write_text("a,class\n1,0\n")
    for name in ("mnist10k.npz", "letter.npz", "glass.npz"):
        np.savez(tmp_path / name, X=np.ones((1, 2)), y=[3])
    return tmp_path


@pytest.fixture
def whole(folder):
    """A plan of two draws that needs no package's files."""
    given = {
        "data": ("iris", "wine", "lsun"),
        "methods": FOUR,
        "numbers": (100, 1000),
        "choosers": ("random",),
        "trials": 2,
    }
    return Plan.of(folders=(folder,), **given)


def test_plans_want_each_cell_once_and_trial_by_trial(whole):
    wanted = whole.cells()
    assert len(wanted) == len(set(wanted))
    assert [cell.trial for cell in wanted] == sorted(cell.trial for cell in wanted)
    assert pd.Series([cell.part for cell in wanted]).value_counts().to_dict() == {
        "session": 2 * (3 * 4 + 1),
        "runtime": 2 * 2 * 4 * 2,
        "soft": 2 * 3 * 4,
    }
    assert set(Plan.of(quick=True).cells()) < set(Plan().cells())
    given = {"parameters": True, "tables": (), "figures": (), **ONLY}
    assert {cell.part for cell in Plan.of(**given).cells()} == {"session"}


def test_data_are_found_or_named_as_absent(folder, monkeypatch):
    assert find("iris", ()) == "iris"
    assert find("lsun", ()) is None
    assert find("lsun", (folder,)) == str(folder / "lsun.csv")
    assert find("mnist", (folder,)) == str(folder / "mnist10k.npz")
    assert find(str(folder / "lsun.csv"), ()) == str(folder / "lsun.csv")
    monkeypatch.setattr(bc.datasets, "names", lambda **settings: ("iris", "wine"))
    plan = Plan.of(folders=(folder,))
    assert plan.absent() == ["sonar", "ecoli", "ionosphere", "yeast", "segment", *DATA[9:14]]
    assert "mk2" in Plan.of().absent()
    text = report(pd.DataFrame(columns=list(KINDS)), pd.DataFrame(), Plan.of(quick=True, **ONLY))
    assert (
        "Left out, since no installed package ships them and no folder that was named has them: glass.\n"
        in text
    )
    assert text.endswith("No cell is done yet.\n")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"methods": ("iac-7-7",)}, r"methods must be .*iac-7-7"),
        ({"kinds": ("links",)}, r"kinds must be .*links"),
        ({"choosers": ("oracle",)}, r"choosers must be .*oracle"),
        (
            {"data": ("lsun",)},
            r"data has 'lsun', which no installed package ships: .* has lsun\.csv or lsun\.npz",
        ),
        ({"numbers": (0,)}, "numbers .* 0"),
        ({"trials": 0}, "trials .* 0"),
        ({"answers": 9}, "answers .* 9"),
    ],
)
def test_bad_plans_are_refused(given, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        Plan.of(**given)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^folders has .*nowhere', which is no folder"):
        Plan.of(folders=(tmp_path / "nowhere",))


def test_archives_are_read(folder):
    np.savez(
        folder / "two.npz", X=np.array([[1, 2], [3, 4], [5, 6]], dtype=np.uint8), y=["b", "a", "b"]
    )
    data = sources.load(str(folder / "two.npz"))
    assert (data.X.tolist(), data.y.tolist(), data.target_names) == (
        [[1, 2], [3, 4], [5, 6]],
        [1, 0, 1],
        ("a", "b"),
    )
    np.savez(folder / "odd.npz", X=np.ones(3), y=[1, 2, 3])
    with pytest.raises(
        ValueError, match=r"odd\.npz has X of shape \(3,\) and y of shape \(3,\): \(n, d\)"
    ):
        sources.load(str(folder / "odd.npz"))
    np.savez(folder / "none.npz", Z=np.ones(3))
    with pytest.raises(ValueError, match=r"none\.npz holds Z: items are wanted as X"):
        sources.load(str(folder / "none.npz"))


def graded(cell):
    """A score that rises with alpha by tenths and falls with beta by hundredths, and depends on the data and the trial."""
    found = METHODS[cell.method]
    return 0.4 + found.alpha - found.beta / 10 + len(cell.data) / 100 + 0.001 * cell.trial


def test_means_are_over_trials_that_all_settings_have(whole, scored):
    frame = scored(whole.cells(), graded)
    lost = (frame.data == "wine") & (frame.method == "iac-0-10") & (frame.trial == 1)
    table = means(frame[~lost], whole, "quality_ari")
    assert list(table.columns) == list(FOUR)
    assert table.loc["wine", "iac-20-100"] == pytest.approx(
        graded(Cell(0, "", "iac-20-100", "wine", "", 0, 0))
    )
    assert table.loc["iris", "iac-20-100"] == pytest.approx(
        graded(Cell(0, "", "iac-20-100", "iris", "", 0, 0)) + 0.0005
    )
    assert len(table) == 3
    assert (
        "wine"
        not in means(
            frame[~((frame.data == "wine") & (frame.method == "iac-0-10"))], whole, "quality_ari"
        ).index
    )


def test_comparisons_see_which_setting_is_better_and_a_result_that_is_planted(whole, scored):
    frame = scored(whole.cells(), graded)
    found = comparisons(frame, whole).set_index(["score", "method", "other"])
    assert found.loc[("quality_ari", "iac-20-10", "iac-0-100"), "better"] > 0.9
    assert found.loc[("quality_ari", "iac-0-100", "iac-20-10"), "worse"] > 0.9
    table = means(frame, whole, "similarity_fmi")
    by_hand = bc.comparison.bayesian_signed_rank(table["iac-20-10"] - table["iac-0-10"])
    assert tuple(found.loc[("similarity_fmi", "iac-20-10", "iac-0-10")]) == pytest.approx(
        tuple(by_hand)
    )
    counts = wins(found.reset_index())
    assert counts.loc[("iac-20-10", "quality_ari"), "likely"] == 3
    level = scored(whole.cells(), lambda cell: 0.5 + 0.001 * METHODS[cell.method].alpha)
    assert (comparisons(level, whole).equivalent == 1).all()
    assert (wins(comparisons(level, whole)).likely == 0).all()
    planted = frame.copy()
    planted.loc[planted.method == "iac-20-10", "quality_ari"] = 0.0
    assert wins(comparisons(planted, whole)).loc[("iac-20-10", "quality_ari"), "likely"] == 0


def test_entries_are_means_with_students_interval(whole, scored):
    frame = scored(whole.cells(), graded)
    entries = tables(frame, whole).set_index(["part", "data", "method", "kind", "number", "score"])
    mk2 = whole.found(["mk2"])["mk2"]
    row = entries.loc["soft", mk2, "iac-20-30", "conflicts", 1000, "cpu_seconds"]
    assert (row["mean"], row.trials, row.published) == (2.5, 2, 4.868)
    assert row.error == pytest.approx(stats.t.ppf(0.975, 1) * np.sqrt(0.5) / np.sqrt(2))
    assert np.isnan(entries.loc["soft", mk2, "iac-20-30", "wrong", 1000, "cpu_seconds"].published)
    other = frame.assign(method="iac-1-1")
    assert tables(other, whole).empty


def test_the_report_has_ours_beside_what_is_published(whole, scored):
    frame = scored(whole.cells(), graded)
    text = report(frame, tables(frame, whole), whole)
    table = means(frame, whole, "quality_ari")
    assert f"| IAC (20, 10) | {table['iac-20-10'].mean():.3f} | " in text
    likely, sure = wins(comparisons(frame, whole)).loc[("iac-20-10", "quality_ari")]
    assert f"| IAC (20, 10) | {likely} ({sure}) / 10 (7) | " in text
    assert "| letter | pairs | 2.500 | 2.500 | 201 to 302 |" in text
    assert "| mnist10k | pairs | 2.500 | 2.500 |  |" in text
    assert "| PCK-Means | nan" not in text
    assert "4.868)" in text
    assert "Every optimum is proven." in text
    assert "- quality is best with the fewest super-instances: for 2 of 2 values of alpha" in text
    assert "- similarity is best with the most: for 0 of 2 values of alpha" in text
    assert "| random | 0.005 | 0.105 |" in text


def test_constraints_that_must_hold_and_do_not_are_reported(whole, scored):
    """A wrong result, planted in the cells."""
    frame = scored(whole.cells(), graded)
    assert "WRONG" not in report(frame, tables(frame, whole), whole)
    frame.loc[frame.part == "runtime", "given_up"] = [
        3,
        *[0] * ((frame.part == "runtime").sum() - 1),
    ]
    frame.loc[frame.part == "soft", ["given_up", "gap"]] = [50, 0.25]
    text = report(frame, tables(frame, whole), whole)
    assert text.count("WRONG: 3 constraints that must hold do not.") == text.count("WRONG") == 1
    assert "In 12 settings an optimum is not proven." in text


def test_claims_hold_or_not():
    grid = pd.DataFrame(
        {name: [METHODS[name].alpha - METHODS[name].beta] for name in MODIFICATIONS}
    )
    fewer, most, anchors = claims(grid, grid)
    assert fewer.endswith("for 3 of 3 values of alpha")
    assert most.endswith("for 0 of 3 values of alpha")
    assert "fewest: holds, -0.475 at 0%, -0.425 at 5%, -0.275 at 20%" in anchors
    grid["iac-0-10"] += 5
    assert "fewest: does not hold" in list(claims(grid, grid))[2]
    assert list(claims(grid[["iac-0-10"]], grid[["iac-0-10"]])) == []


def test_who_chooses_better_is_said_and_a_result_that_is_planted_is_seen(folder, scored):
    given = {"parameters": False, "runtime": False, "soft": False, "trials": 2}
    plan = Plan.of(folders=(folder,), choosers=("npu", "random"), **given)
    frame = scored(plan.cells(), lambda cell: 0.7 if cell.kind == "npu" else 0.6)
    text = report(frame, tables(frame, plan), plan)
    assert "- the quality is higher with NPU: holds, 0.700 against 0.600" in text
    frame.loc[frame.kind == "npu", "similarity_ari"] = 0.5
    text = report(frame, tables(frame, plan), plan)
    assert "- the similarity is higher with NPU: does not hold, 0.500 against 0.600" in text


def test_figures_show_the_numbers_of_the_tables(whole, scored):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    frame = scored(whole.cells(), graded)
    entries = tables(frame, whole)
    table = means(frame, whole, "quality_ari")
    panels = settings(frame, whole).axes
    line = panels[0].lines[1]
    assert line.get_xdata().tolist() == [10, 100]
    assert line.get_ydata() == pytest.approx([table[f"iac-20-{beta}"].mean() for beta in (10, 100)])
    image = compared(comparisons(frame, whole), whole).axes[0].images[0].get_array()
    found = comparisons(frame, whole).set_index(["score", "method", "other"]).better
    assert image[2, 1] == pytest.approx(found["quality_ari", "iac-20-10", "iac-0-100"])
    ax = runtime(entries, whole).axes[0]
    assert ax.get_yscale() == "log"
    bands = [
        band.get_segments()[0][:, 1].tolist()
        for band in ax.collections
        if len(band.get_segments()) == 1
    ]
    assert [list(paper.SECONDS["letter", kind]) for kind in ("pairs", "triplets")] == [
        b for b in bands if b[1] > 100
    ]
    rows = soft(entries).axes
    assert rows[0].get_title(loc="left").startswith("one answer in 20 given twice")
    assert [ax.get_xlabel() for ax in rows[-4:]] == [
        *("quality (ARI)", "similarity (ARI)"),
        *("answers not satisfied", "processor seconds"),
    ]
    drawn = loop(frame, whole).axes[0].lines[0]
    assert drawn.get_ydata() == pytest.approx(
        curves(frame, whole).query("side == 'qualities'")["mean"]
    )
    assert drawn.get_ydata()[3] == pytest.approx(0.305)
    for figure in map(plt.figure, plt.get_fignums()):
        assert all(
            ax.get_xlabel()
            for ax in figure.axes
            if len(figure.axes) < 4 and ax.get_label() != "<colorbar>"
        )
    plt.close("all")
    shown = entries.assign(error=0.5, trials=4)
    bars = [bar.get_segments() for bar in runtime(shown, whole).axes[0].collections]
    assert sum(np.ptp(ends[0][:, 1]) == 1.0 for ends in bars if len(ends) == 2) == 4
    bars = [bar.get_segments() for bar in runtime(entries, whole).axes[0].collections]
    assert all(np.ptp(ends[0][:, 1]) == 0.0 for ends in bars if len(ends) == 2)
    nothing = frame.iloc[:0]
    empty = tables(nothing, whole)
    assert [settings(nothing, whole), runtime(empty, whole), soft(empty), loop(nothing, whole)] == [
        None
    ] * 4
    plt.close("all")


def test_without_the_solver_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "find_spec", lambda name: None)
    with pytest.raises(
        ModuleNotFoundError, match=r"need OR-tools, which is not installed: install .* 'solver'"
    ):
        reproduce(Plan.of(quick=True), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_small_run_from_start_to_files_goes_on_where_it_stopped(blobs, tmp_path, capsys):
    pytest.importorskip("ortools")
    out = tmp_path / "out"
    arguments = [
        "iac",
        "--parameters",
        "--data",
        str(blobs),
        "--methods",
        "iac-0-100",
        "iac-20-30",
    ]
    arguments += ["--trials", "2", "--no-progress", "--output", str(out)]
    assert command.main(arguments) == 0
    text = capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        *("cells.csv", "tables.csv", "tables.md", "comparisons.csv"),
        *(
            f"{name}.{ending}"
            for name in ("parameters", "comparisons")
            for ending in ("png", "svg")
        ),
    }
    first = load(out / "cells.csv", KINDS)
    assert first[["method", "trial"]].values.tolist() == [
        [name, t] for t in (0, 1) for name in ("iac-0-100", "iac-20-30")
    ]
    assert (first.given_up == 0).all()
    assert (
        f"| blobs | {first.quality_ari[::2].mean():.3f} | {first.quality_ari[1::2].mean():.3f} |"
        in text
    )
    lines = (out / "cells.csv").read_text().splitlines(keepends=True)
    (out / "cells.csv").write_text("".join(lines[:-1]))
    assert command.main(arguments) == 0
    again = load(out / "cells.csv", KINDS)
    timed = ["seconds", "cpu_seconds", "choosing"]
    pd.testing.assert_frame_equal(first.drop(columns=timed), again.drop(columns=timed))
    assert (first.seconds[:-1] == again.seconds[:-1]).all()
