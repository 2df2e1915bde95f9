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
        Most components. Those that the data do not need are given up, so more cost little; the
        bound is one of the untruncated process in any case.
    starts : int, default 8
        Dispersed starting partitions (k-means++ into 3, 6, 12, 24 clusters, then again).
    kept : int, default 3
        How many of them, those with the highest bounds after some sweeps, are searched by merges,
        deletions and splits.
    trust_sweeps : int, default 20
        Sweeps at the start of each with the noise of the answers at its prior mean: a partition
        that has not yet seen the answers contradicts half of them, and would have them dismissed as
        noise for good.
    max_sweeps : int, default 1000
        Most sweeps of the last ascent.
    tolerance : float, default 1e-3
        The ascent has converged when a sweep raises the bound by less, in nats.

    Raises
    ------
    TypeError, ValueError
        If a number is not positive, or `kept` exceeds `starts`.

    Examples
    --------
    >>> VariationalSettings(starts=4).kept
    3
    """

    truncation: int = 50
    starts: int = 8
    kept: int = 3
    trust_sweeps: int = 20
    max_sweeps: int = 1000
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        for name in ("truncation", "starts", "kept", "max_sweeps"):
            check_int(getattr(self, name), name)
        check_int(self.trust_sweeps, "trust_sweeps", least=0)
        check_positive(self.tolerance, "tolerance")
        if self.kept > self.starts:
            raise ValueError(
                f"kept={self.kept} is more than starts={self.starts}: lower it or allow more starts."
            )


__all__ = ["VariationalSettings"]
