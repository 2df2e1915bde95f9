"""What the user knows: noisy answers about pairs and triplets of items, labels and other rules."""

from bayesclust.constraints.base import Constraints, equality_patterns
from bayesclust.constraints.factor_graph import constraint_graph, greedy_coloring
from bayesclust.constraints.noise import (
    ConfusionNoise,
    DirichletNoise,
    LinkNoise,
    NoiseModel,
    UniformNoise,
)
from bayesclust.constraints.pairwise import PairwiseConstraints
from bayesclust.constraints.relative import RelativeConstraints
from bayesclust.constraints.rules import (
    ImplicationConstraints,
    LabelConstraints,
    Rules,
    SpanConstraints,
    SpreadConstraints,
)
from bayesclust.constraints.stored import StoredConstraints, constraints_from_dataset, to_dataset

__all__ = [
    "ConfusionNoise",
    "Constraints",
    "DirichletNoise",
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
