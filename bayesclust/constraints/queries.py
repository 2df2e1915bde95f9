"""Hard queries, on which all annotators err alike.

A query is a pair or triplet, in the order of its items, with the answers of everybody who was asked
it. It is hard with probability pi, and annotators answer a hard one by one confusion matrix H,
which all share, in place of their own C_s. Given the truth t,

    p(answers | t) = (1 - pi) prod_r C_{s_r}[t, a_r] + pi prod_r H[t, a_r]

with pi and the rows of H learned under Beta and Dirichlet priors: of hard queries each answer is a
priori as likely as any other, whatever is true. A query whose answers say nothing (Whitehill et
al., GLAD, NIPS 2009, at infinite difficulty) is the prior mean of a hard one. Which queries are
hard is summed out wherever the partition moves, and drawn for the conjugate draw of pi, H and C
alone. So to samplers a query is one factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array
from scipy.special import expit, logit

from bayesclust.constraints.base import ByPattern, Constraints, Needs, Reading, draw_answers
from bayesclust.constraints.entailment import by_first
from bayesclust.constraints.noise import (
    ALMOST_ONE,
    TINY,
    ConfusionNoise,
    DirichletNoise,
    LinkNoise,
    NoiseModel,
    UniformNoise,
    may_be_hard,
)
from bayesclust.typing import ArrayLike, Counts, FloatArray, IntArray, Params

HARD = "hard_"
SHARE = "hard_share"
CHANCE: dict[type[DirichletNoise], dict[str, Any]] = {
    LinkNoise: {"p": (5.0, 5.0), "q": (5.0, 5.0)},
    UniformNoise: {"eps": (20 / 3, 10 / 3)},
    ConfusionNoise: {"prior": np.full((3, 3), 10 / 3), "matrix": None},
}
"""Priors of the noise of hard queries, which weigh as much as ten answers."""


def _with_source(value: ArrayLike, dims: tuple[str, ...]) -> FloatArray:
    """A parameter of hard queries, as that of one source."""
    return np.expand_dims(np.asarray(value, np.float64), -len(dims))


def confusion_of(noise: NoiseModel, params: Mapping[str, ArrayLike]) -> FloatArray:
    """p(answer | truth) of annotators, (..., S, truth, answer), plus two if queries may be hard."""
    # The two: hard queries' matrix, and one whose first two columns are 1 - pi and pi.
    table = noise.confusion({name: params[name] for name in noise.parameters})
    if SHARE not in params:
        return table
    own = {name: _with_source(params[HARD + name], dims) for name, dims in noise.parameters.items()}
    hard = noise.confusion(own)
    shares = np.zeros_like(hard)
    shares[..., 1] = np.asarray(params[SHARE])[..., None, None]
    shares[..., 0] = 1 - shares[..., 1]
    return np.concatenate([table, hard, shares], axis=-3)


def asked_alone(confusion: FloatArray, n_sources: int) -> FloatArray:
    """p(answer | truth), (..., S, truth, answer), of queries that one annotator alone answers."""
    if confusion.shape[-3] == n_sources:
        return confusion
    share = confusion[..., -1:, :1, 1:2]
    return np.asarray((1 - share) * confusion[..., :-2, :, :] + share * confusion[..., -2:-1, :, :])


def draw_sources(view: Any, confusion: FloatArray, query: IntArray, rng: Generator) -> IntArray:
    """The matrix of each answer, (m,): that of hard queries, if its query is drawn hard."""
    # `confusion` (..., truth, answer) is of one draw, and `query` (m,) numbers the queries.
    if len(confusion) == view.n_sources:
        return np.asarray(view.source)
    is_hard = rng.random(int(query.max(initial=-1)) + 1) < confusion[-1, 0, 1]
    return np.where(is_hard[query], view.n_sources, view.source)


def numbered_queries(items: IntArray) -> IntArray:
    """Number of each row's query, (m,), in the order in which they first come."""
    return by_first(items, axis=0)[1]


def _total(matrix: csr_array, values: Any) -> Any:
    """Sums matrix @ values over the last axis but one of values (..., k, P)."""
    columns = np.moveaxis(np.asarray(values), -2, 0)
    found = matrix @ columns.reshape(len(columns), -1)
    return np.moveaxis(found.reshape(-1, *columns.shape[1:]), 0, -2)


