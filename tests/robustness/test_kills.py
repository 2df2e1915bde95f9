"""Fits killed at random moments resume to the draws of an undisturbed one."""

import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.robustness.world import FAULT_SEED, ROOT

KINDS = ["collapsed", "gibbs", "blocked", "mixture", "dcrc"]
FITS = """
import hashlib, os, signal, sys, time
from tools import kernel_cache
kernel_cache.use()
import numpy as np
from tqdm import tqdm
import bayesclust as bc
from bayesclust.inference import checkpoint

tqdm.monitor_interval = 0  # no thread beside the one that forks
checkpoint.SECONDS, checkpoint.SHARE = 0.02, np.inf  # save often
y = np.repeat([0, 1], 12)
X = np.random.default_rng(0).normal(size=(24, 2)) + 3.0 * y[:, None]
links = bc.PairwiseConstraints.sample(y, size=15, error_rate=0.1, seed=0)
long = {"num_chains": 2, "num_warmup": 100, "num_samples": 400, "random_state": 0}
long |= {"progress": False, "n_jobs": 1}
kind = sys.argv[1]
if kind == "dcrc":
    est = bc.DCRC(2, inference="gibbs", **long)
elif kind == "mixture":
    est = bc.TVClust(cluster_model="mixture", **long)
else:
    est = bc.TVClust(kind, cluster_model="single", **long)

def fit(path=None):
    tree = est.fit(X, constraints=links, checkpoint=path).posterior_
    groups = [tree[name] for name in checkpoint.GROUPS]
    drawn = [bytes(group[name].values) for group in groups for name in sorted(group)]
    return hashlib.sha256(b"".join(drawn)).hexdigest()

if kind == "blocked":  # JAX can be imported before a fork, and not be used
    import bayesclust.inference.blocked.chains
else:
    fit()
for line in sys.stdin:
    seconds, path = line.rstrip().split(maxsplit=1)
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        print(fit(None if path == "none" else path), flush=True)
        os._exit(0)
    if float(seconds):
        time.sleep(float(seconds))
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("ended", code, time.monotonic() - start, flush=True)
"""


class Fits:
    """A process that has everything loaded, and forks for each fit that it is asked for."""

    def __init__(self, kind):
        compiled = {"JAX_COMPILATION_CACHE_DIR": f"{os.environ['NUMBA_CACHE_DIR']}/jax"}
        own = {"env": {**os.environ, "PYTHONPATH": str(ROOT), **compiled}, "text": True}
        own |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", FITS, kind], **own)

    def fit(self, path="none", kill_after=0.0):
        """What a fit says of its draws, nothing if it was killed, and its seconds."""
        print(kill_after, path, file=self.process.stdin, flush=True)
        found, line = "", self.process.stdout.readline()
        if not line.startswith("ended"):
            found, line = line, self.process.stdout.readline()
        _, code, seconds = line.split()
        assert found or int(code) == -signal.SIGKILL
        return found, float(seconds)


@pytest.mark.parametrize(
    ("kind", "kills"),
    [("collapsed", 5), *(pytest.param(kind, 100, marks=pytest.mark.slow) for kind in KINDS)],
)
def test_fits_killed_at_random_moments_resume(kind, kills, tmp_path):
    """A run that has come to its end is compared, and another one begins."""
    rng, path, hits, fits = np.random.default_rng(FAULT_SEED), tmp_path / "run.zarr", 0, Fits(kind)
    fits.fit()  # may compile
    expected, seconds = fits.fit()
    while hits < kills:
        found, _ = fits.fit(path, kill_after=rng.uniform(0.01, seconds / 2))
        hits += not found
        if found:
            assert found == expected
            shutil.rmtree(path)
    assert fits.fit(path)[0] == expected
    fits.process.communicate()
