"""Tables of several kinds of columns: each group has a family of its own, independent in a cluster.

    p(X) = prod_parts p(columns of the part)

Sums, statistics and hyper-parameters are those of the parts, one after the other.

A *hurdle* is for columns in which a few exact values stand out, such as zeros. With atoms a_1, ...,
a_R of a column, in every cluster k

    x = a_1 with probability theta_1, else a_2 with probability theta_2, ..., else x ~ N(mu_k, v_k)
    theta_kr ~ Beta(s m_r, s (1 - m_r)),    (mu_k, v_k) as in `gaussian_columns`

(Cragg 1971, Eq. 5 to 7, with a Gaussian beyond the hurdle; the density has a point mass at every
atom). The likelihood factors: whether an item has an atom, missing for items that have an earlier
one, are columns of `Bernoulli`; values, missing for items with an atom, columns of
`DiagonalGaussian`.

In compiled code the states of the parts are a chain of pairs: in a loop over a tuple of unlike
states numba would count references to all their arrays at every step.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from bayesclust._numpyro import blocks, numpyro_modules
from bayesclust.checks import check_items, real_array, shown
from bayesclust.families import base
from bayesclust.families.base import Hyper, HyperPrior, Terms, get_family
from bayesclust.families.columns import constant_columns, describe_column, refuse_cells
from bayesclust.families.discrete import Bernoulli, Recoded
from bayesclust.families.divergence import Divergence
from bayesclust.families.gaussian import MEAN_PRECISION, STRENGTH, FullGaussian
from bayesclust.families.gaussian_columns import DiagonalGaussian, SphericalGaussian, Standardized
from bayesclust.families.gaussian_tied import TiedGaussian
from bayesclust.families.poisson import Poisson
from bayesclust.typing import ArrayLike, FloatArray, IntArray

Atoms = tuple[tuple[float, ...], ...]
Pairs = Sequence[tuple[base.Family, Any]]
ATOM_STRENGTH = "base_atom_strength"
MOST_FULL = 20
"""Columns of one full covariance, at most."""


class Parts(NamedTuple):
    """Clusters of mixed columns: the state of the first part, and that of the others, linked."""

    count: IntArray  # type: ignore[assignment]  # (C + 1,)
    first: Any
    others: Any  # the last part's state, or Parts


@base.implements(base.clear_cluster, Parts)
def _clear_cluster(state, k):  # type: ignore[no-untyped-def]
    state.count[k] = 0
    base.clear_cluster(state.first, k)
    base.clear_cluster(state.others, k)


@base.implements(base.move_item, Parts)
def _move_item(state, i, k, sign):  # type: ignore[no-untyped-def]
    state.count[k] += sign
    base.move_item(state.first, i, k, sign)
    base.move_item(state.others, i, k, sign)


@base.implements(base.set_items, Parts)
def _set_items(state, items, k):  # type: ignore[no-untyped-def]
    state.count[k] = len(items)
    base.set_items(state.first, items, k)
    base.set_items(state.others, items, k)


@base.implements(base.derive, Parts)
def _derive(state, k):  # type: ignore[no-untyped-def]
    base.derive(state.first, k)
    base.derive(state.others, k)


@base.implements(base.log_predictive, Parts)
def _log_predictive(state, i, k):  # type: ignore[no-untyped-def]
    return base.log_predictive(state.first, i, k) + base.log_predictive(state.others, i, k)


@base.implements(base.log_marginal, Parts)
def _log_marginal(state, k):  # type: ignore[no-untyped-def]
    return base.log_marginal(state.first, k) + base.log_marginal(state.others, k)


@base.implements(base.log_marginal_union, Parts)
def _log_marginal_union(state, a, b):  # type: ignore[no-untyped-def]
    return base.log_marginal_union(state.first, a, b) + base.log_marginal_union(state.others, a, b)


def _split(values: Terms, widths: Sequence[int]) -> Iterator[Any]:
    """Each part's share of a flat tuple or of a vector."""
    for end, width in zip(accumulate(widths), widths, strict=True):
        yield values[end - width : end]


