"""The model and the data that the samplers of TVClust share."""

from __future__ import annotations

from dataclasses import dataclass, field

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.stored import noise_names
from bayesclust.families.base import BoundFamily
from bayesclust.partition_priors import WITHIN, DirichletProcess, Nested, PartitionPrior
from bayesclust.typing import IntArray


@dataclass(frozen=True)
class TVClustProblem:
    """The model and the data: everything that the chains share."""

    family: BoundFamily
    constraints: tuple[Constraints, ...] = ()
    partition_prior: PartitionPrior = field(default_factory=DirichletProcess)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.family.X)

    @property
    def noise_names(self) -> list[dict[str, str]]:
        """For each each, the posterior's name of each noise parameter."""
        return noise_names(self.constraints)

    def check_start(self, z: IntArray) -> None:
        """Refuse a partition with more clusters than the prior allows."""
        most, found = self.partition_prior.most_clusters, int(z.max()) + 1
        if most is not None and found > most:
            raise ValueError(
                f"the starting partition has {found} clusters, but the partition prior allows {most}: "
                "start from fewer."
            )


@dataclass(frozen=True)
class TwoLevelProblem(TVClustProblem):
    """Clusters that are mixtures of components; `within` is the prior of a cluster's partition into components."""

    within: PartitionPrior = WITHIN

    def __post_init__(self) -> None:
        Nested(self.partition_prior, self.within)  # refuses priors that do not nest
