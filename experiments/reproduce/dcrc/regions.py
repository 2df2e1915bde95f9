"""Figure 5: where the classifier is uncertain, after soft and after hard answers near the boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import bayesclust as bc
from bayesclust.plots._style import PALETTE
from bayesclust.typing import FloatArray
from experiments.reproduce import sources
from experiments.reproduce.dcrc.answers import BOUNDARY, ask, data_number
from experiments.reproduce.dcrc.cells import accuracy
from experiments.reproduce.dcrc.methods import METHODS
from experiments.reproduce.dcrc.plans import FIGURE_6, REGIONS, Plan
from experiments.reproduce.drawing import in_colours_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["entropy", "regions"]

FINE = 120
NAMES = {"dcrc": "soft answers"}


def entropy(p: FloatArray) -> FloatArray:
    """Entropy of each distribution.

    Parameters
    ----------
    p : (m, K) array

    Returns
    -------
    (m,) array
        In nats.

    Examples
    --------
    >>> entropy(np.array([[0.5, 0.5], [1.0, 0.0]])).round(3)
    array([0.693, 0.   ])
    """
    from scipy.special import entr

    total: FloatArray = entr(p).sum(axis=1)
    return total


def regions(plan: Plan) -> Figure:
    """Draw the entropy of p(y | x; W) over the plane, for two sets and three ways of hearing the answers of the first draw.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    Figure
    """
    import matplotlib.pyplot as plt

    size = (2.6 * len(FIGURE_6), 2.7 * len(REGIONS) + 0.5)
    figure, panels = plt.subplots(len(REGIONS), len(FIGURE_6), figsize=size, layout="constrained")
    for row, name in zip(panels, REGIONS, strict=True):
        data = sources.load(name)
        triplets = ask(
            data,
            BOUNDARY,
            plan.asked_regions,
            [plan.seed, 0, data_number(name), 0, plan.asked_regions],
        )
        low, high = data.X.min(axis=0) - 0.5, data.X.max(axis=0) + 0.5
        across, up = (np.linspace(*ends, FINE) for ends in zip(low, high, strict=True))
        grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
        for ax, method in zip(row, FIGURE_6, strict=True):
            est = METHODS[method].fit(data.X, triplets, 3, plan.seed)
            assert isinstance(est, bc.DCRC)
            shade = entropy(est.predict_proba(grid)).reshape(FINE, FINE)
            ax.contourf(
                across,
                up,
                shade,
                levels=np.linspace(0, np.log(3), 8),
                cmap="Greys",
                vmin=0,
                vmax=np.log(4),
            )
            predicted = est.predict(data.X)
            ax.scatter(
                *data.X.T, c=np.array(PALETTE)[in_colours_of(predicted, data.y)], s=7, linewidths=0
            )
            heard = NAMES.get(method, METHODS[method].title)
            ax.set_title(f"{name}: {heard}\n({accuracy(predicted, data.y):.1%} right)", fontsize=8)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(True)
    figure.suptitle(
        f"Entropy of p(y | x; W), dark where high; {plan.asked_regions} right answers among the items near a boundary",
        fontsize=9,
    )
    return figure
