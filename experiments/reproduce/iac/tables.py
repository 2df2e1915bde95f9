"""Means of cells, and settings compared over data sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from experiments.reproduce.cells import numbers, of_settings
from experiments.reproduce.iac.methods import DEFAULT
from experiments.reproduce.iac.plans import PARAMETERS, TALKED_ABOUT, Plan
from experiments.reproduce.iac.sessions import AREAS
from experiments.reproduce.summaries import half_width

import bayesclust as bc
from experiments.reproduce.iac import paper

__all__ = ["SURE", "comparisons", "curves", "means", "tables", "wins"]

KEY = ["part", "data", "method", "kind", "number"]
SCORES = (*AREAS, "given_up", "unsolved", "gap", "seconds", "cpu_seconds", "choosing")
SURE = 0.95
"""Probability from which one setting is clearly better than another."""


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
        One row per part, data set, method, kind, number and score: mean over trials; error, half
        the width of the 95% interval of the mean; trials; and published, of the slides' Table 2.
    """
    long = (
        of_settings(frame, plan.cells())
        .melt(KEY, SCORES, var_name="score", value_name="value")
        .dropna()
    )
    grouped = long.groupby([*KEY, "score"], sort=False).value
    entries = pd.DataFrame({"mean": grouped.mean(), "trials": grouped.size()})
    trials = np.asarray(entries.trials, dtype=np.float64)
    entries["error"] = half_width(np.asarray(grouped.std(), dtype=np.float64), trials)
    entries = entries.reset_index()
    keys = zip(entries.part, entries.method, entries.kind, entries.score, strict=True)
    entries["published"] = [
        paper.TABLE_2.get((method, kind), {}).get(score.removeprefix("cpu_"), np.nan)
        if part == "soft"
        else np.nan
        for part, method, kind, score in keys
    ]
    return entries


def means(frame: pd.DataFrame, plan: Plan, score: str) -> pd.DataFrame:
    """Scores by data set and setting of alpha and beta, means over the trials that every setting has.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    plan : Plan
    score : str
        A name in `experiments.reproduce.iac.sessions.AREAS`.

    Returns
    -------
    DataFrame
        Data sets as rows, settings as columns.
    """
    places = list(plan.found(plan.data).values())
    mine = frame[
        (frame.part == "session") & (frame.kind == PARAMETERS) & (frame.number == plan.answers)
    ]
    table = mine[mine.data.isin(places)].pivot_table(
        index=["data", "trial"], columns="method", values=score
    )
    table = table.reindex(columns=list(plan.methods)).dropna()
    return table.groupby(level="data").mean().reindex(places).dropna()


def comparisons(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Every two settings compared over the data sets, by the Bayesian signed-rank test.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    plan : Plan

    Returns
    -------
    DataFrame
        One row per score and ordered pair of settings: score, method, other, and the probabilities
        worse, equivalent and better, of the method.
    """
    rows = []
    for score in AREAS:
        table = means(frame, plan, score)
        for one, other in combinations(table.columns if len(table) else (), 2):
            found = bc.comparison.bayesian_signed_rank(table[one] - table[other], seed=plan.seed)
            rows += [(score, one, other, *found), (score, other, one, *reversed(found))]
    return pd.DataFrame(rows, columns=["score", "method", "other", "worse", "equivalent", "better"])


def wins(compared: pd.DataFrame) -> pd.DataFrame:
    """How many of the others each setting beats.

    Parameters
    ----------
    compared : DataFrame
        From `comparisons`.

    Returns
    -------
    DataFrame
        By method and score: likely, with a probability above one half, and sure, with at least
        `SURE`.

    Examples
    --------
    >>> rows = [("f", "a", "b", 0.1, 0.2, 0.7), ("f", "b", "a", 0.7, 0.2, 0.1)]
    >>> wins(pd.DataFrame(rows, columns=["score", "method", "other", "worse", "equivalent", "better"]))
                  likely  sure
    method score
    a      f           1     0
    b      f           0     0
    """
    better = compared.set_index(["method", "score"]).better
    counts = (
        pd.DataFrame({"likely": better > 0.5, "sure": better >= SURE})
        .groupby(level=[0, 1], sort=False)
        .sum()
    )
    return counts.astype(int)


def curves(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """ARI round by round of the sessions that differ in who chooses.

    Parameters
    ----------
    frame : DataFrame
        Of cells.
    plan : Plan

    Returns
    -------
    DataFrame
        By chooser, round (0 is the start) and side ("qualities" or "similarities"): mean, error
        (half the width of the 95% interval) and trials.
    """
    rows = []
    mine = frame[
        (frame.part == "session") & (frame.method == DEFAULT) & (frame.number == plan.answers)
    ]
    mine = mine[mine.data.isin(plan.found([TALKED_ABOUT]).values())]
    for chooser in plan.choosers:
        for side in ("qualities", "similarities"):
            texts = mine.loc[mine.kind == chooser, side]
            if len(texts):
                values = np.stack([numbers(text) for text in texts])
                spread = (
                    values.std(axis=0, ddof=1)
                    if len(values) > 1
                    else np.full(values.shape[1], np.nan)
                )
                error = half_width(spread, np.full(values.shape[1], len(values)))
                steps = zip(values.mean(axis=0), error, strict=True)
                rows += [
                    (chooser, at, side, mean, width, len(values))
                    for at, (mean, width) in enumerate(steps)
                ]
    return pd.DataFrame(rows, columns=["chooser", "round", "side", "mean", "error", "trials"])
