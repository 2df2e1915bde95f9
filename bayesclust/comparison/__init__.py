"""Several fits side by side: partitions of any origin, judged by one posterior, one density and one objective.

And two methods over many data sets (`bayesian_signed_rank`).
"""

from bayesclust.comparison.over_data_sets import SignedRank, bayesian_signed_rank
from bayesclust.comparison.table import agreement, compare
from bayesclust.comparison.views import leave_view_out

__all__ = ["SignedRank", "agreement", "bayesian_signed_rank", "compare", "leave_view_out"]
