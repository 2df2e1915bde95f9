"""What a constraint says of a partition, in a small language that solvers read.

Five things can be said of items, and sentences joined by `Every` and `Either`; negation is pushed
down to the first two. A solver that knows these seven knows every kind of constraint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Self

from bayesclust.typing import IntArray

Labels = Sequence[int] | IntArray


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

    def renamed(self, names: Labels) -> Self:
        """Return the same about names[i] in place of every item i."""
        return replace(self, **{name: int(names[getattr(self, name)]) for name in self.names})

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


@dataclass(frozen=True, slots=True)
class Apart(Together):
    """Items i and j are in different clusters."""

    words = "items {0.i} and {0.j} apart"

    def holds(self, labels: Labels) -> bool:
        return bool(labels[self.i] != labels[self.j])


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

    def renamed(self, names: Labels) -> Self:
        return replace(self, members=tuple(int(names[i]) for i in self.members))

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

    def renamed(self, names: Labels) -> Self:
        return type(self)(tuple(part.renamed(names) for part in self.parts))

    def __str__(self) -> str:
        return " and ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Either(Every):
    """At least one of some statements holds."""

    def holds(self, labels: Labels) -> bool:
        return any(part.holds(labels) for part in self.parts)

    def __str__(self) -> str:
        return f"({', or '.join(map(str, self.parts))})"
