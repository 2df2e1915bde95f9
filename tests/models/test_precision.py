"""Precision: 64-bit JAX for our own computations alone, and programs that work in either."""

import json
import os
import subprocess
import sys

import pytest


def run(code, wide):
    env = {name: value for name, value in os.environ.items() if name != "JAX_ENABLE_X64"}
    if wide:
        env["JAX_ENABLE_X64"] = "1"
    done = subprocess.run([sys.executable, *code], env=env, check=True, capture_output=True)
    return done.stdout.decode()


def test_importing_leaves_the_precision_of_the_process_alone():
    code = (
        "import os, bayesclust.models, bayesclust.inference.blocked.chains, jax\n"
        "assert not jax.config.jax_enable_x64 and 'JAX_ENABLE_X64' not in os.environ"
    )
    run(["-c", code], wide=False)


@pytest.mark.slow
def test_programs_and_chains_work_in_32_and_in_64_bits():
    narrow, wide = (json.loads(run(["-m", "tests.models.precision_run"], w)) for w in (False, True))
    assert narrow["nuts"] == [["float32", True]] * 2, "before and after computations of our own"
    assert wide["nuts"] == [["float64", True]] * 2
    assert narrow["blocked"] == wide["blocked"]
