"""How hard the mean field searches."""

from __future__ import annotations

from dataclasses import dataclass

from bayesclust.checks import check_int, check_positive


@dataclass(frozen=True)
class VariationalSettings:
    """How hard the variational method searches for the highest bound.

    Parameters
    ----------
    truncation : int, default 50
        Most components. Those that the data do not need are removed, so more cost little; the bound
        is one of the untruncated process in any case.
    n_init : int, default 8
        Dispersed starting partitions (k-means++ into 3, 6, 12, 24 clusters, then again).
    n_refined : int, default 3
        How many of them, those with the highest bounds after some sweeps, are searched by merges,
        deletions and splits.
    fixed_noise_iter : int, default 20
        Sweeps at the start of each with the noise of the constraints at its prior mean: a partition
        that has not yet used the constraints contradicts half of them, and would have them taken
        for noise for good.
    max_iter : int, default 1000
        Most sweeps of the last ascent.
    tol : float, default 1e-3
        The ascent has converged when a sweep raises the bound by less, in nats.

    Raises
    ------
    TypeError, ValueError
        If a number is not positive, or `n_refined` exceeds `n_init`.

    Examples
    --------
    >>> import bayesclust as bc
    >>> bc.TVClust(sampler=bc.VariationalSettings(n_init=4)).sampler.n_refined
    3
    """

    truncation: int = 50
    n_init: int = 8
    n_refined: int = 3
    fixed_noise_iter: int = 20
    max_iter: int = 1000
    tol: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("truncation", "n_init", "n_refined", "max_iter"):
            check_int(getattr(self, name), name)
        check_int(self.fixed_noise_iter, "fixed_noise_iter", least=0)
        check_positive(self.tol, "tol")
        if self.n_refined > self.n_init:
            raise ValueError(
                f"n_refined={self.n_refined} is more than n_init={self.n_init}: "
                "lower it, or raise n_init."
            )


__all__ = ["VariationalSettings"]
