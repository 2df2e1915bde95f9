"""What a cluster is: one component of the family, or a mixture of components."""

from __future__ import annotations

from collections.abc import Sequence

from bayesclust.checks import check_choice
from bayesclust.constraints.base import View
from bayesclust.inference.collapsed import TVClustProblem
from bayesclust.inference.two_level.chain import TwoLevelProblem
from bayesclust.models.families.base import BoundFamily
from bayesclust.models.priors import Concentration

PLAIN, MIXTURE = "plain", "mixture"


def check_view(view: object, sampler: str, gamma: float | None) -> None:
    """Refuse a view of clusters that there is not, or that the sampler has not."""
    check_choice(view, "view", (PLAIN, MIXTURE))
    if view == MIXTURE and sampler != "collapsed":
        raise ValueError(f"view='mixture' has sampler='collapsed' alone; got sampler={sampler!r}: choose that one.")
    if view == MIXTURE and gamma is not None:
        raise ValueError("gamma leads to the limit of plain clusters, view='mixture' to another: leave one of them out.")


def pose(
    view: str, family: BoundFamily, answers: Sequence[View], concentration: Concentration, within: Concentration
) -> TVClustProblem:
    """Return the problem that the view makes of a family."""
    if view == MIXTURE:
        return TwoLevelProblem(family, tuple(answers), concentration, within)
    return TVClustProblem(family, tuple(answers), concentration)


__all__ = ["check_view", "pose"]
