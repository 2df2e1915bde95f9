"""How the search for the highest bound goes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EMSettings:
    """Settings of `fit_em`, which the estimator has checked.

    Parameters
    ----------
    tau : float, default 1.0
        Weight of the entropies in Eq. 9.
    penalty : float, default 2**-6
        lambda, in the paper's scale: 2 M lambda is the precision of a Gaussian prior.
    balance : bool, default True
        Whether balanced clusters are preferred (Eq. 9) or not (Eq. 8).
    proportions : bool, default True
        With `balance`: whether clusters are drawn to the sizes that they have among the items that
        answers name, once a solution under even sizes is found.
    temperature : float, default 1.0
        What the entropy of the labels is multiplied by; 0 assigns every item that answers name to
        one cluster.
    literal : bool, default False
        Update labels by Eq. 14 as printed; for binding answers alone.
    starts : int, default 8
    kept : int, default 2
        How many of the starts are followed to the end, those with the highest bounds after a few
        iterations.
    max_iter : int, default 100
        Most EM iterations.
    tolerance : float, default 1e-4
        Nats per answer by which an iteration must raise the bound to be followed by another.
    n_jobs : int, default 1
        Threads; they do not change the result.
    """

    tau: float = 1.0
    penalty: float = 2.0**-6
    balance: bool = True
    proportions: bool = True
    temperature: float = 1.0
    literal: bool = False
    starts: int = 8
    kept: int = 2
    max_iter: int = 100
    tolerance: float = 1e-4
    n_jobs: int = 1


__all__ = ["EMSettings"]
