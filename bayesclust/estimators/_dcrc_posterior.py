"""Draws from DCRC's mean field."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesclust.constraints.base import Constraints
from bayesclust.constraints.dataset import noise_dims, noise_names
from bayesclust.inference.variational.draws import draw_labels
from bayesclust.inference.variational_em.fit import EMFit
from bayesclust.inference.variational_em.held_out import mean_confusion
from bayesclust.posterior.tree import to_datatree
from bayesclust.typing import Counts, FloatArray, IntArray

CHAINS, DRAWS = 4, 250


class MeanFieldLabels:
    """What follows from the mean field, and draws from it."""

    _tree: Any = None

    def _take_mean_field(
        self: Any, fit: EMFit, items: FloatArray, constraints: Sequence[Constraints], seed: int
    ) -> None:
        """Set the attributes."""
        mode = fit.q.argmax(axis=1)
        used = np.unique(mode)
        order = np.append(used, np.setdiff1d(np.arange(len(fit.W)), used))
        self.labels_: IntArray = np.searchsorted(used, mode)
        self.n_clusters_ = len(used)
        self.proba_: FloatArray = fit.q[:, order]
        self._classifiers = fit.W[None, order]
        self.proportions_: FloatArray | None = (
            None if fit.proportions is None else fit.proportions[order]
        )
        self.confusion_: dict[str, FloatArray] = {
            view.name: mean_confusion(view, counts)
            for view, counts in zip(constraints, fit.counts, strict=True)
        }
        self._given, self._tree = (
            (constraints, fit.counts, items, self.get_params(deep=False), seed),
            None,
        )

    @property
    def posterior_(self: Any) -> Any:
        """Draws of the chains, or from the mean field, an `xarray.DataTree`."""
        check_is_fitted(self)
        if self._tree is None:
            self._tree = draw_tree(self.proba_, *self._given)
        return self._tree


def draw_tree(
    proba: FloatArray,
    constraints: Sequence[Constraints],
    counts: Sequence[Counts],
    items: FloatArray,
    settings: dict[str, Any],
    seed: int,
) -> Any:
    """Return independent draws of labels and noise as a DataTree.

    Parameters
    ----------
    proba : ndarray of shape (n, K)
        Distributions of the labels.
    constraints : sequence of Constraints
    counts : sequence of ndarray
        Expected counts of each view's answers by code and pattern.
    items : ndarray of shape (n, d)
    settings : dict
    seed : int

    Returns
    -------
    xarray.DataTree
    """
    rng, shape = np.random.default_rng(seed), (CHAINS, DRAWS)
    variables: dict[str, Any] = {"z": draw_labels(proba, CHAINS * DRAWS, rng).reshape(*shape, -1)}
    for view, names, count in zip(constraints, noise_names(constraints), counts, strict=True):
        initial = view.noise.initial(view.n_sources)
        repeated: FloatArray = np.broadcast_to(count, (*shape, *count.shape))
        for name, value in view.noise.draw(repeated, initial, rng).items():
            variables[names[name]] = np.broadcast_to(value, (*shape, *initial[name].shape)).copy()
    attrs = {"created_by": "bayesclust", "version": version("bayesclust"), "settings": settings}
    attrs["approximation"] = "mean field"
    return to_datatree(
        variables, X=items, constraints=constraints, dims=noise_dims(constraints), attrs=attrs
    )


__all__ = ["draw_tree"]
