"""Good input for every public entry: small, of whole numbers that every type holds exactly."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import bayesclust as bc
from bayesclust.families import get_family
from bayesclust.posterior.tree import to_datatree

ROOT = Path(__file__).resolve().parents[2]
FAULT_SEED = int(os.environ["FAULT_SEED"])
N = 12
TRUTH = np.repeat([0, 1, 2], 4)
X = np.random.default_rng(0).integers(0, 8, (N, 2)) + 30.0 * TRUTH[:, None]
NEW = X[::3] + 1.0
LINKS = bc.PairwiseConstraints([(0, 1), (1, 2), (0, 4), (5, 9), (8, 9)], [1, 1, 0, 0, 1], n_items=N)
TRIPLETS = bc.RelativeConstraints(
    [(0, 1, 5), (0, 4, 8), (9, 10, 2)], ["yes", "dnk", "yes"], n_items=N
)
RULES = bc.LabelConstraints([(0, 1)], n_items=N)
SEVERAL = [LINKS, TRIPLETS]
SHORT: dict[str, Any] = {
    "num_chains": 2,
    "num_warmup": 6,
    "num_samples": 6,
    "progress": False,
    "random_state": 0,
}


def in_process(*arguments):
    """What Python prints in a process of its own, which must end well."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def session(partition=TRUTH, **more):
    modification = bc.MinimalModification(0.5, 1.0, time_limit=None)
    made = bc.InteractiveSession(X, partition, modification=modification, random_state=0, **more)
    made.add(LINKS)
    return made


def scored():
    """A session with classes to be judged by, and two partitions."""
    made = session(np.roll(TRUTH, 1), y=TRUTH)
    made.modify()
    return made


@cache
def tree():
    """Draws of a partition near the truth, with the parameters of a fit with both constraints."""
    rng = np.random.default_rng(3)
    z = np.tile(TRUTH, (2, 30, 1))
    moved = rng.random(z.shape) < 0.1
    z[moved] = rng.integers(0, 3, moved.sum())
    draws = {
        "z": z,
        "concentration": rng.gamma(2, 1, (2, 30)),
        "p": rng.beta(9, 3, (2, 30, 1)),
        "q": rng.beta(8, 2, (2, 30, 1)),
        "noise": rng.beta(2, 9, (2, 30, 1)),
        "base_scale": rng.gamma(2, 1, (2, 30)),
    }
    dims = {"p": ("links_source",), "q": ("links_source",), "noise": ("triplets_source",)}
    stats = {"log_joint": rng.normal(-80, 3, (2, 30)), "moved": rng.random((2, 30))}
    return to_datatree(draws, stats, X=X, constraints=SEVERAL, dims=dims)


@cache
def linked():
    """The same with links alone, as RDP-means and PCK-means take over."""
    full = tree()
    draws = {name: full["posterior"][name].values for name in ("z", "concentration", "p", "q")}
    dims = {"p": ("links_source",), "q": ("links_source",)}
    return to_datatree(draws, X=X, constraints=[LINKS], dims=dims, attrs={"family": "gaussian"})


@cache
def fitted(name):
    """An estimator fitted once."""
    return ESTIMATORS[name]().fit(
        X, constraints=None if name == "DPMeans" else LINKS, **PARTITION.get(name, {})
    )


@cache
def in_batches():
    """A TVClust of items in two batches, fitted once."""
    prior = bc.partition_priors.HierarchicalDirichletProcess(X.shape[1])
    est = bc.TVClust(**SHORT | {"partition_prior": prior, "sampler": "collapsed"})
    return est.fit(np.column_stack([X, np.arange(len(X)) % 2]))


PARTITION: dict[str, dict[str, Any]] = {"MinimalModification": {"partition": TRUTH}}
ESTIMATORS = {
    "DCRC": lambda **more: bc.DCRC(3, random_state=0, **more),
    "DPMeans": lambda **more: bc.DPMeans(**{"penalty": 200.0, "random_state": 0} | more),
    "MPCKMeans": lambda **more: bc.MPCKMeans(3, **{"random_state": 0} | more),
    "MinimalModification": lambda **more: bc.MinimalModification(
        0.5, 1.0, **{"time_limit": None} | more
    ),
    "RDPMeans": lambda **more: bc.RDPMeans(**{"penalty": 200.0, "random_state": 0} | more),
    "SpectralRDPMeans": lambda **more: bc.SpectralRDPMeans(
        **{"penalty": 200.0, "random_state": 0} | more
    ),
    "TVClust": lambda **more: bc.TVClust(**SHORT | more),
}


def bound():
    return get_family("gaussian").bind(X)


@cache
def path():
    return bc.limit_path(X, limit=bc.DPMeans(penalty=200.0), gammas=[0.1, 10.0], **SHORT)