@dataclass(frozen=True, eq=False)
class QueryNoise(NoiseModel):
    """Noise of the answers to each query together; tables have a row for each query."""

    # parameters of hard queries have no axis of sources

    own: DirichletNoise = field(default_factory=LinkNoise)
    query: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))  # (m,) of each answer
    codes: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))  # (m,) source, answer
    n_sources: int = 1

    kind: ClassVar[str] = "queries"
    truth: ClassVar[tuple[int, ...]] = ()
    n_answers: ClassVar[int] = 1
    parameters: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        own = self.own.parameters
        hard = {HARD + name: dims[1:] for name, dims in own.items()}
        object.__setattr__(self, "kind", self.own.kind)
        object.__setattr__(self, "truth", self.own.truth)
        object.__setattr__(self, "parameters", own | {SHARE: ()} | hard)

    @cached_property
    def hard(self) -> DirichletNoise:
        """The noise of hard queries, as that of one source."""
        prior = next(given for kind, given in CHANCE.items() if isinstance(self.own, kind))
        own: Any = self.own
        found: DirichletNoise = replace(own, pooled=False, hard=None, **prior)
        return found

    @property
    def share(self) -> Any:
        """The Beta weights of pi, or its known value."""
        return self.own.hard

    @cached_property
    def _answers(self) -> tuple[csr_array, csr_array]:
        """Times that each query got each answer, of each annotator (U, S * A) and of all (U, A)."""
        A = self.own.n_answers
        shape = int(self.query.max(initial=-1)) + 1, self.n_sources * A
        ones = np.ones(len(self.query), np.int64)
        easy = csr_array((ones, (self.query, self.codes)), shape)
        return easy, csr_array((ones, (self.query, self.codes % A)), (shape[0], A))

    @property
    def free(self) -> tuple[str, ...]:
        learned = () if isinstance(self.share, float) else (SHARE,)
        return (*self.own.free, *learned, *(HARD + name for name in self.hard.free))

    def initial(self, n_sources: int) -> Params:
        share = self.share if isinstance(self.share, float) else self.share[0] / sum(self.share)
        hard = {HARD + name: own[0] for name, own in self.hard.initial(1).items()}
        return self.own.initial(self.n_sources) | {SHARE: np.array(share)} | hard

    def confusion(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return confusion_of(self.own, params)

    def _of_hard(self, params: Mapping[str, ArrayLike]) -> Params:
        dims = self.own.parameters
        return {name: _with_source(params[HARD + name], dims[name]) for name in dims}

    def _log_parts(self, params: Mapping[str, ArrayLike]) -> tuple[FloatArray, FloatArray]:
        """log p(easy, answers | pattern) and log p(hard, answers | pattern), (..., U, P) each."""
        share = np.asarray(params[SHARE])[..., None, None]
        easy, hard = self._answers
        log_easy = _total(easy, self.own.log_table(params))
        log_hard = _total(hard, self.hard.log_table(self._of_hard(params)))
        return np.log1p(-share) + log_easy, np.log(share) + log_hard

    def log_table(self, params: Mapping[str, ArrayLike]) -> FloatArray:
        return np.asarray(np.logaddexp(*self._log_parts(params)))

    def draw_hard(
        self, counts: Counts, params: Mapping[str, ArrayLike], rng: Generator
    ) -> IntArray:
        """Draw which queries are hard, (..., U), given the pattern of each; none that has none."""
        easy, hard = self._log_parts(params)
        odds: Any = (np.asarray(counts) * (hard - easy)).sum(axis=-1)
        return np.asarray((rng.random(odds.shape) < expit(odds)) * np.sum(counts, axis=-1))

    def draw(self, counts: Counts, params: Mapping[str, ArrayLike], rng: Generator) -> Params:
        is_hard = self.draw_hard(counts, params, rng)
        of_hard = counts * is_hard[..., None]
        easy, hard = (answers.T.tocsr() for answers in self._answers)
        drawn = self.own.draw(_total(easy, counts - of_hard), params, rng)
        drawn_hard = self.hard.draw(_total(hard, of_hard), self._of_hard(params), rng)
        for name, dims in self.own.parameters.items():
            drawn[HARD + name] = np.squeeze(drawn_hard[name], axis=-len(dims))
        drawn[SHARE] = np.array(params[SHARE], np.float64)
        if not isinstance(self.share, float):
            number = is_hard.sum(axis=-1)
            a, b = self.share
            of_easy = np.sum(counts, axis=(-2, -1)) - number
            drawn[SHARE] = np.array(np.clip(rng.beta(a + number, b + of_easy), TINY, ALMOST_ONE))
        return drawn

    def log_prior(self, params: Mapping[str, ArrayLike]) -> Any:
        value = self.own.log_prior(params) + self.hard.log_prior(self._of_hard(params))
        if isinstance(self.share, float):
            return value
        share = np.asarray(params[SHARE])[..., None]  # a rate of one source, as p is
        return value + LinkNoise(p=self.share, q=0.5).log_prior({"p": share})

    def log_marginal(self, counts: Counts) -> NoReturn:
        raise TypeError(
            "noise with hard queries cannot be integrated out: give the constraints a noise model "
            "without hard=."
        )

    def expected_log_confusion(self, counts: Counts) -> NoReturn:
        self.log_marginal(counts)


class ByQuery(Constraints):
    """The answers of `given` with one row for each query, as samplers use them."""

    def __init__(self, given: Constraints) -> None:
        given.check_range()
        own: Any = given.noise
        query = numbered_queries(given.items)
        first = np.unique(query, return_index=True)[1]
        vars(self).update(
            _given=given,
            kind=given.kind,
            truth=given.truth,
            members=given.members,
            vocabulary=("asked",),
            name=given.name,
            n_items=given.n_items,
            item_names=given.item_names,
            source_names=None,
            flipped=None,
            items=given.items[first],
            answers=np.zeros(len(first), np.int8),
            source=np.arange(len(first)),
            n_sources=len(first),
            noise=QueryNoise(own, query, given.codes, given.n_sources),
        )

    @property
    def given(self) -> Constraints:
        found: Constraints = vars(self)["_given"]
        return found

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return QueryNoise()

    def evidence(self) -> Constraints:
        return self

    def taken_for(self, needs: Needs) -> bool:
        return needs in ("classes", "evidence")

    def restrict(self, items: ArrayLike) -> Any:
        return self.given.restrict(items).evidence()

    def select(self, rows: Any) -> Any:
        kept = np.arange(len(self))[rows]
        noise: Any = self.noise
        return self.given.select(np.isin(noise.query, kept)).evidence()

    def simulate(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike], rng: Generator) -> Any:
        noise: Any = self.noise
        given = self.given
        table = noise.confusion(self._checked_params(noise_params))
        source = draw_sources(given, table, noise.query, rng)
        return given._answered(draw_answers(table[source, given.truths(z)], rng), z).evidence()


