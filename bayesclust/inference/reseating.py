"""One item between two slots, as the restricted scans of split-merge moves ask about it.

The odds are of an item's slots given all others, so that it has to be taken out of its own first.
For Gaussians with full covariance the predictive without an item follows from the one with it
(`bayesclust.inference.scan_full`), and a cluster is touched only when an item moves: most stay
where they are. Any other family takes the item out, and puts it back.
"""

from __future__ import annotations

import math
from typing import Any

from bayesclust._numba import FAST, device, generic, implements
from bayesclust.constraints.factor_graph import UNPLACED
from bayesclust.families.base import add_item, log_predictive, remove_item
from bayesclust.families.gaussian import FullState, quadratic_form
from bayesclust.inference.scan_full import predictive_by_form


@generic
def log_odds(state: Any, i: int, own: int, a: int, b: int) -> Any:
    """log p(item i in slot a) - log p(item i in slot b) by sizes and data, given all other items; `reseat` must follow.

    Parameters
    ----------
    state : named tuple
        Of a family.
    i : int
    own : int
        Slot of the item, where it is not alone, or UNPLACED.
    a, b : int

    Returns
    -------
    float
    """


@generic
def reseat(state: Any, i: int, own: int, chosen: int) -> None:
    """Leave item i in slot `chosen`, after `log_odds`.

    Parameters
    ----------
    state : named tuple
    i, own : int
        As there.
    chosen : int
    """


@implements(log_odds, None, fastmath=FAST, forceinline=True, no_refcount=True)
def _log_odds_of_any(state, i, own, a, b):  # type: ignore[no-untyped-def]
    if own != UNPLACED:
        remove_item(state, i, own)
    return (
        math.log(state.count[a] / state.count[b])
        + log_predictive(state, i, a)
        - log_predictive(state, i, b)
    )


@implements(reseat, None, fastmath=FAST, forceinline=True, no_refcount=True)
def _reseat_of_any(state, i, own, chosen):  # type: ignore[no-untyped-def]
    add_item(state, i, chosen)


@device(fastmath=FAST, forceinline=True, no_refcount=True)
def _by_form(state: FullState, i: int, k: int, own: bool) -> float:
    return float(
        math.log(state.count[k] - own)
        + predictive_by_form(state, k, quadratic_form(state, i, k), own)
    )


@implements(log_odds, FullState, fastmath=FAST, forceinline=True, no_refcount=True)
def _log_odds_of_full(state, i, own, a, b):  # type: ignore[no-untyped-def]
    return _by_form(state, i, a, own == a) - _by_form(state, i, b, own == b)


@implements(reseat, FullState, fastmath=FAST, forceinline=True, no_refcount=True)
def _reseat_of_full(state, i, own, chosen):  # type: ignore[no-untyped-def]
    if chosen != own:
        if own != UNPLACED:
            remove_item(state, i, own)
        add_item(state, i, chosen)


__all__ = ["log_odds", "reseat"]
