"""Losses by name."""

from __future__ import annotations

from typing import Any

from bayesclust.checks import shown
from bayesclust.posterior.losses.additive import VI, Binder
from bayesclust.posterior.losses.base import Loss
from bayesclust.posterior.losses.ratios import ID, NID, NVI, OneMinusARI

__all__ = ["as_loss"]

LOSSES: dict[str, type[Loss]] = {
    "vi": VI,
    "binder": Binder,
    "omari": OneMinusARI,
    "nvi": NVI,
    "id": ID,
    "nid": NID,
}


def as_loss(loss: Any) -> Loss:
    """Return a loss given by name or as a value.

    Parameters
    ----------
    loss : {"vi", "binder", "omari", "nvi", "id", "nid"} or Loss

    Returns
    -------
    Loss

    Raises
    ------
    ValueError, TypeError
        If there is no such loss.

    Examples
    --------
    >>> as_loss("vi")
    VI(a=1.0)
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss.lower() in LOSSES:
        return LOSSES[loss.lower()]()
    kind = ValueError if isinstance(loss, str) else TypeError
    names = ", ".join(f'"{name}"' for name in LOSSES)
    raise kind(f"loss must be {names} or a loss such as VI(a=0.5); got {shown(loss)}.")
