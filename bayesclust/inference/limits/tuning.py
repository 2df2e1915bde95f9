"""The penalty and the confidence in answers, where they are not given: from a guess or the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.random import Generator

from bayesclust.constraints.base import Constraints
from bayesclust.families import Divergence
from bayesclust.inference.limits.answers import Xi, link_graph, pose, times
from bayesclust.inference.limits.rdp_means import (
    MANY_ITEMS,
    Problem,
    Schedule,
    Solution,
    new_state,
    spread,
    visit,
)
from bayesclust.inference.limits.search import improve, search
from bayesclust.typing import FloatArray, IntArray

MOST_CLUSTERS = 50
FEWEST_ANSWERS = 10
"""Fewer answers than this say too little about the others."""
FOLDS = 5
ENOUGH_PREDICTED = 1000
"""Parts are held out until this many answers have been predicted."""
CLASSES, PATIENCE = (2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30), 2
"""Numbers of clusters that are tried, in this order, until so many in a row are no better."""
# all passes over them cost less than ten over all items
SAMPLED, PREDICTED = 1 / 50, 1 / 8
"""Shares of many items on which penalty and xi are chosen, and on which penalties are compared."""
SAMPLED_NUMBERS, SAMPLED_RATE = (1, 2, 3, 4, 6, 8, 12, 16, 24, 35, 50), 4.0
"""Penalties, by numbers of clusters, and growth of xi on a sample, squared if both are chosen."""
FEW_PASSES, FEW_FOLDS = 10, 2
"""Most passes of a descent there, and parts held out."""
AS_GOOD = 2.0
"""Nats by which a choice there may be from the best, being no worse for all that is known."""
MOST_RISE, ABOVE = 2.0, 1.1
"""A sample's penalty rises by at most this factor, to this much above the farthest item's."""
FEW_STARTS = 4
"""Starts at most, under each penalty, where the fit has several."""
HALVINGS = 12
"""Of the range, in logarithms, in which a penalty is sought that leaves a given number."""
NO_ANSWERS = Schedule((0.0, 0.0))
ROUNDING = 1e-9
"""Share by which rounding changes distances: the farthest point itself must open no cluster."""
LARGEST_SHARE = 64.0
"""Above this many mean divergences answers decide nearly alone."""


def penalties(points: FloatArray, divergence: Divergence, k: int) -> FloatArray:
    """The penalties that 1 to k clusters suggest (Kulis and Jordan 2012, 3.2; TVClust sec. 5)."""
    # How far the point farthest from the mean, and from all such points before it, is from the
    # nearest of these. Where fewer than k points differ, a penalty is as good as zero but not zero.
    distances = np.empty(k)
    nearest = divergence.between(points, points.mean(axis=0, keepdims=True))[:, 0]
    for step in range(k):
        farthest = int(np.argmax(nearest))
        distances[step] = (1.0 + ROUNDING) * nearest[farthest]
        own = divergence.between(points, points[farthest : farthest + 1])[:, 0]
        nearest = np.minimum(nearest, own)
    return np.maximum(distances, 1e-9 * distances[0] if distances[0] > 0 else 1.0)


def candidates(points: FloatArray, divergence: Divergence, n_init: int = 1) -> FloatArray:
    """The penalties of 1 to about sqrt(n) clusters, at most 50, thinned above 10, each once."""
    # The lowest J of several starts has more clusters than suggest its penalty: then half of what
    # one cluster has of J, and its halves, as far down as those.
    most = min(len(points) - 1, max(2, int(np.sqrt(len(points)))), MOST_CLUSTERS)
    all_of_them = penalties(points, divergence, most)
    if n_init > 1:
        total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum())
        halvings = max(1, int(np.log2(max(total / all_of_them[-1], 1.0))))
        return max(total, 2.0 * all_of_them[-1]) * 0.5 ** np.arange(1.0, 1.0 + halvings)
    wanted = np.concatenate([np.arange(1, 11), np.geomspace(10, MOST_CLUSTERS, 8).round()])
    wanted = np.unique(wanted.astype(int))
    return np.unique(all_of_them[wanted[wanted <= most] - 1])[::-1]


def penalty_of(points: FloatArray, divergence: Divergence, k: int, n_init: int = 1) -> float:
    """The penalty that k clusters suggest, for the starts that there are."""
    # The lowest J of several, without answers, has k clusters under it, or a few more where a
    # little more of it makes them fewer. Of many items it is furthest-first's, as for one.
    low = float(penalties(points, divergence, k)[-1])
    if n_init == 1 or len(points) > MANY_ITEMS:
        return low
    total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum())
    high = max(total, low)
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        # nothing is random in what follows from the data
        rng = np.random.default_rng(0)
        problem = Problem.of(points, divergence, link_graph([], len(points)), middle)
        end = search(problem, NO_ANSWERS, min(n_init, FEW_STARTS), rng=rng, finely=False)
        if len(end.centers) == k:
            return middle
        low, high = (middle, high) if len(end.centers) > k else (low, middle)
    return low


def information_criterion(
    points: FloatArray, divergence: Divergence, solution: Solution, most: float = np.inf
) -> float:
    """-log p(points, labels) + log(n) / 2 for each free coordinate of a centre."""
    # Likelihood: the limit's family at its best dispersion, by saddlepoints (exact if spherical
    # Gaussian): -(n f / 2) log(sum of D) + sum_k n_k log(n_k / n). No D counts as more than `most`.
    n = len(points)
    f = divergence.n_free(points)
    sizes = np.bincount(solution.labels)
    sizes = sizes[sizes > 0]
    own = divergence.paired(points, solution.centers[solution.labels])
    inside = float(np.minimum(own, most).sum())
    total = float(divergence.between(points, points.mean(axis=0, keepdims=True)).sum())
    share = max(inside, 1e-12 * total) / total if total > 0 else 1.0
    fit = n * f / 2 * np.log(share) - float((sizes * np.log(sizes / n)).sum())
    return float(fit) + len(sizes) * (f + 1) / 2 * float(np.log(n))


def penalty_from_data(points: FloatArray, divergence: Divergence, n_init: int = 1) -> float:
    """The penalty whose DP-means solution has the smallest `information_criterion`."""
    graph = link_graph([], len(points))
    starts = min(n_init, FEW_STARTS)

    def criterion(penalty: float) -> float:
        problem = Problem.of(points, divergence, graph, penalty)
        # the same starts under every penalty: nothing is random in what follows from the data
        rng = np.random.default_rng(0)
        found = search(problem, NO_ANSWERS, starts, rng=rng, finely=False)
        return information_criterion(points, divergence, found)

    return float(min(candidates(points, divergence, n_init), key=criterion))


def first_xi(problem: Problem, share: float = 1e-3) -> float:
    """A small confidence, as a share of the mean divergence of items from their overall mean."""
    mean = float(spread(problem).mean())
    return share * mean if mean > 0 else share


def confidences(problem: Problem, start: float, rate: float) -> FloatArray:
    """Those from `start` to where answers decide nearly alone."""
    most = LARGEST_SHARE * first_xi(problem, share=1.0)
    growths = max(0, int(np.ceil(np.log(most / start) / np.log(rate))))
    return np.asarray(start * rate ** np.arange(growths + 1, dtype=np.float64))


def enough(constraints: Sequence[Constraints]) -> bool:
    """Whether there are answers enough to hold some out."""
    return sum(map(len, constraints)) >= FEWEST_ANSWERS


def one_sided(constraints: Sequence[Constraints], n_items: int) -> bool:
    """Whether a single cluster, or one for each item, makes every answer true."""
    # Then it predicts them best whatever the data: answers cannot tell how many clusters there are.
    trivial = np.stack([np.zeros(n_items, np.int64), np.arange(n_items)])
    wrong = [((one.truths(trivial) != one.said) & ~one.unsure).any(axis=1) for one in constraints]
    return not np.any(wrong, axis=0).all()


def held_out_log_prob(
    constraints: Sequence[Constraints],
    problem: Problem,
    xis: FloatArray,
    rng: Generator,
    *,
    roughly: bool = False,
    n_init: int = 1,
) -> FloatArray:
    """Log probability of answers given partitions found without them, noise integrated, by xi."""
    # A solution for the other parts is followed through growing xi; of several starts, the lowest J
    # of a few at each xi. `roughly`, parts and passes are fewer, as the next xi continues.
    total = np.zeros(len(xis))
    most = FEW_PASSES if roughly else 30
    for kept, held in islice(folds(constraints, rng), FEW_FOLDS if roughly else None):
        graph, unit = pose(kept, len(problem.points))
        fold_problem = problem._replace(graph=graph)
        labels = np.zeros(len(problem.points), dtype=np.int64)
        owner: IntArray | None = None
        for step, xi in enumerate(xis):
            if n_init == 1:
                end = improve(fold_problem, labels, owner, times(unit, xi), most)
            else:
                growing = Schedule(times(unit, xi))
                starts = min(n_init, FEW_STARTS)
                end = search(fold_problem, growing, starts, most, rng, start=labels, finely=False)
            labels, owner = end.labels, end.owner
            total[step] += log_prob_given(end.clusters, held)
    return total


def folds(
    constraints: Sequence[Constraints],
    rng: Generator,
    number: int = FOLDS,
    enough: float = ENOUGH_PREDICTED,
) -> Iterator[tuple[list[Constraints], list[Constraints]]]:
    """The constraints kept and those held out, until enough have been held out."""
    pairs = []
    for one in constraints:
        unit = one.units
        pairs.append((one, (rng.permutation(int(unit.max(initial=-1)) + 1) % number)[unit]))
    predicted = 0
    for fold in range(number):
        if predicted < enough:
            held = [one.select(part == fold) for one, part in pairs]
            predicted += sum(map(len, held))
            yield [one.select(part != fold) for one, part in pairs], held


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
    n_init: int = 1,
) -> tuple[Problem, Schedule]:
    """The penalty, of those falling, and the schedule of xi that predict answers held out best."""
    # Of equals the largest; if cautious, of those about as good the largest penalty and smallest
    # xi: larger xi lets wrong answers open clusters. `unit` is a confidence of 1 in each answer.
    start = first_xi(problem) if xi0 is None else xi0
    endless = Schedule(times(unit, start), rate)
    xis = confidences(problem, start, rate)
    seed = int(rng.integers(2**63))
    best = -np.inf
    chosen = problem._replace(penalty=float(penalties[0])), endless
    cautious = roughly or n_init > 1 or one_sided(constraints, len(problem.points))
    slack = AS_GOOD if cautious else 0.0
    for penalty in penalties:
        # the same parts for every penalty, so that they compare
        parts = np.random.default_rng(seed)
        tried = problem._replace(penalty=float(penalty))
        scores = held_out_log_prob(constraints, tried, xis, parts, roughly=roughly, n_init=n_init)
        good = np.flatnonzero(scores >= scores.max() - slack)
        step = int(good[0] if slack else good[-1])
        if scores.max() > best + slack:
            best = scores.max()
            end = np.inf if step == len(xis) - 1 else float(xis[step])
            chosen = tried, endless._replace(most=end)
    return chosen


def sample(
    constraints: Sequence[Constraints], problem: Problem, share: float, rng: Generator
) -> tuple[list[Constraints], Problem]:
    """Some items with all answers among them: the items of answers drawn at random, and others."""
    n = len(problem.points)
    size = int(share * n)
    drawn_share = min(1.0, size / max(sum(one.items.size for one in constraints), 1))
    chosen = np.zeros(n, dtype=np.bool_)
    for one in constraints:
        drawn = rng.choice(len(one), int(np.ceil(drawn_share * len(one))), replace=False)
        chosen[one.items[drawn]] = True
    chosen[rng.choice(n, max(size - int(chosen.sum()), 0), replace=False)] = True
    answers = [one.restrict(chosen) for one in constraints]
    points, phi = problem.points[chosen], problem.phi[chosen]
    graph = pose(answers, len(points))[0]
    return answers, problem._replace(points=points, phi=phi, graph=graph)


def choose_on_sample(
    constraints: Sequence[Constraints],
    problem: Problem,
    unit: Xi,
    cost: float | None,
    xi0: float | None,
    rate: float,
    rng: Generator,
) -> tuple[Problem, Schedule, IntArray | None]:
    """Do as `choose` on samples of the items: first the penalty without answers, then xi."""
    # Where both are chosen, returns also where to start: at the sample's solution.
    answers, few = sample(constraints, problem, SAMPLED, rng)
    start = first_xi(problem) if xi0 is None else float(xi0)
    penalty = cost
    labels: IntArray | None = None
    growth = SAMPLED_RATE
    if penalty is None:
        asked, more = sample(constraints, problem, PREDICTED, rng)
        # of several centres answers say which are one cluster, and the data how many there are
        silent = problem.several or one_sided(asked, len(more.points))
        penalty, labels = best_number(few, more, [] if silent else asked)
        growth = SAMPLED_RATE**2
    growth = max(rate, growth)
    tried = np.array([penalty])
    few, growing = choose(answers, few, unit, tried, start, growth, rng, roughly=True)
    schedule = Schedule(times(unit, start), rate, growing.most)
    if labels is None:
        return problem._replace(penalty=few.penalty), schedule, None
    if np.isfinite(growing.most):
        schedule = Schedule(times(unit, growing.most))
    problem, near = carry_up(problem, few, growing, labels)
    return problem, schedule, near


def penalty_on_sample(points: FloatArray, divergence: Divergence) -> tuple[float, IntArray]:
    """Do as `penalty_from_data` on a sample of the items, and say where to start."""
    n = len(points)
    problem = Problem.of(points, divergence, link_graph([], n), 0.0)
    # always the same samples: nothing is random in what follows from the data
    rng = np.random.default_rng(0)
    few, more = (sample([], problem, share, rng)[1] for share in (SAMPLED, PREDICTED))
    penalty, labels = best_number(few, more, [])
    found, start = carry_up(problem, few._replace(penalty=penalty), NO_ANSWERS, labels)
    return found.penalty, start


def best_number(
    few: Problem, more: Problem, asked: Sequence[Constraints]
) -> tuple[float, IntArray]:
    """The penalty of a number of clusters whose labels of few items, without answers, are best."""
    # That is by the answers about more items, each with its nearest centre, or without any by the
    # `information_criterion`. Of about equals the smallest number is taken.
    unseen = few._replace(graph=link_graph([], len(few.points)), several=False)
    suggested = penalties(few.points, few.divergence, SAMPLED_NUMBERS[-1])
    scores: dict[int, float] = {}
    found: dict[int, IntArray] = {}
    numbers = list(SAMPLED_NUMBERS)
    for _ in range(2):
        for number in numbers:
            posed = unseen._replace(penalty=float(suggested[number - 1]))
            labels = np.zeros(len(few.points), dtype=np.int64)
            end = improve(posed, labels, None, NO_ANSWERS.xi, FEW_PASSES)
            found[number] = end.labels
            end = end._replace(labels=nearest(more, end.centers))
            scores[number] = log_prob_given(end.labels, asked)
            if not asked:  # farther than the penalty an item would be a cluster of its own
                cost = information_criterion(more.points, more.divergence, end, posed.penalty)
                scores[number] = -cost
        good = max(scores.values()) - AS_GOOD
        best = min(number for number in scores if scores[number] >= good)
        below = max((number for number in scores if number < best), default=best)
        above = min((number for number in scores if number > best), default=best)
        between = np.linspace(below, above, 7).round().astype(int).tolist()
        numbers = [number for number in between if number not in scores]
    return float(suggested[best - 1]), found[best]


def nearest(problem: Problem, centers: FloatArray) -> IntArray:
    """The nearest centre of every item, by a pass that opens none, from centres dealt in turn."""
    n = len(problem.points)
    alone = problem._replace(graph=link_graph([], n), penalty=np.inf, several=False)
    dealt = np.arange(n) % len(centers)
    state, _ = visit(alone, new_state(alone, dealt, centers), NO_ANSWERS.xi, 0.0)
    return state.z.astype(np.int64)


def carry_up(
    problem: Problem, few: Problem, schedule: Schedule, labels: IntArray
) -> tuple[Problem, IntArray]:
    """The sample's penalty, and as a start every item with the nearest centre of its solution."""
    # Among more items some are farther out, and each would open a cluster: the penalty rises to
    # above the divergence of the farthest, but no more than `MOST_RISE` times.
    centers = search(few, schedule, start=labels).centers
    start = nearest(problem, centers)
    farthest = float(problem.divergence.paired(problem.points, centers[start]).max())
    rise = float(np.clip(ABOVE * farthest / few.penalty, 1.0, MOST_RISE))
    return problem._replace(penalty=rise * few.penalty), start
