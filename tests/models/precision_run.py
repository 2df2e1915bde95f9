"""One process in the precision of JAX_ENABLE_X64: what it computes, for `test_precision`."""

import json

import jax
import numpy as np
import numpyro

import bayesclust as bc
from bayesclust.inference.blocked.chains import BlockedChains
from bayesclust.models import constraint_sites
from tests.exactness.cases import problem

Y = np.repeat([0, 1], 6)
X = np.random.default_rng(0).normal(size=(12, 2)) + 4 * Y[:, None]
LINKS = bc.PairwiseConstraints.sample(Y, size=12, seed=0)


def drawn_by_blocked():
    case = problem("gaussian", n=8, seed=3)
    rngs = np.random.default_rng(0).spawn(2)
    chains = BlockedChains(case, np.zeros((2, 8), dtype=np.int64), rngs)
    for _ in range(3):
        chains.sweep()
    chains.restore(chains.snapshot())
    return chains.labels_of_items().tolist(), chains.log_joint().tolist()


def drawn_by_nuts():
    """Means of a mixture with links, by Gibbs of partition and NUTS: precision, all finite."""
    x = jax.numpy.asarray(X[:, 0])

    def model():
        with numpyro.plate("component", 2):
            mean = numpyro.sample("mean", numpyro.distributions.Normal(0, 5))
        with numpyro.plate("item", 12):
            z = numpyro.sample("z", numpyro.distributions.Categorical(probs=np.full(2, 0.5)))
            numpyro.sample("x", numpyro.distributions.Normal(mean[z], 1), obs=x)
        constraint_sites(LINKS, z)

    blocks = [(bc.PartitionGibbs(model, LINKS), ["z"]), (numpyro.infer.NUTS(model), None)]
    kernel = numpyro.infer.Gibbs(blocks)
    mcmc = numpyro.infer.MCMC(kernel, num_warmup=30, num_samples=30, progress_bar=False)
    mcmc.run(jax.random.key(0))
    found = mcmc.get_samples()
    return str(found["mean"].dtype), all(bool(np.isfinite(v).all()) for v in found.values())


if __name__ == "__main__":
    first = drawn_by_nuts()
    blocked = drawn_by_blocked()
    again = drawn_by_nuts()
    print(json.dumps({"nuts": [first, again], "blocked": blocked}))
