"""Rounds of select and modify, and areas under their curves."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray

__all__ = ["AREAS", "MEASURES", "ROUNDS", "converse", "scores", "single"]

ROUNDS = 10
MEASURES = ("ari", "ami", "fmi")
AREAS = tuple(f"{side}_{measure}" for side in ("quality", "similarity") for measure in MEASURES)


def _measures() -> dict[str, Callable[[IntArray, IntArray], float]]:
    from sklearn.metrics import adjusted_mutual_info_score, fowlkes_mallows_score

    scored = (bc.metrics.adjusted_rand, adjusted_mutual_info_score, fowlkes_mallows_score)
    return dict(zip(MEASURES, scored, strict=True))


def converse(session: bc.InteractiveSession, y: IntArray, number: int) -> dict[str, Any]:
    """Ten rounds, each of questions answered by the classes, one after the other, and one modification.

    All answers so far are heeded in each. Clusters that lost their items are allowed to come back
    as new ones, so that there is always a partition in as many clusters as classes.

    Parameters
    ----------
    session : InteractiveSession
        At its start.
    y : (n,) array of int
        Classes.
    number : int
        Answers in all.

    Returns
    -------
    dict
        Areas under the budget curves, ARI after each round, what was left unsolved and the seconds.
    """
    partitions, heard = [session.labels], [0]
    gap, unsolved, choosing, wall, cpu = 0.0, 0, 0.0, 0.0, 0.0
    for until in np.linspace(0, number, ROUNDS + 1).astype(int)[1:].tolist():
        busy = time.process_time()
        while session.n_answers < until and (asked := session.ask()):
            i, j = asked[0].items
            session.answer(asked[0], "same" if y[i] == y[j] else "different")
        choosing += time.process_time() - busy
        gone = int(y.max()) + 1 - len(np.unique(session.labels))
        session.modification.set_params(new_clusters=max(gone, 0))
        before, busy = time.perf_counter(), time.process_time()
        try:
            found = session.modify()
            gap = max(gap, found.gap_ / found.objective_ if found.gap_ > 0 else 0.0)
        except TimeoutError:
            unsolved += 1
        wall += time.perf_counter() - before
        cpu += time.process_time() - busy
        partitions.append(session.labels)
        heard.append(session.n_answers)
    areas, qualities, similarities = scores(partitions, heard, y)
    views = [view for view in session.constraints if isinstance(view, bc.PairwiseConstraints)]
    return {
        **areas,
        "given_up": sum(int((view.truths(session.labels) != view.answers).sum()) for view in views),
        "unsolved": unsolved,
        "gap": gap,
        "seconds": wall / ROUNDS,
        "cpu_seconds": cpu / ROUNDS,
        "choosing": choosing / ROUNDS,
        "qualities": _text(qualities),
        "similarities": _text(similarities),
    }


def _text(values: FloatArray) -> str:
    return " ".join(f"{value:.4f}" for value in values)


def scores(
    partitions: Sequence[IntArray], heard: Sequence[int], y: IntArray
) -> tuple[dict[str, float], FloatArray, FloatArray]:
    """Areas under the budget curves of quality and similarity: means over the answers, linear between rounds.

    Parameters
    ----------
    partitions : sequence of (n,) arrays of int
        The start, and what came of each round.
    heard : sequence of int
        Answers heeded in each.
    y : (n,) array of int
        Classes.

    Returns
    -------
    areas : dict
        By side and measure.
    qualities, similarities : (rounds + 1,) array
        ARI to the classes, and to the partition before, which of the start is 1.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1])
    >>> areas, qualities, similarities = scores([np.array([0, 1, 1, 1]), y], [0, 10], y)
    >>> qualities, similarities, round(areas["similarity_ari"], 2)
    (array([0., 1.]), array([1., 0.]), 0.5)
    """
    areas: dict[str, float] = {}
    curves: dict[str, FloatArray] = {}
    for name, measure in _measures().items():
        curves[f"quality_{name}"] = np.array([measure(labels, y) for labels in partitions])
        steps = [measure(now, before) for before, now in pairwise(partitions)]
        curves[f"similarity_{name}"] = np.array([1.0, *steps])
    for name in AREAS:
        areas[name] = (
            float(np.trapezoid(curves[name], heard) / heard[-1])
            if heard[-1]
            else float(curves[name][-1])
        )
    return areas, curves["quality_ari"], curves["similarity_ari"]


def single(labels: IntArray, y: IntArray, before: IntArray) -> dict[str, float]:
    """Scores of one partition.

    Parameters
    ----------
    labels, y, before : (n,) array of int
        The partition, the classes, and the partition to which it should be similar.

    Returns
    -------
    dict
        By side and measure.
    """
    others = {"quality": y, "similarity": before}
    return {
        f"{side}_{name}": float(f(labels, other))
        for side, other in others.items()
        for name, f in _measures().items()
    }
