"""Fits killed at random moments resume to the draws of an undisturbed one.

Kills at chosen moments, in the default suite, are in tests/inference/test_checkpoint.py.
"""

import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.robustness.world import FAULT_SEED, ROOT

KILLS = 100
FIT = """
import hashlib, sys
from tools import kernel_cache
kernel_cache.use()
import numpy as np
import bayesclust as bc
from bayesclust.inference import checkpoint

checkpoint.SECONDS, checkpoint.SHARE = 0.02, np.inf  # save often
y = np.repeat([0, 1], 12)
X = np.random.default_rng(0).normal(size=(24, 2)) + 3.0 * y[:, None]
links = bc.PairwiseConstraints.sample(y, size=15, error_rate=0.1, seed=0)
long = {"num_chains": 2, "num_warmup": 100, "num_samples": 400, "random_state": 0}
long |= {"progress": False, "n_jobs": 1}
est = {
    "mixture": lambda: bc.TVClust(cluster_model="mixture", **long),
    "collapsed": lambda: bc.TVClust("collapsed", cluster_model="single", **long),
    "gibbs": lambda: bc.TVClust("gibbs", cluster_model="single", **long),
    "blocked": lambda: bc.TVClust("blocked", cluster_model="single", **long),
    "dcrc": lambda: bc.DCRC(2, inference="gibbs", **long),
}[sys.argv[1]]()
print("begun", flush=True)
path = sys.argv[2] if sys.argv[2:] else None
tree = est.fit(X, constraints=links, checkpoint=path).posterior_
draws = [tree[group][name].values for group in checkpoint.GROUPS for name in sorted(tree[group])]
print(hashlib.sha256(b"".join(map(bytes, draws))).hexdigest())
"""


def begin(*arguments):
    """A fit in a process of its own, once it has begun."""
    compiled = {"JAX_COMPILATION_CACHE_DIR": f"{os.environ['NUMBA_CACHE_DIR']}/jax"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **compiled}
    command = [sys.executable, "-c", FIT, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["collapsed", "gibbs", "blocked", "mixture", "dcrc"])
def test_fits_killed_at_random_moments_resume(kind, tmp_path):
    """A run that has come to its end is compared, and another one begins."""
    rng, path, hits = np.random.default_rng(FAULT_SEED), tmp_path / "run.zarr", 0
    begin(kind).communicate()  # compiles
    whole = begin(kind)
    start = time.monotonic()
    expected = whole.communicate()[0]
    seconds = time.monotonic() - start
    while hits < KILLS:
        process = begin(kind, path)
        time.sleep(rng.uniform(0, seconds / 2))
        process.kill()
        found = process.communicate()[0]
        hits += process.returncode != 0
        if process.returncode == 0:
            assert found == expected
            shutil.rmtree(path)
    assert begin(kind, path).communicate()[0] == expected
