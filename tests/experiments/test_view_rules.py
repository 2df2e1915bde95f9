"""The comparison of rules by which a view is chosen."""

import numpy as np
import pandas as pd
import pytest

from bayesclust.estimators._views import MIXTURE, SINGLE
from bayesclust.experiments import view_rules


@pytest.mark.parametrize("kind", view_rules.KINDS)
def test_cases(kind):
    X, y = view_rules.case(kind, 1)
    again, _ = view_rules.case(kind, 1)
    assert len(X) == len(y) == view_rules.ITEMS
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    np.testing.assert_array_equal(X, again)
    assert 2 <= len(np.unique(y)) <= 6


def tried(behind, f, seed=0):
    setting = {"kind": "moons", "seed": seed, "fraction": 0.01, "accuracy": 1.0, "error": 0.1}
    return pd.DataFrame({"view": [SINGLE, MIXTURE], "power": 1.0, "behind": behind, "f": f}).assign(
        **setting
    )


def test_rules_take_the_first_view_that_is_near_enough():
    means = view_rules.table(
        pd.concat([tried([0.07, 0.0], [0.2, 0.8]), tried([0.0, 0.3], [0.4, 0.6], seed=1)])
    ).loc["mean"]
    chosen = {"best": 0.6, "half an error": 0.6, "one error": 0.3, "two errors": 0.3}
    single = {"always single, 1": 0.3, "always mixture, 1": 0.7, "told the classes": 0.7}
    assert means.to_dict() == pytest.approx(chosen | single)


def test_runs_are_kept_and_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(view_rules, "POWERS", (1.0,))
    monkeypatch.setattr(view_rules, "FRACTIONS", (0.03,))
    monkeypatch.setattr(view_rules, "ACCURACIES", (1.0,))
    arguments = ["--seeds", "0", "--kinds", "moons", "--output", str(tmp_path / "runs.csv")]
    view_rules.main(arguments)
    shown = capsys.readouterr().out
    assert "one error" in shown
    monkeypatch.setattr(view_rules, "run", None)
    view_rules.main(arguments)
    assert capsys.readouterr().out == shown
