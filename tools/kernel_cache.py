"""Where numba keeps compiled kernels in a checkout: a folder named by a digest of the sources.

numba compiles a kernel again when its own file changes, but not when a function that it calls, from
another file, does. With a folder for each state of the sources nothing stale is ever found.

Processes that save a kernel at the same time can mix up numba's index of its versions. So one of
them compiles at a time, and the others then load what it saved.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TextIO

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


def use() -> None:
    """Have numba keep its code there, unless NUMBA_CACHE_DIR says where; before kernels load."""
    if "NUMBA_CACHE_DIR" not in os.environ:
        chosen = folder()
        chosen.mkdir(parents=True, exist_ok=True)
        chosen.touch()
        others = sorted(chosen.parent.iterdir(), key=lambda path: -path.stat().st_mtime)
        for old in others[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = str(chosen)
        from numba.core.config import reload_config

        reload_config()  # a plugin of pytest may have loaded numba before
    _compile_alone(Path(os.environ["NUMBA_CACHE_DIR"]) / "lock")


@cache
def _compile_alone(path: Path) -> None:
    """Hold the lock file whenever this process holds numba's own lock, to load, compile or save.

    Once in a process: two listeners would wait for each other.
    """
    from numba.core import event

    class Alone(event.Listener):
        def __init__(self) -> None:
            self.threads = RLock()
            self.held: list[TextIO | None] = []

        def on_start(self, event: object) -> None:
            self.threads.acquire()
            file = None
            if not self.held:
                path.parent.mkdir(parents=True, exist_ok=True)
                file = path.open("w")
                fcntl.flock(file, fcntl.LOCK_EX)
            self.held.append(file)

        def on_end(self, event: object) -> None:
            file = self.held.pop()
            if file is not None:
                file.close()
            self.threads.release()

    event.register("numba:compiler_lock", Alone())
