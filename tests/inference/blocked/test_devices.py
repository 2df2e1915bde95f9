"""The same draws from one device, from four of one host, and from two processes over loopback."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.inference.blocked.test_chains import case, chains

ROOT = Path(__file__).resolve().parents[3]
SWEEPS = 5
PROGRAM = """
import sys
import jax
import numpy as np
if len(sys.argv) > 2:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(sys.argv[2], num_processes=2, process_id=int(sys.argv[3]))
from tests.inference.blocked.test_devices import sharded, visit
np.savez(sys.argv[1], devices=len(jax.devices()), **visit(chains := sharded()))
assert len(chains.data.free[1][0].sharding.device_set) == len(jax.devices())
assert not chains.data.free[1][0].sharding.is_fully_replicated
"""


def sharded():
    return chains(case(n=61))


def visit(made):
    """Everything that a few sweeps go through."""
    found = {}
    for sweep in range(SWEEPS):
        made.sweep(adapt=sweep < 2)
        variables, statistics = made.draw()
        found |= {f"{name} {sweep}": value for name, value in {**variables, **statistics}.items()}
    return found


@pytest.fixture(scope="module")
def expected():
    return visit(sharded())


def run(path, *arguments, flags=""):
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, path, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def check(process, path, expected, devices):
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    with np.load(path) as found:
        assert found["devices"] == devices
        for name, value in expected.items():
            if name.startswith(("z", "n_clusters", "moved")):
                np.testing.assert_array_equal(found[name], value, err_msg=name)
            else:
                np.testing.assert_allclose(found[name], value, rtol=1e-10, err_msg=name)


def test_four_devices_of_one_host(expected, tmp_path):
    path = tmp_path / "four.npz"
    check(run(path, flags="--xla_force_host_platform_device_count=4"), path, expected, 4)


@pytest.mark.slow
def test_two_processes(expected, tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    paths = [tmp_path / f"process{i}.npz" for i in range(2)]
    processes = [run(path, address, str(i)) for i, path in enumerate(paths)]
    for process, path in zip(processes, paths, strict=True):
        check(process, path, expected, 2)


def test_draws_are_worth_comparing(expected):
    """Labels move in every sweep, and chains differ."""
    assert all((expected[f"moved {sweep}"] > 0).all() for sweep in range(SWEEPS))
    assert (expected["z 0"] != expected["z 4"]).any()
    assert (expected["z 4"][0] != expected["z 4"][1]).any()
