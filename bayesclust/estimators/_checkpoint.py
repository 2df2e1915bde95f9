"""What makes a run the one it is, so that a checkpoint is continued by the same call only."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.random import Generator

from bayesclust.constraints.base import Constraints
from bayesclust.inference import processes
from bayesclust.inference.checkpoint import Checkpoint, stored_fingerprint
from bayesclust.typing import FloatArray

LATER = ("num_samples", "loss", "progress", "n_jobs", "random_state")
"""Settings that do not change the draws, and the seed, which is handled by itself."""


def run_seed(random_state: int | Generator | None, path: str | os.PathLike[str]) -> int | Generator:
    """The seed of a run with a checkpoint: where none is given, one is drawn and kept in it.

    Parameters
    ----------
    random_state : int, Generator or None
    path : str or path

    Returns
    -------
    int or Generator

    Raises
    ------
    ValueError
        If each of several processes would draw its own.
    """
    if random_state is not None:
        return random_state
    found = stored_fingerprint(path) or {}
    if "drawn seed" in found:
        return int(found["drawn seed"])
    _check_seed(None)
    return int(np.random.SeedSequence().generate_state(1)[0])


def _check_seed(random_state: int | Generator | None) -> None:
    if random_state is None and processes.number() > 1:
        raise ValueError(
            "random_state=None draws another seed in each process: give the same number in all of them."
        )


def open_store(
    path: str | os.PathLike[str] | None,
    settings: Mapping[str, Any],
    items: FloatArray,
    constraints: Sequence[Constraints],
    seed: int | Generator | None,
    dims: Mapping[str, tuple[str, ...]],
) -> Checkpoint | None:
    """The checkpoint of a run, if it is to have one; that several processes run the same is checked either way.

    Parameters
    ----------
    path : str, path or None
    settings, items, views, seed
        As `fingerprint` takes them; the seed as `run_seed` gives it where there is a path.
    dims : mapping
        Names of the dimensions of variables.

    Returns
    -------
    Checkpoint or None

    Raises
    ------
    ValueError
        If the path holds something else, or processes differ in anything.
    """
    if path is None and processes.number() == 1:
        return None
    _check_seed(seed)
    words = fingerprint(settings, items, constraints, seed) if seed is not None else {}
    if path is not None:
        return Checkpoint(path, words, settings["num_chains"], dims)
    processes.check_alike(words)
    return None


def fingerprint(
    settings: Mapping[str, Any],
    items: FloatArray,
    constraints: Sequence[Constraints],
    seed: int | Generator,
) -> dict[str, Any]:
    """Words that differ as soon as the draws would.

    Parameters
    ----------
    settings : mapping
        Parameters of the estimator.
    items : ndarray of shape (n, d)
    constraints : sequence of Constraints
    seed : int or Generator
        As `run_seed` gives it.

    Returns
    -------
    dict
    """
    words = {name: _word(value) for name, value in settings.items() if name not in LATER}
    answers = [
        _digest(view.items, view.answers, view.source) + f" {view.name} {_exact(view.noise)}"
        for view in constraints
    ]
    words |= {
        "version": version("bayesclust"),
        "data": _digest(items),
        "constraints": "; ".join(answers),
    }
    if isinstance(seed, Generator):
        # the chains' generators are spawned from the seed sequence, which spawning changes and
        # drawing does not
        source = getattr(seed.bit_generator.seed_seq, "state", None)
        return words | {"random_state": _word(f"{seed.bit_generator.state} {source}")}
    return words | {"drawn seed" if settings["random_state"] is None else "random_state": int(seed)}


def _word(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return _digest(value)
    word = _exact(value) if not isinstance(value, (str, np.generic)) else str(value)
    return word if len(word) < 100 else _digest(np.frombuffer(word.encode(), np.uint8))


def _exact(value: Any) -> str:
    """The representation with all elements and digits of arrays inside."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        return repr(value)


def _digest(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for values in arrays:
        array = np.ascontiguousarray(values)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]
