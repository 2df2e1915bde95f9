"""Several fits side by side: partitions of any origin, judged by one posterior, one density and one objective."""

from bayesclust.comparison.table import agreement, compare
from bayesclust.comparison.views import leave_view_out

__all__ = ["agreement", "compare", "leave_view_out"]
