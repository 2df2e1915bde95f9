"""Priors over partitions: the Dirichlet process, Pitman-Yor, mixtures of finite mixtures, and a known number of clusters."""

from bayesclust.partition_priors.base import Parameter, PartitionPrior, Tables, Values
from bayesclust.partition_priors.dirichlet_process import DirichletProcess
from bayesclust.partition_priors.finite_mixtures import KnownK, MixtureOfFiniteMixtures
from bayesclust.partition_priors.nested import (
    WITHIN,
    Nested,
    NestedTables,
    as_nested,
    nested_log_prob,
    nested_tables,
)
from bayesclust.partition_priors.pitman_yor import PitmanYor

__all__ = [
    "WITHIN",
    "DirichletProcess",
    "KnownK",
    "MixtureOfFiniteMixtures",
    "Nested",
    "NestedTables",
    "Parameter",
    "PartitionPrior",
    "PitmanYor",
    "Tables",
    "Values",
    "as_nested",
    "nested_log_prob",
    "nested_tables",
]
