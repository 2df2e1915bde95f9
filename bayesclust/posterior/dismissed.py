"""Whether a fit dismisses answers that agree with each other: data against answers, or sources against themselves."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.posterior.tree import chain_partitions, is_array, log_joints, stored_views
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from bayesclust.constraints.dataset import StoredConstraints
    from bayesclust.posterior.labels import Labels

__all__ = ["Dismissal", "dismissal"]

SHUFFLES, STANDARD_ERRORS = 100, 4.0
"""Shuffled answers that tell what merges win by chance, and how far beyond that counts."""
FEWEST, LEAST_SHARE, RECONCILED = 5, 0.2, 0.5
"""Dismissed answers "same" that are worth a word: so many, such a share of all "same", and of them such a share that merges
would make right beyond chance."""
MARGIN, ERRORS = 0.1, 3.0
"""Share of all answers, and binomial standard errors, by which more are dismissed than the noise's prior expects."""
MANY_COLUMNS = 20


@dataclass(frozen=True)
class Dismissal:
    """Pairwise answers that a fit holds to be wrong, and why.

    Attributes
    ----------
    finding : {"as expected", "data against constraints", "constraints against each other", "undecided"}
    answers, wrong : int
        How many there are, and how many of them the most probable draw contradicts.
    expected : float
        How many it would by the means of the noise's prior; nan where that was not kept.
    reconciled, chance : float
        How many more would be right, on balance, were clusters merged as answers say, and how many
        if the answers about pairs apart were shuffled.
    alone : float
        Wrong ones under the partition that was found to suit the answers best, the data left aside.
    remedies : str
    """

    finding: str
    answers: int
    wrong: int
    expected: float
    reconciled: float
    chance: float
    alone: float
    remedies: str

    def __str__(self) -> str:
        opening = f"the fit violates {self.wrong} of {self.answers} pairwise constraints"
        if self.finding == "data against constraints":
            return (
                f"Data and constraints conflict: {opening}, and with clusters merged {self.reconciled:.0f} more of them "
                f"would be right, where {self.chance:.0f} would by chance. The constraints agree with each other; what does not "
                f"fit is the shape that clusters are given. What to do: {self.remedies}."
            )
        if self.finding == "constraints against each other":
            return (
                f"The constraints contradict each other: {opening}, where {self.expected:.0f} were expected, and even a "
                f"partition made for the constraints alone leaves {self.alone:.0f} of them wrong. The sources are at fault "
                "rather than the model; source_reliability tells which."
            )
        if self.finding == "undecided":
            return (
                f"Violated constraints: {opening}, where {self.expected:.0f} were expected, and a partition made for the "
                f"constraints alone leaves {self.alone:.0f} of them wrong: too few are about the same items to tell whether the "
                f"sources are at fault or the shape that clusters are given. See leave_view_out; {self.remedies}."
            )
        return ""


