"""The objectives of the DCRC paper, exactly, with gradients by automatic differentiation.

For reading, for small problems and to check what is optimised in practice: Eq. 7 sums over
all labels of the items that answers tie together, which grows as K to the size of the largest group
of items so tied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayesclust._numpyro import numpyro_modules
from bayesclust.checks import check_int, check_items, number_between
from bayesclust.constraints.base import Constraints, check_constraints
from bayesclust.constraints.factor_graph import constraint_graph
from bayesclust.models.dcrc import unnamed
from bayesclust.models.dcrc_weights import class_terms
from bayesclust.typing import ArrayLike, FloatArray, IntArray

MOST_LABELINGS = 1 << 20


class PaperObjective:
    """Eq. 8 (without balance) or Eq. 9 (with) as a function of W, and its lower bound Eq. 10.

    Parameters
    ----------
    X : array of shape (n, d)
    n_clusters : int
        K, at least 2.
    constraints : Constraints or sequence of Constraints
        Answers. Their noise must be known (``UniformNoise(eps=0.05)``); where it has a prior, its
        mean is taken.
    tau : float, default 1.0
        Weight of the entropies.
    penalty : float, default 2**-6
        lambda, the weight of R(W).
    balance : bool, default True
        Eq. 9 instead of Eq. 8.

    Raises
    ------
    ValueError
        If some items tied together by answers have more than a million labelings.

    Notes
    -----
    ERRATUM: the last term of the paper's gradient is printed with log p^_nk; it needs the marginal
    log p^_k. Here gradients are those of the function itself.

    References
    ----------
    Pei, Fern, Rosales, Tjahja: Discriminative Clustering with Relative Constraints, Eq. 7 to 10.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> known = bc.UniformNoise(eps=0.05)
    >>> triplets = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=4, noise=known)
    >>> objective = PaperObjective([[0.0], [0.2], [3.0], [3.1]], 2, triplets)
    >>> W = np.array([[1.0, -1.5], [-1.0, 1.5]])
    >>> value, gradient = objective.value_and_gradient(W)
    >>> round(value, 3), gradient.shape
    (0.281, (2, 2))
    """

    def __init__(
        self,
        X: ArrayLike,
        n_clusters: int,
        constraints: Constraints | Sequence[Constraints],
        tau: float = 1.0,
        penalty: float = 2.0**-6,
        balance: bool = True,
    ) -> None:
        self.X = check_items(X, least=1)
        self.K = check_int(n_clusters, "n_clusters", least=2)
        self.constraints = check_constraints(constraints, len(self.X))
        self.tau, self.penalty = (
            number_between(tau, "tau", "[0, inf)"),
            number_between(penalty, "penalty", "[0, inf)"),
        )
        self.balance = bool(balance)
        self.free = unnamed(self.constraints, len(self.X))
        self.n_answers = max(sum(map(len, self.constraints)), 1)
        self.groups = [self._labelings(items) for items in self._tied()]

    def __call__(self, W: Any) -> Any:
        """The objective at W (K, d + 1), biases last; JAX can trace it."""
        jnp, _, _ = numpyro_modules()
        terms = class_terms(jnp, W, self.X, self.free)
        return self._log_evidence(terms.log_p) / self.n_answers + self._rest(terms)

    def log_evidence(self, W: ArrayLike) -> float:
        """log P(L | X_I; W), the logarithm of Eq. 7 before it is divided by M."""
        jnp, _, _ = numpyro_modules()
        return float(self._log_evidence(class_terms(jnp, jnp.asarray(W), self.X, self.free).log_p))

    def lower_bound(self, W: Any, Q: Any) -> Any:
        """Eq. 10 at W and independent label distributions Q (n, K), of which free items' rows are not read."""
        jnp, _, _ = numpyro_modules()
        terms = class_terms(jnp, W, self.X, self.free)
        named = np.flatnonzero(~self.free)
        q = jnp.asarray(Q)[named]
        entropy = -jnp.where(q > 0, q * jnp.log(jnp.where(q > 0, q, 1.0)), 0.0).sum()
        value = (q * terms.log_p[named]).sum() + entropy
        for items, labels, log_answers in self.groups:
            joint = jnp.prod(jnp.asarray(Q)[items[None, :], labels], axis=1)
            value = value + (joint * log_answers).sum()
        return value / self.n_answers + self._rest(terms)

    def value_and_gradient(self, W: ArrayLike) -> tuple[float, FloatArray]:
        """The objective and its gradient at W, both (K, d + 1)."""
        value, gradient = self._compiled()(np.asarray(W, dtype=np.float64))
        return float(value), np.asarray(gradient)

    def _compiled(self) -> Callable[[FloatArray], tuple[Any, Any]]:
        if not hasattr(self, "_function"):
            import jax

            self._function: Any = jax.jit(jax.value_and_grad(self))
        function: Callable[[FloatArray], tuple[Any, Any]] = self._function
        return function

    def _log_evidence(self, log_p: Any) -> Any:
        jnp, _, _ = numpyro_modules()
        import jax.scipy.special

        value = jnp.zeros(())
        for items, labels, log_answers in self.groups:
            chosen = log_p[items[None, :], labels].sum(axis=1)
            value = value + jax.scipy.special.logsumexp(chosen + log_answers)
        return value

    def _rest(self, terms: Any) -> Any:
        return (
            self.tau * (self.balance * terms.balance - terms.separation)
            - self.penalty * terms.ridge
        )

    def _tied(self) -> list[IntArray]:
        """Groups of items that answers tie together."""
        n = len(self.X)
        start, neighbour = constraint_graph(self.constraints, n)
        graph: Any = csr_array((np.ones(len(neighbour)), neighbour, start), shape=(n, n))
        _, group = connected_components(graph, directed=False)
        return [np.flatnonzero(group == g) for g in np.unique(group[~self.free])]

    def _labelings(self, items: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Items of one group, all their labelings (K^m, m), and log p(answers | labeling)."""
        if self.K ** len(items) > MOST_LABELINGS:
            raise ValueError(
                f"{len(items)} items tied by answers have {self.K}^{len(items)} labelings, more than {MOST_LABELINGS}: "
                "sum over fewer answers, or use the lower bound of bayesclust.DCRC."
            )
        labels = np.array(list(product(range(self.K), repeat=len(items))), dtype=np.int64)
        views = [view.restrict(items) for view in self.constraints]
        values = [view.log_prob(labels, view.noise.initial(view.n_sources)) for view in views]
        return items, labels, np.sum(values, axis=0)


__all__ = ["PaperObjective"]
