"""Plans: which cells the paper's settings come to."""

from collections import Counter

import pytest

from experiments.reproduce.dcrc import METHODS, Plan
from experiments.reproduce.dcrc.methods import FIGURE_4, TABLE_V
from experiments.reproduce.dcrc.plans import FRACTIONS

ALONE = {"tables": (), "runtime": False, "trials": 1}


def test_figure_4_is_the_papers_grid():
    cells = Plan.of(figures=(4,), data=("balance", "iris"), **ALONE).cells()
    counts = Counter((cell.method, cell.data) for cell in cells)
    assert {method for method, _ in counts} == set(FIGURE_4)
    assert counts["dcrc", "iris"] == counts["itml", "balance"] == len(FRACTIONS) == 6
    assert counts["kmeans", "iris"] == 1
    assert [cell.number for cell in cells if (cell.method, cell.data) == ("dcrc", "iris")] == [
        8,
        15,
        22,
        30,
        38,
        45,
    ]
    assert {cell.answers for cell in cells} == {"right", "none"}


def test_figure_7_begins_without_answers():
    cells = Plan.of(figures=(7,), data=("iris",), **ALONE).cells()
    assert Counter(cell.method for cell in cells) == dict.fromkeys(
        ("dcrc-even", "dcrc-no-balance", "dcrc"), 7
    )
    assert Counter(cell.answers for cell in cells) == {"right": 18, "none": 3}


def test_table_v_asks_as_the_paper_does():
    cells = Plan.of(figures=(), tables=("iv", "v"), runtime=False, data=("iris",), trials=1).cells()
    asked = {(cell.method, cell.answers, cell.number) for cell in cells}
    assert len(asked) == len(cells) == 11 + 2 + 1
    assert asked >= {
        ("itml", "people-pairs", 150),
        ("itml", "people-pairs", 225),
        ("mmc", "people-pairs", 225),
    }
    assert asked >= {
        ("dcrc-none", "none", 0),
        ("kmeans", "none", 0),
        ("dcrc-confusion", "people", 900),
    }
    assert {method for method, _, _ in asked} == set(TABLE_V)


def test_parts_share_their_cells_and_trials_come_one_after_the_other():
    plan = Plan.of(figures=(4, 6), data=("iris",), tables=(), runtime=False, trials=3)
    cells = plan.cells()
    assert len(cells) == len(set(cells)) == 3 * (1 + 7 * 6 + 2 * 6)
    assert [cell.trial for cell in cells] == sorted(cell.trial for cell in cells)


def test_the_large_fit_is_of_the_papers_size():
    (cell,) = Plan.of(figures=(), tables=(), runtime=True, trials=1).cells()
    assert (cell.data, cell.number, cell.method) == ("birdsong", 1500, "dcrc")


def test_methods_given_are_those_of_both_parts():
    plan = Plan.of(
        figures=(4,),
        tables=("v",),
        runtime=False,
        data=("iris",),
        methods=("kmeans", "dcrc"),
        trials=1,
    )
    assert {(cell.method, cell.answers) for cell in plan.cells()} == {
        ("kmeans", "none"),
        ("dcrc", "right"),
    }


def test_quick_is_small_and_touches_every_part():
    cells = Plan.of(quick=True).cells()
    assert len(cells) < 50
    assert {cell.answers for cell in cells} == {
        "right",
        "none",
        "people",
        "people-pairs",
        "boundary",
    }
    assert Plan.of(quick=True, data=("iris",), trials=4).data_7 == ("iris",)


def test_every_method_says_what_it_hears():
    assert METHODS["itml"].about == "told k, hears pairs; slack of 0.1, 1, 10 by answers held out"
    assert METHODS["kmeans"].about == "told k, hears nothing"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"figures": (3,)}, r"^figures has 3: choose from 2, 4, 5, 6, 7\.$"),
        ({"tables": ("vi",)}, r"^tables has 'vi': choose from iv, v\.$"),
        ({"methods": ("x",)}, r"^methods has 'x': choose from kmeans, dcrc, "),
        (
            {"data": ("stonefly9",)},
            r"^data has 'stonefly9': choose from balance, .*, or a CSV file\.$",
        ),
        ({"data": ("there/is/none.csv",)}, r"^data has 'there/is/none\.csv': "),
        ({"fractions": (0.0,)}, r"^fractions "),
        ({"trials": 0}, r"^trials "),
    ],
)
def test_what_makes_no_sense_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Plan.of(**given)
