"""How much answers weigh against data: the growth of xi, ended where answers held out are predicted best."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from bayesclust.constraints.base import Constraints
from bayesclust.families import Divergence
from bayesclust.inference.limits.answers import pose, times
from bayesclust.inference.limits.rdp_means import Problem, Schedule, spread, start_at
from bayesclust.inference.limits.search import PLAIN, Steps
from bayesclust.typing import BoolArray, FloatArray

# fewer answers than this say too little about the others
FEWEST_ANSWERS = 10
FOLDS = 5
# parts are held out until this many answers have been predicted
ENOUGH_PREDICTED = 1000
# above this many mean divergences links decide nearly alone
LARGEST_SHARE = 64.0


def first_xi(problem: Problem, share: float = 1e-3) -> float:
    """Return a small confidence, as a share of the mean divergence of items from their overall mean."""
    mean = float(spread(problem).mean())
    return share * mean if mean > 0 else share


def held_out_log_prob(
    constraints: Sequence[Constraints],
    problem: Problem,
    xis: FloatArray,
    rng: np.random.Generator,
    steps: Steps = PLAIN,
) -> FloatArray:
    """Return how well answers are predicted by partitions that were found without them.

    Answers fall at random in five parts. Parts are held out one after the other, all five or as
    many as hold a thousand answers: a solution for the other four is followed through growing
    `xis`, and at each xi the part's log probability given the partition is taken, noise integrated
    out under the views' priors.

    Parameters
    ----------
    constraints : sequence of Constraints
    problem : Problem
        Its answers are replaced by those of the other parts.
    xis : (t,) array of float
        Increasing values of the confidence in all answers.
    rng : numpy Generator
    steps : Steps, default `PLAIN`
        How J is lowered.

    Returns
    -------
    (t,) array of float
        Sums over the parts held out.
    """
    parts = [rng.permutation(len(view)) % FOLDS for view in constraints]
    total, predicted = np.zeros(len(xis)), 0
    for fold in range(FOLDS):
        if predicted >= ENOUGH_PREDICTED:
            break
        kept = [rows_of(view, part != fold) for view, part in zip(constraints, parts, strict=True)]
        held = [rows_of(view, part == fold) for view, part in zip(constraints, parts, strict=True)]
        predicted += sum(map(len, held))
        graph, unit = pose(kept, len(problem.points))
        fold_problem = problem._replace(graph=graph)
        end = start_at(
            problem, np.zeros(len(problem.points), dtype=np.int64), times(unit, float(xis[0]))
        )
        for step, xi in enumerate(xis):
            end = steps.improve(
                fold_problem, end._replace(path=end.path[:0]), times(unit, xi), 30, False
            )
            total[step] += sum(view.noise.log_marginal(view.counts(end.clusters)) for view in held)
    return total


def rows_of(view: Constraints, kept: BoolArray) -> Constraints:
    """Return the view with some of its answers only, those where `kept` (m,) is True."""
    part = copy.copy(view)
    part.items, part.answers, part.source = view.items[kept], view.answers[kept], view.source[kept]
    part.flipped = None if view.flipped is None else view.flipped[kept]
    return part


def enough(constraints: Sequence[Constraints]) -> bool:
    """Return whether there are answers enough to hold some out."""
    return sum(map(len, constraints)) >= FEWEST_ANSWERS


def choose(
    constraints: Sequence[Constraints],
    points: FloatArray,
    divergence: Divergence,
    penalties: FloatArray,
    xi0: float | None,
    rate: float,
    rng: np.random.Generator,
    steps: Steps = PLAIN,
) -> tuple[float, Schedule]:
    """Return the penalty, of those given, and the schedule of xi under which answers held out are predicted best.

    Parameters
    ----------
    constraints : sequence of Constraints
        At least ten answers.
    points : (n, d) array
    divergence : Divergence
    penalties : array of float
        In falling order.
    xi0 : float or None
        Where xi starts to grow; None starts at a thousandth of the mean divergence of items from
        their overall mean.
    rate : float
        Growth of xi per pass, above 1.
    rng : numpy Generator
    steps : Steps, default `PLAIN`
        How J is lowered.

    Returns
    -------
    penalty : float
        Of equals the largest.
    schedule : Schedule
        Up to the best xi, of equals the largest; without end, as in TVClust, where the largest xi
        tried predicts best.
    """
    graph, unit = pose(constraints, len(points))
    problem = Problem.of(points, divergence, graph, float(penalties[0]))
    start = first_xi(problem) if xi0 is None else xi0
    endless = Schedule(times(unit, start), rate)
    largest = LARGEST_SHARE * first_xi(problem, share=1.0)
    growths = max(0, int(np.ceil(np.log(largest / start) / np.log(rate))))
    xis: FloatArray = start * rate ** np.arange(growths + 1, dtype=np.float64)
    seed = int(rng.integers(2**63))
    best, chosen = -np.inf, (problem.penalty, endless)
    for penalty in penalties:
        # the same parts for every penalty, so that they compare
        parts = np.random.default_rng(seed)
        scores = held_out_log_prob(
            constraints, problem._replace(penalty=float(penalty)), xis, parts, steps
        )
        step = len(xis) - 1 - int(np.argmax(scores[::-1]))
        if scores[step] > best:
            best = scores[step]
            most = np.inf if step == len(xis) - 1 else float(xis[step])
            chosen = float(penalty), endless._replace(most=most)
    return chosen