def dismissal(posterior: Any, *, seed: int = 0) -> Dismissal | None:
    """Judge the answers about pairs that a fit holds to be wrong.

    A model whose clusters have the wrong shape splits classes, and then dismisses the answers that
    hold them together. Such answers name the same few pairs of clusters again and again, while
    wrong ones are about any pairs: merging clusters would make more of them right than of shuffled
    answers. Sources that are bad in truth contradict themselves under every partition, if they were
    asked often enough about the same items.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    seed : int, default 0
        Of the shuffling.

    Returns
    -------
    Dismissal or None
        None where there are no answers about pairs, or only an array of partitions.

    Notes
    -----
    The partition judged is the draw of largest log joint, or the last where that was not kept.
    Merges are found by contracting the pair with the most answers "same" beyond "different", again
    and again (greedy correlation clustering).

    Examples
    --------
    Two classes of which a fit makes ten clusters:

    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> y = np.repeat([0, 1], 50)
    >>> links = bc.PairwiseConstraints.sample(y, size=300, error_rate=0.05, seed=0)
    >>> dismissal(to_datatree({"z": np.arange(100)[None, None] // 10}, constraints=[links])).finding
    'data against constraints'
    >>> dismissal(to_datatree({"z": y[None, None]}, constraints=[links])).finding
    'as expected'
    """
    tree = getattr(posterior, "posterior_", posterior)
    if is_array(tree) or "constant_data" not in tree.children:
        return None
    views = [view for view in stored_views(posterior) if view.kind == "pairwise" and len(view)]
    if not views:
        return None
    z = _most_probable(posterior)
    items, said = (
        np.concatenate([view.items for view in views]),
        np.concatenate([view.answers for view in views]) == 1,
    )
    together = z[items[:, 0]] == z[items[:, 1]]
    reconciled, chance, spread = _merges(
        z[items[~together]], said[~together], np.random.default_rng(seed)
    )
    wrong, split = int((said != together).sum()), int((said & ~together).sum())
    alone = float(said.sum()) - won_by_merging(items, 2.0 * said - 1)
    expected = sum(_expected(view, z) for view in views)
    beyond = reconciled - chance
    finding = "as expected"
    if (
        split >= max(FEWEST, LEAST_SHARE * said.sum())
        and beyond >= RECONCILED * split
        and beyond >= STANDARD_ERRORS * spread
    ):
        finding = "data against constraints"
    elif wrong - expected > max(
        MARGIN * len(said), ERRORS * np.sqrt(max(expected * (1 - expected / len(said)), 0.0))
    ):
        finding = "constraints against each other" if 2 * alone >= wrong else "undecided"
    return Dismissal(
        finding, len(said), wrong, expected, reconciled, chance, alone, _remedies(tree)
    )


def won_by_merging(pairs: IntArray, weight: FloatArray) -> float:
    """Sum of the weights of the pairs that greedy contraction brings together.

    Parameters
    ----------
    pairs : ndarray of shape (m, 2)
        Nodes; a pair may occur more than once, and of one node with itself counts for nothing.
    weight : ndarray of shape (m,)
        What is won by bringing a pair together.

    Returns
    -------
    float

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
    z, log_joint = chain_partitions(posterior), log_joints(posterior)
    stacked = z.reshape(-1, z.shape[-1])
    best: Labels = stacked[-1 if log_joint is None else int(np.nanargmax(log_joint))]
    return best


def _merges(clusters: IntArray, said: Any, rng: np.random.Generator) -> tuple[float, float, float]:
    """Won by merging clusters, the mean of that over shuffled answers, and its standard deviation."""
    if not len(said):
        return 0.0, 0.0, 0.0
    clusters = np.sort(clusters, axis=1)
    kinds, kind = np.unique(clusters, axis=0, return_inverse=True)

    def won(answers: Any) -> float:
        return won_by_merging(kinds, np.bincount(kind.ravel(), weights=2.0 * answers - 1))

    shuffled = np.array([won(rng.permutation(said)) for _ in range(SHUFFLES)])
    return won(said), float(shuffled.mean()), float(shuffled.std())


def _expected(view: StoredConstraints, z: Labels) -> float:
    """Wrong answers to expect by the means of the noise's prior; nan where it was not kept."""
    same = float((view.truths(z) == 1).sum())
    p, q = (view.prior.get(name, np.nan) for name in ("p", "q"))
    return float(same * (1 - p) + (len(view) - same) * (1 - q))


def _remedies(tree: Any) -> str:
    """What the fit has not tried yet, by its settings."""
    settings = json.loads(tree.attrs.get("settings", "{}"))
    settings = settings if isinstance(settings, dict) else {}
    family, view = settings.get("family", "gaussian"), settings.get("cluster_model", "single")
    columns = (
        tree["observed_data"].sizes.get("feature", 0) if "observed_data" in tree.children else 0
    )
    tries = []
    if view == "single":
        tries.append(
            'cluster_model="mixture", clusters of several components, or cluster_model="auto", which compares models by the answers'
        )
    if view != "auto" and settings.get("power") is None:
        tries.append("power=0.25 or less, so that the data outweigh the answers less")
    if str(family).startswith("gaussian") and family != "gaussian_tied" and columns > MANY_COLUMNS:
        tries.append(f'family="gaussian_tied", one covariance for {columns} columns')
    if str(family).startswith("gaussian"):
        tries.append('family="mixed", where describe_columns finds columns that are not continuous')
    return (
        "; ".join(["try " + tries[0], *tries[1:]])
        if tries
        else "leave_view_out tells what each side says by itself"
    )
