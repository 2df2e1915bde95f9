"""The priors over partitions that tests go through; a file of one's own may add to all tables."""

import math

from bayesclust.partition_priors import (
    DirichletProcess,
    KnownK,
    Microclustering,
    MixtureOfFiniteMixtures,
    PitmanYor,
)
from docs.skeletons.partition_prior import UniformNumber

FIXED = {
    "Dirichlet process": DirichletProcess(0.7),
    "Dirichlet process by its logarithm": DirichletProcess(log_fixed=math.log(0.7)),
    "Pitman-Yor": PitmanYor(0.4, 1.3),
    "Pitman-Yor without discount": PitmanYor(0.0, 0.7),
    "finite mixtures": MixtureOfFiniteMixtures(),
    "finite mixtures, geometric": MixtureOfFiniteMixtures(0.4, ("geometric", 0.1)),
    "known number": KnownK(3, 0.6),
    "microclustering": Microclustering(0.7, 0.4),
    "of one's own": UniformNumber(4, 0.5),
}
LEARNED = {
    "Dirichlet process": DirichletProcess((2.0, 1.5)),
    "Pitman-Yor, discount": PitmanYor((2.0, 3.0), 1.3),
    "Pitman-Yor, concentration": PitmanYor(0.4, (2.0, 1.5)),
    "finite mixtures": MixtureOfFiniteMixtures((2.0, 2.0)),
    "known number": KnownK(3, (2.0, 2.0)),
    "microclustering, shape": Microclustering((2.0, 1.5), 0.4),
    "microclustering, growth": Microclustering(0.7, (2.0, 3.0)),
    "of one's own": UniformNumber(4),
}
SAMPLED = {
    "pitman-yor": PitmanYor((2.0, 3.0), 1.3),
    "finite mixtures": MixtureOfFiniteMixtures(0.7),
    "microclustering": Microclustering(),
    "known number": KnownK(3, 0.6),
    "known number, learned": KnownK(2, (2.0, 2.0)),
}
"""Under these samplers must reach the exact posterior."""
