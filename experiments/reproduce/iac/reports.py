"""The tables in words and Markdown, with the slides' numbers beside ours, and which of their sentences hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from bayesclust.plots._style import counted
from experiments.reproduce.iac import paper
from experiments.reproduce.iac.answers import CASES
from experiments.reproduce.iac.methods import DEFAULT, METHODS, SOFT
from experiments.reproduce.iac.plans import TALKED_ABOUT, TIMED, Plan
from experiments.reproduce.iac.sessions import AREAS
from experiments.reproduce.iac.tables import comparisons, curves, means, wins
from experiments.reproduce.sources import title
from experiments.reproduce.summaries import in_markdown, span

__all__ = ["CASE_TITLES", "claims", "report", "verdicts"]

HEAD = """# IAC's figures and tables, measured

Means over draws of start and answers: seed {seed}, {trials}; where fewer are done it says so. Columns are standardised,
pixels left as they are; the start is k-means, told the number of classes. Labels simulate answers and score. Times are
those of processors, which a busy machine does not change; published ones are of another machine.
"""
CASE_TITLES = {
    "conflicts": "one answer in 20 given twice, once each way; 95% to be satisfied",
    "wrong": "one answer in 20 wrong; 95% to be satisfied",
    "relaxed": "all answers right; 94% to be satisfied",
}
SCORE_TITLES = {score: f"{score[:-4]} {score[-3:].upper()}" for score in AREAS}


def report(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> str:
    """Set what is done in Markdown.

    Parameters
    ----------
    frame : DataFrame
        Of cells: those of the plan's seed and trials.
    entries : DataFrame
        From `experiments.reproduce.iac.tables.tables`.
    plan : Plan

    Returns
    -------
    str
    """
    parts = [HEAD.format(seed=plan.seed, trials=counted(plan.trials, "draw"))]
    if absent := plan.absent():
        parts += [
            f"Left out, since no installed package ships them and no folder that was named has them: {', '.join(absent)}.",
            "",
        ]
    if entries.empty:
        return "\n".join([*parts, "No cell is done yet.\n"])
    if plan.parameters:
        parts += [
            "## Anchors (alpha) and super-instances (beta)\n",
            *_parameters(frame, entries, plan),
            "",
        ]
    if plan.runtime:
        parts += [
            "## Figure 6: processor seconds by number and kind of constraints\n",
            *_runtime(entries, plan),
            "",
        ]
    if plan.soft:
        parts += ["## Table 2: soft constraints on mk2\n", *_soft(entries), ""]
    if plan.loop:
        parts += [
            "## Figure 7: rounds of select and modify on glass\n",
            *_loop(frame, entries, plan),
            "",
        ]
    return "\n".join(parts)


def _f(value: float, digits: int = 3) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def _parameters(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    tables = {score: means(frame, plan, score) for score in AREAS}
    table = tables["quality_ari"]
    if table.empty:
        yield "No data set has all settings done yet."
        return
    asked, sets = counted(plan.answers, "answer"), counted(len(table), "data set")
    yield f"Areas under the budget curve of {asked} about random pairs in ten rounds; means over {sets}:\n"
    rows = [
        [METHODS[name].title, *(_f(tables[score][name].mean()) for score in AREAS)]
        for name in table.columns
    ]
    yield from in_markdown(["(alpha, beta) in %", *SCORE_TITLES.values()], rows)
    compared = comparisons(frame, plan)
    if len(compared):
        yield "\nHow many others each beats (at probability .95), by the Bayesian signed-rank test, and as published:\n"
        counts = wins(compared)
        rows = [
            [METHODS[name].title, *(_won(counts, name, score) for score in AREAS)]
            for name in table.columns
        ]
        yield from in_markdown(["(alpha, beta) in %", *SCORE_TITLES.values()], rows)
    yield "\nQuality (ARI) by data set:\n"
    named = [[title(str(place)), *map(_f, values)] for place, values in table.iterrows()]
    yield from in_markdown(
        ["", *(METHODS[name].title.removeprefix("IAC ") for name in table.columns)], named
    )
    yield f"\n{_open(entries, 'session')}"
    said = list(claims(tables["quality_ari"], tables["similarity_ari"]))
    if said:
        yield from ("", *(f"- {line}" for line in said))


def _won(counts: pd.DataFrame, method: str, score: str) -> str:
    likely, sure = (int(counts[column][method, score]) for column in ("likely", "sure"))
    theirs = "{} ({})".format(*paper.WINS[method][score])
    return f"{likely} ({sure}) / {theirs}"


def claims(quality: pd.DataFrame, similarity: pd.DataFrame) -> Iterator[str]:
    """What the slides' table says of alpha and beta, as far as it is borne out by means over data sets.

    Parameters
    ----------
    quality, similarity : DataFrame
        Areas, data sets as rows and settings as columns.

    Yields
    ------
    str
    """
    ours = pd.DataFrame({"quality": quality.mean(), "similarity": similarity.mean()})
    ours["alpha"], ours["beta"] = (
        [getattr(METHODS[name], part) for name in ours.index] for part in ("alpha", "beta")
    )
    for side, edge, words in (
        ("quality", ours.beta.min(), "quality is best with the fewest super-instances"),
        ("similarity", ours.beta.max(), "similarity is best with the most"),
    ):
        best = ours.sort_values(side).groupby("alpha").beta.last()
        if ours.beta.nunique() > 1:
            yield f"{words}: for {int((best == edge).sum())} of {counted(len(best), 'value')} of alpha"
    by_alpha = ours.groupby("alpha").quality.mean()
    if len(by_alpha) > 1:
        holds = "holds" if by_alpha.iloc[0] < by_alpha.iloc[1:].min() else "does not hold"
        shown = ", ".join(
            f"{value:.3f} at {100 * float(str(alpha)):g}%" for alpha, value in by_alpha.items()
        )
        yield f"more anchors give better quality than the fewest: {holds}, {shown}, mean over beta"


def _runtime(entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    mine = entries[(entries.part == "runtime") & (entries.score == "cpu_seconds")]
    if mine.empty:
        yield "No cell is done yet."
        return
    rows = []
    for name, place in plan.found(TIMED).items():
        for kind in plan.kinds:
            one = mine[(mine.data == place) & (mine.kind == kind)].set_index("number")
            if len(one):
                seconds = [_f(float(one["mean"].get(number, np.nan))) for number in plan.numbers]
                theirs = paper.SECONDS.get((name, kind))
                rows.append(
                    [
                        title(place),
                        kind,
                        *seconds,
                        "" if theirs is None else "{:g} to {:g}".format(*theirs),
                    ]
                )
    yield from in_markdown(["", "constraints", *map(str, plan.numbers), "published, 1000"], rows)
    draws = span(mine.trials, "draw")
    yield f"\nOne anchor a cluster, every item by itself; one thread; mean of {draws}. {_open(entries, 'runtime')}"


def _open(entries: pd.DataFrame, part: str) -> str:
    """Say how many optima are proven, and whether constraints that had to hold do."""
    mine = entries[entries.part == part]
    total = (mine["mean"] * mine.trials).groupby(mine.score).sum()
    unproven = int(((mine.score == "gap") & (mine["mean"] > 0)).sum())
    words = []
    if part != "soft" and total["given_up"] > 0:
        words.append(f"WRONG: {total['given_up']:.0f} constraints that must hold do not.")
    if total["unsolved"] > 0:
        words.append(f"{total['unsolved']:.0f} times nothing was found in time.")
    words.append(
        f"In {counted(unproven, 'setting')} an optimum is not proven."
        if unproven
        else "Every optimum is proven."
    )
    return " ".join(words)


def _soft(entries: pd.DataFrame) -> Iterator[str]:
    mine = entries[entries.part == "soft"]
    if mine.empty:
        yield "No cell is done yet."
        return
    keys = ("quality_ari", "similarity_ari", "given_up", "cpu_seconds")
    heads = (
        "quality (ARI to the classes)",
        "similarity (ARI to k-means)",
        "answers not satisfied",
        "processor seconds",
    )
    for case in CASES:
        rows = []
        for method in SOFT:
            block = mine[(mine.method == method) & (mine.kind == case)].set_index("score")
            if len(block):
                rows.append(
                    [
                        METHODS[method].title,
                        *(_beside(block, key, 1 if key == "given_up" else 3) for key in keys),
                    ]
                )
        if rows:
            yield f"{CASE_TITLES[case].capitalize()}:\n"
            yield from in_markdown(["", *heads], rows)
            yield ""
    yield (
        f"{counted(int(mine.number.iloc[0]), 'answer')}, {span(mine.trials, 'draw')}; published in parentheses. The slides "
        f"do not tell how their conflicts came about. {_open(entries, 'soft')}"
    )


def _beside(block: pd.DataFrame, score: str, digits: int) -> str:
    if score not in block.index:
        return ""
    mean, error, theirs = (float(block[column][score]) for column in ("mean", "error", "published"))
    ours = _f(mean, digits) + ("" if np.isnan(error) else f" ± {error:.{digits}f}")
    return ours if np.isnan(theirs) else f"{ours} ({theirs:g})"


def _loop(frame: pd.DataFrame, entries: pd.DataFrame, plan: Plan) -> Iterator[str]:
    table = curves(frame, plan)
    if table.empty:
        yield "No cell is done yet."
        return
    for side, name in (
        ("qualities", "Quality"),
        ("similarities", "Similarity to the partition before"),
    ):
        yield f"{name} (ARI) after each round:\n"
        shown = (
            table[table.side == side]
            .pivot(index="chooser", columns="round", values="mean")
            .reindex(list(plan.choosers))
        )
        rows = [[str(chooser), *map(_f, values)] for chooser, values in shown.dropna().iterrows()]
        yield from in_markdown(["chooser", *map(str, shown.columns)], rows)
        yield ""
    mine = entries[
        (entries.part == "session") & entries.data.isin(plan.found([TALKED_ABOUT]).values())
    ]
    yield "Areas under these curves; processor seconds of a modification, and to choose the questions of a round:\n"
    rows = []
    for chooser in plan.choosers:
        block = mine[(mine.kind == chooser) & (mine.method == DEFAULT)].set_index("score")
        keys = ("quality_ari", "similarity_ari", "cpu_seconds", "choosing")
        rows.append([chooser, *(_beside(block, key, 3) for key in keys)])
    yield from in_markdown(["chooser", "quality", "similarity", "to modify", "to choose"], rows)
    yield f"\n{counted(plan.answers, 'answer')} in ten rounds, mean of {counted(int(table.trials.max()), 'draw')}."
    said = list(verdicts(mine[mine.method == DEFAULT].rename(columns={"kind": "chooser"})))
    if said:
        yield from ("", *(f"- {line}" for line in said))


def verdicts(entries: pd.DataFrame) -> Iterator[str]:
    """Say whether selecting by NPU gives better partitions, and more similar ones, than random questions do.

    Parameters
    ----------
    entries : DataFrame
        Of areas, with columns chooser, score and mean.

    Yields
    ------
    str

    Examples
    --------
    >>> rows = [("npu", "quality_ari", 0.3), ("random", "quality_ari", 0.2)]
    >>> list(verdicts(pd.DataFrame(rows, columns=["chooser", "score", "mean"])))
    ['the quality is higher with NPU: holds, 0.300 against 0.200']
    """
    areas = entries.pivot(index="score", columns="chooser", values="mean")
    for side in ("quality", "similarity"):
        if f"{side}_ari" in areas.index and {"npu", "random"} <= set(areas.columns):
            npu, random = (float(areas[name][f"{side}_ari"]) for name in ("npu", "random"))
            holds = "holds" if npu > random else "does not hold"
            yield f"the {side} is higher with NPU: {holds}, {npu:.3f} against {random:.3f}"