class Asked(Constraints):
    """Answers to queries, some of which may be hard, if the noise says so."""

    def by_query(self) -> Constraints:
        """Return the same with one row for each query."""
        return ByQuery(self)

    def log_prob(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike]) -> Any:
        used = self.evidence()
        return super().log_prob(z, noise_params) if used is self else used.log_prob(z, noise_params)

    def simulate(self, z: ArrayLike, noise_params: Mapping[str, ArrayLike], rng: Generator) -> Self:
        used: Any = self.evidence()
        if used is self:
            return super().simulate(z, noise_params, rng)
        made: Self = used.simulate(z, noise_params, rng).given
        return made


def all_easy(constraints: Sequence[Constraints]) -> list[Constraints]:
    """The constraints, with a row for each answer, as if no query were hard."""
    found = []
    for one in (each.given for each in constraints):
        noise: Any = getattr(one, "noise", None)
        found.append(one.with_noise(replace(noise, hard=None)) if may_be_hard(one) else one)
    return found


class AskedTogether(ByPattern):
    """What can be said of answers some of whose queries are hard, given draws."""

    # confusion matrices are those of `confusion_of`; the other answers to a query say how probably
    # it is hard

    def read(self: Any, z: IntArray, confusion: FloatArray | None) -> Reading:
        truth, without, easy, _ = ByPattern.read(self, z, confusion)
        if confusion is None:
            return Reading(truth, without, easy)
        query = numbered_queries(self.items)
        hard, gap = self._hard_answers(z, confusion, self.truths(z))
        odds = _odds(gap, query, confusion, int(query.max(initial=-1)) + 1)[:, query]
        others = expit(odds - gap)[..., None]
        return Reading(truth, without, easy + others * (hard - easy), expit(odds))

    def forecast(self: Any, other: Any, z: IntArray, confusion: FloatArray) -> FloatArray:
        every = numbered_queries(np.concatenate([self.items, other.items]))
        own, asked = np.split(every, [len(self)])
        gap = self._hard_answers(z, confusion, self.truths(z))[1]
        is_hard = expit(_odds(gap, own, confusion, int(every.max(initial=-1)) + 1))[:, asked, None]
        rows = np.arange(len(z))[:, None]
        truths = other.truths(z)
        easy = confusion[rows, other.source, truths]
        return np.asarray(easy + is_hard * (confusion[rows, -2, truths] - easy))

    def _hard_answers(
        self: Any, z: IntArray, confusion: FloatArray, truths: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """p(answer | hard), (b, m, answers), and log p(answer given | hard) - the same if easy."""
        rows = np.arange(len(z))[:, None]
        hard = confusion[rows, -2, truths]
        both = hard, confusion[rows, self.source, truths]
        logs = [np.log(np.maximum(p[:, np.arange(len(self)), self.answers], TINY)) for p in both]
        return hard, logs[0] - logs[1]


def _odds(gap: FloatArray, query: IntArray, confusion: FloatArray, number: int) -> FloatArray:
    """Log odds that each of so many queries is hard, (b, number), given gaps of answers (b, m)."""
    sums = csr_array((np.ones(len(query)), (query, np.arange(len(query)))), (number, len(query)))
    prior = np.clip(confusion[:, -1, 0, 1], TINY, ALMOST_ONE)
    return np.asarray((sums @ gap.T).T + logit(prior)[:, None])
