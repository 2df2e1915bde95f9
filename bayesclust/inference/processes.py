"""Several processes that run one model: who writes, what they must agree on, and what happens when one of them is gone.

A run is of several processes once the user has called `jax.distributed.initialize` in each. All
make the same calls with the same data. Without it every function here says that there is one
process, and does nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bayesclust.typing import BoolArray, NDArray

__all__ = [
    "LostProcessError",
    "any_says",
    "check_alike",
    "gathered",
    "in_turn",
    "index",
    "noticing_loss",
    "number",
]

STATUS = re.compile(
    r"(ABORTED|CANCELLED|DEADLINE_EXCEEDED|FAILED_PRECONDITION|INTERNAL|UNAVAILABLE|UNKNOWN): "
)
"""How failures of the devices' runtime begin."""


class LostProcessError(RuntimeError):
    """Another process of the run has ended, and this one cannot go on without it."""


def number() -> int:
    """Return how many processes run this model.

    Returns
    -------
    int
        1 where `jax.distributed` was not initialised.
    """
    jax = sys.modules.get("jax")
    return int(jax.process_count()) if jax is not None and jax.distributed.is_initialized() else 1


def index() -> int:
    """Return the number of this process among them.

    Returns
    -------
    int
        From 0; what all have in common is written by the first alone.
    """
    return int(sys.modules["jax"].process_index()) if number() > 1 else 0


@contextmanager
def noticing_loss() -> Iterator[None]:
    """Say in a sentence that another process is gone, in the place of what the devices' runtime makes of it.

    Yields
    ------
    None

    Raises
    ------
    LostProcessError
        Where JAX reports any failure in a run of several processes: one that only this process saw
        ends the others too.
    """
    if number() == 1:
        yield
        return
    import jax

    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        # what a program meets as it is started comes as a ValueError with the runtime's word before
        # it
        if isinstance(error, ValueError) and not STATUS.match(str(error)):
            raise
        reason = " ".join(str(error).split())[:200]
        raise LostProcessError(
            f"process {index()} of {number()} cannot go on, since another has ended or cannot be reached ({reason}): start "
            "all of them again with the same call, and the run goes on from its checkpoint, if it has one."
        ) from error


def gathered(values: NDArray[Any]) -> NDArray[Any]:
    """Return the arrays of all processes, of one shape and type, stacked in their order.

    Every process must call this, in the same order as all other functions here that let processes
    meet.

    Parameters
    ----------
    values : ndarray

    Returns
    -------
    ndarray of shape (processes, ...)

    Raises
    ------
    LostProcessError
        If one of them is gone.
    """
    if number() == 1:
        return values[None]
    from jax.experimental import multihost_utils

    # as bytes, since JAX may be set to round 64 bits to 32
    raw = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
    with noticing_loss():
        parts = np.asarray(multihost_utils.process_allgather(raw))
    return np.ascontiguousarray(parts).view(values.dtype).reshape(len(parts), *values.shape)


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Let no other process do meanwhile what it does in its turn with the same path; a lock file lies beside it.

    Parameters
    ----------
    path : Path

    Yields
    ------
    None
    """
    if number() == 1:
        yield
        return
    import fcntl

    with path.with_name(f"{path.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def any_says(*flags: bool) -> BoolArray:
    """Return which flags are up in any process; all get the same answer at the same point of the run.

    Parameters
    ----------
    *flags : bool
        Of this process.

    Returns
    -------
    ndarray of bool, shape (flags,)
    """
    return np.asarray(gathered(np.array(flags, np.bool_)).any(axis=0))


def check_alike(words: Mapping[str, Any]) -> None:
    """Refuse to go on where a process has other data, settings or files than the first.

    Parameters
    ----------
    words : mapping of str to str or number
        By what they are told apart; the same names in all processes.

    Raises
    ------
    ValueError
        In all processes alike, naming what differs.
    """
    if number() == 1:
        return
    digests = [
        hashlib.sha256(json.dumps(value, default=str).encode()).digest() for value in words.values()
    ]
    every = gathered(np.frombuffer(b"".join(digests), np.uint8).reshape(len(words), -1))
    unlike = (every != every[0]).any(axis=2)
    if unlike.any():
        other = int(unlike.any(axis=1).argmax())
        names = ", ".join(
            name for name, differs in zip(words, unlike[other], strict=True) if differs
        )
        raise ValueError(
            f"process {other} has other {names} than process 0: make the same call with the same data in all processes, "
            "with checkpoints in a folder that all of them see."
        )
