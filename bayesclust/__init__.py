"""Bayesian clustering with side information: posteriors over partitions from data and doubtful answers.

Everything a user calls is reached from here. Names are looked up on first use, so that importing
the package loads neither JAX nor ArviZ nor numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayesclust import (
        active,
        constraints,
        datasets,
        estimators,
        inference,
        information,
        metrics,
        models,
        plots,
        posterior,
    )
    from bayesclust.active import InteractiveSession
    from bayesclust.comparison import agreement, bayesian_signed_rank, compare, leave_view_out
    from bayesclust.constraints import (
        ConfusionNoise,
        ImplicationConstraints,
        LabelConstraints,
        LinkNoise,
        PairwiseConstraints,
        RelativeConstraints,
        SpanConstraints,
        SpreadConstraints,
        UniformNoise,
    )
    from bayesclust.estimators import (
        DCRC,
        DPMeans,
        MinimalModification,
        MPCKMeans,
        RDPMeans,
        SpectralRDPMeans,
        TVClust,
        limit_path,
    )
    from bayesclust.families.columns import TiedColumnsWarning, dequantize, describe_columns
    from bayesclust.inference.numpyro_kernel import PartitionGibbs
    from bayesclust.inference.schedule import Moves
    from bayesclust.inference.variational.settings import VariationalSettings
    from bayesclust.models import constraint_sites, families
    from bayesclust.posterior import (
        constraint_credibility,
        constraint_log_likelihood,
        constraint_ppc,
        credible_ball,
        diagnose,
        item_entropy,
        losses,
        n_clusters_posterior,
        point_estimate,
        posterior_distance,
        similar_items,
        similarity_matrix,
        source_reliability,
        view_conflict,
    )
    from bayesclust.report import write_report

__version__ = "0.1.0"

__all__ = [
    "DCRC",
    "ConfusionNoise",
    "DPMeans",
    "ImplicationConstraints",
    "InteractiveSession",
    "LabelConstraints",
    "LinkNoise",
    "MPCKMeans",
    "MinimalModification",
    "Moves",
    "PairwiseConstraints",
    "PartitionGibbs",
    "RDPMeans",
    "RelativeConstraints",
    "SpanConstraints",
    "SpectralRDPMeans",
    "SpreadConstraints",
    "TVClust",
    "TiedColumnsWarning",
    "UniformNoise",
    "VariationalSettings",
    "__version__",
    "active",
    "agreement",
    "bayesian_signed_rank",
    "compare",
    "constraint_credibility",
    "constraint_log_likelihood",
    "constraint_ppc",
    "constraint_sites",
    "constraints",
    "credible_ball",
    "datasets",
    "dequantize",
    "describe_columns",
    "diagnose",
    "estimators",
    "families",
    "inference",
    "information",
    "item_entropy",
    "leave_view_out",
    "limit_path",
    "losses",
    "metrics",
    "models",
    "n_clusters_posterior",
    "plots",
    "point_estimate",
    "posterior",
    "posterior_distance",
    "similar_items",
    "similarity_matrix",
    "source_reliability",
    "view_conflict",
    "write_report",
]

# public name -> the module that holds it, or that it is
_HOME = {
    "ConfusionNoise": "bayesclust.constraints",
    "DCRC": "bayesclust.estimators",
    "DPMeans": "bayesclust.estimators",
    "ImplicationConstraints": "bayesclust.constraints",
    "InteractiveSession": "bayesclust.active",
    "LabelConstraints": "bayesclust.constraints",
    "LinkNoise": "bayesclust.constraints",
    "MPCKMeans": "bayesclust.estimators",
    "MinimalModification": "bayesclust.estimators",
    "Moves": "bayesclust.inference.schedule",
    "PairwiseConstraints": "bayesclust.constraints",
    "PartitionGibbs": "bayesclust.inference.numpyro_kernel",
    "RDPMeans": "bayesclust.estimators",
    "RelativeConstraints": "bayesclust.constraints",
    "SpanConstraints": "bayesclust.constraints",
    "SpectralRDPMeans": "bayesclust.estimators",
    "SpreadConstraints": "bayesclust.constraints",
    "TVClust": "bayesclust.estimators",
    "TiedColumnsWarning": "bayesclust.families.columns",
    "UniformNoise": "bayesclust.constraints",
    "VariationalSettings": "bayesclust.inference.variational.settings",
    "agreement": "bayesclust.comparison",
    "constraint_log_likelihood": "bayesclust.posterior",
    "constraint_sites": "bayesclust.models",
    "constraint_ppc": "bayesclust.posterior",
    "describe_columns": "bayesclust.families.columns",
    "n_clusters_posterior": "bayesclust.posterior",
    "compare": "bayesclust.comparison",
    "constraint_credibility": "bayesclust.posterior",
    "constraints": "bayesclust.constraints",
    "credible_ball": "bayesclust.posterior",
    "datasets": "bayesclust.datasets",
    "dequantize": "bayesclust.families.columns",
    "diagnose": "bayesclust.posterior",
    "estimators": "bayesclust.estimators",
    "families": "bayesclust.families",
    "inference": "bayesclust.inference",
    "information": "bayesclust.information",
    "item_entropy": "bayesclust.posterior",
    "leave_view_out": "bayesclust.comparison",
    "limit_path": "bayesclust.estimators",
    "losses": "bayesclust.posterior.losses",
    "metrics": "bayesclust.metrics",
    "models": "bayesclust.models",
    "plots": "bayesclust.plots",
    "point_estimate": "bayesclust.posterior",
    "posterior": "bayesclust.posterior",
    "posterior_distance": "bayesclust.posterior",
    "active": "bayesclust.active",
    "bayesian_signed_rank": "bayesclust.comparison",
    "similar_items": "bayesclust.posterior",
    "similarity_matrix": "bayesclust.posterior",
    "source_reliability": "bayesclust.posterior",
    "view_conflict": "bayesclust.posterior",
    "write_report": "bayesclust.report",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'bayesclust' has no attribute {name!r}")
    module = import_module(_HOME[name])
    value = module if _HOME[name].endswith(f".{name}") else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
