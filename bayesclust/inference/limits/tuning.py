"""The penalty and the confidence in answers, where they are not given: from a guess or the data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.random import Generator

from bayesclust.constraints.base import Constraints
from bayesclust.families import Divergence
from bayesclust.inference.limits.answers import Xi, link_graph, pose, times
from bayesclust.inference.limits.rdp_means import Problem, Schedule, Solution, spread
from bayesclust.inference.limits.search import improve, search
from bayesclust.typing import BoolArray, FloatArray, IntArray

MOST_CLUSTERS = 50
FEWEST_ANSWERS = 10
"""Fewer answers than this say too little about the others."""
FOLDS = 5
ENOUGH_PREDICTED = 1000
"""Parts are held out until this many answers have been predicted."""
CLASSES, PATIENCE = (2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30), 2
"""Numbers of clusters that are tried, in this order, until so many in a row are no better."""
MANY_ITEMS = 50_000
"""With more items than this, penalty and confidence are chosen on a sample."""
SAMPLED = 1 / 40
"""Share of the items in it: some 300 passes over the sample cost less than ten over all."""
SAMPLED_NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 35, 50)
SAMPLED_RATE = 4.0
"""Penalties, by numbers of clusters, and growth of the confidences that are tried on a sample."""
FEW_PASSES = 3
"""Most passes of a descent there."""
LARGEST_SHARE = 64.0
"""Above this many mean divergences answers decide nearly alone."""


def penalties(points: FloatArray, divergence: Divergence, k: int) -> FloatArray:
    """The penalties that 1 to k clusters suggest (Kulis and Jordan 2012, 3.2; TVClust section 5).

    They are how far the point farthest from the mean, and from all such points before it, is from
    the nearest of these. Where fewer than k points differ, a penalty is as good as zero but not
    zero.
    """
    distances = np.empty(k)
    nearest = divergence.between(points, points.mean(axis=0, keepdims=True))[:, 0]
    for step in range(k):
        farthest = int(np.argmax(nearest))
        distances[step] = nearest[farthest]
        own = divergence.between(points, points[farthest : farthest + 1])[:, 0]
        nearest = np.minimum(nearest, own)
    return np.maximum(distances, 1e-9 * distances[0] if distances[0] > 0 else 1.0)


def candidates(points: FloatArray, divergence: Divergence) -> FloatArray:
    """The penalties of 1 to about sqrt(n) clusters, at most 50, thinned above 10, each once."""
    most = min(len(points) - 1, max(2, int(np.sqrt(len(points)))), MOST_CLUSTERS)
    all_of_them = penalties(points, divergence, most)
    wanted = np.concatenate([np.arange(1, 11), np.geomspace(10, MOST_CLUSTERS, 8).round()])
    wanted = np.unique(wanted.astype(int))
    return np.unique(all_of_them[wanted[wanted <= most] - 1])[::-1]


def information_criterion(points: FloatArray, divergence: Divergence, solution: Solution) -> float:
    """-log p(points, labels) + log(n) / 2 for each free coordinate of a centre.

    The likelihood is that of the family whose limit the divergence is, with the dispersion at its
    best, in the saddlepoint approximation (exact for spherical Gaussians): -(n f / 2) log(sum of D)
    + sum_k n_k log(n_k / n), f the number of free coordinates.
    """
    n = len(points)
    f = divergence.n_free(points)
    sizes = np.bincount(solution.labels)
    inside = float(divergence.paired(points, solution.centers[solution.labels]).sum())
    total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum())
    share = max(inside, 1e-12 * total) / total if total > 0 else 1.0
    fit = n * f / 2 * np.log(share) - float((sizes * np.log(sizes / n)).sum())
    return float(fit) + len(sizes) * (f + 1) / 2 * float(np.log(n))


def penalty_from_data(points: FloatArray, divergence: Divergence) -> float:
    """The penalty whose DP-means solution has the smallest `information_criterion`."""
    graph = link_graph([], len(points))

    def criterion(penalty: float) -> float:
        problem = Problem.of(points, divergence, graph, penalty)
        return information_criterion(points, divergence, search(problem, Schedule((0.0, 0.0))))

    return float(min(candidates(points, divergence), key=criterion))


def first_xi(problem: Problem, share: float = 1e-3) -> float:
    """A small confidence, as a share of the mean divergence of items from their overall mean."""
    mean = float(spread(problem).mean())
    return share * mean if mean > 0 else share


def enough(constraints: Sequence[Constraints]) -> bool:
    """Whether there are answers enough to hold some out."""
    return sum(map(len, constraints)) >= FEWEST_ANSWERS


def rows_of(one: Constraints, kept: BoolArray | slice) -> Constraints:
    """The constraints with some of their answers only."""
    part = copy.copy(one)
    part.items, part.answers, part.source = one.items[kept], one.answers[kept], one.source[kept]
    part.flipped = None if one.flipped is None else one.flipped[kept]
    return part


def leave_out(
    constraints: Sequence[Constraints], out: Sequence[BoolArray]
) -> tuple[list[Constraints], list[Constraints]]:
    """The constraints without the answers marked (m,), and those alone."""
    pairs = list(zip(constraints, out, strict=True))
    return [rows_of(one, ~mask) for one, mask in pairs], [rows_of(one, mask) for one, mask in pairs]


def held_out_log_prob(
    constraints: Sequence[Constraints],
    problem: Problem,
    xis: FloatArray,
    rng: Generator,
    *,
    roughly: bool = False,
) -> FloatArray:
    """Log probability of answers given partitions found without them, noise integrated out, by xi.

    Answers fall at random in five parts, which are held out in turn, until a thousand answers have
    been: a solution for the other four is followed through growing xi. `roughly`, one part is held
    out, and descents end after few passes: the next xi goes on from there.
    """
    total = np.zeros(len(xis))
    most = FEW_PASSES if roughly else 30
    for kept, held in islice(folds(constraints, rng), 1 if roughly else None):
        graph, unit = pose(kept, len(problem.points))
        fold_problem = problem._replace(graph=graph)
        labels = np.zeros(len(problem.points), dtype=np.int64)
        owner: IntArray | None = None
        for step, xi in enumerate(xis):
            end = improve(fold_problem, labels, owner, times(unit, xi), most)
            labels, owner = end.labels, end.owner
            total[step] += log_prob_given(end.clusters, held)
    return total


def folds(
    constraints: Sequence[Constraints], rng: Generator
) -> Iterator[tuple[list[Constraints], list[Constraints]]]:
    """The constraints kept and those held out, until enough have been held out."""
    parts = [rng.permutation(len(one)) % FOLDS for one in constraints]
    predicted = 0
    for fold in range(FOLDS):
        if predicted < ENOUGH_PREDICTED:
            kept, held = leave_out(constraints, [part == fold for part in parts])
            predicted += sum(map(len, held))
            yield kept, held


def until_no_better[One](options: Iterable[One], score: Callable[[One], float]) -> list[float]:
    """Scores of options in their order, until `PATIENCE` in a row are no better."""
    scores: list[float] = []
    for option in options:
        scores.append(score(option))
        if len(scores) - 1 - int(np.argmax(scores)) == PATIENCE:
            break
    return scores


def log_prob_given(labels: IntArray, held: Sequence[Constraints]) -> float:
    """log p(answers | partition), noise integrated out."""
    return float(sum(one.noise.log_marginal(one.counts(labels)) for one in held))


def choose(
    constraints: Sequence[Constraints],
    problem: Problem,
    unit: Xi,
    penalties: FloatArray,
    xi0: float | None,
    rate: float,
    rng: Generator,
    *,
    roughly: bool = False,
) -> tuple[Problem, Schedule]:
    """The penalty, of those falling, and the schedule of xi that predict answers held out best.

    Of equals the largest. xi grows from `xi0`, without end (as in TVClust) if the largest tried is
    best. `unit` is a confidence of 1 in each answer.
    """
    start = first_xi(problem) if xi0 is None else xi0
    endless = Schedule(times(unit, start), rate)
    most = LARGEST_SHARE * first_xi(problem, share=1.0)
    growths = max(0, int(np.ceil(np.log(most / start) / np.log(rate))))
    xis: FloatArray = start * rate ** np.arange(growths + 1, dtype=np.float64)
    seed = int(rng.integers(2**63))
    best = -np.inf
    chosen = problem._replace(penalty=float(penalties[0])), endless
    for penalty in penalties:
        # the same parts for every penalty, so that they compare
        parts = np.random.default_rng(seed)
        tried = problem._replace(penalty=float(penalty))
        scores = held_out_log_prob(constraints, tried, xis, parts, roughly=roughly)
        step = len(xis) - 1 - int(np.argmax(scores[::-1]))
        if scores[step] > best:
            best = scores[step]
            end = np.inf if step == len(xis) - 1 else float(xis[step])
            chosen = tried, endless._replace(most=end)
    return chosen


def sample(
    constraints: Sequence[Constraints], problem: Problem, rng: Generator
) -> tuple[list[Constraints], Problem]:
    """Some items with all answers among them: the items of answers drawn at random, and others."""
    n = len(problem.points)
    size = int(SAMPLED * n)
    share = min(1.0, size / sum(one.items.size for one in constraints))
    drawn = [
        one.items[rng.choice(len(one), int(np.ceil(share * len(one))), replace=False)].ravel()
        for one in constraints
    ]
    named = np.unique(np.concatenate(drawn))
    others = rng.choice(n, max(size - len(named), 0), replace=False)
    chosen = np.unique(np.concatenate([named, others]))
    answers = [one.restrict(chosen) for one in constraints]
    graph = pose(answers, len(chosen))[0]
    points, phi = problem.points[chosen], problem.phi[chosen]
    return answers, problem._replace(points=points, phi=phi, graph=graph)


def choose_on_sample(
    constraints: Sequence[Constraints],
    problem: Problem,
    unit: Xi,
    cost: float | None,
    xi0: float | None,
    rate: float,
    rng: Generator,
) -> tuple[Problem, Schedule]:
    """Do as `choose` on a sample of the items; without a cost, some numbers of clusters are tried.

    The penalty is that which the number chosen suggests on all items, some of which are farther out
    than any in the sample.
    """
    answers, few = sample(constraints, problem, rng)
    start = first_xi(problem) if xi0 is None else float(xi0)
    growth = max(rate, SAMPLED_RATE)
    tried = np.array([cost])
    if cost is None:
        tried = penalties(few.points, few.divergence, SAMPLED_NUMBERS[-1])
        tried = tried[np.array(SAMPLED_NUMBERS) - 1]
    best, schedule = choose(answers, few, unit, tried, start, growth, rng, roughly=True)
    penalty = best.penalty
    if cost is None:
        number = SAMPLED_NUMBERS[tried.tolist().index(penalty)]
        penalty = float(penalties(problem.points, problem.divergence, number)[-1])
    return problem._replace(penalty=penalty), Schedule(times(unit, start), rate, schedule.most)
