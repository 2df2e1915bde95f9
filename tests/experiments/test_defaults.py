"""Tests of the study of defaults: its answers, what posteriors say of themselves, its tables."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from experiments import defaults, figures, frame, sources


def asked(method="rdp-means", sampling="share", amount=0.03, accuracy=0.9, trial=0):
    return defaults.Cell(0, method, "iris", sampling, amount, accuracy, trial)


def test_answers_are_those_of_the_setting():
    y = sources.load("iris").y
    links = defaults.answers(asked(), y)
    assert len(links) == round(0.03 * 150 * 149 / 2)
    assert (defaults.answers(asked("dcrc"), y).items == links.items).all()
    assert (defaults.answers(asked(trial=1), y).items != links.items).any()
    assert len(defaults.answers(asked(sampling="per item", amount=2.0), y)) == 300


def test_noise_and_credibility_are_compared_with_the_truth():
    data = sources.load("iris")
    links = defaults.answers(asked(), data.y)
    few = {"num_chains": 2, "num_warmup": 40, "num_samples": 40, "random_state": 0}
    est = bc.TVClust(progress=False, **few)
    est.fit(sources.standardized(data.X), constraints=links)
    row = defaults.noise(est, links, data.y)
    draws = est.posterior_["posterior"]
    right, together = ~np.asarray(links.flipped), links.truths(data.y) == 1
    assert row["p_true"] == pytest.approx(right[together].mean())
    assert row["p_mean"] == pytest.approx(float(draws["p"].mean()))
    assert row["p_high"] == pytest.approx(float(draws["p"].quantile(0.95)))
    credibility = bc.constraint_credibility(est)["credibility"].to_numpy()
    above = credibility[right][:, None] - credibility[~right]
    assert row["area"] == pytest.approx(((above > 0) + 0.5 * (above == 0)).mean())
    counts, rights = frame.numbers(row["answers"]), frame.numbers(row["right"])
    assert counts[0] == (credibility < 0.05).sum()
    assert rights[0] == right[credibility < 0.05].sum()
    assert counts.sum() == len(links)
    assert rights.sum() == right.sum()
    assert (row["model"], row["power"]) == (est.cluster_model_, est.power_)
    assert row["content"] == ("yes" if bc.diagnose(est).ok else "no")
    assert 0 < row["f_expected"] <= 1
    assert np.isnan(defaults.run(asked())["p_mean"])


def cells_of(rows):
    """Cells with a method, a set, a draw of answers and F, and what a content posterior says."""
    frame_of = pd.DataFrame(rows, columns=["method", "data", "trial", "f"])
    said = {"p_low": 0.8, "p_true": 0.9, "p_high": 1.0, "q_low": 0.8, "q_true": 0.7, "q_high": 1.0}
    said |= {
        "k_low": 3.0,
        "k_high": 4.0,
        "area": 0.9,
        "f_expected": 0.9,
        "classes": 3,
        "content": "yes",
    }
    counts = {"answers": frame.words([10, *[0] * 17, 0, 30], 0), "right": "1 " + "0 " * 18 + "29"}
    setting = {"sampling": "share", "amount": 0.03, "accuracy": 0.9}
    return frame_of.assign(**said, **counts, **setting)


def test_others_are_chosen_on_the_first_draws_and_compared_on_the_rest():
    rows = []
    for name, told in (("iris", 0.9), ("wine", 0.7)):
        for trial in range(5):
            later = trial >= 2
            rows += [("default", name, trial, 0.8), ("dcrc", name, trial, told)]
            rows += [("kmeans", name, trial, 1.0 if later else 0.1)]
            rows += [("mixture", name, trial, 0.76 if later else 0.95)]
    found = defaults.standing(cells_of(rows))
    assert found.attrs["told"] == "dcrc"
    assert found.told.tolist() == pytest.approx([-0.1, 0.1])
    assert found.best.tolist() == pytest.approx([0.04, 0.04])
    assert not len(defaults.standing(cells_of(rows[:8])))


def test_what_posteriors_say_of_themselves_is_counted():
    cells = cells_of([("default", "iris", 0, 0.9), ("default", "wine", 0, 0.7)])
    cells.loc[1, "k_low"] = 4.0
    found = defaults.honesty(cells)
    assert (found["p in"], found["q in"], found["K in"]) == (1.0, 0.0, 0.5)
    assert found["right below .05"] == pytest.approx(0.1)
    assert found["calibration"] == pytest.approx(max(0.1 - 0.05, 29 / 30 - 0.95))
    assert found["F as expected"] == 0.5
    assert found["overstated F noticed"] == 0.0


def test_tables_hold_methods_with_and_without_answers(tmp_path, scored):
    plan = defaults.Plan.of(data=("iris",), methods=("kmeans", "rdp-means"), trials=2)
    assert len(plan.cells()) == 2 * (1 + 4)
    cells = scored(frame.Experiment(defaults), plan.cells())
    entries = defaults.tables(cells, plan)
    mean = cells[cells.method == "kmeans"].f.mean()
    assert entries[entries.method == "kmeans"].f.tolist() == pytest.approx([mean] * 4)
    assert f"| k-means | {mean:.3f} |" in "\n".join(defaults.report(cells, entries, plan))
    assert len(figures.save(defaults.draw(cells, entries, plan), tmp_path)) == 2


def test_large_sets_are_a_fixed_draw():
    some = sources.load_at_most("digits", 100)
    assert len(some.y) == 100
    assert len(sources.load_at_most("iris", 200).y) == 150
    assert np.array_equal(some.X, sources.load_at_most.__wrapped__("digits", 100).X)
