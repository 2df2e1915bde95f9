"""A family's compiled functions called from Python, one operation at a time."""

from __future__ import annotations

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
    """A cluster state with every slot empty, and its operations by name.

    Parameters
    ----------
    family : BoundFamily
    hyper : ndarray
    capacity : int, default 3
    """

    def __init__(self, family: BoundFamily, hyper: NDArray[np.float64], capacity: int = 3) -> None:
        self.family, self.hyper, self.capacity = family, hyper, capacity
        self.state = family.new_state(capacity, hyper)
        self.empty = capacity
        self.derive(self.empty)
        for k in range(capacity):
            self.clear(k)

    def _call(self, operation: int, k: int, items: Any = (0,), other: int = 0) -> float:
        return float(
            operate(self.state, operation, np.array(items, dtype=np.int64).reshape(-1), k, other)
        )

    def clear(self, k: int) -> None:
        """Empty slot k."""
        self._call(CLEAR, k)

    def add(self, i: int, k: int) -> None:
        """Item i joins slot k."""
        self._call(ADD, k, i)

    def remove(self, i: int, k: int) -> None:
        """Item i leaves slot k."""
        self._call(REMOVE, k, i)

    def predictive(self, i: int, k: int) -> float:
        """log p(x_i | slot k)."""
        return self._call(PREDICTIVE, k, i)

    def marginal(self, k: int) -> float:
        """log p(items of slot k)."""
        return self._call(MARGINAL, k)

    def derive(self, k: int) -> None:
        """Recompute what slot k caches."""
        self._call(DERIVE, k)

    def set_items(self, items: Any, k: int) -> None:
        """Statistics of slot k from items."""
        self._call(SET, k, items)

    def union(self, k: int, other: int) -> float:
        """log p(items of both slots)."""
        return self._call(UNION, k, other=other)

    def plain(self, items: Any) -> float:
        """The plain twin: log p(items)."""
        return self.family.log_marginal(self.family.X[np.array(items, dtype=np.int64)], self.hyper)


def slots_of(state: Any) -> dict[str, NDArray[Any]]:
    """The arrays with one entry per slot, those of the parts of a product included."""
    found: dict[str, NDArray[Any]] = {}
    for name, values in state._asdict().items():
        if name == "parts":
            for number, part in enumerate(state.listed()):
                found |= {f"{number} {own}": array for own, array in slots_of(part).items()}
        elif values.ndim and len(values) == len(state.count):
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


def judge_compiled(bound: BoundFamily, hyper: NDArray[np.float64], rng: Generator) -> None:
    """Compiled functions of a family of 12 items follow the plain log marginal as items come and go."""
    driver = Driver(bound, hyper)
    where = random_walk(driver, 60, rng)
    for k, items in enumerate(where):
        np.testing.assert_allclose(driver.marginal(k), driver.plain(items), rtol=0, atol=1e-9)
        i = next(i for i in range(12) if i not in items)
        expected = driver.plain([*items, i]) - driver.plain(items)
        np.testing.assert_allclose(driver.predictive(i, k), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        driver.union(0, 1), driver.plain([*where[0], *where[1]]), rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        driver.predictive(3, driver.empty), driver.plain([3]), rtol=0, atol=1e-9
    )
    driver.set_items([5, 2, 7], 0)
    driver.derive(0)
    np.testing.assert_allclose(driver.marginal(0), driver.plain([5, 2, 7]), rtol=0, atol=1e-9)


def judge_components(
    bound: BoundFamily, hyper: NDArray[np.float64], rng: Generator, draws: int = 20_000
) -> None:
    """Parameters in hand predict as the marginals do, and expected terms are means over draws; of 12 items."""
    components, z = bound.components(), np.repeat([0, 1], [5, 7])
    statistics = hard_statistics(components, z, 2)
    expected = [bound.log_marginal(bound.X[z == k], hyper) for k in (0, 1)]
    np.testing.assert_allclose(components.log_marginal(statistics, hyper), expected, rtol=1e-12)
    many = tuple(np.repeat(part[:1], draws, axis=0) for part in statistics)
    log_density = components.log_density(np, components.rows, components.draw(many, hyper, rng))
    for i in (6, 9):
        ratio = np.exp(
            log_density[i] - bound.log_marginal(bound.X[[0, 1, 2, 3, 4, i]], hyper) + expected[0]
        )
        assert abs(ratio.mean() - 1) < 4.5 * ratio.std() / np.sqrt(draws)
    mean = components.log_density(np, components.rows, components.expected(statistics, hyper))[:, 0]
    assert (
        np.abs(log_density.mean(axis=1) - mean) < 4.5 * log_density.std(axis=1) / np.sqrt(draws)
    ).all()