@dataclass(frozen=True)
class BoundProduct(base.BoundFamily):
    """Independent parts, whose columns X holds; `given` are those among `beyond_hurdles`."""

    parts: tuple[base.BoundFamily, ...]
    given: tuple[IntArray, ...]
    atoms: Atoms
    rest: FloatArray  # (d,) the value beyond the atoms of a column, if it is one; else NaN

    takes_missing = True

    def coarsened(self, power: float) -> Self:
        return replace(self, parts=tuple(p.coarsened(power) for p in self.parts), power=power)

    def for_prediction(self) -> Self:
        parts = tuple(part.for_prediction() for part in self.parts)
        return replace(self, parts=parts, predictive_power=1.0)

    def with_rows(self, rows: FloatArray) -> Self:
        parts = tuple(part.with_rows(own) for part, own in self._blocks(rows))
        return replace(self, parts=parts, X=rows)

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of X of each part."""
        return tuple(part.X.shape[1] for part in self.parts)

    def _blocks(self, X: FloatArray) -> Iterator[tuple[base.BoundFamily, FloatArray]]:
        """The parts, each with its columns of X."""
        blocks = np.split(X, np.cumsum(self.widths)[:-1], axis=1)
        return zip(self.parts, map(np.ascontiguousarray, blocks), strict=True)

    def _hypers(self, hyper: Any) -> Iterator[Any]:
        return _split(hyper, [len(part.hyper_priors) for part in self.parts])

    def columns(self, X: FloatArray) -> FloatArray:
        wide, pairs = beyond_hurdles(X, self.atoms), zip(self.parts, self.given, strict=True)
        blocks = [part.columns(wide[:, given]) for part, given in pairs]
        return np.concatenate(blocks, axis=1).astype(np.float64)

    def transform(self, X: ArrayLike) -> FloatArray:
        wide = beyond_hurdles(check_items(X, least=1, missing=True), self.atoms)
        values = wide[:, : len(self.rest)]
        unknown = ~np.isclose(values, self.rest, 1e-9, 0) & ~np.isnan(values) & ~np.isnan(self.rest)
        refuse_cells(unknown, "values that the first data have not", "leave these items out")
        blocks = []
        for part, given in zip(self.parts, self.given, strict=True):
            with column_context(given):
                blocks.append(part.transform(wide[:, given]))
        return np.concatenate(blocks, axis=1)

    def row_constants(self, rows: FloatArray) -> FloatArray:
        return np.asarray(sum(part.row_constants(own) for part, own in self._blocks(rows)))

    def embedding(self) -> FloatArray:
        """The parts' embeddings: in each, columns of the user have variance one on average."""
        points = []
        for part in self.parts:
            own = part.embedding()
            spread = np.sqrt(own.var(axis=0).sum() / part.X.shape[1])
            points.append(own / (spread if spread > 0 else 1.0))
        return np.concatenate(points, axis=1)

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """The sites of the parts, "part_1_" and so on before their names."""
        _, numpyro, _ = numpyro_modules()
        likelihoods, pairs = [], zip(self.parts, self._hypers(hyper), strict=True)
        for number, (part, own) in enumerate(pairs, start=1):
            with numpyro.handlers.scope(prefix=f"part_{number}", divider="_", hide_types=["plate"]):
                likelihoods.append(part.component_sites(own))
        return lambda z: blocks()(tuple(likelihood(z) for likelihood in likelihoods), self.widths)

    def new_state(self, capacity: int, hyper: FloatArray) -> Any:
        pairs = zip(self.parts, self._hypers(hyper), strict=True)
        *states, linked = (part.new_state(capacity, own) for part, own in pairs)
        for state in reversed(states):
            linked = Parts(np.zeros(capacity + 1, np.int64), state, linked)
        return linked

    def set_hyper(self, state: Any, hyper: FloatArray) -> None:
        for part, own in zip(self.parts, self._hypers(hyper), strict=True):
            linked = isinstance(state, Parts)
            part.set_hyper(state.first if linked else state, own)
            state = state.others if linked else None

    # Rows are one array for each part; statistics and terms those of the parts in one flat tuple.

    def rows(self, X: FloatArray) -> Terms:
        return tuple(part.rows(own)[0] for part, own in self._blocks(X))

    def statistics(self, xp: Any, rows: Terms, weight: Any) -> Terms:
        pairs = zip(self.parts, rows, strict=True)
        return tuple(total for part, row in pairs for total in part.statistics(xp, (row,), weight))

    def log_density(self, xp: Any, rows: Terms, terms: Terms) -> Any:
        own = _split(terms, [part.n_arrays for part in self.parts])
        triples = zip(self.parts, rows, own, strict=True)
        return sum(part.log_density(xp, (row,), its) for part, row, its in triples)

    def terms(self, statistics: Terms, hyper: FloatArray, rng: Generator | None = None) -> Terms:
        triples = self._given(statistics, hyper)
        return tuple(term for part, own, its in triples for term in part.terms(own, its, rng))

    @property
    def quantities(self) -> list[base.Quantity]:
        """Those of the parts, one after the other; an atom is a value of its column."""
        wide: list[base.Quantity] = [(j, None) for j in range(len(self.atoms))]
        wide += [(j, atom) for j, own in enumerate(self.atoms) for atom in own]
        found = []
        for part, given in zip(self.parts, self.given, strict=True):
            for at, value in part.quantities:
                column, atom = wide[given[at]]
                found.append((column, value if atom is None else atom))
        return found

    def moments(self, terms: Terms) -> tuple[FloatArray, FloatArray]:
        own = _split(terms, [part.n_arrays for part in self.parts])
        both = [part.moments(its) for part, its in zip(self.parts, own, strict=True)]
        mean, variance = (np.concatenate(side, axis=1) for side in zip(*both, strict=True))
        return mean, variance

    def log_marginals(self, statistics: Terms, hyper: FloatArray) -> FloatArray:
        triples = self._given(statistics, hyper)
        return np.asarray(sum(part.log_marginals(own, its) for part, own, its in triples))

    def _given(self, statistics: Terms, hyper: FloatArray) -> Iterator[Any]:
        own = _split(statistics, [part.n_arrays for part in self.parts])
        return zip(self.parts, own, self._hypers(hyper), strict=True)


