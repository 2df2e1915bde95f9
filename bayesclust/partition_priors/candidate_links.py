"""Clusters that candidates link: the distance dependent process of Blei and Frazier (2011)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from bayesclust import checks as check
from bayesclust.constraints.factor_graph import Rows, item_graph
from bayesclust.partition_priors.base import Parameter, PartitionPrior, Values
from bayesclust.typing import FloatArray, IntArray


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
        them as to itself.
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
        return {
            "concentration": Parameter.parse(self.concentration, "concentration"),
        }

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
        # imported here: few need it
        from bayesclust.constraints.entailment import must_link_components

        start, value = self.candidates
        degree = np.diff(start)
        labels = np.empty((number or 1, n), np.int64)
        for row in labels:
            drawn = (rng.random(n) * (values["concentration"] + degree)).astype(np.int64)
            linked = np.flatnonzero(drawn < degree)
            row[:] = must_link_components(np.c_[linked, value[start[linked] + drawn[linked]]], n)
        return labels[0] if number is None else labels
