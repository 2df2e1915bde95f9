"""Runs chains side by side, in threads and over processes: warm-up, draws, progress, interrupts.

A run is of several processes once the user has called `jax.distributed.initialize` in each. All
make the same calls with the same data, and meet in `gather`, in the same order.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from bayesclust._numba import KERNELS
from bayesclust.checks import check_memory, counted, n_threads
from bayesclust.typing import PARTITIONS, BoolArray, NDArray

GROUPS = ("posterior", "sample_stats")
TOGETHER = "number_of_chains"  # the attribute of several chains that advance together
COMPILING = "Compiling, once per installation: about a minute"
TURN = 10  # sweeps that a chain makes before the next one of its thread has its turn
MOST_DRAWS, FEWEST_DRAWS, FREE_ITEMS = 1000, 250, 1000
"""Draws of a chain where `num_samples` is None: the first of so many items, then fewer."""
DONE = object()
LOOK_EVERY = 0.2  # seconds between two looks at whether kernels are being compiled
WATCH_ENDED = threading.Event()  # set in one of several processes that JAX no longer knows of
STATUS = re.compile(
    r"(ABORTED|CANCELLED|DEADLINE_EXCEEDED|FAILED_PRECONDITION|INTERNAL|UNAVAILABLE|UNKNOWN): "
)
"""How failures of the devices' runtime begin."""


class InterruptedRunWarning(UserWarning):
    """A run was interrupted; the draws so far are returned."""


class LostProcessError(RuntimeError):
    """Another process of the run has ended, and this one cannot go on without it."""


