"""Priors over partitions: processes, finite mixtures, small clusters, batches, candidates."""

from bayesclust.partition_priors.base import DirichletProcess, PartitionPrior
from bayesclust.partition_priors.base import Parameter as Parameter
from bayesclust.partition_priors.base import Tables as Tables
from bayesclust.partition_priors.base import Values as Values
from bayesclust.partition_priors.candidate_links import CandidateLinks
from bayesclust.partition_priors.finite_mixtures import KnownK, MixtureOfFiniteMixtures
from bayesclust.partition_priors.hierarchical import HierarchicalDirichletProcess
from bayesclust.partition_priors.microclustering import Microclustering
from bayesclust.partition_priors.nested import Nested
from bayesclust.partition_priors.nested import as_nested as as_nested
from bayesclust.partition_priors.nested import as_prior as as_prior
from bayesclust.partition_priors.pitman_yor import PitmanYor

__all__ = [
    "CandidateLinks",
    "DirichletProcess",
    "HierarchicalDirichletProcess",
    "KnownK",
    "Microclustering",
    "MixtureOfFiniteMixtures",
    "Nested",
    "PartitionPrior",
    "PitmanYor",
]
