"""A family's compiled functions called from Python, one operation at a time."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import kernel
from bayesclust.families.base import (
    BoundFamily,
    add_item,
    clear_cluster,
    derive,
    hard_statistics,
    log_marginal,
    log_marginal_union,
    log_predictive,
    remove_item,
    set_items,
)

CLEAR, ADD, REMOVE, PREDICTIVE, MARGINAL, DERIVE, SET, UNION = range(8)


@kernel
def operate(state: Any, operation: int, items: NDArray[np.int64], k: int, other: int) -> float:
    """Do one operation on slot k, with items[0] or all items where it needs any."""
    value = 0.0
    if operation == CLEAR:
        clear_cluster(state, k)
    elif operation == ADD:
        add_item(state, items[0], k)
    elif operation == REMOVE:
        remove_item(state, items[0], k)
    elif operation == PREDICTIVE:
        value = log_predictive(state, items[0], k)
    elif operation == MARGINAL:
        value = log_marginal(state, k)
    elif operation == DERIVE:
        derive(state, k)
    elif operation == SET:
        set_items(state, items, k)
    else:
        value = log_marginal_union(state, k, other)
    return value


class Driver:
    """A cluster state with every slot empty, and its operations by name."""

    def __init__(self, family: BoundFamily, hyper: NDArray[np.float64], capacity: int = 3) -> None:
        self.family, self.hyper, self.capacity = family, hyper, capacity
        self.state = family.new_state(capacity, hyper)
        self.empty = capacity
        self.derive(self.empty)
        for k in range(capacity):
            self.clear(k)

    def _call(self, operation: int, k: int, items: Any = (0,), other: int = 0) -> float:
        rows = np.array(items, dtype=np.int64).reshape(-1)
        return float(operate(self.state, operation, rows, k, other))

    clear = partialmethod(_call, CLEAR)
    derive = partialmethod(_call, DERIVE)
    marginal = partialmethod(_call, MARGINAL)

    def add(self, i: int, k: int) -> None:
        self._call(ADD, k, i)

    def remove(self, i: int, k: int) -> None:
        self._call(REMOVE, k, i)

    def set_items(self, items: Any, k: int) -> None:
        self._call(SET, k, items)

    def predictive(self, i: int, k: int) -> float:
        return self._call(PREDICTIVE, k, i)

    def union(self, k: int, other: int) -> float:
        return self._call(UNION, k, other=other)

    def plain(self, items: Any) -> float:
        """log p(items) from their rows."""
        return self.family.log_marginal(self.family.X[np.array(items, dtype=np.int64)], self.hyper)


def slots_of(state: Any) -> dict[str, NDArray[Any]]:
    """The arrays with one entry per slot, those of the parts of a product included."""
    found: dict[str, NDArray[Any]] = {}
    for name, values in state._asdict().items():
        if "count" in getattr(values, "_fields", ()):
            found |= {f"{name} {own}": array for own, array in slots_of(values).items()}
        elif not isinstance(values, tuple) and values.ndim and len(values) == len(state.count):
            found[name] = values
    return found


def random_walk(driver: Driver, steps: int, rng: Generator) -> list[list[int]]:
    """Items move in and out of the slots at random; returns who is where."""
    where = [[] for _ in range(driver.capacity)]  # type: list[list[int]]
    for _ in range(steps):
        i, k = int(rng.integers(len(driver.family.X))), int(rng.integers(driver.capacity))
        old = next((a for a, items in enumerate(where) if i in items), None)
        if old is not None:
            driver.remove(i, old)
            where[old].remove(i)
            if not where[old]:
                driver.clear(old)
        if old != k:
            driver.add(i, k)
            where[k].append(i)
    return where


def assert_compiled_functions(
    bound: BoundFamily, hyper: NDArray[np.float64], rng: Generator
) -> None:
    """Compiled functions follow the marginals of rows as items come and go."""
    driver, n = Driver(bound, hyper), len(bound.X)
    for _ in range(4):
        where = random_walk(driver, 40, rng)
        for k, items in enumerate(where):
            assert driver.state.count[k] == len(items)
            close(driver.marginal(k), driver.plain(items))
            for i in set(range(n)) - set(items):
                close(driver.predictive(i, k), driver.plain([*items, i]) - driver.plain(items))
        for a, b in ((0, 1), (2, 0), (1, driver.empty), (driver.empty, driver.empty)):
            joined = [i for k in {a, b} - {driver.empty} for i in where[k]]
            close(driver.union(a, b), driver.plain(joined))
        for k, items in enumerate(where):
            for i in items:
                driver.remove(i, k)
            driver.clear(k)
    for i in range(n):
        close(driver.predictive(i, driver.empty), driver.plain([i]))
    driver.set_items([5, 2, 7], 0)
    driver.derive(0)
    close(driver.marginal(0), driver.plain([5, 2, 7]))


def close(value: float, expected: float) -> None:
    """Equal but for rounding."""
    np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-8)


def assert_parameters_in_hand(
    bound: BoundFamily, hyper: NDArray[np.float64], rng: Generator, draws: int = 20_000
) -> None:
    """Drawn parameters predict as the marginals do, and expected terms are means over draws."""
    n = len(bound.X)
    for members in (np.arange(0), np.arange(5)):
        z = np.ones(n, np.int64)
        z[members] = 0
        statistics = hard_statistics(bound, z, 2)
        many = tuple(np.repeat(part[:1], draws, axis=0) for part in statistics)
        terms = bound.terms(many, hyper, rng)
        log_density = bound.log_likelihood(np, bound.own_rows, terms)
        alone = bound.log_marginal(bound.X[members], hyper)
        for i in (6, 9):
            together = bound.log_marginal(bound.X[[*members, i]], hyper)
            ratio = np.exp(log_density[i] - (together - alone))
            assert abs(ratio.mean() - 1) < 4.5 * ratio.std() / np.sqrt(draws) + 1e-9
        expected = bound.terms(statistics, hyper)
        mean = bound.log_likelihood(np, bound.own_rows, expected)[:, 0]
        error = log_density.std(axis=1) / np.sqrt(draws)
        assert (np.abs(log_density.mean(axis=1) - mean) < 4.5 * error + 1e-9).all()
