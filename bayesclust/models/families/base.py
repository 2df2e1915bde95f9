"""What every likelihood family offers, to Python code and to the compiled samplers.

A family is two things. A *configuration* (`Family`, a frozen dataclass the user writes) is bound to
data by `Family.bind`, which gives a `BoundFamily`: the conjugate model with its base measure filled
in. For the samplers a bound family makes a *cluster state*: a NamedTuple of arrays with one slot
per cluster and a last slot that always stays empty, so that the predictive of a new cluster is the
predictive of that slot. Compiled code calls the eight functions below on any state; a family file
registers its own with `implements`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust import _numba
from bayesclust.checks import check_items
from bayesclust.models.components.base import CoarsenedComponents, Components
from bayesclust.models.families.hyper_prior import HyperPrior as HyperPrior
from bayesclust.typing import ArrayLike


@_numba.generic
def clear_cluster(state: Any, k: int) -> None:
    """Make slot k an empty cluster, equal to the prior slot."""


@_numba.generic
def add_item(state: Any, i: int, k: int) -> None:
    """Put item i in cluster k."""


@_numba.generic
def remove_item(state: Any, i: int, k: int) -> None:
    """Take item i out of cluster k."""


@_numba.generic
def log_predictive(state: Any, i: int, k: int) -> Any:
    """log p(x_i | items of cluster k), item i not being one of them."""


@_numba.generic
def log_marginal(state: Any, k: int) -> Any:
    """log p(items of cluster k), the parameters integrated out."""


@_numba.generic
def log_marginal_union(state: Any, a: int, b: int) -> Any:
    """log p(items of clusters a and b together), the parameters integrated out."""


@_numba.generic
def set_items(state: Any, items: NDArray[np.int64], k: int) -> None:
    """Set the sufficient statistics of slot k to those of `items`; `derive` does the rest."""


@_numba.generic
def derive(state: Any, k: int) -> None:
    """Recompute what slot k caches from its sufficient statistics and the hyper-parameters."""


@_numba.device(fastmath=_numba.FAST)
def copy_row(values: NDArray[np.float64], target: int, source: int) -> None:
    """Copy one row to another: assigned as a slice, it takes ten times as long to compile."""
    for j in range(values.shape[1]):
        values[target, j] = values[source, j]


def implements(
    function: Callable[..., Any], state_type: type, *, no_refcount: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the compiled version of one of the functions above for one type of cluster state.

    One that makes no arrays is many times as fast if `no_refcount` says so.
    """
    # a scan asks for little else, and a call with all arrays of a state costs more than most
    # predictives
    inlined = {"forceinline": True} if function is log_predictive else {}
    return _numba.implements(
        function, state_type, no_refcount=no_refcount, fastmath=_numba.FAST, **inlined
    )


