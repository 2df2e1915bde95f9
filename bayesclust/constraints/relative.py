"""Relative constraints: doubtful answers to "is i more similar to j than to k?"."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from bayesclust.constraints.base import View
from bayesclust.constraints.noise import NoiseModel, UniformNoise
from bayesclust.typing import ArrayLike, CodeArray


class RelativeConstraints(View):
    kind: ClassVar[str] = "relative"
    vocabulary: ClassVar[tuple[str, ...]] = ("yes", "no", "dnk")
    truth: ClassVar[CodeArray] = np.array(UniformNoise.truth, dtype=np.int8)
    members: ClassVar[tuple[str, ...]] = ("i", "j", "k")
    _items_word: ClassVar[str] = "triplets"
    _answers_word: ClassVar[str] = "answers"

    def __init__(
        self,
        triplets: ArrayLike,
        answers: ArrayLike,
        n_items: int,
        source: ArrayLike | None = None,
        noise: NoiseModel | None = None,
        name: str = "triplets",
    ) -> None:
        super().__init__(triplets, answers, n_items, source, noise, name)

    @classmethod
    def default_noise(cls) -> NoiseModel:
        return UniformNoise()

    @classmethod
    def _default_name(cls) -> str:
        return "triplets"
