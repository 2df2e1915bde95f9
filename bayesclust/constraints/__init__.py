"""What the user knows: doubtful answers about pairs and triplets of items, as views of a partition."""

from bayesclust.constraints.base import View
from bayesclust.constraints.coloring import constraint_graph, greedy_coloring
from bayesclust.constraints.dataset import StoredView, to_dataset, views_from_dataset
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
    "StoredView",
    "UniformNoise",
    "View",
    "constraint_graph",
    "equality_patterns",
    "greedy_coloring",
    "to_dataset",
    "views_from_dataset",
]
