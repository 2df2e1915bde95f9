"""The partition that best stands for a posterior: least posterior expected loss, found by the SALSO algorithm."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from bayesclust._memory import check_memory
from bayesclust.checks import check_int, check_random_state
from bayesclust.posterior import _search
from bayesclust.posterior._exact import best_of_all
from bayesclust.posterior._ratios import ratio_problem
from bayesclust.posterior._tables import additive_problem
from bayesclust.posterior.labels import Labels, canonical
from bayesclust.posterior.losses import AdditiveLoss, Loss, RatioLoss, as_loss
from bayesclust.posterior.tree import stacked_partitions
from bayesclust.typing import IntArray, Seed

__all__ = ["point_estimate"]

ATTEMPTS = 10
"""Clusters destroyed and rebuilt per run, as in the R package salso."""
ORDERS = 4
"""Random orders of the items per run."""
EXACT_BY_DEFAULT = 7
EXACT_AT_MOST = 10


def point_estimate(
    posterior: Any,
    loss: str | Loss = "vi",
    *,
    n_runs: int = 16,
    max_clusters: int = 0,
    seed: Seed = 0,
    n_jobs: int | None = None,
    exact: bool | None = None,
) -> IntArray:
    """Return the partition of least posterior expected loss that a stochastic search finds.

    The search is SALSO (Dahl, Johnson and Müller 2022): items are allocated one by one in random
    order, each where it costs least; then visited again until none would move ("sweetening"); then
    clusters are destroyed and their items allocated anew, where that lowers the loss ("zealous
    updates"). Several runs, the best one wins, and gets zealous updates for as long as they help.
    Every second run starts from a draw of the posterior instead of from nothing. No n x n matrix is
    formed: a pass over the items takes O(n K draws) time, and memory is 4 n draws bytes plus 12 K
    bytes for every cluster of every draw.

    Parameters
    ----------
    posterior : DataTree, estimator or (draws, n) array of int
        Posterior draws of the partition: what a sampler returned, a fitted estimator, or labels.
    loss : str or Loss, default "vi"
        "vi" (variation of information), "binder", "omari" (one minus the adjusted Rand index),
        "nvi", "id", "nid" (see `bayesclust.losses`), or a value such as ``losses.VI(a=0.5)``. VI is
        the default since Binder's loss tends to leave small spurious clusters (Wade and Ghahramani
        2018). Under the losses that are ratios (the last four) a visit prices whole sums anew, and
        the search takes several times longer.
    n_runs : int, default 16
        Independent searches; 16 is the R package's default.
    max_clusters : int, default 0
        The estimate has no more clusters than this; 0 stands for the largest number in any draw.
    seed : int, Generator or None, default 0
        The same integer gives the same estimate, whatever `n_jobs` is.
    n_jobs : int or None, default None
        Threads; None takes one per processor.
    exact : bool or None, default None
        Go through all partitions instead (at most 10 items); None does so up to 7 items.

    Returns
    -------
    (n,) array of int64
        Labels 0 .. K-1 in order of first appearance. What they cost is
        ``losses.VI().expected(labels, draws)``.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, the loss is unknown, a count is not positive, or exact
        is asked for more than 10 items.

    Examples
    --------
    >>> draws = [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]
    >>> point_estimate(draws)
    array([0, 0, 1, 1])
    >>> point_estimate(draws, loss="binder", max_clusters=1)
    array([0, 0, 0, 0])
    """
    value = as_loss(loss)
    draws = stacked_partitions(posterior)
    check_int(n_runs, "n_runs")
    limit = check_int(max_clusters, "max_clusters", least=0) or int(draws.max()) + 1
    workers = os.cpu_count() or 1 if n_jobs is None else check_int(n_jobs, "n_jobs")
    n = draws.shape[1]
    if exact and n > EXACT_AT_MOST:
        raise ValueError(
            f"exact goes through all partitions of at most {EXACT_AT_MOST} items; got {n}: leave it out."
        )
    limit = min(limit, n)
    if exact or (exact is None and n <= EXACT_BY_DEFAULT):
        labels = best_of_all(draws, value, limit)
    else:
        sizes = int(draws.max(axis=1).sum()) + len(draws)
        check_memory(
            4 * draws.size + 12 * int(draws.max() + 1) * sizes,
            f"the search over {len(draws):,} draws of {n:,} items",
            "pass fewer draws, for instance every tenth",
        )
        problem = make_problem(draws, value, limit)
        generators = check_random_state(seed).spawn(n_runs)
        searches = [
            _Search(problem, draws, rng, from_draw=run % 2 == 1)
            for run, rng in enumerate(generators)
        ]
        with ThreadPoolExecutor(min(workers, n_runs)) as pool:
            found = list(pool.map(_Search.run, searches))
        labels = searches[0].polish(min(found, key=lambda result: result[1])[0])
    return canonical(labels).astype(np.int64)


class _Search(NamedTuple):
    """One run, with all the randomness it needs."""

    problem: Any
    draws: Labels
    rng: np.random.Generator
    from_draw: bool

    def run(self) -> tuple[Labels, Any]:
        """Return labels and objective."""
        start = np.full(self.draws.shape[1], -1, dtype=np.int32)
        if self.from_draw:
            draw = self.draws[self.rng.integers(len(self.draws))]
            if draw.max() < self.problem.limit:
                start = draw.astype(np.int32)
        labels, objective = _search.run(self.problem, start, self.orders(), ATTEMPTS, False)
        return labels, objective

    def polish(self, labels: Labels) -> Labels:
        """Rebuild clusters of the best run for as long as any of them gains."""
        better: Labels = _search.run(self.problem, labels, self.orders(), len(labels), True)[0]
        return better

    def orders(self) -> IntArray:
        """Return random orders of the items."""
        n = self.draws.shape[1]
        return np.stack([self.rng.permutation(n) for _ in range(ORDERS)])


def make_problem(draws: Labels, loss: Loss, limit: int) -> Any:
    """Put canonical draws (B, n) and a loss into the tables of the search."""
    if isinstance(loss, AdditiveLoss):
        return additive_problem(draws, loss, limit)
    if isinstance(loss, RatioLoss):
        return ratio_problem(draws, loss, limit)
    raise TypeError(
        f"the search knows no steps for {loss!r}: make it an AdditiveLoss or a RatioLoss, or pass exact=True."
    )
