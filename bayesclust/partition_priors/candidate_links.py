"""Clusters that candidates link: the distance dependent process of Blei and Frazier (2011)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesclust import checks as check
from bayesclust._numba import device, kernel
from bayesclust.constraints.factor_graph import Rows, item_graph
from bayesclust.partition_priors.base import Parameter, PartitionPrior, Values
from bayesclust.typing import FloatArray, IntArray, Seed

WARMUP, THINNING = 50, 5
"""Sweeps over the links before the first draw of the prior, and from one draw to the next."""


@dataclass(frozen=True, eq=False)
class CandidateLinks(PartitionPrior):
    """Clusters are connected by candidate pairs, such as those that a blocking step has found.

    For entity resolution. Item i, which has d_i candidates, links to one of them with probability
    1 / (alpha + d_i) each, or to itself with alpha / (alpha + d_i). Clusters are what the links
    connect: pairs that are no candidates are together only by way of others, and each of these is a
    pair that the search has missed, which happens with probability 1 - recall. The sampler
    draws the links one by one and so moves whole parts of clusters; a sweep costs as much as there
    are candidates, however many items and clusters there are.

    Parameters
    ----------
    pairs : (k, 2) array of int
        Two different items each; a pair that is given twice counts once.
    n_items : int
        Number of items, which are numbered from 0.
    concentration : float or (shape, rate), default (1.0, 1.0)
        alpha, or its Gamma prior: an item with alpha candidates is as probably linked to one of
        them as to itself, before missed pairs are counted, which make alpha larger and clusters
        smaller.
    recall : float in [0, 1), default 0.3
        Probability that the search finds a pair of one cluster, with which each pair within a
        cluster that is no candidate counts against it. The default is low, since keys that miss
        one pair of a record miss others too; 0 leaves such pairs out.

    Notes
    -----
    Only ``TVClust(sampler="collapsed")`` has this prior, of clusters of one component, and nothing
    is said of new items. `Microclustering` is of any partition; with thousands of clusters a given
    pair is then so improbable a priori that scores of candidates alone do not outweigh it.

    References
    ----------
    Blei and Frazier: Distance Dependent Chinese Restaurant Processes. JMLR 12, 2011, Eq. 2, with a
    decay that is 1 for candidates and else 0, and links in both directions.

    Examples
    --------
    >>> import bayesclust as bc
    >>> pairs = [(0, 1), (0, 2), (1, 2), (5, 6), (0, 4), (1, 5), (2, 3), (3, 4)]
    >>> scores = [0.99, 0.97, 0.98, 0.96, 0.12, 0.08, 0.05, 0.1]
    >>> links = bc.partition_priors.CandidateLinks(pairs, n_items=7)
    >>> est = bc.TVClust(partition_prior=links, random_state=0, progress=False)
    >>> scored = bc.PairwiseConstraints.from_scores(pairs, scores, n_items=7)
    >>> est.fit(None, constraints=scored).labels_[:3]
    array([0, 0, 0])
    """

    pairs: Any = field(repr=False)
    n_items: int = 0
    concentration: Any = (1.0, 1.0)
    recall: float = 0.3

    restricts: ClassVar[bool] = False
    exchangeable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        n = check.check_int(self.n_items, "n_items")
        check.number_between(self.recall, "recall", "[0, 1)")
        object.__setattr__(self, "pairs", check.item_tuples(self.pairs, 2, n, "pairs"))
        super().__post_init__()

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return {"concentration": Parameter.parse(self.concentration, "concentration")}

    @cached_property
    def candidates(self) -> Rows:
        """The candidates of each item."""
        return item_graph([self.pairs], self.n_items)

    @cached_property
    def _degrees(self) -> tuple[IntArray, IntArray]:
        return np.unique(np.diff(self.candidates.start), return_counts=True)

    def check_use(self, n_items: int, *, collapsed: bool, mixture: bool, moves: bool) -> None:
        if not collapsed or mixture or moves:
            raise ValueError(
                "the prior CandidateLinks is for sampler='collapsed' and clusters of one "
                "component, and has moves of its own: leave sampler, cluster_model and moves as "
                "they are by default."
            )
        if self.n_items != n_items:
            raise ValueError(
                f"the candidates are of {self.n_items} items, but there are {n_items}: make "
                "CandidateLinks for these items."
            )

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        raise ValueError(
            "the prior CandidateLinks depends on which items are together, not on sizes alone: it "
            "has no formula for a partition by itself, and none for new items."
        )

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        return self.log_w(n, values)

    def log_prob(self, sizes: IntArray, values: Values) -> float:
        """log p(links | parameters) and of pairs missed, from two counts in place of sizes.

        Of items that link to themselves, and of pairs within clusters that are no candidates.
        """
        alpha = values["concentration"]
        degree, times = self._degrees
        alone, missed = sizes.tolist()
        value = alone * np.log(alpha) - (times * np.log(alpha + degree)).sum()
        return float(value + missed * np.log1p(-self.recall))

    def log_marginal(self, sizes: IntArray) -> float:
        return float(self.log_w(sizes, {}))

    def sample(self, n: int, values: Values, rng: Generator, number: int | None = None) -> IntArray:
        """Labels (n,) of parts that drawn links connect, or (number, n) of several partitions."""
        if n != self.n_items:
            self.log_w(np.zeros(0, np.int64), values)
        drawn = self._draws(values, rng, learn=False)
        labels = np.stack([z for _, z in islice(drawn, number or 1)])
        return labels[0] if number is None else labels

    def sample_prior(self, rng: Generator) -> dict[str, float]:
        return next(self._draws(self.initial(), rng, learn=True))[0]

    def simulate(self, n: int, num_draws: int = 1000, seed: Seed = 0) -> IntArray:
        if n != self.n_items:
            self.log_w(np.zeros(0, np.int64), {})
        number = check.check_int(num_draws, "num_draws")
        drawn = self._draws(self.initial(), check.check_random_state(seed, "seed"), learn=True)
        return np.stack([z for _, z in islice(drawn, number)])

    def _draws(
        self, values: Values, rng: Generator, *, learn: bool
    ) -> Iterator[tuple[dict[str, float], IntArray]]:
        """Parameters, drawn anew if they are to be learned, and labels, by Gibbs sampling."""
        # imported here: few need it
        from bayesclust.constraints.entailment import must_link_components

        every, log_missed, code = np.arange(self.n_items), np.log1p(-self.recall), 1
        links, mark, found = every.copy(), np.zeros_like(every), dict(values)
        for sweep in count(-WARMUP):
            uniform = rng.random(len(links))
            code = _redraw(
                self.candidates, links, found["concentration"], log_missed, uniform, mark, code
            )
            if learn:  # pairs missed say nothing of alpha, given the links
                alone = np.array([(links == every).sum(), 0])
                found = self.update(found, [alone], rng)
            if sweep >= 0 and sweep % THINNING == 0:
                yield found, must_link_components(np.c_[every, links], len(links))


@device(no_refcount=True)
def gather(near: Rows, links: IntArray, i: int, mark: IntArray, code: int, queue: IntArray) -> int:
    """Write the items that links connect with item i into the queue; returns how many."""
    mark[i] = code
    queue[0] = i
    done = 0
    number = 1
    while done < number:
        a = queue[done]
        done += 1
        for e in range(near.start[a], near.start[a + 1]):
            b = near.value[e]
            if mark[b] != code and (links[a] == b or links[b] == a):
                mark[b] = code
                queue[number] = b
                number += 1
    return number


@kernel
def _redraw(
    near: Rows,
    links: IntArray,
    alpha: float,
    log_missed: float,
    uniform: FloatArray,
    mark: IntArray,
    code: int,
) -> int:
    """Draw the link of each item given all others and no data; returns a code to mark with next."""
    n = len(links)
    queue = np.zeros(n, np.int64)
    joined, total = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        links[i] = i
        own, size = code, gather(near, links, i, mark, code, queue)
        joined[0] = 1.0
        total[0] = alpha
        first = near.start[i]
        degree = near.start[i + 1] - first
        for e in range(degree):
            j = near.value[first + e]
            if mark[j] < own:  # of a cluster that was not met before
                code += 1
                number = gather(near, links, j, mark, code, queue)
                missed = size * number
                for b in queue[:number]:
                    for f in range(near.start[b], near.start[b + 1]):
                        missed -= mark[near.value[f]] == own
                joined[code - own] = np.exp(log_missed * missed)
            total[e + 1] = total[e] + joined[mark[j] - own]
        chosen = np.searchsorted(total[: degree + 1], uniform[i] * total[degree], side="right")
        if 0 < chosen <= degree:
            links[i] = near.value[first + chosen - 1]
        code += 1
    return code
