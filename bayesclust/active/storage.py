"""Sessions on disk: one NumPy archive of label arrays and a JSON text, written in one atomic step, read without pickle."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from typing import Any, NamedTuple

import numpy as np

from bayesclust._files import UNREADABLE, check_path, replaced
from bayesclust.active.ledger import Row
from bayesclust.active.steps import Step
from bayesclust.typing import FloatArray, IntArray

FORMAT = 1


def fingerprint(X: FloatArray) -> str:
    """Return a text that is another for other data.

    Parameters
    ----------
    X : (n, d) array

    Returns
    -------
    str

    Examples
    --------
    >>> fingerprint(np.zeros((2, 3))) == fingerprint(np.zeros((3, 2)))
    False
    """
    digest = hashlib.sha256(str(X.shape).encode())
    digest.update(np.ascontiguousarray(X))
    return digest.hexdigest()


class Saved(NamedTuple):
    """What a session consists of, its data aside."""

    data: str  # their fingerprint
    modification: dict[str, Any]  # settings
    query_strategy: str | None  # its name
    rng: Any  # state of the generator
    events: list[list[Row] | None]
    steps: list[Step]
    y: IntArray | None


def write(path: str | os.PathLike[str], saved: Saved) -> None:
    """Write a session so that after a kill, or a loss of power, there is the old file or the new one.

    Parameters
    ----------
    path : str or path
    saved : Saved

    Raises
    ------
    TypeError, ValueError
        If the path is none, or of a folder, or its folder is missing or cannot be written to.
    """
    about = saved._asdict() | {"format": FORMAT, "steps": [step.about for step in saved.steps]}
    arrays: dict[str, Any] = {"labels": np.stack([step.labels for step in saved.steps])}
    if (y := about.pop("y")) is not None:
        arrays["y"] = y
    text = np.frombuffer(json.dumps(about, default=_plain).encode(), dtype=np.uint8)
    with replaced(path) as draft, draft.open("wb") as stream:
        np.savez_compressed(stream, about=text, **arrays)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(
        f"a setting is a {type(value).__name__}, which cannot be saved: use plain numbers."
    )


def read(path: str | os.PathLike[str]) -> Saved:
    """Read what `write` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Saved

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If it is no session, or one of a later version.
    """
    try:
        # opened here, since NumPy leaves a damaged file open
        with check_path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        about = json.loads(arrays["about"].tobytes().decode())
        version = about.pop("format")
        if version == FORMAT:
            return _saved(about, arrays)
    except (FileNotFoundError, PermissionError):
        raise
    except (*UNREADABLE, EOFError, zipfile.BadZipFile, zlib.error):
        raise ValueError(
            f"{str(path)!r} is no session of bayesclust: give the path of one that was saved."
        ) from None
    raise ValueError(
        f"{str(path)!r} was saved in format {version}, but this version of bayesclust reads {FORMAT}: use the version "
        "that saved it."
    )


def _saved(about: dict[str, Any], arrays: dict[str, Any]) -> Saved:
    kept = zip(arrays["labels"], about["steps"], strict=True)
    about["steps"] = [
        Step(labels, answers, cost, tuple(given_up)) for labels, (answers, cost, given_up) in kept
    ]
    about["events"] = [
        rows if rows is None else [(kind, row) for kind, row in rows] for rows in about["events"]
    ]
    return Saved(**about, y=arrays.get("y"))


__all__ = ["Saved", "fingerprint", "read", "write"]
