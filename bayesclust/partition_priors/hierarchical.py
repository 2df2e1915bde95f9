"""The hierarchical Dirichlet process: batches share clusters, and weigh them differently.

Weights beta of all clusters there could be are drawn once; each batch j draws its own around them,

    beta ~ GEM(gamma),    pi_j ~ DP(alpha, beta),    z_i | batch j ~ pi_j.

With pi_j integrated out, and K clusters occupied by n_jk items of weight beta_k, beta_u being that
of all others (Teh et al. 2006, Sec. 5.3),

    p(z, beta) = gamma^K beta_u^(gamma - 1) prod_k 1 / beta_k
                 prod_j Gamma(alpha) / Gamma(alpha + n_j)
                 prod_jk Gamma(alpha beta_k + n_jk) / Gamma(alpha beta_k),

so that an item of batch j joins cluster k with the weight alpha beta_k + n_jk, and opens one with
alpha beta_u, of which the new cluster takes the share Beta(1, gamma).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.random import Generator
from scipy.special import gammaln

from bayesclust._numba import FAST, device
from bayesclust.checks import check_flag, check_int, is_missing, rows_in_words, shown
from bayesclust.names import cells, columns_of, plain_name
from bayesclust.partition_priors.base import (
    Batches,
    Parameter,
    PartitionPrior,
    Values,
    draw_concentration,
)
from bayesclust.typing import FloatArray, IntArray, NDArray

CONCENTRATIONS = ("concentration", "batch_concentration")
SHIFT_PRECISION = "shift_precision"
TINY = 1e-300
LEAST = 1e-12
MOST_COLUMNS = 1 << 31


@dataclass(frozen=True)
class HierarchicalDirichletProcess(PartitionPrior):
    """Items from several batches, sites or years, whose clusters are shared and whose weights vary.

    The data name the batch of each item in a column, which is not clustered: `TVClust` takes it out
    of `X`, in `fit`, `extend` and `predict`. Where items are predicted, those of an unseen batch,
    or of none, have the weights that batches vary around. How clusters look is the same in all
    batches, and where they are too, but that `shifts` displace each batch as a whole.

    Parameters
    ----------
    column : str or int
        Column of the batches: its name in a DataFrame, or its number.
    concentration : float or (shape, rate), default (1.0, 1.0)
        gamma, or its Gamma prior: larger for more clusters in all batches together.
    batch_concentration : float or (shape, rate), default (1.0, 0.1)
        alpha, or its Gamma prior: the larger, the more alike are the weights of all batches. The
        default, of mean and standard deviation 10, leaves that to the data.
    shifts : bool, default False
        Add a shift of its own to the items of each batch, a vector with a number for each column.
        The largest batch (of several the first by name) has none: shifts are relative to it.
    shift_precision : float or (shape, rate), default (1.0, 0.1)
        1 / tau^2, or its Gamma prior: shifts are N(0, tau^2) in units of each column's standard
        deviation. Under the default tau is between .16 and 2 with probability .95.

    Notes
    -----
    Only sampler "collapsed" with single clusters takes it; shifts need the families "gaussian",
    "gaussian_diagonal" or "gaussian_spherical", and prediction with them items of known batches.

    References
    ----------
    Teh, Jordan, Beal, Blei: Hierarchical Dirichlet Processes. JASA 101, 2006, Sec. 5.3 ("posterior
    sampling by direct assignment").

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(np.repeat([0.0, 9.0, 0.0, 9.0], [18, 2, 4, 16]))[:, None]
    >>> table = np.column_stack([X, np.repeat([2023, 2024], 20)])
    >>> prior = bc.partition_priors.HierarchicalDirichletProcess(column=1)
    >>> short = {"num_chains": 2, "num_warmup": 100, "num_samples": 100, "random_state": 0}
    >>> est = bc.TVClust(partition_prior=prior, **short).fit(table)
    >>> weights = est.batch_weights()["weight"].unstack()  # of each cluster in each batch
    >>> weights.idxmax(axis="columns").to_dict()
    {'2023': 0, '2024': 1}
    """

    column: str | int
    concentration: Any = (1.0, 1.0)
    batch_concentration: Any = (1.0, 0.1)
    shifts: bool = False
    shift_precision: Any = (1.0, 0.1)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_flag(self.shifts, "shifts of HierarchicalDirichletProcess")
        if not isinstance(self.column, str):
            check_int(self.column, "column", least=-MOST_COLUMNS)

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        names = (*CONCENTRATIONS, SHIFT_PRECISION) if self.shifts else CONCENTRATIONS
        return {name: Parameter.parse(getattr(self, name), name) for name in names}

    def take_batches(self, X: Any, *, new: bool = False) -> tuple[Any, Batches]:
        """The data without the column, and that in words; `new` ones may lack a batch."""
        column = self.column
        if hasattr(X, "columns") and not hasattr(X, "iloc"):  # polars, pyarrow
            from pandas import DataFrame

            X = DataFrame({name: cells(X, name) for name in columns_of(X)})
        if hasattr(X, "columns") and column in X.columns:
            if X[column].ndim > 1:
                raise ValueError(
                    f"X has several columns called {column!r}: keep that of the batches."
                )
            return X.drop(columns=column), self._in_words(X[column], new)
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        if isinstance(X, np.ndarray) and X.dtype.kind in "US":
            raise TypeError(
                "X is an array of words, its numbers too: pass a DataFrame, or an array of dtype "
                "object."
            )
        width = X.shape[1] if len(X.shape) == 2 else 0
        if isinstance(column, str) or not -width <= column < width:
            raise ValueError(
                f"partition_prior has the batches in column={shown(column)}, which X lacks: pass X "
                "with that column, or give the column that X has."
            )
        kept = np.delete(np.arange(width), column)
        if hasattr(X, "iloc"):
            return X.iloc[:, kept], self._in_words(X.iloc[:, column], new)
        own = X[:, [column]]
        own = own.toarray() if hasattr(own, "toarray") else own
        return X[:, kept], self._in_words(own.ravel(), new)

    def _in_words(self, own: Any, new: bool) -> NDArray[np.object_]:
        values = np.asarray(own, dtype=object)
        missing = np.array([is_missing(value) for value in values], dtype=bool)
        if missing.any() and not new:
            where = rows_in_words(missing[:, None])
            raise ValueError(f"X has no batch in {where}: fill in column={shown(self.column)}.")
        names = np.array([plain_name(value) for value in values], dtype=object)
        names[missing] = None
        return names

    def check_use(self, n_items: int, *, collapsed: bool, mixture: bool, moves: bool) -> None:
        if mixture or not collapsed:
            self.log_v(0, 0, {})  # which refuses

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log weights of clusters of all batches together, as profiles have them."""
        return np.asarray(gammaln(sizes))

    def log_v(self, n: Any, number: Any, values: Values) -> NoReturn:
        raise ValueError(
            "partition_prior is a HierarchicalDirichletProcess, which depends on batches and not "
            "on sizes of clusters alone: use TVClust with sampler='collapsed' and "
            "cluster_model='single'."
        )

    def stick_parameters(self, values: Values) -> NoReturn:
        self.log_v(0, 0, values)

    def log_prob_given(self, counts: IntArray, weights: FloatArray, values: Values) -> float:
        """log p(z, beta | alpha, gamma) from counts (J, K) and weights (K + 1,), beta_u last."""
        gamma, alpha = (values[name] for name in CONCENTRATIONS)
        a = alpha * weights[:-1]
        value = len(a) * np.log(gamma) - np.log(weights[:-1]).sum()
        value += (gamma - 1.0) * np.log(weights[-1]) + (gammaln(a + counts) - gammaln(a)).sum()
        return float(value + (gammaln(alpha) - gammaln(alpha + counts.sum(axis=1))).sum())

    def update_given(
        self, counts: IntArray, weights: FloatArray, values: Values, rng: Generator
    ) -> tuple[FloatArray, dict[str, float]]:
        """Draw beta (K + 1,), gamma and alpha, given numbers of tables, drawn first.

        Tables are as many of n_jk draws from a Polya urn as are new: draw i is with probability
        alpha beta_k / (alpha beta_k + i) (Antoniak 1974; Teh et al. 2006, Eq. 40).
        """
        gamma, alpha = (values[name] for name in CONCENTRATIONS)
        cell = np.repeat(np.arange(counts.size), counts.ravel())
        place = np.arange(len(cell)) - (counts.cumsum() - counts.ravel())[cell]
        a = np.maximum(alpha * np.tile(weights[:-1], len(counts)), TINY)[cell]
        new = rng.random(len(cell)) * (a + place) < a
        tables = np.bincount(cell[new], minlength=counts.size).reshape(counts.shape)
        of_cluster = tables.sum(axis=0)
        one, other = (self.parameters[name] for name in CONCENTRATIONS)
        total = np.array([of_cluster.sum()])
        gamma = draw_concentration(one, gamma, total, len(of_cluster), rng)
        alpha = draw_concentration(other, alpha, counts.sum(axis=1), int(total[0]), rng)
        gammas = np.maximum(rng.standard_gamma(np.append(of_cluster, gamma)), TINY)
        drawn = dict(zip(CONCENTRATIONS, (gamma, alpha), strict=True))
        return gammas / gammas.sum(), {**values, **drawn}

    def update_shift_precision(
        self, shifts: FloatArray, values: Values, rng: Generator
    ) -> dict[str, float]:
        """Draw 1 / tau^2 given the shifts (m, d) of batches."""
        one = self.parameters[SHIFT_PRECISION]
        if one.fixed is not None:
            return dict(values)
        rate = one.b + 0.5 * np.square(shifts).sum()
        return {**values, SHIFT_PRECISION: rng.gamma(one.a + 0.5 * shifts.size) / rate}

    def sample(
        self,
        n: int,
        values: Values,
        rng: Generator,
        number: int | None = None,
        batch: IntArray | None = None,
    ) -> IntArray:
        """Labels (n,) drawn item by item, or (number, n) of several; of one batch if not told."""
        batch = np.zeros(n, np.int64) if batch is None else batch
        gamma, alpha = (values[name] for name in CONCENTRATIONS)
        labels = np.zeros((number or 1, n), np.int64)
        for row in labels:
            weights = np.ones(1)
            counts = np.zeros((int(batch.max()) + 1, n + 1))
            for i, j in enumerate(batch):
                below = np.cumsum(alpha * weights + counts[j, : len(weights)])
                row[i] = (below < rng.random() * below[-1]).sum()
                counts[j, row[i]] += 1
                if row[i] == len(weights) - 1:
                    share = fresh_share(rng.random(), gamma)
                    weights = np.append(weights[:-1], weights[-1] * np.array([share, 1.0 - share]))
        return labels[0] if number is None else labels

    def sample_n_clusters(self, n: int, values: Values, rng: Generator) -> int:
        return int(self.sample(n, values, rng).max()) + 1


@device(fastmath=FAST, no_refcount=True)
def fresh_share(uniform: float, gamma: float) -> float:
    """Share Beta(1, gamma) of what is left that a new cluster takes, from a uniform number."""
    share = -math.expm1(math.log(max(uniform, TINY)) / gamma)
    return min(max(share, LEAST), 1.0 - LEAST)