def beyond_hurdles(X: FloatArray, atoms: Atoms) -> FloatArray:
    """The values of items without an atom, and beside them who has each, if no earlier one."""
    values, has = X.copy(), []
    for j, own in enumerate(atoms):
        for atom in own:
            has.append(np.where(np.isnan(values[:, j]), np.nan, X[:, j] == atom))
            values[X[:, j] == atom, j] = np.nan
    return np.column_stack([values, *has])


@contextmanager
def column_context(given: IntArray) -> Iterator[None]:
    """Errors of a part tell which columns of the whole it means."""
    try:
        yield
    except ValueError as error:
        named = re.sub(r"in column (\d+)", lambda at: f"in column {given[int(at[1])]}", str(error))
        if named == str(error):
            named = f"In the columns {given.tolist()}: {error}"
        raise ValueError(named) from error


def unique_names(priors: Sequence[HyperPrior]) -> tuple[HyperPrior, ...]:
    """The second prior of a name gets "_2" appended, and so on."""
    seen: Counter[str] = Counter()
    named = []
    for prior in priors:
        seen[prior.name] += 1
        number = "" if seen[prior.name] == 1 else f"_{seen[prior.name]}"
        named.append(replace(prior, name=prior.name + number))
    return tuple(named)


def columns_of(pairs: Pairs, d: int) -> tuple[IntArray, ...]:
    """Each part's columns as numbers; together every column once."""
    given = []
    for number, (_, columns) in enumerate(pairs):
        try:
            own = np.atleast_1d(np.arange(d)[columns])
        except (IndexError, TypeError):
            own = np.zeros(0, np.int64)
        if len(own) == 0:
            raise ValueError(
                f"parts[{number}] has the columns {columns!r}, but X has the columns 0 to {d - 1}: "
                "give a list of their numbers, or leave the part out."
            )
        given.append(own)
    times = np.bincount(np.concatenate(given), minlength=d)
    if (times != 1).any():
        wrong = np.flatnonzero(times != 1)
        raise ValueError(
            f"the columns {wrong.tolist()} of X are used {times[wrong].tolist()} times: give every "
            "column to one part, or drop it from X."
        )
    return tuple(given)


