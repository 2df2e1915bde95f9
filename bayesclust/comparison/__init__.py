"""Several fits side by side: partitions of any origin, judged by one posterior, one density and one objective."""

from bayesclust.comparison.table import agreement, compare

__all__ = ["agreement", "compare"]
