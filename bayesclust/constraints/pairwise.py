"""Pairwise constraints: doubtful answers to "are these two items in the same cluster?"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from bayesclust.constraints.base import View
from bayesclust.constraints.noise import LinkNoise, NoiseModel
from bayesclust.typing import ArrayLike, CodeArray, IntArray


class PairwiseConstraints(View):
    kind: ClassVar[str] = "pairwise"
    vocabulary: ClassVar[tuple[str, ...]] = ("different", "same")
    truth: ClassVar[CodeArray] = np.array(LinkNoise.truth, dtype=np.int8)
    members: ClassVar[tuple[str, ...]] = ("i", "j")
    _items_word: ClassVar[str] = "pairs"
    _answers_word: ClassVar[str] = "same"

    def __init__(
        self,
        pairs: ArrayLike,
        same: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: NoiseModel | None = None,
        name: str = "links",
    ) -> None:
        super().__init__(pairs, same, n_items, source, noise, name)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return LinkNoise()

    @classmethod
    def _default_name(cls) -> str:
        return "links"

    def _arrange(self, items: IntArray) -> IntArray:
        return np.sort(items, axis=1)

    @property
    def may_links(self) -> IntArray:
        """Pairs answered "same", shape (a, 2)."""
        return self.items[self.answers == 1]

    @property
    def may_not_links(self) -> IntArray:
        """Pairs answered "different", shape (b, 2)."""
        return self.items[self.answers == 0]
