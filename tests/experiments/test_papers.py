"""MPCK-Means, IAC, cluster models and active learning: answers, cells, plans and tables."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.active import PosteriorQueries
from experiments import active, figures, frame, iac, mpck, sources

FOUR = ("iac-0-10", "iac-0-100", "iac-20-10", "iac-20-100")


def lines_of(experiment, cells, plan):
    entries = experiment.module.tables(cells, plan)
    return entries, "\n".join(experiment.module.report(cells, entries, plan))


def test_answers_of_mpck_are_right_and_leave_the_fold_out():
    y, seen = sources.load("iris").y, []
    for fold in range(mpck.FOLDS):
        few, held_out = mpck.answers(mpck.Cell(0, "sd", "iris", 20, 3, fold), y)
        many, again = mpck.answers(mpck.Cell(0, "pck", "iris", 60, 3, fold), y)
        assert (held_out == again).all()
        assert (many.truths(y) == many.answers).all()
        assert not np.isin(many.items, held_out).any()
        assert set(map(tuple, few.items.tolist())) <= set(map(tuple, many.items.tolist()))
        seen += held_out.tolist()
    assert sorted(seen) == list(range(150))


@pytest.mark.parametrize("method", mpck.METHODS)
def test_every_method_of_mpck_is_scored_on_all_items_and_those_held_out(method):
    row = mpck.run(mpck.Cell(0, method, "iris", 40, 0, 1))
    assert set(row) == set(mpck.SCORES)
    assert 0.5 < row["f"] <= 1
    assert 0.5 < row["held_out_f"] <= 1


def test_curves_and_claims_of_mpck(scored, tmp_path):
    plan = mpck.Plan.of(figures=(2,), methods=("pck", "kmeans"), numbers=(0, 20), trials=2)
    wanted = plan.cells()
    assert len(wanted) == len(set(wanted)) == 2 * 5 * 3
    cells = scored(frame.Experiment(mpck), wanted)
    entries, text = lines_of(frame.Experiment(mpck), cells, plan)
    mine = cells[(cells.method == "pck") & (cells.number == 20)]
    f = entries.set_index(["method", "number", "score"])["mean"]
    assert f["pck", 20, "f"] == pytest.approx(mine.f.mean())
    widths = entries.set_index(["method", "number", "score"]).error
    runs = mine.groupby("trial").f.mean()
    # the 97.5% point of Student's t with one degree of freedom
    assert widths["pck", 20, "f"] == pytest.approx(12.7062 * runs.std() / np.sqrt(2), rel=1e-4)
    both = (f"{f['pck', n, 'f']:.3f} ± {widths['pck', n, 'f']:.3f}" for n in (0, 20))
    assert f"| PCK-Means | {' | '.join(both)} |" in text
    assert len(figures.save(mpck.draw(cells, entries, plan), tmp_path)) == 2


@pytest.mark.parametrize("kind", iac.KINDS)
def test_right_constraints_hold_of_the_classes_in_the_numbers_of_the_clusters(kind, rng):
    y, numbers = np.repeat([0, 1, 2, 3], [9, 8, 7, 6]), np.array([2, 0, 3, 1])
    clusters = numbers[y].copy()
    clusters[[0, 9, 17]] = clusters[[9, 17, 0]]
    given = iac.right(kind, y, clusters, 60, rng)
    assert len(given) == 60

    def holds(labels):
        if kind in ("pairs", "triplets"):
            return given.truths(labels) == given.answers
        return given.satisfied(labels)

    assert holds(numbers[y]).all()
    assert not holds(clusters).all()


def test_cases_of_iac_go_wrong_as_they_say(rng):
    y = np.repeat([0, 1, 2, 3], [9, 8, 7, 6])
    links = iac.case("conflicts", y, 200, rng)
    first, again = links.items[:190].tolist(), links.items[190:].tolist()
    where = [first.index(pair) for pair in again]
    assert (len(links), len(set(where))) == (200, 10)
    assert (links.answers[where] != links.answers[190:]).all()
    for name, wrong in (("wrong", 10), ("relaxed", 0)):
        links = iac.case(name, y, 200, rng)
        assert (len(links), (links.truths(y) != links.answers).sum()) == (200, wrong)


def test_with_all_pairs_answered_a_session_ends_at_the_classes(rng):
    """From a partition that lacks a class, which must come back as a new cluster."""
    pytest.importorskip("ortools")
    y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    X = rng.normal(size=(10, 2))
    session = bc.InteractiveSession(X, np.minimum(y, 1), y=y, random_state=0)
    row = iac.converse(session, y, 45)
    assert row["qualities"].split()[-1] == "1.0000"
    assert (row["violated"], row["unsolved"], row["gap"]) == (0, 0, 0.0)
    table = session.history
    for side in ("quality", "similarity"):
        area = np.trapezoid(table[side], table["answers"]) / 45
        assert row[f"{side}_ari"] == pytest.approx(area)


def test_the_naive_objective_moves_the_fewest_items_and_not_the_nearest():
    pytest.importorskip("ortools")
    X = np.array([0.0, 0.1, -0.1, 4.6, 4.7, 5.0, 5.1, 4.9, 30.0])[:, None]
    start = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    links = bc.PairwiseConstraints([(3, 8), (4, 8)], [True, True], len(X))
    about = {"partition": start, "constraints": [links]}
    naive = iac.Alternative(0.0, 1.0, method="naive").fit(X, **about)
    assert np.flatnonzero(naive.labels_ != start).tolist() == [8]
    weighed = bc.MinimalModification(0.0, 1.0).fit(X, **about)
    assert np.flatnonzero(weighed.labels_ != start).tolist() == [3, 4]


def test_answers_about_tree_cuts_bring_their_pixels_back():
    pytest.importorskip("ortools")
    cell = iac.Cell(0, "image", iac.ALONE, iac.IMAGE, "pairs", 30, 0)
    row = iac.run(cell)
    before, after = frame.numbers(row["qualities"])
    y, start = sources.load(iac.IMAGE).y, iac.start(iac.IMAGE, 0)
    cuts = np.bincount(start[y == y.max()])
    assert before == pytest.approx(cuts.max() / cuts.sum(), abs=1e-4)
    assert before < after <= before + 60 / (y == y.max()).sum() + 1e-4
    assert (row["violated"], row["gap"]) == (0, 0.0)


@pytest.mark.parametrize(
    ("part", "method", "kind"),
    [
        ("session", "iac-20-30", "random"),
        ("raw", "naive", "npu"),
        ("raw", "cop", "random"),
        ("raw", "pck", "npu"),
        ("session", "mpck", "random"),
        ("runtime", "iac-0-100", "implication"),
        ("soft", "iac-20-30", "wrong"),
        ("soft", "pck", "wrong"),
    ],
)
def test_cells_of_iac_are_scored(part, method, kind, blobs):
    pytest.importorskip("ortools")
    row = iac.run(iac.Cell(0, part, method, str(blobs), kind, 60 if part == "soft" else 15, 2))
    assert set(row) == set(iac.SCORES)
    assert row["unsolved"] == 0
    assert np.isnan(row["quality_ari"]) == (part == "runtime")
    if method == "iac-20-30":
        assert row["violated"] <= 3


def test_tables_of_iac_compare_settings_and_report_what_does_not_hold(blobs, scored, tmp_path):
    folder = blobs.parent
    for name in ("mk2.csv", "glass.csv", "letter.csv"):
        (folder / name).write_text("a,class\n1,0\n")
    more = {"numbers": (100, 1000), "query_strategies": ("npu", "random")}
    plan = iac.Plan.of(folders=(folder,), data=("iris", "wine"), methods=FOUR, trials=2, **more)

    def graded(cell):
        found = iac.METHODS[cell.method]
        bonus = 0.1 * (cell.kind == "npu")
        return 0.4 + found.alpha - found.beta / 10 + len(cell.data) / 100 + bonus

    scores = {**dict.fromkeys(iac.AREAS, graded), "gap": 0.0}
    scores["cpu_seconds"] = lambda cell: 2.0 + cell.trial
    curve = " ".join(["0.5"] * 11)
    scores["qualities"] = lambda cell: "0.5 0.75" if cell.part == "image" else curve
    cells = scored(frame.Experiment(iac), plan.cells(), **scores, similarities=curve)
    found = iac.comparisons(cells, plan).set_index(["score", "method", "other"])
    assert found.loc[("quality_ari", "iac-20-10", "iac-0-100"), "better"] > 0.9
    counts = iac.wins(found.reset_index())
    assert counts.loc[("iac-20-10", "quality_ari"), "likely"] == 3
    entries, text = lines_of(frame.Experiment(iac), cells, plan)
    mk2 = entries[(entries.part == "soft") & (entries.method == "iac-20-30")]
    row = mk2[(mk2.kind == "conflicts") & (mk2.score == "cpu_seconds")].squeeze()
    assert (row["mean"], row.trials, row.published) == (2.5, 2, 4.868)
    assert "| letter | pairs | 2.500 | 2.500 | 201 to 302 |" in text
    area = 0.4 + len(plan.found(["glass"])["glass"]) / 100
    assert f"| naive IAC | npu | {area:.3f} " in text.partition("Features as they are:")[2]
    assert "cuts 0.500 are in their cluster before and 0.750 after" in text
    assert "WRONG" not in text
    assert len(figures.save(iac.draw(cells, entries, plan), tmp_path / "drawn")) == 4
    begun = cells[cells.part == "soft"]
    drawn = iac.draw(begun, iac.tables(begun, plan), plan)
    assert [figure() for figure in drawn.values()] == [None, None]  # nothing of theirs is done yet
    cells.loc[cells.index[cells.part == "runtime"][0], "violated"] = 3
    assert "WRONG: 3 constraints that must hold" in lines_of(frame.Experiment(iac), cells, plan)[1]


@pytest.fixture
def small(monkeypatch):
    """Sixteen of iris, and a posterior of few draws."""
    data, some = bc.datasets.load("iris"), np.r_[:8, 50:58]
    monkeypatch.setattr(active, "load", lambda name: (data.X[some], data.y[some]))

    def few(target="vi"):
        short = bc.TVClust(num_chains=2, num_warmup=20)
        return PosteriorQueries(target=target, estimator=short, num_draws=20)

    monkeypatch.setattr(active, "posterior", few)
    active._beginning.cache_clear()


@pytest.mark.parametrize("method", active.METHODS)
def test_a_session_is_scored(small, method):
    row = active.run(active.Cell(3, method, "iris", 4, 0))
    assert set(row) == set(active.SCORES)
    curve = frame.numbers(row["curve"])
    assert (len(curve), len(frame.numbers(row["gains"]))) == (5, 4)
    assert row["area"] == pytest.approx(active.area(curve), abs=1e-4)


def test_differences_are_paired_by_expert_and_stops_counted_by_hand(tmp_path):
    settings = {"methods": ("posterior", "random"), "data": ("iris",), "questions": 2, "trials": 2}
    plan = active.Plan(**settings)
    rows = [
        ("random", 0, "0.4 0.4 0.4", "0 0"),
        ("random", 1, "0.7 0.7 0.7", "0 0"),
        ("posterior", 0, "0.4 0.6 0.8", "0.03 0.001"),  # area 0.6, 0.2 more
        ("posterior", 1, "0.7 0.7 0.9", "0.03 0.03"),  # 0.75, 0.05 more
    ]
    cells = pd.DataFrame(rows, columns=["method", "trial", "curve", "gains"])
    area = [active.area(frame.numbers(curve)) for curve in cells.curve]
    cells = cells.assign(data="iris", seed=0, questions=2, area=area, rand=area)
    entries, text = lines_of(frame.Experiment(active), cells, plan)
    more = entries[(entries.table == "difference") & (entries.data == "iris")].squeeze()
    assert (more["mean"], more.error) == pytest.approx((0.125, 0.075))
    stops = entries[(entries["at"] == 0.01) & (entries.patience == 0)].set_index("table")["mean"]
    assert stops.to_dict() == pytest.approx({"asked": 1.5, "f": 0.75, "to_come": 0.1})
    assert "| iris | 0.01 | 0 | 1.5 ± 0.5 | 0.750 ± 0.150 | 0.100 ± 0.100 |" in text
    assert "| iris | 0.125 ± 0.075 |" in text
    assert len(figures.save(active.draw(cells, entries, plan), tmp_path)) == 2
    low = np.array([[1, 0, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=bool)
    assert [active._stop(low, patience).tolist() for patience in (0, 1)] == [[0, 5, 0], [3, 5, 1]]
