"""The methods of the tables, by name: what each is told, what it is given, and which of the paper's rows it answers to.

A further method is one more entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments.authors import fit_as_released
from experiments.baselines import Baseline, dp_means, itml, k_means, lcvqe
from experiments.reproduce.tvclust.released import ReleasedRDPMeans

__all__ = ["COUNT_METHODS", "EVERY_METHOD", "METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """How to fit, and what is to be known about it.

    Parameters
    ----------
    title : str
        What tables and figures call it; they add "[k]" where it is told k.
    fit : callable
        Of data, answers, the number of clusters told and a seed; returns labels.
    told : bool, default False
        Whether `fit` makes use of the number of clusters: the true one in the tables, others in
        Figure 3. As in the paper, methods are told it if they need it or make their penalty of it.
    answers : bool, default True
        Whether it makes use of answers.
    raw : bool, default False
        Give it the features on the scale of their source, not standardised ones.
    paper : str, default ""
        The row of the paper's tables that it is compared with; "" if there is none.
    model : str, default ""
        In Table 4, "Gaussian" or "multinomial".
    least : int, default 1
        The smallest number of clusters that it works with.
    slow : bool, default False
        Whether a fit takes more than a few seconds.
    """

    title: str
    fit: Baseline
    told: bool = False
    answers: bool = True
    raw: bool = False
    paper: str = ""
    model: str = ""
    least: int = 1
    slow: bool = False

    @property
    def about(self) -> str:
        """What it is told and given, in words."""
        told = "told k" if self.told else "not told k"
        return (
            told
            + ("" if self.answers else ", heeds no answers")
            + (", raw features" if self.raw else "")
        )


def _estimator(make: Callable[[int, int], Any]) -> Baseline:
    """Labels of what `make` returns for a number of clusters and a seed."""

    def fit(X: FloatArray, constraints: Any, n_clusters: int, seed: int) -> IntArray:
        est = make(n_clusters, seed).fit(X, constraints=constraints)
        # a sampler that is interrupted returns the draws so far, which are not what the cell stands
        # for
        if hasattr(est, "posterior_") and est.posterior_.attrs["interrupted"]:
            raise KeyboardInterrupt
        labels: IntArray = est.labels_
        return labels

    return fit


def _variational(k: int, seed: int, **settings: Any) -> Any:
    return bc.TVClust("variational", num_chains=1, num_samples=1, random_state=seed, **settings)


_released = _estimator(lambda k, seed: ReleasedRDPMeans(k, random_state=seed))
_default = _estimator(lambda k, seed: bc.RDPMeans(random_state=seed))
_told = _estimator(lambda k, seed: bc.RDPMeans(n_clusters=k, random_state=seed))
_mpck = _estimator(lambda k, seed: bc.MPCKMeans(k, random_state=seed))
_default_kl = _estimator(lambda k, seed: bc.RDPMeans(divergence="kl", random_state=seed))
_told_kl = _estimator(lambda k, seed: bc.RDPMeans(n_clusters=k, divergence="kl", random_state=seed))
_sampled = _estimator(lambda k, seed: bc.TVClust(random_state=seed, progress=False))


def _authors(X: FloatArray, constraints: Any, n_clusters: int, seed: int) -> IntArray:
    """What the authors' released code finds, which is not random."""
    return fit_as_released(X, constraints)[0].r.argmax(axis=1)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "kmeans": Method("k-means", k_means, told=True, answers=False, paper="K-means"),
        "kmeans-raw": Method(
            "k-means, raw features", k_means, told=True, answers=False, raw=True, paper="K-means"
        ),
        "dp-means": Method("DP-means", dp_means, told=True, answers=False, paper="DP-means"),
        "dp-means-released": Method(
            "DP-means, released settings",
            _released,
            told=True,
            answers=False,
            raw=True,
            paper="DP-means",
        ),
        "rdp-means": Method("RDP-means", _default, paper="RDP-means"),
        "rdp-means-k": Method("RDP-means", _told, told=True, paper="RDP-means"),
        "rdp-means-released": Method(
            "RDP-means, released settings", _released, told=True, raw=True, paper="RDP-means"
        ),
        "lcvqe": Method("LCVQE", lcvqe, told=True, paper="LCVQE", least=2),
        "itml": Method("ITML + k-means", itml, told=True),
        "mpck-means": Method("MPCK-Means", _mpck, told=True, paper="MPCKMeans"),
        "variational": Method(
            "TVClust, variational", _estimator(_variational), paper="TVClust (variational)"
        ),
        "authors": Method("TVClust, authors' settings", _authors, paper="TVClust (variational)"),
        "mixture": Method("mixture without answers", _sampled, answers=False, slow=True),
        "collapsed": Method("TVClust, sampled", _sampled, slow=True),
    }
)
"""Those of Tables 1 to 3 and Figures 2 and 3, the slow ones last."""

_kl: dict[str, Any] = {"raw": True, "model": "multinomial"}
_gaussian: dict[str, Any] = {"raw": True, "model": "Gaussian"}
_k_means_kl: Baseline = partial(k_means, divergence="kl")
_dp_means_kl: Baseline = partial(dp_means, divergence="kl")

COUNT_METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "kmeans-gaussian": Method(
            "k-means", k_means, told=True, answers=False, paper="K-means", **_gaussian
        ),
        "kmeans-multinomial": Method(
            "k-means", _k_means_kl, told=True, answers=False, paper="K-means", **_kl
        ),
        "dp-means-gaussian": Method(
            "DP-means", dp_means, told=True, answers=False, paper="DP-means", **_gaussian
        ),
        "dp-means-multinomial": Method(
            "DP-means", _dp_means_kl, told=True, answers=False, paper="DP-means", **_kl
        ),
        "rdp-means-k-gaussian": Method(
            "RDP-means", _told, told=True, paper="RDP-means", **_gaussian
        ),
        "rdp-means-k-multinomial": Method(
            "RDP-means", _told_kl, told=True, paper="RDP-means", **_kl
        ),
        "rdp-means-gaussian": Method("RDP-means", _default, paper="RDP-means", **_gaussian),
        "rdp-means-multinomial": Method("RDP-means", _default_kl, paper="RDP-means", **_kl),
    }
)
"""Those of Table 4 and Figure 4, which see counts as they are."""

EVERY_METHOD: Mapping[str, Method] = MappingProxyType({**METHODS, **COUNT_METHODS})
