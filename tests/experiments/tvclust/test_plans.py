"""Plans: which cells the paper's settings come to."""

from collections import Counter

import pytest

from experiments.reproduce import sources
from experiments.reproduce.tvclust import Plan
from experiments.reproduce.tvclust.methods import COUNT_METHODS, METHODS


def test_the_grid_is_the_papers():
    cells = Plan(methods=("rdp-means",), tables=(1,), figures=()).cells()
    assert len(cells) == len(set(cells)) == 2 * 6 * 12 * 5
    assert Counter(cell.data for cell in cells) == dict.fromkeys(
        (*sources.UCI, sources.WITH_ID), 120
    )
    assert {(cell.fraction, cell.accuracy) for cell in cells} == {
        (r, p) for r in (0.01, 0.03, 0.05) for p in (1, 0.95, 0.9, 0.8)
    }
    assert Plan(methods=("rdp-means",), tables=(1, 2, 3), figures=()).cells() == cells


def test_deviations_keep_at_least_the_clusters_that_a_method_needs():
    cells = Plan(
        methods=("kmeans", "lcvqe", "rdp-means"), tables=(), figures=(3,), trials=1
    ).cells()

    def told(method, data):
        return sorted(
            sources.classes(data) - cell.deviation
            for cell in cells
            if (cell.method, cell.data) == (method, data)
        )

    assert told("kmeans", "iris") == [1, 2, 3, 4, 5, 6]
    assert told("lcvqe", "iris") == [2, 3, 4, 5, 6]
    assert told("lcvqe", "ecoli") == [5, 6, 7, 8, 9, 10, 11]
    assert told("rdp-means", "iris") == [3]
    assert {cell.data for cell in cells} == set(sources.UCI)
    assert {
        (cell.sampling, cell.fraction, cell.accuracy) for cell in cells if cell.method == "lcvqe"
    } == {("ordered", 0.03, 1.0)}


def test_shared_cells_are_run_once():
    alone = Plan(methods=("rdp-means-k",), tables=(1,), figures=(), trials=1).cells()
    both = Plan(methods=("rdp-means-k",), tables=(1,), figures=(3,), trials=1).cells()
    # per set six other deviations, less those that leave no cluster
    assert len(both) == len(alone) + 5 * 6 - 3


def test_the_rest():
    cells = Plan(methods=("kmeans",), tables=(4,), figures=(2, 4), trials=2).cells()
    assert {cell.data for cell in cells} == {*sources.SHAPES, *sources.COUNTS}
    assert {cell.method for cell in cells} == {"kmeans", *COUNT_METHODS}
    rates = {cell.fraction for cell in cells if cell.method == "rdp-means-multinomial"}
    assert rates == set(Plan().rates)
    assert {cell.fraction for cell in cells if cell.method == "rdp-means-gaussian"} == {0.01}


def test_quick_leaves_out_what_is_slow_unless_asked_for():
    assert not any(METHODS[name].slow for name in Plan.of(quick=True).methods)
    plan = Plan.of(quick=True, methods=("collapsed",), trials=4)
    assert (plan.methods, plan.trials, plan.fractions) == (("collapsed",), 4, (0.03,))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"methods": ("x",)}, r"^methods has 'x': choose from kmeans, "),
        ({"shapes": ("ring",)}, r"^shapes has 'ring': choose from moons, "),
        ({"accuracies": (1.5,)}, r"^accuracies "),
        ({"trials": 0}, r"^trials "),
    ],
)
def test_what_makes_no_sense_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Plan.of(**given)
