"""Where numba keeps compiled kernels in a checkout: a folder named by a digest of the sources.

numba compiles a kernel again when its own file changes, but not when a function that it calls, from
another file, does. With a folder for each state of the sources nothing stale is ever found.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = 4
"""States of the sources of which the compiled code is kept."""


def folder() -> Path:
    """The folder for the sources as they are now."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "bayesclust").rglob("*.py")):
        text = path.read_bytes()
        if b"_numba" in text or b"implements" in text:
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + text + b"\0")
    return ROOT / ".numba_cache" / digest.hexdigest()[:16]


def use(part: str = "") -> None:
    """Have numba keep its code there; processes that compile at once need a part each."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        chosen = folder()
        chosen.mkdir(parents=True, exist_ok=True)
        chosen.touch()
        others = sorted(chosen.parent.iterdir(), key=lambda path: -path.stat().st_mtime)
        for old in others[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = str(chosen / part)
