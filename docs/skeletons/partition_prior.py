"""A prior over partitions: a finite mixture whose number of components is uniform.

Any Gibbs-type prior p(z) = V(n, K) prod_k W(n_k) is two functions. This one is a mixture with K
components, K uniform on 1, ..., `most`, and weights from a symmetric Dirichlet distribution with
parameter gamma:

    W(m) = Gamma(m + gamma) / Gamma(gamma),
    V(n, K) = 1 / most sum_{t = K..most} t! / (t - K)! Gamma(gamma t) / Gamma(gamma t + n).

``bc.TVClust(partition_prior=UniformNumber(5))``
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from bayesclust.partition_priors import Parameter, PartitionPrior, Values
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class UniformNumber(PartitionPrior):
    """A finite mixture whose number of components is uniform on 1, ..., `most`."""

    most: int
    gamma: Any = (2.0, 2.0)

    @property
    def most_clusters(self) -> int:  # type: ignore[override]
        return self.most

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        return {"gamma": Parameter.parse(self.gamma, "gamma")}

    def log_w(self, sizes: IntArray, values: Values) -> FloatArray:
        return np.asarray(gammaln(sizes + values["gamma"]) - gammaln(values["gamma"]))

    def log_v(self, n: Any, number: Any, values: Values) -> Any:
        t, k = np.arange(1.0, self.most + 1), np.asarray(number)[..., None]
        ways = gammaln(t + 1) - gammaln(np.maximum(t - k, 0) + 1)
        share = gammaln(values["gamma"] * t) - gammaln(values["gamma"] * t + n)
        return logsumexp(np.where(t >= k, ways + share, -np.inf), axis=-1) - np.log(self.most)
