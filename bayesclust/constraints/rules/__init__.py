"""Constraints that may name clusters and speak of many items: one file a kind, each said in the language of `Statement`."""

from bayesclust.constraints.rules.answers import statements_of, unsure
from bayesclust.constraints.rules.base import KINDS, Rules
from bayesclust.constraints.rules.implication import ImplicationConstraints
from bayesclust.constraints.rules.label import LabelConstraints
from bayesclust.constraints.rules.span import SpanConstraints
from bayesclust.constraints.rules.spread import SpreadConstraints
from bayesclust.constraints.rules.statements import Statement

__all__ = [
    "KINDS",
    "ImplicationConstraints",
    "LabelConstraints",
    "Rules",
    "SpanConstraints",
    "SpreadConstraints",
    "Statement",
    "statements_of",
    "unsure",
]
