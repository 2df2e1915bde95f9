"""Whether data and constraints agree: each source against the rest, and violated constraints."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.posterior.credibility import confusions
from bayesclust.posterior.labels import Labels
from bayesclust.posterior.tree import (
    chain_partitions,
    group,
    is_array,
    log_joints,
    stored_constraints,
)
from bayesclust.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

    from bayesclust.constraints.stored import StoredConstraints

__all__ = ["Violations", "held_out_probabilities", "view_conflict", "violations"]

SURPRISING = -3.0
TINY = float(np.finfo(np.float64).tiny)
SHUFFLES = 100
STANDARD_ERRORS = 4.0
"""Shuffled answers that tell what merges win by chance, and how far beyond that counts."""
FEWEST = 5
LEAST_SHARE = 0.2
RECONCILED = 0.5
"""Violated must-links that are worth a word: so many, such a share of all must-links, and such a
share of them that merges would make right beyond chance."""
MARGIN = 0.1
ERRORS = 3.0
"""Share of constraints, and binomial standard errors, by which more are violated than expected."""
MANY_COLUMNS = 20


def view_conflict(posterior: Any) -> pd.DataFrame:
    """Return how well the constraints of each source are predicted by the data and all the others.

    Every answer is left out in turn, by weighting the draws with 1 / p(answer | partition, noise)
    (Gelman 1996), and the probabilities that the others give to all possible answers are averaged
    over the draws, not the answers simulated (Rao-Blackwell). Two numbers result for each source:
    whether its answers are predicted worse than the posterior itself expects, and whether anything
    is gained by taking them to be about this partition at all.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints that kept the noise.

    Returns
    -------
    pandas.DataFrame
        One row per view and source that gave answers:

        - answers: how many;
        - elpd_loo: mean log probability of an answer given all the rest, in nats;
        - expected: its mean if the rest were right about the probabilities;
        - z_score: (elpd_loo - expected) in standard deviations; far below 0 where answers
          contradict the rest;
        - gain_over_marginal: elpd_loo less that of a source whose answers have nothing to do with
          the items, only with how often it gives each (each answer is left out here too), in nats;
          up to 0 where its answers carry no information;
        - finding: "agrees", "conflicts with the rest" (z_score below -3) or "is uninformative"
          (gain_over_marginal of at most 0).

    Raises
    ------
    ValueError, TypeError
        If there are no draws, no constraints or no noise parameters in what is passed.

    See Also
    --------
    bayesclust.leave_view_out : refits without each view, and so sees what this does not: many
        answers that agree with each other, but not with the data, predict each other well.
    bayesclust.constraint_ppc : how the answers differ from those that the noise model generates.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> y = np.repeat([0, 1], 20)
    >>> good = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.1, seed=0)
    >>> noise = bc.PairwiseConstraints.sample(y, size=40, error_rate=0.5, seed=1, name="coin")
    >>> at = dict.fromkeys(("p", "q", "p_coin", "q_coin"), np.full((1, 8, 1), 0.9))
    >>> tree = to_datatree({"z": np.tile(y, (1, 8, 1)), **at}, constraints=[good, noise])
    >>> bc.view_conflict(tree)[["view", "finding"]]
        view                  finding
    0  links                   agrees
    1   coin  conflicts with the rest
    """
    import pandas as pd

    z = chain_partitions(posterior)
    variables = group(posterior, "posterior")
    stacked = z.reshape(-1, z.shape[-1])
    rows: list[dict[str, Any]] = []
    for view in stored_constraints(posterior):
        confusion = confusions(view, variables)
        p = held_out_probabilities(view, stacked, confusion.reshape(-1, *confusion.shape[2:]))
        log_p = np.log(np.maximum(p, TINY))
        elpd = log_p[np.arange(len(view)), view.answers]
        expected = (p * log_p).sum(axis=1)
        variance = (p * (log_p - expected[:, None]) ** 2).sum(axis=1)
        for source in np.unique(view.source).tolist():
            own = view.source == source
            spread = max(float(np.sqrt(variance[own].sum())), 1e-9)
            z_score = float((elpd[own] - expected[own]).sum()) / spread
            gain = float((elpd[own] - _log_marginal(view, own)).mean())
            row = {
                "view": view.name,
                "source": source,
                "answers": int(own.sum()),
                "elpd_loo": float(elpd[own].mean()),
                "expected": float(expected[own].mean()),
                "z_score": z_score,
                "gain_over_marginal": gain,
                "finding": "agrees" if gain > 0 else "is uninformative",
            }
            if z_score < SURPRISING:
                row["finding"] = "conflicts with the rest"
            rows.append(row)
    return pd.DataFrame(rows)


def held_out_probabilities(view: StoredConstraints, z: Labels, confusion: FloatArray) -> FloatArray:
    """Return p(answer | data and all other answers), (m, answers).

    z is (draws, n), and `confusion` (draws, source, truth, answer).
    """
    total = np.zeros((len(view), view.n_answers))
    weights = np.zeros(len(view))
    rows = np.arange(len(view))
    for labels, table in zip(z, confusion, strict=True):
        p = table[view.source, view.truths(labels)]
        weight = 1 / np.maximum(p[rows, view.answers], 1e-200)
        total += weight[:, None] * p
        weights += weight
    probabilities: FloatArray = total / weights[:, None]
    return probabilities


def _log_marginal(view: StoredConstraints, own: BoolArray) -> FloatArray:
    """Log probability of answers by how often the source gave each otherwise, one of each added."""
    answers = view.answers[own]
    times = np.bincount(answers, minlength=view.n_answers)
    return np.log(times[answers] / (len(answers) - 1 + view.n_answers))


@dataclass(frozen=True)
class Violations:
    """Pairwise constraints that a fit violates, and why.

    `finding` is "as expected", "data against constraints", "constraints against each other" or
    "undecided".
    """

    finding: str
    answers: int  # how many constraints there are
    wrong: int  # how many of them the most probable draw violates
    expected: float  # how many it would by the means of the noise's prior; nan where not kept
    reconciled: float  # how many more would hold, on balance, were clusters merged as they ask
    chance: float  # how many if the constraints on pairs apart were shuffled
    alone: float  # violated by the partition that suits the constraints best, the data left aside
    remedies: str

    def __str__(self) -> str:
        opening = f"the fit violates {self.wrong} of {self.answers} pairwise constraints"
        if self.finding == "data against constraints":
            return (
                f"Data and constraints conflict: {opening}, and with clusters merged "
                f"{self.reconciled:.0f} more of them would be right, where {self.chance:.0f} would "
                "by chance. The constraints agree with each other; what does not fit is the shape "
                f"that clusters are given. What to do: {self.remedies}."
            )
        if self.finding == "constraints against each other":
            return (
                f"The constraints contradict each other: {opening}, where {self.expected:.0f} were "
                "expected, and even a partition made for the constraints alone leaves "
                f"{self.alone:.0f} of them wrong. The sources are at fault rather than the model; "
                "source_reliability tells which."
            )
        if self.finding == "undecided":
            return (
                f"Violated constraints: {opening}, where {self.expected:.0f} were expected, and a "
                f"partition made for the constraints alone leaves {self.alone:.0f} of them wrong: "
                "too few are about the same items to tell whether the sources are at fault or the "
                f"shape that clusters are given. See leave_view_out; {self.remedies}."
            )
        return ""


def violations(posterior: Any, *, seed: int = 0) -> Violations | None:
    """Explain the pairwise constraints that a fit violates; None where there are none.

    A model whose clusters have the wrong shape splits classes, and then violates the must-links
    that hold them together. Such constraints name the same few pairs of clusters again and again,
    while wrong ones are about any pairs: merging clusters would make more of them right than of
    shuffled ones. Sources that are bad in truth contradict themselves under every partition, if
    they were asked often enough about the same items. The partition is the draw of largest log
    joint, or the last; merges contract the pair of clusters with the most must-links beyond
    cannot-links, again and again (greedy correlation clustering).

    Examples
    --------
    Two classes that a fit splits into ten clusters:

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> y = np.repeat([0, 1], 50)
    >>> links = bc.PairwiseConstraints.sample(y, size=300, error_rate=0.05, seed=0)
    >>> violations(to_datatree({"z": [[np.arange(100) // 10]]}, constraints=[links])).finding
    'data against constraints'
    >>> violations(to_datatree({"z": y[None, None]}, constraints=[links])).finding
    'as expected'
    """
    tree = getattr(posterior, "posterior_", posterior)
    if is_array(tree) or "constant_data" not in tree.children:
        return None
    views = [
        view for view in stored_constraints(posterior) if view.kind == "pairwise" and len(view)
    ]
    if not views:
        return None
    z = _most_probable(posterior)
    items = np.concatenate([view.items for view in views])
    same = np.concatenate([view.answers for view in views]) == 1
    together = z[items[:, 0]] == z[items[:, 1]]
    reconciled, chance, spread = _merges(
        z[items[~together]], same[~together], np.random.default_rng(seed)
    )
    wrong = int((same != together).sum())
    split = int((same & ~together).sum())
    alone = float(same.sum()) - won_by_merging(items, 2.0 * same - 1)
    expected = sum(_expected(view, z) for view in views)
    beyond = reconciled - chance
    error = np.sqrt(max(expected * (1 - expected / len(same)), 0.0))
    finding = "as expected"
    if (
        split >= max(FEWEST, LEAST_SHARE * same.sum())
        and beyond >= RECONCILED * split
        and beyond >= STANDARD_ERRORS * spread
    ):
        finding = "data against constraints"
    elif wrong - expected > max(MARGIN * len(same), ERRORS * error):
        finding = "constraints against each other" if 2 * alone >= wrong else "undecided"
    remedies = _remedies(tree)
    return Violations(finding, len(same), wrong, expected, reconciled, chance, alone, remedies)


def won_by_merging(pairs: IntArray, weight: FloatArray) -> float:
    """Sum the weights (m,) of the pairs (m, 2) of nodes that greedy contraction brings together.

    A pair may occur more than once; a node paired with itself counts for nothing.

    Examples
    --------
    >>> import numpy as np
    >>> won_by_merging(np.array([[0, 1], [1, 2], [0, 2], [2, 3]]), np.array([2.0, 1.0, -1.0, 1.0]))
    3.0
    """
    near: dict[int, dict[int, float]] = defaultdict(dict)
    for (a, b), w in zip(pairs.tolist(), weight.tolist(), strict=True):
        if a != b:
            near[a][b] = near[b][a] = near[a].get(b, 0.0) + w
    heap = [(-w, a, b) for a, others in near.items() for b, w in others.items() if a < b and w > 0]
    heapify(heap)
    won = 0.0
    while heap:
        loss, a, b = heappop(heap)
        if near.get(a, {}).get(b) != -loss:
            continue  # one of the two was merged since, or their weight has changed
        won -= loss
        if len(near[a]) < len(near[b]):
            a, b = b, a
        moved = near.pop(b)
        del moved[a], near[a][b]
        for c, w in moved.items():
            del near[c][b]
            near[a][c] = near[c][a] = near[a].get(c, 0.0) + w
            if near[a][c] > 0:
                heappush(heap, (-near[a][c], min(a, c), max(a, c)))
    return won


def _most_probable(posterior: Any) -> Labels:
    """The draw (n,) of largest log joint, or the last where that was not kept."""
    z = chain_partitions(posterior)
    log_joint = log_joints(posterior)
    best: Labels = z.reshape(-1, z.shape[-1])[
        -1 if log_joint is None else int(np.nanargmax(log_joint))
    ]
    return best


def _merges(
    clusters: IntArray, same: BoolArray, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Won by merging clusters; its mean and standard deviation over shuffled answers."""
    if not len(same):
        return 0.0, 0.0, 0.0
    kinds, kind = np.unique(np.sort(clusters, axis=1), axis=0, return_inverse=True)

    def won(answers: Any) -> float:
        return won_by_merging(kinds, np.bincount(kind.ravel(), weights=2.0 * answers - 1))

    shuffled = np.array([won(rng.permutation(same)) for _ in range(SHUFFLES)])
    return won(same), float(shuffled.mean()), float(shuffled.std())


def _expected(view: StoredConstraints, z: Labels) -> float:
    """Wrong answers to expect by the means of the noise's prior; nan where it was not kept."""
    same = float((view.truths(z) == 1).sum())
    p, q = (view.prior.get(name, np.nan) for name in ("p", "q"))
    return float(same * (1 - p) + (len(view) - same) * (1 - q))


def _remedies(tree: Any) -> str:
    """What the fit has not tried yet, by its settings."""
    settings = json.loads(tree.attrs.get("settings", "{}"))
    settings = settings if isinstance(settings, dict) else {}
    family = str(settings.get("family", "gaussian"))
    model = settings.get("cluster_model", "single")
    columns = 0
    if "observed_data" in tree.children:
        columns = tree["observed_data"].sizes.get("feature", 0)
    tries = []
    if model == "single":
        tries.append(
            'cluster_model="mixture", clusters of several components, or cluster_model="auto", '
            "which compares models by the constraints"
        )
    if model != "auto" and settings.get("power") is None:
        tries.append("power=0.25 or less, so that the data outweigh the answers less")
    if family.startswith("gaussian") and family != "gaussian_tied" and columns > MANY_COLUMNS:
        tries.append(f'family="gaussian_tied", one covariance for {columns} columns')
    if family.startswith("gaussian"):
        tries.append('family="mixed", where describe_columns finds columns that are not continuous')
    if not tries:
        return "leave_view_out tells what each side supports without the other"
    return "; ".join(["try " + tries[0], *tries[1:]])
