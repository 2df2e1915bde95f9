"""What the user knows: doubtful answers about pairs and triplets of items, as views of a partition."""

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.coloring import constraint_graph, greedy_coloring
from bayesclust.constraints.dataset import StoredConstraints, constraints_from_dataset, to_dataset
from bayesclust.constraints.noise import ConfusionNoise, LinkNoise, NoiseModel, UniformNoise
from bayesclust.constraints.noise_model import DirichletRows
from bayesclust.constraints.pairwise import PairwiseConstraints
from bayesclust.constraints.patterns import equality_patterns
from bayesclust.constraints.relative import RelativeConstraints
from bayesclust.constraints.rules import (
    ImplicationConstraints,
    LabelConstraints,
    Rules,
    SpanConstraints,
    SpreadConstraints,
)

__all__ = [
    "ConfusionNoise",
    "Constraints",
    "DirichletRows",
    "ImplicationConstraints",
    "LabelConstraints",
    "LinkNoise",
    "NoiseModel",
    "PairwiseConstraints",
    "RelativeConstraints",
    "Rules",
    "SpanConstraints",
    "SpreadConstraints",
    "StoredConstraints",
    "UniformNoise",
    "constraint_graph",
    "constraints_from_dataset",
    "equality_patterns",
    "greedy_coloring",
    "to_dataset",
]
