"""Draws the graphs of the models from their NumPyro programs: ``python docs/model_graphs.py``."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch
from numpyro.infer.inspect import get_model_relations

import bayesclust as bc

RADIUS = 0.36
X = np.random.default_rng(0).normal(size=(6, 2))
LINKS = bc.PairwiseConstraints([(0, 1)], [True], n_items=6)
TRIPLETS = bc.RelativeConstraints([(0, 1, 2)], ["yes"], n_items=6)
GRAPHS = {
    "tvclust": (bc.models.tvclust, (X, LINKS)),
    "dcrc": (bc.models.dcrc, (X, 3, TRIPLETS, (1.0, 1.0))),
}
PLACES = {
    "tvclust": {
        "concentration": (0, 2),
        "stick": (1.6, 2),
        "weight": (3.2, 2),
        "z": (4.9, 2),
        "base_scale": (0, 0),
        "covariance": (1.6, 0),
        "mean": (3.0, 0.85),
        "x": (4.9, 0),
        "links_answer": (6.9, 2),
        "p": (6.3, 0.5),
        "q": (7.5, 0.5),
    },
    "dcrc": {
        "precision": (0, 1),
        "W": (1.5, 1),
        "z": (3.0, 1),
        "triplets_answer": (4.9, 1),
        "noise": (6.5, 1),
    },
}
"""Where the sites stand; the edges, the plates and what is observed are the program's."""


def draw(name):
    """The figure of one model."""
    program, given = GRAPHS[name]
    relations, at = get_model_relations(program, given), PLACES[name]
    assert set(at) == set(relations["sample_sample"])
    places = np.array(list(at.values()))
    low, high = places.min(axis=0) - 0.9, places.max(axis=0) + 0.9
    figure = Figure(figsize=tuple(1.05 * (high - low)))
    ax = figure.add_axes((0, 0, 1, 1), xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_axis_off()
    for plate, members in relations["plate_sample"].items():
        own = np.array([at[member] for member in members])
        corner, size = own.min(axis=0) - 0.62, np.ptp(own, axis=0) + 1.24
        style = {"boxstyle": "round,pad=0,rounding_size=0.1", "fill": False, "edgecolor": "0.45"}
        ax.add_patch(FancyBboxPatch(corner, *size, **style))
        ax.text(corner[0] + size[0] - 0.06, corner[1] + 0.05, plate, ha="right", fontsize=7)
    for site, parents in relations["sample_sample"].items():
        grey = "0.8" if site in relations["observed"] else "white"
        ax.add_patch(Circle(at[site], RADIUS, facecolor=grey, edgecolor="black", zorder=2))
        ax.text(
            *at[site], site.replace("_", "\n"), ha="center", va="center", fontsize=6.5, zorder=3
        )
        for parent in parents:
            line = np.subtract(at[site], at[parent])
            step = RADIUS * line / np.linalg.norm(line)
            ends = {"xytext": tuple(at[parent] + step), "xy": tuple(at[site] - step)}
            ax.annotate("", **ends, arrowprops={"arrowstyle": "-|>", "color": "black"})
    return figure


if __name__ == "__main__":
    mpl.rcParams |= {"svg.hashsalt": "bayesclust"}
    for name in GRAPHS:
        path = Path(__file__).parent / f"_static/{name}.svg"
        draw(name).savefig(path, metadata={"Date": None})
