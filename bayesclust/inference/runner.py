"""Runs chains side by side: warm-up, draws, progress, and what was drawn so far when interrupted."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from bayesclust.inference import processes
from bayesclust.inference.checkpoint import Checkpoint, Record


class Chain(Protocol):
    """A sampler in motion.

    Several chains that advance together are one object with the attribute ``number_of_chains``; its
    `draw` gives arrays with a leading axis of that length. Where several processes advance them
    together, its attribute ``by_all_processes`` is True.
    """

    def sweep(self, *, adapt: bool = False, freeze_noise: bool = False) -> None:
        """Move on by one sweep; `adapt` and `freeze_noise` are set in the warm-up, `freeze_noise` in its first half."""

    def draw(self) -> tuple[dict[str, Any], dict[str, float]]:
        """(posterior variables, sample statistics) now."""

    def snapshot(self) -> dict[str, Any]:
        """All that decides the sweeps to come: words, numbers, arrays, and lists and dicts of them."""

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go on from a snapshot of a chain of the same problem, to the last bit."""


class InterruptedRunWarning(UserWarning):
    """A run was interrupted; the draws so far are returned."""


@dataclass(frozen=True)
class Schedule:
    """Length of a run.

    Parameters
    ----------
    num_warmup : int
        Sweeps that are not kept, during which proposals adapt.
    num_samples : int
        Draws to keep, per chain.
    thinning : int, default 1
        Sweeps from one kept draw to the next.
    """

    num_warmup: int
    num_samples: int
    thinning: int = 1

    @property
    def length(self) -> int:
        """Sweeps in all."""
        return self.num_warmup + self.num_samples * self.thinning


