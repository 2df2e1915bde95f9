"""What every test runs under: one thread, 64 bits, no windows, the same draws each time.

Warnings are errors (pyproject.toml); what a test expects to be warned of it says with
`pytest.warns`.
"""

import os
import sys

# Read when NumPy's BLAS and JAX are first loaded, hence before anything that imports them.
for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
):
    os.environ[variable] = "1"
os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false".strip()
)
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("FAULT_SEED", "0")

from tools import kernel_cache  # noqa: E402

kernel_cache.use()
# what JAX compiles is kept beside them: it is found by the program itself, and never stale
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", f"{os.environ['NUMBA_CACHE_DIR']}/jax")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

pytest.register_assert_rewrite("tests.refusals")
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


def pytest_report_header():
    """What tests/robustness damages, tampers with and kills at random; other seeds may be set."""
    return f"random faults: FAULT_SEED={os.environ['FAULT_SEED']}"


@pytest.fixture
def rng():
    """A generator that starts at the same place in every test."""
    return np.random.default_rng(20_260_101)


@pytest.fixture(autouse=True)
def _close_figures():
    """Let no figure outlive its test; Matplotlib is not loaded for it."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
