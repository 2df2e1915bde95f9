"""The protocol of a noise model.

Every noise model says the same kind of thing: an answer depends on the partition only through the
*true* answer, by a confusion matrix C[truth, answer] of each source. What differs is the shape of C
and its conjugate prior.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from bayesclust.constraints._conjugate import TINY
from bayesclust.typing import ArrayLike, Counts, FloatArray, IntArray, Params


class DirichletRows(NamedTuple):
    """The answers of one source as draws from independent rows of probabilities, each with a Dirichlet prior."""

    weights: tuple[tuple[float, ...], ...]
    """Prior weights, row by row; kinds of answers are numbered through."""
    kind: IntArray
    """(truth, answer): the kind that an answer is of under a truth, or -1 where its probability is known."""
    log_factor: FloatArray
    """(truth, answer): logarithm of what its probability is beyond that of its kind, or of all of it."""


@cache
def _truths(truth: tuple[int, ...], n_answers: int) -> IntArray:
    """1 where a pattern, by row, has this true answer."""
    table: IntArray = (np.array(truth)[:, None] == np.arange(n_answers)).astype(np.int64)
    return table


class NoiseModel(ABC):
    """Distribution of the answers of S sources given the true answers, with its prior.

    Parameters travel as a dict of arrays, in which the axis of sources comes first after any batch
    axes. A table of counts has one row per source and answer, in the order source * n_answers +
    answer, and one column per equality pattern; batch axes may come before. Counts may be soft:
    expected numbers, as floats, where labels are uncertain.

    Attributes
    ----------
    kind : str
        The kind of view the model speaks of.
    truth : tuple of int
        The true answer under each equality pattern.
    n_answers : int
        Number of possible answers.
    parameters : dict of str to tuple of str
        The parameters and the dimensions of each.
    free : tuple of str
        Those that are sampled; the others keep a given value.
    """

    kind: ClassVar[str]
    truth: ClassVar[tuple[int, ...]]
    n_answers: ClassVar[int]
    parameters: ClassVar[dict[str, tuple[str, ...]]]

    @property
    @abstractmethod
    def free(self) -> tuple[str, ...]:
        """Names of the parameters that are sampled."""

    @abstractmethod
    def initial(self, n_sources: int) -> Params:
        """Return the prior means, or the known values, for `n_sources` sources."""

    @abstractmethod
    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        """Return p(answer | truth), shape (..., S, truth, answer)."""

    @abstractmethod
    def draw(
        self, counts: Counts, params: Mapping[str, ArrayLike], rng: np.random.Generator
    ) -> Params:
        """Draw the free parameters from their conjugate posterior given the counts, and keep the others."""

    @abstractmethod
    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        """Return the log prior density of the free parameters, summed over sources: float, or (...) array."""

    @abstractmethod
    def log_marginal(self, counts: Counts) -> Any:
        """Return log p(answers | partition), the free parameters integrated out: float, or (...) array."""

    @abstractmethod
    def expected_log_confusion(self, counts: Counts) -> FloatArray:
        """Return E[log p(answer | truth)] under the conjugate posterior given the counts, (..., S, truth, answer)."""

    def dirichlet_rows(self) -> DirichletRows | None:
        """Return what `log_marginal` integrates out as rows with Dirichlet priors, or None where it is something else.

        Compiled samplers integrate such rows out themselves. A subclass that writes `log_marginal`
        anew says its rows anew.
        """
        return None

    def expected_log_table(self, counts: Counts, n_sources: int) -> FloatArray:
        """Return E_q[log p(answer | pattern)], q the conjugate posterior of the parameters given (soft) counts.

        What mean-field updates need of the noise. It is the gradient of `log_marginal` by the
        counts.

        Parameters
        ----------
        counts : (..., n_sources * n_answers, n_patterns) array
            Numbers of answers under each pattern, whole or expected ones.
        n_sources : int

        Returns
        -------
        (..., n_sources * n_answers, n_patterns) array of float
            In nats; known values stand for themselves, zero as the smallest normal double.

        Raises
        ------
        ValueError
            If the counts do not have one row per source and answer.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesclust.constraints import LinkNoise
        >>> LinkNoise(p=0.9, q=(4, 1)).expected_log_table(np.array([[0, 2.5], [0, 1.5]]), n_sources=1).round(3)
        array([[-2.303, -0.348],
               [-0.105, -1.437]])
        """
        rows = np.shape(counts)[-2]
        if rows != n_sources * self.n_answers:
            raise ValueError(
                f"counts must have n_sources * n_answers = {n_sources * self.n_answers} rows; got {rows}: "
                "pass one row per source and answer."
            )
        return self._by_pattern(self.expected_log_confusion(counts))

    def predictive(self, counts: Counts) -> FloatArray:
        """Return p(next answer | truth, answers so far), the free parameters integrated out.

        It is the ratio of `log_marginal` with and without that answer: the posterior mean of
        `confusion`.

        Parameters
        ----------
        counts : (..., n_sources * n_answers, n_patterns) array
            Numbers of answers so far under each pattern.

        Returns
        -------
        (..., S, truth, answer) array of float

        Examples
        --------
        >>> import numpy as np
        >>> from bayesclust.constraints import LinkNoise
        >>> LinkNoise(p=0.9, q=(4, 1)).predictive(np.array([[0, 2], [0, 1]]))  # q: 6 of 8
        array([[[0.75, 0.25],
                [0.1 , 0.9 ]]])
        """
        so_far: Any = np.asarray(counts)
        before, number = self.log_marginal(so_far), so_far.shape[-2] // self.n_answers
        out = np.empty((*so_far.shape[:-2], number, self.n_answers, self.n_answers))
        for source, truth, answer in np.ndindex(out.shape[-3:]):
            further = so_far.copy()
            further[..., source * self.n_answers + answer, self.truth.index(truth)] += 1
            out[..., source, truth, answer] = np.exp(self.log_marginal(further) - before)
        return out

    def sample_prior(self, n_sources: int, rng: np.random.Generator) -> Params:
        """Draw the free parameters of `n_sources` sources from the prior, beside the known values of the others."""
        no_answers = np.zeros((n_sources * self.n_answers, len(self.truth)), dtype=np.int64)
        return self.draw(no_answers, self.initial(n_sources), rng)

    def log_table(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        """Return log p(answer | pattern), shape (..., S * n_answers, n_patterns).

        A probability of zero is taken as the smallest normal double (-708 nats), so that the
        difference of two all but impossible partitions stays finite and tells which breaks more
        answers.
        """
        return self._by_pattern(np.log(np.maximum(self.confusion(params), TINY)))

    def _by_pattern(self, log_confusion: FloatArray) -> FloatArray:
        """Lay (..., S, truth, answer) out as (..., S * n_answers, n_patterns)."""
        table = np.swapaxes(log_confusion.take(self.truth, axis=-2), -1, -2)
        return table.reshape(*table.shape[:-3], -1, len(self.truth))

    def fold(self, counts: Counts) -> Counts:
        """Sum counts (..., S * n_answers, n_patterns) over patterns of one truth: (..., S, truth, answer)."""
        tables: Any = np.asarray(counts)
        by_source = tables.reshape(*tables.shape[:-2], -1, self.n_answers, len(self.truth))
        return cast(
            "Counts", np.swapaxes(by_source @ _truths(tuple(self.truth), self.n_answers), -1, -2)
        )


__all__ = ["DirichletRows", "NoiseModel"]
