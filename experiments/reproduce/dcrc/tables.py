"""Means of cells, with the paper's numbers beside them where it prints any."""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.reproduce.cells import of_settings
from experiments.reproduce.dcrc import paper
from experiments.reproduce.dcrc.answers import NONE, PEOPLE, RIGHT
from experiments.reproduce.dcrc.plans import Plan
from experiments.reproduce.summaries import half_width

__all__ = ["confusions", "curve", "ranks", "tables"]

KEY = ["data", "answers", "fraction", "number", "method"]
MEANS = [
    "f",
    "rand",
    "nmi",
    "accuracy",
    "predicted_f",
    "predicted_accuracy",
    "clusters",
    "seconds",
    "cpu_seconds",
]


def tables(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Mean scores of every setting of a plan, as far as its cells are done.

    Parameters
    ----------
    frame : DataFrame
        Of cells: those of the plan's seed and trials.
    plan : Plan

    Returns
    -------
    DataFrame
        One row per data set, answers and method: means over draws; f_std, the standard deviation of
        F between draws; f_error, half the width of the 95% interval of the mean; trials; and
        paper_f and paper_std, of Table V (on other data).
    """
    groups = of_settings(frame, plan.cells()).groupby(KEY, sort=False)
    entries = groups[MEANS].mean().round(4)
    entries["f_std"] = groups.f.std().round(4)
    entries["trials"] = groups.f.size()
    entries["f_error"] = half_width(entries.f_std.to_numpy(), entries.trials.to_numpy()).round(4)
    entries = entries.reset_index()
    keys = list(zip(entries.method, entries.answers, entries.number, strict=True))
    shown = entries.data.isin(plan.data_v) & (entries.fraction == 0)
    for name, at in (("paper_f", 0), ("paper_std", 1)):
        theirs = [paper.TABLE_V[key][at] if key in paper.TABLE_V else np.nan for key in keys]
        entries[name] = np.where(shown, theirs, np.nan)
    return entries


def curve(
    entries: pd.DataFrame, data: str, method: str, fractions: tuple[float, ...]
) -> pd.DataFrame:
    """The entries of a method by number of right answers.

    Parameters
    ----------
    entries : DataFrame
        From `tables`.
    data, method : str
    fractions : tuple of float
        0 is without answers.

    Returns
    -------
    DataFrame
        A row for each fraction that is done; for a method that hears nothing the same row at each.
    """
    mine = entries[(entries.data == data) & (entries.method == method)]
    done = mine[(mine.answers == RIGHT) & mine.fraction.isin(fractions)]
    without = mine[mine.answers == NONE]
    if len(without) and not len(done):
        return pd.concat([without.assign(fraction=fraction) for fraction in fractions])
    return pd.concat([without, done]) if 0.0 in fractions else done


def ranks(entries: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Figure 4 as a table.

    Parameters
    ----------
    entries : DataFrame
        From `tables`.
    plan : Plan

    Returns
    -------
    DataFrame
        Mean F by data set and fraction (rows) and method (columns), NaN where nothing is done.
    """
    columns = {
        (name, method): curve(entries, name, method, plan.fractions).set_index("fraction").f
        for name in plan.data
        for method in plan.methods_4
    }
    index = pd.MultiIndex.from_product([plan.data, plan.fractions], names=["data", "fraction"])
    rows = [
        [columns[name, method].get(fraction, np.nan) for method in plan.methods_4]
        for name, fraction in index
    ]
    return pd.DataFrame(rows, index=index, columns=list(plan.methods_4))


def confusions(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Table IV learned back: how far the confusion matrices that DCRC learned are from the paper's.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    plan : Plan

    Returns
    -------
    DataFrame
        By data set and number of answers: largest error of an entry, the mean over draws of it;
        `learned`, the mean matrix, (3, 3); trials.
    """
    truth = paper.rates(paper.TABLE_IV)
    mine = frame[
        (frame.method == "dcrc-confusion")
        & (frame.answers == PEOPLE)
        & frame.data.isin(plan.data_v)
    ]
    rows = []
    for (name, number), cells in mine[mine.number.isin(plan.asked)].groupby(["data", "number"]):
        learned = np.array(
            [np.array(text.split(), dtype=np.float64).reshape(3, 3) for text in cells.confusion]
        )
        error = float(np.abs(learned - truth).max(axis=(1, 2)).mean())
        rows.append(
            {
                "data": name,
                "number": number,
                "error": error,
                "learned": learned.mean(axis=0),
                "trials": len(cells),
            }
        )
    return pd.DataFrame(rows, columns=["data", "number", "error", "learned", "trials"])
