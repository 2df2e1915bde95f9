"""Mixed columns: a product of families, each on columns of its own, independent within a cluster.

    p(X) = prod_parts p(columns of the part)

Every sum, predictive and statistic is that of the parts, one after the other, and so are the
hyper-parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesclust.checks import check_items
from bayesclust.models._numpyro import numpyro_modules, side_by_side
from bayesclust.models.components.product import ProductComponents
from bayesclust.models.families import base, gaussian_tied
from bayesclust.models.families.discrete import refuse_cells
from bayesclust.models.families.named import get_family
from bayesclust.models.families.parts import columns_of, said_of, unique_names
from bayesclust.models.families.product_state import Parts, ProductState
from bayesclust.typing import ArrayLike


@dataclass(frozen=True)
class BoundProduct(base.BoundFamily):
    """Independent parts; X holds their columns side by side, hyper their hyper-parameters.

    Attributes
    ----------
    parts : tuple of BoundFamily
        Each holds its columns of X.
    given : tuple of ndarray of int
        The user's columns of each part.
    """

    parts: tuple[base.BoundFamily, ...]
    given: tuple[NDArray[np.intp], ...]

    takes_missing = takes_power = True

    def can_be_coarsened(self) -> bool:
        return all(part.can_be_coarsened() for part in self.parts)

    def coarsened(self, power: float) -> Self:
        whole = super().coarsened(power)
        if power == 1:
            return whole
        return replace(whole, parts=tuple(part.coarsened(power) for part in self.parts))

    def judging(self) -> Self:
        return replace(super().judging(), parts=tuple(part.judging() for part in self.parts))

    @property
    def widths(self) -> tuple[int, ...]:
        """Columns of X of each part."""
        return tuple(part.X.shape[1] for part in self.parts)

    def _blocks(self, X: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return [
            np.ascontiguousarray(block)
            for block in np.split(X, np.cumsum(self.widths)[:-1], axis=1)
        ]

    def with_rows(self, rows: NDArray[np.float64]) -> Self:
        parts = tuple(
            part.with_rows(block)
            for part, block in zip(self.parts, self._blocks(rows), strict=True)
        )
        return replace(
            self, X=rows, log_constant=sum(part.log_constant for part in parts), parts=parts
        )

    def _hypers(self, hyper: Any) -> Iterator[Any]:
        end = 0
        for part in self.parts:
            begin, end = end, end + len(part.hyper_priors)
            yield hyper[begin:end]

    def columns(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        pairs = zip(self.parts, self.given, strict=True)
        return np.concatenate([part.columns(X[:, given]) for part, given in pairs], axis=1).astype(
            np.float64
        )

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        items = check_items(X, least=1, missing=True)
        blocks = []
        for part, given in zip(self.parts, self.given, strict=True):
            with said_of(given):
                blocks.append(part.transform(items[:, given]))
        return np.concatenate(blocks, axis=1)

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        constants = [
            part.row_constants(block)
            for part, block in zip(self.parts, self._blocks(rows), strict=True)
        ]
        return np.sum(constants, axis=0)

    def embedding(self) -> NDArray[np.float64]:
        """The parts' embeddings side by side, in each of which a column of the user's has variance one on average."""
        points = []
        for part in self.parts:
            own = part.embedding()
            spread = np.sqrt(own.var(axis=0).sum() / part.X.shape[1])
            points.append(own / (spread if spread > 0 else 1.0))
        return np.concatenate(points, axis=1)

    def components(self) -> ProductComponents:
        hypers = tuple(self._hypers(self.initial_hyper()))
        return ProductComponents.of(
            [part.components() for part in self.parts], hypers, self._hypers
        )

    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """The sites of the parts, "part_1_" and so on before their names."""
        _, numpyro, _ = numpyro_modules()
        likelihoods = []
        for number, (part, own) in enumerate(
            zip(self.parts, self._hypers(hyper), strict=True), start=1
        ):
            with numpyro.handlers.scope(prefix=f"part_{number}", divider="_", hide_types=["plate"]):
                likelihoods.append(part.component_sites(own))
        return lambda z: side_by_side([likelihood(z) for likelihood in likelihoods], self.widths)

    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> ProductState:
        """Cluster state with empty slots."""
        pairs = zip(self.parts, self._hypers(hyper), strict=True)
        states = [part.new_state(capacity, own) for part, own in pairs]
        return ProductState(np.zeros(capacity + 1, np.int64), Parts.of(states))

    def set_hyper(self, state: ProductState, hyper: NDArray[np.float64]) -> None:
        """Write hyper-parameters into the states of the parts."""
        for part, own_state, own in zip(
            self.parts, state.listed(), self._hypers(hyper), strict=True
        ):
            part.set_hyper(own_state, own)

    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """The sum over the parts."""
        triples = zip(self.parts, self._blocks(X), self._hypers(hyper), strict=True)
        return sum(part.log_marginal(block, own) for part, block, own in triples)


@dataclass(frozen=True)
class Product(base.Family):
    """Mixed columns: each group of columns has a family of its own, all independent within a cluster.

    Missing cells (NaN) are left out of the likelihood where the family of their columns does so.

    Parameters
    ----------
    parts : sequence of (family, columns)
        Families or their names, and the numbers of the columns that each models: a list, a slice or
        one number. Together they take every column once. A full Gaussian keeps the covariances
        among its columns.

    Notes
    -----
    Hyper-parameters are those of the parts in their order; the second of a name, as "base_scale",
    is "base_scale_2". Every combination of families is compiled once, which takes a minute; later
    runs find it on disk.

    References
    ----------
    Khashabi et al., Eq. 3, 4 and 7: a product of exponential families is one, and its prior
    conjugate.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesclust.models.families import Categorical, FullGaussian, Product
    >>> X = np.array([[0.1, 2.0, 0], [1.0, 3.0, 1], [0.4, 7.0, np.nan]])
    >>> bound = Product([(FullGaussian(), [0, 1]), ("categorical", [2])]).bind(X)
    >>> [prior.name for prior in bound.hyper_priors]
    ['base_scale', 'base_strength', 'base_mean_precision', 'base_concentration']
    """

    parts: Sequence[tuple[base.Family | str, Any]]

    @property
    def takes_missing(self) -> bool:
        return any(family.takes_missing for family, _ in self._pairs())

    def bind(self, X: NDArray[np.float64]) -> BoundProduct:
        """Give each family its columns, and put together what they make of them.

        Raises
        ------
        ValueError
            If the parts leave a column out, take one twice or name one that is not there, or a
            family cannot take its columns.
        TypeError
            If the parts are no pairs of a family and columns.
        """
        items = check_items(X, missing=True)
        pairs = self._pairs()
        given = columns_of(pairs, items.shape[1])
        parts = []
        for (family, _), columns in zip(pairs, given, strict=True):
            block = np.ascontiguousarray(items[:, columns])
            if not family.takes_missing:
                remedy = f"{type(family).__name__} takes none: give these columns another family or fill in values"
                refuse_cells(np.isnan(block), "missing values", remedy, columns)
            with said_of(columns):
                parts.append(family.bind(block))
        priors = unique_names([prior for part in parts for prior in part.hyper_priors])
        whole = np.concatenate([part.X for part in parts], axis=1)
        return BoundProduct(
            whole, sum(part.log_constant for part in parts), priors, tuple(parts), given
        )

    def _pairs(self) -> list[tuple[base.Family, Any]]:
        parts: Any = self.parts
        if not isinstance(parts, (list, tuple)) or len(parts) == 0:
            raise TypeError(f"parts={parts!r} is no list of pairs; give [(family, columns), ...].")
        pairs = []
        for number, pair in enumerate(parts):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise TypeError(
                    f"parts[{number}] is {pair!r}; give a pair of a family and its columns."
                )
            family = get_family(pair[0])
            if isinstance(family, Product):
                raise TypeError(
                    f"parts[{number}] is itself a Product; write its parts into this one."
                )
            if isinstance(family, gaussian_tied.TiedGaussian):
                raise TypeError(
                    f"parts[{number}] is a TiedGaussian, which models all columns or none; take FullGaussian."
                )
            pairs.append((family, pair[1]))
        return pairs
