"""What the samplers of TVClust's model are told: the model and the data."""

from __future__ import annotations

from dataclasses import dataclass, field

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.stored import noise_names
from bayesclust.families.base import BoundFamily
from bayesclust.models.priors import Concentration


@dataclass(frozen=True)
class TVClustProblem:
    """The model and the data: everything that the chains share.

    Attributes
    ----------
    family : BoundFamily
    constraints : tuple of Constraints
    concentration : Concentration
    """

    family: BoundFamily
    constraints: tuple[Constraints, ...] = ()
    concentration: Concentration = field(default_factory=Concentration)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.family.X)

    @property
    def noise_names(self) -> list[dict[str, str]]:
        """For each view, the posterior's name of each noise parameter."""
        return noise_names(self.constraints)
