"""Bayesian constrained clustering.

Infers clusters and their uncertainty from data together with noisy constraints.

Names are loaded when first asked for, so that importing the package loads neither JAX nor ArviZ nor
numba.
"""

from bayesclust._lazy import attach

__version__ = "0.1.0"

MODULES = (
    "active constraints datasets estimators families metrics models "
    "partition_priors plots posterior"
)
NAMES = {
    "active": "InteractiveSession",
    "comparison": "agreement compare cross_validate leave_view_out",
    "constraints": (
        "PairwiseConstraints RelativeConstraints LabelConstraints SpanConstraints "
        "ImplicationConstraints LinkNoise UniformNoise ConfusionNoise"
    ),
    "estimators": (
        "TVClust RDPMeans DPMeans SpectralRDPMeans DCRC MPCKMeans MinimalModification limit_path"
    ),
    "families.columns": "describe_columns",
    "inference.numpyro_kernel": "PartitionGibbs",
    "inference.chain": "Moves",
    "inference.variational.fit": "VariationalSettings",
    "models": "constraint_sites",
    "posterior": (
        "similarity_matrix similar_items point_estimate credible_ball n_clusters_posterior losses "
        "constraint_credibility source_reliability constraint_ppc constraint_log_likelihood "
        "view_conflict diagnose"
    ),
    "profiles": "cluster_profiles",
    "report": "write_report",
}
__getattr__, __dir__, __all__ = attach(__name__, NAMES, MODULES)
