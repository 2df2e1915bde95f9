"""The objectives of the DCRC paper, exactly, with gradients by automatic differentiation.

Eq. 7 sums over all labels of the items that answers tie together, which grows as K to the size of
the largest group of items so tied.
"""

from itertools import product

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayesclust.constraints.factor_graph import constraint_graph
from bayesclust.models.dcrc import class_terms, unnamed


class PaperObjective:
    """Eq. 8 (without balance) or Eq. 9 (with) as a function of W, and its lower bound Eq. 10.

    The noise of the answers (one object) must be known; where it has a prior, its mean is taken.

    ERRATUM: the last term of the paper's gradient is printed with log p^_nk; it needs the marginal
    log p^_k. Here gradients are those of the function itself.
    """

    def __init__(self, X, n_clusters, constraints, tau=1.0, penalty=2.0**-6, balance=True):
        self.X, self.K, self.constraints = np.asarray(X), n_clusters, constraints
        self.tau, self.penalty, self.balance = tau, penalty, balance
        self.free = unnamed([constraints], len(self.X))
        self.groups = [self._labelings(items) for items in self._tied()]

    def __call__(self, W):
        """The objective at W (K, d + 1), biases last; JAX can trace it."""
        terms = class_terms(jnp, W, self.X, self.free)
        return self._log_evidence(terms.log_p) / len(self.constraints) + self._rest(terms)

    def log_evidence(self, W):
        """log P(L | X_I; W), the logarithm of Eq. 7 before it is divided by M."""
        return float(self._log_evidence(class_terms(jnp, jnp.asarray(W), self.X, self.free).log_p))

    def lower_bound(self, W, Q):
        """Eq. 10 at W and independent label distributions Q (n, K)."""
        terms = class_terms(jnp, W, self.X, self.free)
        named = np.flatnonzero(~self.free)
        q = jnp.asarray(Q)[named]
        entropy = -jnp.where(q > 0, q * jnp.log(jnp.where(q > 0, q, 1.0)), 0.0).sum()
        value = (q * terms.log_p[named]).sum() + entropy
        for items, labels, log_answers in self.groups:
            joint = jnp.prod(jnp.asarray(Q)[items[None, :], labels], axis=1)
            value = value + (joint * log_answers).sum()
        return value / len(self.constraints) + self._rest(terms)

    def value_and_gradient(self, W):
        """The objective and its gradient at W, both (K, d + 1)."""
        if not hasattr(self, "_function"):
            self._function = jax.jit(jax.value_and_grad(self))
        value, gradient = self._function(np.asarray(W, dtype=np.float64))
        return float(value), np.asarray(gradient)

    def _log_evidence(self, log_p):
        value = jnp.zeros(())
        for items, labels, log_answers in self.groups:
            chosen = log_p[items[None, :], labels].sum(axis=1)
            value = value + jax.scipy.special.logsumexp(chosen + log_answers)
        return value

    def _rest(self, terms):
        entropies = self.balance * terms.balance - terms.separation
        return self.tau * entropies - self.penalty * terms.ridge

    def _tied(self):
        """Groups of items that answers tie together."""
        n = len(self.X)
        start, neighbour = constraint_graph([self.constraints], n)
        graph = csr_array((np.ones(len(neighbour)), neighbour, start), shape=(n, n))
        _, group = connected_components(graph, directed=False)
        return [np.flatnonzero(group == g) for g in np.unique(group[~self.free])]

    def _labelings(self, items):
        """Items of one group, all their labelings (K^m, m), and log p(answers | labeling)."""
        labels = np.array(list(product(range(self.K), repeat=len(items))), dtype=np.int64)
        within = self.constraints.restrict(items)
        return items, labels, within.log_prob(labels, within.noise.initial(within.n_sources))
