"""Fits in threads at once, after ArviZ has left JAX to its first use, which draws numbers."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import arviz_base  # noqa: F401
import numpy as np

import bayesclust as bc

y = np.repeat([0, 1], 20)
X = np.random.default_rng(0).normal(5.0 * y[:, None], 1.0, (40, 2))
LINKS = bc.PairwiseConstraints.sample(y, size=30, seed=0)
SHORT = {"num_chains": 2, "num_warmup": 20, "num_samples": 20, "progress": False}


def fits(seed):
    """The labels of three estimators."""
    sampled = bc.TVClust(cluster_model="single", random_state=seed, **SHORT)
    every = bc.DCRC(2, random_state=seed), sampled, bc.RDPMeans()
    return [est.fit(X, constraints=LINKS).labels_.tolist() for est in every]


if __name__ == "__main__":
    warnings.simplefilter("ignore", bc.posterior.DiagnosisWarning)
    before = np.random.get_state()[1:3]  # noqa: NPY002
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(fits, range(4)))
    after = np.random.get_state()[1:3]  # noqa: NPY002
    unchanged = np.array_equal(before[0], after[0]) and before[1] == after[1]
    print(unchanged and at_once == [fits(seed) for seed in range(4)])
