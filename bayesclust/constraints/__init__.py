"""What the user knows: noisy answers about pairs and triplets of items, labels and other rules."""

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.labels import LabelConstraints, LabelNoise
from bayesclust.constraints.noise import (
    ConfusionNoise,
    DirichletNoise,
    LinkNoise,
    NoiseModel,
    UniformNoise,
)
from bayesclust.constraints.pairwise import GradedConstraints, GradeNoise, PairwiseConstraints
from bayesclust.constraints.relative import RelativeConstraints
from bayesclust.constraints.rules import (
    ImplicationConstraints,
    RuleNoise,
    Rules,
    SpanConstraints,
    SpreadConstraints,
)

__all__ = [
    "ConfusionNoise",
    "Constraints",
    "DirichletNoise",
    "GradeNoise",
    "GradedConstraints",
    "ImplicationConstraints",
    "LabelConstraints",
    "LabelNoise",
    "LinkNoise",
    "NoiseModel",
    "PairwiseConstraints",
    "RelativeConstraints",
    "RuleNoise",
    "Rules",
    "SpanConstraints",
    "SpreadConstraints",
    "UniformNoise",
]