class Chain(Protocol):
    """A running sampler."""

    # several that advance together are one object with an attribute `number_of_chains`, the length
    # of the first axis of what `draw` gives; by several processes, with `by_all_processes` True

    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        """Move on by one sweep; both are set in the warm-up, `freeze_noise` in its first half."""

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        """(posterior variables, sample statistics) now."""

    def snapshot(self) -> dict[str, Any]:
        """All that decides the sweeps to come: words, numbers, arrays, lists and dicts of them."""

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Resume from a snapshot of a chain of the same problem, bit for bit."""


@dataclass(frozen=True)
class Schedule:
    """Length of a run: sweeps of the warm-up, draws to keep, and sweeps from one to the next."""

    num_warmup: int
    num_samples: int
    thinning: int = 1

    @property
    def length(self) -> int:
        """Sweeps in all."""
        return self.num_warmup + self.num_samples * self.thinning


@dataclass(frozen=True)
class Draws:
    """The result of a run: arrays of shape (chain, draw, ...)."""

    posterior: dict[str, NDArray[Any]]
    sample_stats: dict[str, NDArray[Any]]
    interrupted: bool


@dataclass
class _Store:
    """The draws of one entry, by group, in arrays (chain, draw, ...) made at the first draw."""

    size: int
    width: int = 1  # number of chains
    arrays: dict[str, dict[str, NDArray[Any]]] = field(
        default_factory=lambda: {group: {} for group in GROUPS}
    )
    number: int = 0

    def append(self, chain: Chain) -> None:
        for group, values in zip(GROUPS, chain.draw(), strict=True):
            arrays = self.arrays[group]
            for name, value in values.items():
                value = np.asarray(value) if hasattr(chain, TOGETHER) else np.asarray(value)[None]
                if name not in arrays:
                    kind = value.dtype
                    if name in PARTITIONS:
                        kind = np.dtype(np.int16 if value.shape[-1] < 1 << 15 else np.int32)
                    arrays[name] = np.empty((self.width, self.size, *value.shape[1:]), kind)
                arrays[name][:, self.number] = value
        self.number += 1

    def fill(self, draws: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
        """Take the first draws from arrays (chain, draw, ...)."""
        for group, variables in draws.items():
            for name, values in variables.items():
                self.width = len(values)
                self.number = min(values.shape[1], self.size)
                kept = np.empty((self.width, self.size, *values.shape[2:]), values.dtype)
                kept[:, : self.number] = values[:, : self.number]
                self.arrays[group][name] = kept


@dataclass
class _Entry:
    """An entry of the run with its draws, and its record in the checkpoint, if there is one."""

    start: Callable[[], Chain]
    schedule: Schedule
    record: Any

    def __post_init__(self) -> None:
        self.store = _Store(self.schedule.num_samples)

    def work(self, stop: threading.Event, bar: Any) -> Iterator[None]:
        """Sweep from where the checkpoint, if any, has got to, and yield every few sweeps."""
        schedule = self.schedule
        store = self.store
        state = None
        if self.record is not None:
            state, draws = self.record.load()
            store.fill(draws)
        first = 0 if state is None else min(int(state["sweeps"]), schedule.length)
        chain = self.start() if store.number < schedule.num_samples else None
        if chain is not None:
            store.width = getattr(chain, TOGETHER, 1)
            if state is not None:
                self.record.restore(chain, state["chain"])
        bar.total += (store.width - 1) * schedule.length
        bar.update(first * store.width)
        if chain is not None:
            yield from self._advance(chain, first, stop, bar)

    def _advance(self, chain: Chain, first: int, stop: threading.Event, bar: Any) -> Iterator[None]:
        """Sweep, draw, and save when it is time, which all processes of one chain do together."""
        schedule = self.schedule
        done = first
        together = getattr(chain, "by_all_processes", False)
        if together:
            check_same_in_all({"draws and sweeps in the checkpoint": (self.store.number, first)})
            chain.snapshot()  # over all connections that sweeps need
            end_watch()
        for sweep in range(first, schedule.length):
            halt = stop.is_set()
            save = self.record is not None and self.record.due()
            if together:
                halt, save = any_process(halt, save)
            if halt:
                break
            chain.sweep(
                adapt=sweep < schedule.num_warmup, freeze_noise=2 * sweep < schedule.num_warmup
            )
            done = sweep + 1
            after = done - schedule.num_warmup
            if after > 0 and after % schedule.thinning == 0:
                self.store.append(chain)
            bar.update(self.store.width)
            if save:
                self.record.save(chain, done, self.store)
            if done % TURN == 0:
                yield
        if done > first and self.record is not None:
            self.record.save(chain, done, self.store)
        if together:
            any_process(True)  # later calls may read what is written now


def _work_in_turns(entries: list[_Entry], stop: threading.Event, bar: Any) -> None:
    """Advance entries a few sweeps each, so that an interrupt finds all of them about as far."""
    running = [entry.work(stop, bar) for entry in entries]
    try:
        while running:
            running = [each for each in running if next(each, DONE) is not DONE]
    finally:
        for each in running:  # after an error: they stop, and save what they have
            stop.set()
            deque(each, maxlen=0)


def run_chains(
    starts: Sequence[Callable[[], Chain]],
    schedule: Schedule,
    *,
    progress: bool = True,
    n_jobs: int | None = None,
    checkpoint: Any = None,
    spread: bool = False,
    title: str = "{}",
) -> Draws:
    """Run a chain, or several that advance together, per entry of `starts`, in `n_jobs` threads."""
    # Draws do not depend on numbers of threads or processes: with `spread` these share entries, if
    # enough, and all return all. Interrupted, chains warn and have fewer draws, all as many.
    stop = threading.Event()
    number = len(starts)
    parts = n_processes() if spread and n_processes() <= number else 1
    entries = []
    for c in range(process_index() % parts, number, parts):
        record = None
        if checkpoint is not None:
            writes = parts > 1 or process_index() == 0
            record = checkpoint.record(c, number, schedule.num_samples, writes=writes)
        entries.append(_Entry(starts[c], schedule, record))
    shown = progress and process_index() == 0 and sys.stderr is not None
    total = len(entries) * schedule.length
    label = title.format(counted(number, "chain"))
    bar = tqdm(total=total, desc=label, unit="sweep", disable=None if shown else True)
    workers = min(len(entries), n_threads(n_jobs))
    futures: list[Future[None]] = []
    interrupted = False
    claim = nullcontext() if checkpoint is None else checkpoint.claimed()
    blas = threadpool_limits(1, user_api="blas")
    with claim, bar, blas, ThreadPoolExecutor(workers) as pool:
        try:
            compiled = number_compiled()
            shares = [entries[w::workers] for w in range(workers)]
            futures.extend(pool.submit(_work_in_turns, share, stop, bar) for share in shares)
            if shown and bar.disable:  # the error stream is a file, say, which has no bars
                tell(f"{label}: {total:,} sweeps")
            _wait(futures, bar, compiled, shown=shown)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()
        wait(futures)
    with naming_lost_process():
        for future in futures:
            future.result()
    stores = [entry.store for entry in entries]
    if parts > 1:
        stores = _of_all_processes(stores, number)
        interrupted = bool(any_process(interrupted)[0])
    return _collect(stores, interrupted)


def usual_draws(n_items: int) -> int:
    """Default draws of a chain: in inverse proportion to the number of items, where many."""
    return min(MOST_DRAWS, max(FEWEST_DRAWS, MOST_DRAWS * FREE_ITEMS // n_items))


def check_draws_fit_in_memory(
    n_items: int, num_chains: int, num_samples: int, *, weights: bool = False
) -> None:
    """Refuse runs whose draws of the partition would not fit into memory."""
    # while draws are put together and made canonical, a label takes three times as much and 8
    # bytes, and the weight of its cluster, where items come in batches, twice 8
    label = np.dtype(np.int16 if n_items <= np.iinfo(np.int16).max else np.int32).itemsize
    check_memory(
        num_chains * num_samples * n_items * (3 * label + 8 + 16 * weights),
        f"keeping {num_chains} x {num_samples:,} draws of {n_items:,} labels",
        "ask for fewer draws (num_samples), or fewer chains",
    )


def number_compiled() -> int:
    """How often this process had to compile a kernel, instead of loading it from the cache."""
    return sum(len(one.stats.cache_misses) for one in KERNELS if hasattr(one, "stats"))


def tell(text: str) -> None:
    """Write a line about what is done to the error stream, one for all processes."""
    if process_index() == 0 and sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


def _wait(futures: list[Future[None]], bar: Any, compiled: int, *, shown: bool) -> None:
    """Wait for all, or the first error; where progress is shown, say once that kernels compile."""
    silent = not shown
    while not silent:
        done, left = wait(futures, timeout=LOOK_EVERY, return_when=FIRST_EXCEPTION)
        if not left or any(future.exception() for future in done):
            return
        if number_compiled() > compiled:
            bar.write(COMPILING, file=sys.stderr)
            silent = True
    wait(futures, return_when=FIRST_EXCEPTION)


def _of_all_processes(own: list[_Store], number: int) -> list[_Store]:
    """The stores of all entries; entry c is with process c modulo the number of processes."""
    most = -(-number // n_processes())
    missing = most - len(own)
    stores = [_Store(own[0].size, own[0].width) for _ in range(number)]
    numbers = gather(np.array([store.number for store in own] + [0] * missing))
    for c, store in enumerate(stores):
        store.number = int(numbers[c % n_processes(), c // n_processes()])
    for group in GROUPS:
        for name in sorted(own[0].arrays[group]):  # a checkpoint has them in another order
            mine = [store.arrays[group][name] for store in own]
            every = gather(np.stack([*mine, *[np.zeros_like(mine[0])] * missing]))
            for c, store in enumerate(stores):
                store.arrays[group][name] = every[c % n_processes(), c // n_processes()]
    return stores


def _collect(stores: list[_Store], interrupted: bool) -> Draws:
    number = min(store.number for store in stores)
    if interrupted:
        if number == 0:
            raise KeyboardInterrupt
        warnings.warn(
            f"Interrupted: the first {number} draws of each chain are returned, of "
            f"{stores[0].size} asked for.",
            InterruptedRunWarning,
            stacklevel=3,
        )
    joined = {
        group: {
            name: np.concatenate([store.arrays[group][name][:, :number] for store in stores])
            for name in stores[0].arrays[group]
        }
        for group in GROUPS
    }
    return Draws(**joined, interrupted=interrupted)


def n_processes() -> int:
    """Number of processes that run this model; 1 where `jax.distributed` was not initialised."""
    # not from `jax` itself, which ArviZ loads at the first use, in one thread while others look
    started = getattr(sys.modules.get("jax.distributed"), "is_initialized", None)
    several = WATCH_ENDED.is_set() or (started is not None and started())
    return int(sys.modules["jax"].process_count()) if several else 1


def process_index() -> int:
    """Number of this process, from 0; what all have in common is written by the first alone."""
    return int(sys.modules["jax"].process_index()) if n_processes() > 1 else 0


def end_watch() -> None:
    """End JAX's watch, which aborts all if one is lost; on processors connections made tell too."""
    jax = sys.modules["jax"]
    if jax.distributed.is_initialized() and jax.default_backend() == "cpu":
        WATCH_ENDED.set()
        jax.distributed.shutdown()


