"""What the user knows: doubtful answers about pairs and triplets of items, as views of a partition."""

from bayesclust.constraints.base import View, equality_patterns
from bayesclust.constraints.noise import ConfusionNoise, LinkNoise, NoiseModel, UniformNoise
from bayesclust.constraints.pairwise import PairwiseConstraints
from bayesclust.constraints.relative import RelativeConstraints

__all__ = [
    "ConfusionNoise",
    "LinkNoise",
    "NoiseModel",
    "PairwiseConstraints",
    "RelativeConstraints",
    "UniformNoise",
    "View",
    "equality_patterns",
]