def check_parts(parts: Any) -> list[tuple[base.Family, Any]]:
    """Pairs of a family and its columns, if they are that."""
    several = isinstance(parts, (list, tuple)) and len(parts) > 0
    if not several or any(not isinstance(one, (list, tuple)) or len(one) != 2 for one in parts):
        raise TypeError(f"parts={shown(parts)} are not pairs: give [(family, columns), ...].")
    pairs = [(get_family(family), columns) for family, columns in parts]
    for number, (family, _) in enumerate(pairs):
        if isinstance(family, (Product, Mixed, TiedGaussian)):
            raise TypeError(
                f"parts[{number}] is a {type(family).__name__}, which cannot be one part of "
                "several; give others."
            )
    return pairs


def bind_parts(pairs: Pairs, X: FloatArray) -> BoundProduct:
    """Bind families to their columns, each `HurdleGaussian` as the two that it consists of."""
    given = columns_of(pairs, X.shape[1])
    atoms: list[tuple[float, ...]] = [()] * X.shape[1]
    for (family, _), columns in zip(pairs, given, strict=True):
        if isinstance(family, HurdleGaussian):
            for j, found in zip(columns, family.found(X[:, columns]), strict=True):
                atoms[j] = found
    wide = beyond_hurdles(X, tuple(atoms))
    constant = constant_columns(wide)
    first = X.shape[1] + np.cumsum([0, *map(len, atoms)])
    parts: list[base.BoundFamily] = []
    taken, priors = [], []
    for (family, _), columns in zip(pairs, given, strict=True):
        factors: list[tuple[base.Family, IntArray, str]] = [(family, columns, "")]
        if isinstance(family, HurdleGaussian):
            indicators = np.concatenate([np.arange(first[j], first[j + 1]) for j in columns])
            factors = list(family.factors(columns, indicators))
        for factor, own, name in factors:
            block = np.ascontiguousarray(wide[:, own])
            if not factor.takes_missing:
                remedy = f"{type(factor).__name__} takes none: give these columns another family or"
                refuse_cells(np.isnan(block), "missing values", f"{remedy} fill in values", own)
            with column_context(own):
                part = factor.bind(block)
            # a density of what is constant would choose the number of clusters
            if constant[own].all() and (parts or not constant.all()):
                continue
            parts.append(part)
            taken.append(own)
            priors += [replace(prior, name=name or prior.name) for prior in part.hyper_priors]
    whole = np.concatenate([part.X for part in parts], axis=1)
    two = constant[: len(atoms)] & np.array([len(own) > 0 for own in atoms])
    rest = np.where(two, np.fmax.reduce(wide[:, : len(atoms)]), np.nan)
    names = unique_names(priors)
    return BoundProduct(whole, names, tuple(parts), tuple(taken), tuple(atoms), rest)


