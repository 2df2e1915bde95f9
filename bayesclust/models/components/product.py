"""Mixed columns with all parameters in hand: the rows, statistics and terms of the parts, one part after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from bayesclust.models.components.base import Components, Terms
from bayesclust.typing import FloatArray


def _split(values: Terms, widths: Sequence[int]) -> Iterator[Terms]:
    """Each part's share of a flat tuple."""
    for end, width in zip(accumulate(widths), widths, strict=True):
        yield tuple(values[end - width : end])


@dataclass(frozen=True)
class ProductComponents(Components):
    """Independent parts; `parameters` splits the hyper-parameters among them.

    Parameters
    ----------
    parts : tuple of Components
    n_statistics, n_terms : tuple of int
        How many arrays each part has. The first of each part's statistics are the total weights.
    """

    parts: tuple[Components, ...]
    n_statistics: tuple[int, ...]
    n_terms: tuple[int, ...]

    @classmethod
    def of(
        cls,
        parts: Sequence[Components],
        hypers: Sequence[FloatArray],
        parameters: Callable[[FloatArray], Any],
    ) -> Self:
        """Put parts together; `hypers`, any possible hyper-parameters of each, serve to count its terms."""
        one = [
            part.statistics(np, tuple(row[:1] for row in part.rows), np.ones((1, 1)))
            for part in parts
        ]
        terms = [
            part.expected(own, hyper) for part, own, hyper in zip(parts, one, hypers, strict=True)
        ]
        rows = tuple(row for part in parts for row in part.rows)
        return cls(rows, parameters, tuple(parts), tuple(map(len, one)), tuple(map(len, terms)))

    def _rows(self, rows: Terms) -> Iterator[Terms]:
        return _split(rows, [len(part.rows) for part in self.parts])

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        pairs = zip(self.parts, self._rows(rows), strict=True)
        return tuple(total for part, own in pairs for total in part.statistics(xp, own, weight))

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        triples = zip(self.parts, self._rows(rows), _split(terms, self.n_terms), strict=True)
        return sum(part.log_density(xp, own, its) for part, own, its in triples)

    def draw(self, statistics: Terms, hyper: FloatArray, rng: Generator) -> Terms:
        drawn = (part.draw(own, its, rng) for part, own, its in self._given(statistics, hyper))
        return tuple(term for terms in drawn for term in terms)

    def expected(self, statistics: Terms, hyper: FloatArray) -> Terms:
        terms = (part.expected(own, its) for part, own, its in self._given(statistics, hyper))
        return tuple(term for its in terms for term in its)

    def log_marginal(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        values = [part.log_marginal(own, its) for part, own, its in self._given(statistics, hyper)]
        return np.asarray(np.sum(values, axis=0))

    def _given(
        self, statistics: Terms, hyper: FloatArray
    ) -> Iterator[tuple[Components, Terms, FloatArray]]:
        return zip(
            self.parts, _split(statistics, self.n_statistics), self.parameters(hyper), strict=True
        )
