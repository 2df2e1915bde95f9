"""Mixed columns: the sum of the divergences of parts, each on columns of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesclust.checks import check_items
from bayesclust.inference.limits.divergences.base import Divergence, Unbound
from bayesclust.models.families import Product, get_family
from bayesclust.models.families.base import Family
from bayesclust.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Parts(Unbound):
    """The sum of the divergences of a product family's parts.

    Parts count alike, so that each should be in a unit of its own kind: nats for counts and codes,
    standard deviations for Gaussian columns, which is what the divergences of `part_of` are in.

    Parameters
    ----------
    family : Product
    part_of : callable
        The divergence of a family among the parts.
    """

    family: Product
    part_of: Callable[[Family], Divergence]
    name = "product"

    @property
    def takes_missing(self) -> bool:  # type: ignore[override]
        return self.family.takes_missing

    def bind(self, X: Any) -> BoundParts:
        """Check that every part can take its columns, and bind it to them."""
        items = check_items(X, missing=True)
        given = self.family.bind(items).given
        families = [get_family(family) for family, _ in self.family.parts]
        parts = [
            self.part_of(family).bind(items[:, own])
            for family, own in zip(families, given, strict=True)
        ]
        widths = [
            part.points(items[:, own]).shape[1] for part, own in zip(parts, given, strict=True)
        ]
        return BoundParts(
            tuple(parts), given, tuple(np.cumsum(widths)[:-1].tolist()), self.takes_missing
        )


@dataclass(frozen=True, eq=False)
class BoundParts(Divergence):
    """Divergences side by side.

    Parameters
    ----------
    parts : tuple of Divergence
    given : tuple of arrays of int
        Columns of the data of each part.
    cuts : tuple of int
        Where the points of the second part, the third and so on begin.
    takes_missing : bool
    """

    parts: tuple[Divergence, ...]
    given: tuple[IntArray, ...]
    cuts: tuple[int, ...]
    takes_missing: bool
    name = "product"

    def _pairs(self, points: FloatArray) -> list[tuple[Divergence, FloatArray]]:
        return list(zip(self.parts, np.split(points, self.cuts, axis=-1), strict=True))

    def points(self, X: Any, *, least: int = 2) -> FloatArray:
        items = check_items(X, least=least, missing=True)
        blocks = [
            part.points(items[:, own], least=least)
            for part, own in zip(self.parts, self.given, strict=True)
        ]
        return np.ascontiguousarray(np.concatenate(blocks, axis=1))

    def shown(self, centers: FloatArray) -> FloatArray:
        """Return the parts' centres side by side, in the order of the parts."""
        return np.concatenate([part.shown(block) for part, block in self._pairs(centers)], axis=1)

    def n_free(self, points: FloatArray) -> int:
        return sum(part.n_free(block) for part, block in self._pairs(points))

    def phi(self, points: FloatArray) -> FloatArray:
        total: FloatArray = np.sum([part.phi(block) for part, block in self._pairs(points)], axis=0)
        return total

    def natural(self, centers: FloatArray) -> FloatArray:
        blocks = [
            2.0 * block if part.squared else part.natural(block)
            for part, block in self._pairs(centers)
        ]
        return np.concatenate(blocks, axis=1)

    def offset(self, centers: FloatArray) -> FloatArray:
        offsets = [
            part.phi(block) if part.squared else part.offset(block)
            for part, block in self._pairs(centers)
        ]
        total: FloatArray = np.sum(offsets, axis=0)
        return total


__all__ = ["BoundParts", "Parts"]
