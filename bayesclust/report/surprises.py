"""What the noise model does not expect of the answers, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesclust.posterior.conflict import view_conflict
from bayesclust.posterior.posterior_predictive import constraint_ppc
from bayesclust.posterior.tree import source_names, stored_constraints

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["surprises"]


def surprises(posterior: Any) -> list[str]:
    """Say what the noise model does not expect of the answers.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
        Of a fit with constraints that kept the noise.

    Returns
    -------
    list of str
        One sentence for each finding of `bayesclust.constraint_ppc` and of
        `bayesclust.view_conflict` that is not as expected; none where all is.

    Raises
    ------
    ValueError, TypeError
        As these two.

    Examples
    --------
    >>> import numpy as np
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> links = bc.PairwiseConstraints([(0, 1), (1, 2), (2, 3), (0, 3)], [True, True, True, False], n_items=4)
    >>> sure = {"z": np.zeros((1, 50, 4), int), "p": np.full((1, 50, 1), 0.999), "q": np.full((1, 50, 1), 0.999)}
    >>> "links: contradictions: 1, where 0 is expected." in surprises(to_datatree(sure, constraints=[links]))
    True
    """
    names = {
        view.name: source_names(posterior, view.name, view.n_sources)
        for view in stored_constraints(posterior)
    }
    checks, conflict = constraint_ppc(posterior), view_conflict(posterior)
    told = [
        f"{_whose(row, names)}: {row['check']}: {row['observed']:.3g}, where {row['expected']:.3g} is expected."
        for row in _unexpected(checks, "as expected")
    ]
    return told + [
        f"{_whose(row, names)} {row['finding']}: {row['elpd_loo']:.2f} nats an answer, where {row['expected']:.2f} is expected."
        for row in _unexpected(conflict, "agrees")
    ]


def _unexpected(table: pd.DataFrame, usual: str) -> list[Mapping[Any, Any]]:
    return list(table[table["finding"] != usual].to_dict("records"))


def _whose(row: Mapping[Any, Any], names: Mapping[str, list[str]]) -> str:
    own, source = names[row["view"]], row["source"]
    if len(own) == 1 or source is None or source != source or str(source) == "<NA>":
        return str(row["view"])
    name = own[int(source)]
    return f"{row['view']}, source {name}" if name.isdecimal() else f"{row['view']}, {name}"
