"""What a constraint says of a partition, in a small language that solvers read.

Five things can be said of items, and sentences joined by `Every` and `Either`; negation is pushed
down to the first two. A solver that knows these seven knows every kind of constraint. What names no
cluster is also a formula: all clauses hold, and in each clause at least one atom.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from bayesclust.typing import BoolArray, IntArray

Labels = Sequence[int] | IntArray


class Atom(NamedTuple):
    """Items are in at most `most` clusters, or not `few`: in more."""

    items: tuple[int, ...]
    most: int = 1
    few: bool = True

    def holds(self, z: IntArray) -> BoolArray:
        """Whether it does in partitions z (..., n), (...)."""
        labels = np.sort(z[..., list(self.items)], axis=-1)
        number = 1 + (labels[..., 1:] != labels[..., :-1]).sum(axis=-1)
        return np.asarray((number <= self.most) == self.few)

    def in_words(self, names: Sequence[Any]) -> str:
        """The same in words, with the names of items."""
        items = ", ".join(str(names[i]) for i in self.items)
        if self.most == 1:
            return f"{items} {'together' if self.few else 'apart'}"
        return f"{items} in {'at most' if self.few else 'more than'} {self.most} clusters"


Formula = Sequence[Sequence[Atom]]


def items_of(formula: Formula) -> set[int]:
    """The items that a formula names."""
    return {item for clause in formula for atom in clause for item in atom.items}


def holds(formula: Formula, z: IntArray) -> BoolArray:
    """Whether a formula holds in partitions z (..., n), (...)."""
    clauses = [np.any([atom.holds(z) for atom in clause], axis=0) for clause in formula]
    return np.asarray(np.all(clauses, axis=0))


def in_words(formula: Formula, names: Sequence[Any]) -> str:
    """A formula in words, with the names of items."""
    clauses = [" or ".join(atom.in_words(names) for atom in clause) for clause in formula]
    return "; ".join(clauses)


@dataclass(frozen=True, slots=True)
class Statement(ABC):
    """Something that holds in some partitions and not in others."""

    names: ClassVar[tuple[str, ...]] = ()  # fields that hold an item
    words: ClassVar[str] = ""

    @property
    def items(self) -> tuple[int, ...]:
        """The items it is about; one may come twice."""
        return tuple(getattr(self, name) for name in self.names)

    @property
    def clusters(self) -> tuple[int, ...]:
        """The clusters it names; one may come twice."""
        return ()

    @abstractmethod
    def holds(self, labels: Labels) -> bool:
        """Tell whether it holds where item i is in cluster labels[i]."""

    def formula(self) -> Formula:
        """Return the same as clauses, where no cluster is named."""
        raise TypeError(f'"{self}" names clusters by number, which partitions do not have.')

    def renamed(self, names: Sequence[Any]) -> Self:
        """Return the same about names[i] in place of every item i, numbers or words."""
        return replace(self, **{name: names[getattr(self, name)] for name in self.names})

    def __str__(self) -> str:
        return self.words.format(self)


@dataclass(frozen=True, slots=True)
class Together(Statement):
    """Items i and j are in one cluster."""

    i: int
    j: int
    names = ("i", "j")
    words = "items {0.i} and {0.j} together"

    def holds(self, labels: Labels) -> bool:
        return bool(labels[self.i] == labels[self.j])

    def formula(self) -> Formula:
        return [[Atom((self.i, self.j))]]


@dataclass(frozen=True, slots=True)
class Apart(Together):
    """Items i and j are in different clusters."""

    words = "items {0.i} and {0.j} apart"

    def holds(self, labels: Labels) -> bool:
        return bool(labels[self.i] != labels[self.j])

    def formula(self) -> Formula:
        return [[Atom((self.i, self.j), few=False)]]


@dataclass(frozen=True, slots=True)
class Closer(Statement):
    """Item i is more similar to j than to k: if i and k are in one cluster, so is j."""

    i: int
    j: int
    k: int
    names = ("i", "j", "k")
    words = "item {0.i} nearer to {0.j} than to {0.k}"

    def holds(self, labels: Labels) -> bool:
        return bool(labels[self.i] != labels[self.k] or labels[self.i] == labels[self.j])

    def formula(self) -> Formula:
        return [[Atom((self.i, self.k), few=False), Atom((self.i, self.j))]]


@dataclass(frozen=True, slots=True)
class Among(Statement):
    """Item i is in one of some clusters."""

    i: int
    allowed: tuple[int, ...]
    names = ("i",)

    @property
    def clusters(self) -> tuple[int, ...]:
        return self.allowed

    def holds(self, labels: Labels) -> bool:
        return int(labels[self.i]) in self.allowed

    def __str__(self) -> str:
        return f"item {self.i} in cluster {' or '.join(map(str, self.allowed))}"


@dataclass(frozen=True, slots=True)
class Spread(Statement):
    """Items are in at most so many clusters."""

    members: tuple[int, ...]
    most: int

    @property
    def items(self) -> tuple[int, ...]:
        return self.members

    def holds(self, labels: Labels) -> bool:
        return len({int(labels[i]) for i in self.members}) <= self.most

    def formula(self) -> Formula:
        return [[Atom(self.members, self.most)]]

    def renamed(self, names: Sequence[Any]) -> Self:
        return replace(self, members=tuple(names[i] for i in self.members))

    def __str__(self) -> str:
        number = "one cluster" if self.most == 1 else f"{self.most} clusters"
        return f"items {', '.join(map(str, self.members))} in at most {number}"


@dataclass(frozen=True, slots=True)
class Every(Statement):
    """All of some statements hold."""

    parts: tuple[Statement, ...]

    @property
    def items(self) -> tuple[int, ...]:
        return tuple(chain.from_iterable(part.items for part in self.parts))

    @property
    def clusters(self) -> tuple[int, ...]:
        return tuple(chain.from_iterable(part.clusters for part in self.parts))

    def holds(self, labels: Labels) -> bool:
        return all(part.holds(labels) for part in self.parts)

    def formula(self) -> Formula:
        return [clause for part in self.parts for clause in part.formula()]

    def renamed(self, names: Sequence[Any]) -> Self:
        return type(self)(tuple(part.renamed(names) for part in self.parts))

    def __str__(self) -> str:
        return " and ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Either(Every):
    """At least one of some statements holds."""

    def holds(self, labels: Labels) -> bool:
        return any(part.holds(labels) for part in self.parts)

    def formula(self) -> Formula:
        choices = product(*(part.formula() for part in self.parts))
        return [[atom for clause in choice for atom in clause] for choice in choices]

    def __str__(self) -> str:
        return f"({', or '.join(map(str, self.parts))})"
