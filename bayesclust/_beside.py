"""Kernels that other processes compile, while this one compiles the rest.

numba compiles one function after another, on one processor. What is asked for here is compiled by
processes of their own, into the cache on disk that all share. What this process comes to need
before any of them has begun it, it compiles itself; what one of them is at, it waits for, and
compiles what nobody has begun meanwhile. They end when they have done what there is to do, or when
this process does.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

# with the path of this process, and not a module of the current directory that it would not import
PROGRAM = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from bayesclust._beside import work; work()"
VARIABLE = "BAYESCLUST_COMPILERS"
"""Of the environment: how many processes there may be, 0 for none."""
AT_MOST = 3
"""Where it is not set; and never more than there are processors to spare."""
PATIENCE = 60.0
"""Seconds to wait for a kernel that takes a few."""
LINGER = 0.3
"""Seconds to wait, with what is to be begun last, for what comes before it: chains ask for that when they are made."""
READY = b"\0"

Task = tuple[str, str, tuple[Any, ...]]
Call = tuple[Any, tuple[Any, ...]]


def task_of(function: Callable[..., Any], signature: Any) -> Task:
    """What names the compiling of a function for some types."""
    return function.__module__, function.__qualname__, tuple(getattr(signature, "args", signature))


class Queue:
    """Kernels to be compiled beside, in the order in which processes begin them."""

    def __init__(self) -> None:
        self.asked: set[Task] = set()
        self.last: set[Task] = set()
        self.todo: dict[Task, bytes] = {}
        self.doing: set[Task] = set()
        self.workers = 0
        self.changed = threading.Condition()

    def put(self, orders: dict[Task, bytes], *, last: bool) -> None:
        """Add what was never asked for before, and let processes begin."""
        with self.changed:
            new = {task: order for task, order in orders.items() if task not in self.asked}
            self.asked.update(new)
            self.last.update(new if last else ())
            self.todo = self.todo | new if last else new | self.todo
            self.changed.notify_all()
            for _ in range(
                min(number_of_compilers(), len(self.todo) + len(self.doing)) - self.workers
            ):
                with contextlib.suppress(RuntimeError):  # where there can be no more threads
                    threading.Thread(target=feed, args=(self,), daemon=True).start()
                    self.workers += 1

    def take(self) -> tuple[Task, bytes] | None:
        """The next one, for a process to begin; None ends it."""
        with self.changed:
            self.changed.wait_for(lambda: not self.todo or self.asked > self.last, LINGER)
            if not self.todo:
                self.workers -= 1
                return None
            task = next(iter(self.todo))
            self.doing.add(task)
            return task, self.todo.pop(task)

    def settle(self, task: Task) -> None:
        """It is in the cache, or will not be."""
        with self.changed:
            self.doing.discard(task)
            self.changed.notify_all()

    def lose(self) -> None:
        """A process has ended, or has not begun, though there may be more."""
        with self.changed:
            self.workers -= 1

    def claim(self, task: Task) -> None:
        """Return when a kernel is in the cache, or is to be compiled here."""
        end = time.monotonic() + PATIENCE
        with self.changed:
            self.todo.pop(task, None)
        while other := self._instead(task, end):
            compile_here(other)

    def _instead(self, task: Task, end: float) -> Task | None:
        """What nobody has begun, to be compiled while a process is at a task; None when it is not, or not in time.

        What is asked for last is left alone: chains that find their kernels in the cache would wait
        for it.
        """
        with self.changed:
            self.changed.wait_for(
                lambda: task not in self.doing or self.todo.keys() - self.last,
                end - time.monotonic(),
            )
            others = [other for other in self.todo if other not in self.last]
            if task not in self.doing or not others or time.monotonic() >= end:
                return None
            del self.todo[others[0]]
            return others[0]


_queue = Queue()
_running: set[Any] = set()


def _forget() -> None:
    """In a copy of this process, which has no threads to tell it of the others, and keeps none of them alive."""
    for process in _running:
        with contextlib.suppress(OSError):
            process.stdin.close()
    _running.clear()
    _queue.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def number_of_compilers() -> int:
    """How many processes there may be; none where this is one of several, or no Python that can be started anew."""
    family = sys.modules.get("multiprocessing.process")
    name = os.path.basename(sys.executable or "").lower()
    if (
        getattr(sys, "frozen", False)
        or not name.startswith("python")
        or (family and family.parent_process())
    ):
        return 0
    allowed = getattr(os, "sched_getaffinity", None)
    spare = (len(allowed(0)) if allowed else os.cpu_count() or 1) - 1
    asked = os.environ.get(VARIABLE, "")
    return min(spare, int(asked) if asked.isdecimal() else AT_MOST)


def compile_beside(calls: Iterable[Call], *, last: bool = False) -> None:
    """Have kernels compiled by other processes, unless they are in the cache or there is but one processor.

    Parameters
    ----------
    calls : iterable of (kernel, tuple of its arguments)
        With any values of the right types.
    last : bool, default False
        Begin them after those that were asked for otherwise.
    """
    orders = {}
    for dispatcher, arguments in calls:
        signature = tuple(dispatcher.typeof_pyval(value) for value in arguments)
        holds = getattr(
            dispatcher._cache, "holds", None
        )  # where nothing is cached, there is nothing to share
        if (
            holds is None
            or signature in dispatcher.overloads
            or holds(signature, dispatcher.targetctx)
        ):
            continue
        task = task_of(dispatcher.py_func, signature)
        with contextlib.suppress(
            pickle.PicklingError, AttributeError, TypeError
        ):  # types that have no name elsewhere
            orders[task] = pickle.dumps(
                pickle.dumps(task)
            )  # one that cannot be read there leaves those after it in step
    if orders:
        _queue.put(orders, last=last)


def claim(function: Callable[..., Any], signature: Any) -> None:
    """Return when a function is in the cache, or is to be compiled here."""
    if _queue.asked:
        _queue.claim(task_of(function, signature))


def compile_here(task: Task) -> None:
    """Compile a function in this process; what fails here fails where it is called, and says so there."""
    module, name, signature = task
    with contextlib.suppress(Exception):
        getattr(importlib.import_module(module), name).compile(signature)


def feed(queue: Queue) -> None:
    """Start a process, and hand it one task after another."""
    done = False
    with contextlib.suppress(OSError, ValueError), _start() as process:
        _running.add(process)
        try:
            ready = _is_ready(process)
            while ready and not done:
                taken = queue.take()
                if taken is None:
                    done = True
                    _tell(process, pickle.dumps(None))
                else:
                    ready = _does(process, *taken, queue)
        finally:
            _running.discard(process)
    if not done:
        queue.lose()


def _does(process: Any, task: Task, order: bytes, queue: Queue) -> bool:
    """Have one task done; whether the process is ready for another."""
    try:
        _tell(process, order)
        return _is_ready(process)
    finally:
        queue.settle(task)


def _start() -> Any:
    optimised = (
        ["-" + "O" * sys.flags.optimize] if sys.flags.optimize else []
    )  # or their code has other names
    process = subprocess.Popen(
        [sys.executable, *optimised, "-P", "-c", PROGRAM],
        env=os.environ | {VARIABLE: "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    path: list[Any] = sys.path
    with contextlib.suppress(OSError):  # if it has ended, it will not be ready
        _tell(
            process,
            pickle.dumps([entry or os.getcwd() for entry in path if isinstance(entry, str)]),
        )
    return process


def _tell(process: Any, order: bytes) -> None:
    process.stdin.write(order)
    process.stdin.flush()


def _is_ready(process: Any) -> bool:
    """Wait until a process says so, whatever else it prints; whether it did, and has not ended."""
    said: bytes | None = None
    while said not in (b"", READY):
        said = process.stdout.read(1)
    return said == READY


def work() -> None:
    """What a process does that was started so: say that it is ready, compile what it is told to, and again."""
    gc.disable()  # it does not live for long
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # meant for those who wait, and who end this one
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(EOFError, OSError):
        while True:
            answers.write(READY)
            order = pickle.load(sys.stdin.buffer)
            if order is None:
                return
            with contextlib.suppress(Exception):  # of types that cannot be found here
                compile_here(pickle.loads(order))