@dataclass(frozen=True, eq=False)
class PartsDivergence(Divergence):
    """The sum of the divergences of a product's parts, in nats or standard deviations."""

    family: Product
    parts: tuple[Divergence, ...] = ()  # once bound
    given: tuple[IntArray, ...] = ()  # the columns of each
    cuts: tuple[int, ...] = ()  # where all points but the first's begin
    name = "product"

    def bind(self, X: Any) -> PartsDivergence:
        """Check that every part can take its columns, and bind it to them."""
        items = check_items(X)
        self.family.bind(items)
        pairs = check_parts(self.family.parts)
        given = columns_of(pairs, items.shape[1])
        parts = []
        for (family, _), own in zip(pairs, given, strict=True):
            # alone, spherical clusters have the unit of the data; beside others they need their own
            spherical = isinstance(family, SphericalGaussian)
            limit = Standardized(common_unit=True) if spherical else family.limit()
            parts.append(limit.bind(items[:, own]))
        wide = [part.points(items[:, own]).shape[1] for part, own in zip(parts, given, strict=True)]
        cuts = tuple(np.cumsum(wide)[:-1].tolist())
        return replace(self, parts=tuple(parts), given=given, cuts=cuts)

    def _pairs(self, points: FloatArray) -> list[tuple[Divergence, FloatArray]]:
        return list(zip(self.parts, np.split(points, self.cuts, axis=-1), strict=True))

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        if not self.parts:
            return super().points(X)
        items = check_items(X, least=least)
        pairs = zip(self.parts, self.given, strict=True)
        blocks = [part.points(items[:, own], least=least) for part, own in pairs]
        return np.ascontiguousarray(np.concatenate(blocks, axis=1))

    def shown(self, centers: FloatArray) -> FloatArray:
        """The parts' centres side by side, in the order of the parts."""
        return np.concatenate([part.shown(block) for part, block in self._pairs(centers)], axis=1)

    def n_free(self, points: FloatArray) -> int:
        return sum(part.n_free(block) for part, block in self._pairs(points))

    def phi(self, points: FloatArray) -> FloatArray:
        return np.asarray(sum(part.phi(block) for part, block in self._pairs(points)))

    def natural(self, centers: FloatArray) -> FloatArray:
        pairs = self._pairs(centers)
        blocks = [2.0 * own if part.squared else part.natural(own) for part, own in pairs]
        return np.concatenate(blocks, axis=1)

    def offset(self, centers: FloatArray) -> FloatArray:
        pairs = self._pairs(centers)
        offsets = (part.phi(own) if part.squared else part.offset(own) for part, own in pairs)
        return np.asarray(sum(offsets))


@dataclass(frozen=True)
class Product(base.Family):
    """Mixed columns: each group of columns has a family of its own, independent within a cluster.

    Missing cells (NaN) are left out of the likelihood where the family of their columns does so,
    and so are parts of constant columns alone.

    Parameters
    ----------
    parts : sequence of (family, columns)
        Families or their names, and the columns of each: a list, a slice or one number. Together
        they take every column once.

    Notes
    -----
    Hyper-parameters are those of the parts in their order; the second "base_scale" is
    "base_scale_2". Every combination of families is compiled once.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import Categorical, FullGaussian, Product
    >>> X = np.array([[0.1, 2.0, 0], [1.0, 3.0, 1], [0.4, 7.0, np.nan]])
    >>> bound = Product([(FullGaussian(), [0, 1]), ("categorical", [2])]).bind(X)
    >>> [prior.name for prior in bound.hyper_priors]
    ['base_scale', 'base_strength', 'base_mean_precision', 'base_concentration']
    """

    parts: Sequence[tuple[base.Family | str, Any]]

    @property
    def takes_missing(self) -> bool:  # type: ignore[override]
        return any(family.takes_missing for family, _ in check_parts(self.parts))

    def bind(self, X: FloatArray) -> BoundProduct:
        """Give each family its columns; refuse parts that are no pairs or no partition of X."""
        return bind_parts(check_parts(self.parts), check_items(X, missing=True))

    def limit(self) -> PartsDivergence:
        return PartsDivergence(self)


