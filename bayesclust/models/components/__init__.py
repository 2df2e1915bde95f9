"""The families once more, with cluster parameters in hand instead of integrated out; one file each."""

from bayesclust.models.components.base import Components, Terms, hard_statistics

__all__ = ["Components", "Terms", "hard_statistics"]