@dataclass
class _Store:
    """The draws of one chain, or of several that advance together, in arrays made when the first draw shows their shapes."""

    size: int
    width: int | None = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    number: int = 0

    def append(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            value = np.asarray(value)
            if name not in self.arrays:
                self.arrays[name] = np.empty(
                    (self.size, *value.shape), dtype=_storage_type(name, value)
                )
            self.arrays[name][self.number] = value
        self.number += 1

    def fill(self, draws: dict[str, NDArray[Any]], width: int | None) -> None:
        """Take the first draws from arrays (draw, ...)."""
        self.width = width
        for name, values in draws.items():
            self.number = min(len(values), self.size)
            self.arrays[name] = np.empty((self.size, *values.shape[1:]), dtype=values.dtype)
            self.arrays[name][: self.number] = values[: self.number]

    def by_chain(self, name: str, number: int) -> NDArray[Any]:
        """The first draws of one variable, shape (chain, draw, ...)."""
        draws = self.arrays[name][:number]
        return draws[None] if self.width is None else np.moveaxis(draws, 1, 0)


PARTITIONS = ("z", "component")


def _storage_type(name: str, value: NDArray[Any]) -> np.dtype[Any]:
    if name in PARTITIONS:
        return np.dtype(np.int16 if value.shape[-1] <= np.iinfo(np.int16).max else np.int32)
    return value.dtype


@dataclass(frozen=True)
class Draws:
    """What a run returns: arrays of shape (chain, draw, ...)."""

    posterior: dict[str, NDArray[Any]]
    sample_stats: dict[str, NDArray[Any]]
    interrupted: bool


class _Entry:
    """A chain of the run, or several that advance together, with their draws."""

    def __init__(
        self, start: Callable[[], Chain], schedule: Schedule, record: Record | None
    ) -> None:
        self.start, self.schedule, self.record = start, schedule, record
        self.store, self.statistics = _Store(schedule.num_samples), _Store(schedule.num_samples)

    def work(self, stop: threading.Event, bar: Any) -> None:
        """Sweep from where the checkpoint, if any, has got to."""
        schedule, state = self.schedule, self._load()
        first = 0 if state is None else min(int(state["sweeps"]), schedule.length)
        finished = self.store.number == schedule.num_samples
        chain = None if finished else self.start()
        width = self.store.width if chain is None else getattr(chain, "number_of_chains", None)
        self.store.width = self.statistics.width = width
        if width is not None:
            bar.total += (width - 1) * schedule.length
        if chain is None:
            bar.update(first * (width or 1))
            return
        if self.record is not None:
            self.record.check(width)
        if state is not None:
            chain.restore(state["chain"])
        bar.update(first * (width or 1))
        self._advance(chain, first, stop, bar)

    def _advance(self, chain: Chain, first: int, stop: threading.Event, bar: Any) -> None:
        """Sweep and draw, and save when it is time; all processes that run the chain together do so at the same sweeps."""
        schedule, done, together = self.schedule, first, getattr(chain, "by_all_processes", False)
        if together:
            processes.check_alike(
                {"draws in the checkpoint": self.store.number, "sweeps in the checkpoint": first}
            )
        for sweep in range(first, schedule.length):
            halt, save = stop.is_set(), self.record is not None and self.record.due()
            if together:
                halt, save = processes.any_says(halt, save)
            if halt:
                break
            chain.sweep(
                adapt=sweep < schedule.num_warmup, freeze_noise=2 * sweep < schedule.num_warmup
            )
            after, done = sweep - schedule.num_warmup + 1, sweep + 1
            if after > 0 and after % schedule.thinning == 0:
                variables, statistic = chain.draw()
                self.statistics.append(statistic)
                self.store.append(variables)
            bar.update(self.store.width or 1)
            if save:
                self._save(chain, done)
        if done > first:
            self._save(chain, done)
        if together:
            processes.any_says(True)  # what comes next may read what is written now

    def _load(self) -> Any:
        if self.record is None:
            return None
        state, draws = self.record.load()
        self.store.fill(draws["posterior"], self.record.width)
        self.statistics.fill(draws["sample_stats"], self.record.width)
        return state

    def _save(self, chain: Chain, sweeps: int) -> None:
        if self.record is not None:
            self.record.width = self.store.width
            groups = {"posterior": self.store.arrays, "sample_stats": self.statistics.arrays}
            self.record.save(chain, sweeps, groups, self.store.number)


def run_chains(
    starts: Sequence[Callable[[], Chain]],
    schedule: Schedule,
    *,
    progress: bool = True,
    n_jobs: int | None = None,
    checkpoint: Checkpoint | None = None,
    spread: bool = False,
) -> Draws:
    """Run one chain, or several that advance together, per entry of `starts`, in threads.

    Chains are independent and each has its own generator, so the draws do not depend on the number
    of threads or processes.

    Parameters
    ----------
    starts : sequence of callables
        Each makes a chain.
    schedule : Schedule
    progress : bool, default True
        Show a progress bar where there is a terminal or a notebook to show it in.
    n_jobs : int or None
        Threads; None takes as many as there are chains, at most the number of processors.
    checkpoint : Checkpoint or None
        Where draws are kept as they come, and from where the run goes on if it was there before.
    spread : bool, default False
        Where there are several processes and at least as many entries, each runs a part of them,
        and all return all draws. Otherwise every process runs every entry.

    Returns
    -------
    Draws
        After a keyboard interrupt fewer than asked for, with a warning: a common number of draws
        per chain, and without the chains that had hardly begun where leaving them out keeps more
        draws.

    Raises
    ------
    KeyboardInterrupt
        If interrupted before any chain had drawn once.
    LostProcessError
        If another process of the run is gone.
    """
    stop, number = threading.Event(), len(starts)
    parts = processes.number() if spread and processes.number() <= number else 1
    mine = range(processes.index() % parts, number, parts)
    entries = [
        _Entry(starts[c], schedule, _record(checkpoint, c, number, schedule.num_samples, parts))
        for c in mine
    ]
    total, shown = (
        len(mine) * schedule.length,
        progress and processes.index() == 0 and sys.stderr is not None,
    )
    bar = tqdm(total=total, desc=f"{number} chains", unit="sweep", disable=None if shown else True)
    workers = min(len(mine), n_jobs or os.cpu_count() or 1)
    futures: list[Future[None]] = []
    interrupted = False
    with bar, threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        try:
            futures.extend(pool.submit(entry.work, stop, bar) for entry in entries)
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()
        wait(futures)
    with processes.noticing_loss():
        for future in futures:
            future.result()
    stores, statistics = [entry.store for entry in entries], [entry.statistics for entry in entries]
    if parts > 1:
        stores, statistics = (_of_all_processes(own, number) for own in (stores, statistics))
        interrupted = bool(processes.any_says(interrupted)[0])
    return _collect(stores, statistics, interrupted)


def _record(
    checkpoint: Checkpoint | None, entry: int, entries: int, size: int, parts: int
) -> Record | None:
    if checkpoint is None:
        return None
    return checkpoint.record(entry, entries, size, writes=parts > 1 or processes.index() == 0)


def _of_all_processes(own: list[_Store], number: int) -> list[_Store]:
    """The stores of all entries, from those that each process has: entry c is with process c modulo their number."""
    most, stores = (
        -(-number // processes.number()),
        [_Store(own[0].size, own[0].width) for _ in range(number)],
    )
    numbers = processes.gathered(
        np.array([store.number for store in own] + [0] * (most - len(own)))
    )
    for c, store in enumerate(stores):
        store.number = int(numbers[c % processes.number(), c // processes.number()])
    for name in sorted(own[0].arrays):  # what comes from a checkpoint comes in another order
        values = own[0].arrays[name]
        filled = [
            *(store.arrays[name] for store in own),
            *[np.zeros_like(values)] * (most - len(own)),
        ]
        every = processes.gathered(np.stack(filled))
        for c, store in enumerate(stores):
            store.arrays[name] = every[c % processes.number(), c // processes.number()]
    return stores


def _collect(stores: list[_Store], statistics: list[_Store], interrupted: bool) -> Draws:
    number, kept = stores[0].size, list(range(len(stores)))
    if interrupted:
        number, kept = _most_draws([store.number for store in stores])
        if number == 0:
            raise KeyboardInterrupt
        chains = (
            "each chain" if len(kept) == len(stores) else f"{len(kept)} of {len(stores)} chains"
        )
        message = f"Interrupted: the first {number} draws of {chains} are returned, of {stores[0].size} asked for."
        warnings.warn(message, InterruptedRunWarning, stacklevel=3)

    def join(parts: list[_Store]) -> dict[str, NDArray[Any]]:
        names = parts[kept[0]].arrays
        return {
            name: np.concatenate([parts[c].by_chain(name, number) for c in kept]) for name in names
        }

    return Draws(join(stores), join(statistics), interrupted)


def _most_draws(numbers: list[int]) -> tuple[int, list[int]]:
    """(draws per chain, chains to keep); chains that hardly began are left out, others not lightly: chains are compared."""
    number = max(numbers, key=lambda least: least * sum(n >= least for n in numbers) ** 2)
    return number, [c for c, n in enumerate(numbers) if n >= number]