@dataclass(frozen=True)
class BoundFamily(ABC):
    """A family with its base measure, bound to data.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The data in the coordinates in which the samplers compute.
    log_constant : float
        What the log marginals of all clusters lack to be log p(X | partition) in the user's units.
    hyper_priors : tuple of HyperPrior
        The hyper-parameters of the base measure, all positive.
    power : float, default 1
        Weight of an item: its likelihood is raised to this power. See `coarsened`.
    judged_power : float or None, default None
        Weight of an item that the predictive is asked about; None is that of all others.
    takes_missing : bool
        Whether further rows may have missing cells (NaN), which are left out of the likelihood.
    takes_power : bool
        Whether the family can be coarsened.
    """

    X: NDArray[np.float64]
    log_constant: float
    hyper_priors: tuple[HyperPrior, ...]
    power: float = field(default=1.0, kw_only=True)
    judged_power: float | None = field(default=None, kw_only=True)

    takes_missing: ClassVar[bool] = False
    takes_power: ClassVar[bool] = False

    @abstractmethod
    def new_state(self, capacity: int, hyper: NDArray[np.float64]) -> Any:
        """Cluster state with `capacity` empty slots and the prior slot."""

    @abstractmethod
    def set_hyper(self, state: Any, hyper: NDArray[np.float64]) -> None:
        """Write hyper-parameters into a state; the caller derives the slots anew."""

    @abstractmethod
    def log_marginal(self, X: NDArray[np.float64], hyper: NDArray[np.float64]) -> float:
        """log p(X) of the rows of one cluster in our coordinates: the plain twin of the compiled function."""

    @abstractmethod
    def component_sites(self, hyper: Any) -> Callable[[Any], Any]:
        """The family as NumPyro code: called in the plate of components, it samples their parameters.

        `hyper` are the hyper-parameters in the order of `hyper_priors`, as JAX scalars. It gives a
        function from the labels to the distribution of the items, in the user's units.
        """

    @abstractmethod
    def components(self) -> Components:
        """The same clusters with their parameters in hand, for samplers and bounds that do not integrate them out."""

    @property
    def n_shared(self) -> int:
        """Numbers that stand behind the hyper-parameters in a vector of them: what all clusters share, drawn given them."""
        return 0

    def shared_sites(self, hyper: list[Any]) -> list[Any]:
        """The hyper-parameters of `component_sites`, with what all clusters share, a NumPyro site of its own."""
        return hyper

    def log_shared_prior(self, hyper: NDArray[np.float64]) -> float:
        """Log density of what all clusters share, in the coordinates in which it has a point value by "variational"."""
        return 0.0

    def log_data(
        self, clusters: Iterable[NDArray[np.float64]], hyper: NDArray[np.float64]
    ) -> float:
        """log p(X | partition), the rows of each cluster given; what clusters share is integrated out."""
        return sum(self.log_marginal(rows, hyper) for rows in clusters)

    def columns(self, X: NDArray[np.float64]) -> NDArray[Any]:
        """The columns of the user's data that the family models: all, unless it leaves some out."""
        return X

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Check further rows of the user's data, and give them in the coordinates of the attribute X.

        Parameters
        ----------
        X : array-like of shape (m, columns of the user's data)

        Returns
        -------
        ndarray of shape (m, d)

        Raises
        ------
        TypeError, ValueError
            If the family cannot model these rows.
        """
        return self.columns(check_items(X, least=1, missing=self.takes_missing))

    def coarsened(self, power: float) -> Self:
        """Every item's likelihood raised to a power: p(X | z, theta)^power, theta integrated out as before.

        A posterior that asks the data to fit the model only roughly (Miller and Dunson 2019, Sec.
        3): n items count as power n. It is conjugate where the family is, since sums over the items
        are multiplied by the power.

        Parameters
        ----------
        power : float in (0, 1]

        Returns
        -------
        BoundFamily

        Raises
        ------
        ValueError
            If the family cannot be coarsened.
        """
        if power == 1:
            return self
        if not self.takes_power:
            raise ValueError(
                f"power={power!r} is for families that can be coarsened; got {type(self).__name__.removeprefix('Bound')}: "
                "leave power=1."
            )
        return replace(self, power=power, log_constant=power * self.log_constant)

    def can_be_coarsened(self) -> bool:
        """Whether the family takes a power, and so do all that it consists of."""
        return self.takes_power

    def judging(self) -> Self:
        """The same clusters with the predictive density of a whole item, whatever the items in them weigh."""
        return replace(self, judged_power=1.0) if self.takes_power else self

    @property
    def powers(self) -> NDArray[np.float64]:
        """(weight of an item in a cluster, weight of one that the predictive is asked about)."""
        return np.array(
            [self.power, self.power if self.judged_power is None else self.judged_power]
        )

    def weighed(self, components: Components) -> Components:
        """Components of which every item weighs as this family says."""
        return components if self.power == 1 else CoarsenedComponents.of(components, self.power)

    def row_constants(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the log density of each row, in our coordinates, lacks to be in the user's units; shape (m,).

        Times the power they sum to `log_constant` over the family's own rows. The same for every
        row, unless a family says otherwise.
        """
        return np.full(len(rows), self.log_constant / (self.power * len(self.X)))

    def with_rows(self, rows: NDArray[np.float64]) -> Self:
        """The same base measure, in the same coordinates, bound to other rows."""
        return replace(
            self, X=rows, log_constant=self.power * float(self.row_constants(rows).sum())
        )

    def embedding(self) -> NDArray[np.float64]:
        """The items as points whose Euclidean distances make sense, for starting partitions and proposals."""
        return self.X

    @property
    def free(self) -> NDArray[np.intp]:
        """Positions of the hyper-parameters that are learned."""
        return np.array(
            [j for j, prior in enumerate(self.hyper_priors) if prior.log_sd > 0], dtype=np.intp
        )

    def initial_hyper(self) -> NDArray[np.float64]:
        """Prior medians (or the least values possible, if larger), or the fixed values."""
        return np.array(
            [max(p.median, p.least if p.log_sd > 0 else 0.0) for p in self.hyper_priors]
        )

    def sample_hyper(self, rng: Generator) -> NDArray[np.float64]:
        """One draw from the hyper-prior."""
        return np.array([prior.sample(rng) for prior in self.hyper_priors])

    def log_hyper_prior(self, hyper: NDArray[np.float64]) -> float:
        """Log density of the hyper-parameters' logarithms; -inf where a hyper-parameter is impossible."""
        own = hyper[: len(self.hyper_priors)]
        return sum(
            prior.log_prob(value) for value, prior in zip(own, self.hyper_priors, strict=True)
        )


class Family(ABC):
    """A likelihood family with a conjugate base measure (TVClust Eq. 3, 4 and 7), before it has seen data."""

    @property
    def takes_missing(self) -> bool:
        """Whether data may have missing cells (NaN), which are then left out of the likelihood."""
        return False

    @abstractmethod
    def bind(self, X: NDArray[np.float64]) -> BoundFamily:
        """Check the data and fill in what the base measure takes from them."""
