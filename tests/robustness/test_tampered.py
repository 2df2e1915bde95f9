"""Objects that were edited after they were checked are refused: no kernel leaves its arrays."""

import copy
import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.families import FullGaussian
from bayesclust.inference.chain import State, TVClustProblem
from tests.robustness.test_bad_inputs import faults, outcome
from tests.robustness.world import ESTIMATORS, FAULT_SEED, LINKS, PARTITION, ROOT, TRIPLETS, X, tree

NUMBERS = [10, pytest.param(50, marks=pytest.mark.slow)]
FITS = {
    **{name: make for name, make in ESTIMATORS.items() if name != "DPMeans"},
    "gibbs": lambda: ESTIMATORS["TVClust"](sampler="gibbs", cluster_model="single"),
    "blocked": lambda: ESTIMATORS["TVClust"](sampler="blocked", cluster_model="single"),
    "variational": lambda: ESTIMATORS["TVClust"](sampler="variational", cluster_model="single"),
}
SUMMARIES = [bc.constraint_credibility, bc.source_reliability, bc.constraint_ppc, bc.view_conflict]
WRONG = {
    "items": lambda a: [a + 10**8, a - 13, a * 0, a[:, :1], a.astype(float), a[:-1], None, "ab"],
    "answers": lambda a: [a + 100, a - 5, a[:-1], a.astype(float), None],
    "source": lambda a: [a + 10**8, a - 1, a[None], a * 0.5, 7],
    "n_items": lambda n: [10**6, n - 3, -1],
    "n_sources": lambda n: [0, -3],
    "noise": lambda noise: [None, bc.TVClust()],
}
"""What an attribute of constraints may not be."""


def tampered_constraints(rng):
    """A fit with constraints of which one attribute was changed, and what it is called."""
    kind, name = list(FITS)[rng.integers(len(FITS))], list(WRONG)[rng.integers(len(WRONG))]
    edited = copy.copy(LINKS if kind == "MPCKMeans" or rng.random() < 0.5 else TRIPLETS)
    wrong = WRONG[name](getattr(edited, name))
    value = wrong[rng.integers(len(wrong))]
    setattr(edited, name, value)
    partition = PARTITION.get(kind, {})
    return lambda: FITS[kind]().fit(X, constraints=edited, **partition), f"{kind} {name}={value!r}"


def tampered_posterior(rng):
    """A summary of a posterior whose stored constraints are out of range."""
    changed = tree().copy(deep=True)
    stored = changed["constant_data"]
    names = [name for name in stored.data_vars if name.startswith(("links_", "triplets_"))]
    name = names[rng.integers(len(names))]
    value = int(rng.choice([-1, 99, 10**9])) if stored[name].dtype.itemsize > 1 else 99
    stored[name].values[rng.integers(len(stored[name]))] = value
    summary = SUMMARIES[rng.integers(len(SUMMARIES))]
    return lambda: summary(changed), f"{summary.__name__} {name}={value}"


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("tampered", [tampered_constraints, tampered_posterior])
def test_tampered_objects_are_refused(tampered, number):
    rng, wrong = np.random.default_rng(FAULT_SEED), []
    for _ in range(number):
        call, what = tampered(rng)
        wrong += [f"{what} {fault}" for fault in faults(outcome(call), "posterior")]
    assert wrong == []


class FewSlots(type(FullGaussian().bind(X))):
    """A family of one's own that forgets a slot."""

    def new_state(self, capacity, hyper):
        return super().new_state(capacity - 1, hyper)


def test_families_of_wrong_shapes_are_refused():
    bound = FullGaussian().bind(X)
    own = FewSlots(**{one.name: getattr(bound, one.name) for one in fields(bound) if one.init})
    with pytest.raises(ValueError, match=r"FewSlots makes a state of 16 clusters with count of"):
        State(TVClustProblem(own), np.zeros(len(X), int), np.random.default_rng(0))


CHECKED = [
    "tests/exactness/test_enumeration.py::test_every_family",
    "tests/exactness/test_two_level.py::test_every_move",
    "tests/exactness/test_dcrc.py::test_labels_given_the_weights",
    "tests/estimators/test_rdp_means.py",
    "tests/estimators/test_mpck_means.py",
    "tests/posterior/test_point_estimate.py",
]


@pytest.mark.slow
def test_kernels_stay_within_their_arrays(tmp_path):
    """Those of the samplers, limits and point estimates, compiled with numba's bounds checks."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-x", *CHECKED]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