@contextmanager
def naming_lost_process() -> Iterator[None]:
    """Raise a `LostProcessError` for any failure that JAX reports in a run of several processes."""
    if n_processes() == 1:
        yield
        return
    import jax

    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        # a failure while a program is started comes as a ValueError
        if isinstance(error, ValueError) and not STATUS.match(str(error)):
            raise
        reason = " ".join(str(error).split())[:200]
        raise LostProcessError(
            f"process {process_index()} of {n_processes()} cannot go on, since another has ended "
            f"or cannot be reached ({reason}): start all of them again with the same call, and the "
            "run resumes from its checkpoint, if it has one."
        ) from error


def gather(values: NDArray[Any]) -> NDArray[Any]:
    """The arrays of all processes, of one shape and type, stacked in their order."""
    if n_processes() == 1:
        return values[None]
    from jax.experimental import multihost_utils

    # as bytes, since JAX may be set to round 64 bits to 32
    raw = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
    with naming_lost_process():
        parts = np.asarray(multihost_utils.process_allgather(raw))
    return np.ascontiguousarray(parts).view(values.dtype).reshape(len(parts), *values.shape)


def any_process(*flags: bool) -> BoolArray:
    """Which flags are up in any process; all get the same answer at the same point of the run."""
    return np.asarray(gather(np.array(flags, np.bool_)).any(axis=0))


def check_same_in_all(words: Mapping[str, Any]) -> None:
    """Refuse, in all processes, one with other data, settings or files than the first."""
    if n_processes() == 1:
        return
    digests = [
        hashlib.sha256(json.dumps(value, default=str).encode()).digest() for value in words.values()
    ]
    every = gather(np.frombuffer(b"".join(digests), np.uint8).reshape(len(words), -1))
    unlike = (every != every[0]).any(axis=2)
    if unlike.any():
        other = int(unlike.any(axis=1).argmax())
        names = ", ".join(name for name, own in zip(words, unlike[other], strict=True) if own)
        raise ValueError(
            f"process {other} has other {names} than process 0: make the same call with the same "
            "data in all processes, with checkpoints in a folder that all of them see."
        )