@dataclass(frozen=True)
class HurdleGaussian(base.Family):
    """Independent columns that may take certain exact values, and are otherwise Gaussian.

    For detection limits, zeros that mean "none", and ends of a scale. Missing cells (NaN) are left
    out of the likelihood.

    Parameters
    ----------
    atoms : "data", float or sequence of sequences of float, default "data"
        The exact values: those that `bayesclust.describe_columns` finds, one for every column, or a
        list for each column.
    scale, strength, mean_precision : float, HyperPrior or "learn", default "learn", 15 and 0.05
        The prior of other values, as in `DiagonalGaussian`.
    atom_strength : float, HyperPrior or "learn", default "learn"
        How many items the prior of the atoms' probabilities is worth, as in `Bernoulli`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import HurdleGaussian
    >>> X = np.array([[0.0], [0.0], [1.3], [0.0], [2.1]])
    >>> bound = HurdleGaussian(atoms=0.0).bind(X)
    >>> [type(part).__name__ for part in bound.parts]
    ['BoundDiagonalGaussian', 'BoundBernoulli']
    """

    atoms: Any = "data"
    scale: Hyper = "learn"
    strength: Hyper = STRENGTH
    mean_precision: Hyper = MEAN_PRECISION
    atom_strength: Hyper = "learn"

    takes_missing = True

    def bind(self, X: FloatArray) -> BoundProduct:
        """Find the atoms, and fill in the priors of values and atoms."""
        items = check_items(X, missing=True)
        return bind_parts([(self, np.arange(items.shape[1]))], items)

    def factors(
        self, values: IntArray, indicators: IntArray
    ) -> Iterator[tuple[base.Family, IntArray, str]]:
        """Families of values and atoms, their columns of `beyond_hurdles`, and a prior's name."""
        yield DiagonalGaussian(self.scale, self.strength, self.mean_precision), values, ""
        if len(indicators):
            yield Bernoulli(self.atom_strength), indicators, ATOM_STRENGTH

    def found(self, X: FloatArray) -> Atoms:
        """The atoms of each column, given or found."""
        given, d = self.atoms, X.shape[1]
        if isinstance(given, str) and given == "data":
            return tuple(describe_column(x).atoms for x in X.T)
        if isinstance(given, Real) and np.isfinite(float(given)):
            return ((float(given),),) * int(d)
        try:
            found = tuple(tuple(dict.fromkeys(real_array(own, "atoms").tolist())) for own in given)
        except (TypeError, ValueError):
            found = ()
        if len(found) != d:
            raise ValueError(
                f"atoms={given!r} must be 'data', a number, or a list of values for each of the "
                f"{d} columns, empty or not."
            )
        return found


def by_kind(items: FloatArray, words: Sequence[int]) -> base.Family:
    """The families of all columns' kinds; in some there are codes of words."""
    found = [describe_column(x) for x in items.T]
    for j in words:
        found[j] = found[j]._replace(family="categorical")
    complete = ~np.isnan(items).any(axis=0)
    full = [j for j, column in enumerate(found) if column.family == "gaussian" and complete[j]]
    several = sum(found[j].kind != "constant" for j in full) >= 2
    if not several or len(full) > MOST_FULL:
        full = []
    groups: dict[str, list[int]] = {"full": full}
    for j, column in enumerate(found):
        if j not in full:
            kind = "hurdle" if column.family == "gaussian" else column.family
            groups.setdefault(kind, []).append(j)
    hurdles = [found[j] for j in groups.get("hurdle", ())]
    atoms = tuple(column.atoms if column.family == "hurdle" else () for column in hurdles)
    families = {
        "full": FullGaussian(),
        "hurdle": HurdleGaussian(atoms) if any(atoms) else DiagonalGaussian(),
        "poisson": Poisson(),
        "bernoulli": Bernoulli(),
        "categorical": Recoded(),
    }
    parts = [(family, groups[name]) for name, family in families.items() if groups.get(name)]
    return parts[0][0] if len(parts) == 1 else Product(parts)


@dataclass(frozen=True)
class Mixed(base.Family):
    """Gives every column the family of its kind, as `bayesclust.describe_columns` finds it.

    Continuous columns get Gaussian clusters, with a full covariance where they are complete and at
    most 20; inflated, nearly constant and two-valued ones a `HurdleGaussian`; zeros and ones
    `Bernoulli`; counts `Poisson`; few values and words `Recoded`.

    Parameters
    ----------
    words : sequence of int, default ()
        Columns that hold codes of words; `TVClust` finds words in a DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.families import Mixed
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> type(Mixed().bind(X)).__name__, type(Mixed().bind(X.clip(min=0))).__name__
    ('BoundFullGaussian', 'BoundProduct')
    """

    words: Sequence[int] = ()

    takes_missing = True

    def bind(self, X: FloatArray) -> base.BoundFamily:
        """Bind the families of the columns' kinds to them."""
        items = check_items(X, missing=True)
        return by_kind(items, self.words).bind(items)
