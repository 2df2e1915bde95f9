"""Layout of every plot: nothing leaves the figure, and axes that are given are drawn on."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesclust as bc
from tests.test_profiles import FIT

PLOTS = {
    "agreement": (lambda p, **k: bc.plots.agreement(bc.agreement({"a": p, "b": [0] * 18}), **k), 1),
    "alluvial": (lambda p, **k: bc.plots.alluvial({"a": p, "b": ["word"] * 18}, **k), 1),
    "calibration": (bc.plots.calibration, 1),
    "confusion": (bc.plots.confusion, 2),
    "constraint_graph": (bc.plots.constraint_graph, 1),
    "credibility": (bc.plots.credibility, 1),
    "n_clusters": (bc.plots.n_clusters, 1),
    "similarity": (bc.plots.similarity, 1),
    "partitions": (bc.plots.partitions, 4),
    "prior_sizes": (lambda p, **k: bc.plots.prior_sizes({"a long name": None}, 30, **k), 2),
    "profiles": (lambda p, **k: bc.plots.profiles(FIT, **k), 2),
    "reliability": (bc.plots.reliability, 2),
}


def overflow(figure):
    """How far the figure's contents stick out of it, in inches."""
    figure.canvas.draw()
    box = figure.get_tightbbox()
    return max(-box.x0, -box.y0, box.x1 - figure.get_figwidth(), box.y1 - figure.get_figheight())


@pytest.mark.parametrize("name", [*PLOTS, "ranks", "traces"])
def test_nothing_overflows_the_one_new_figure(name, posterior):
    drawn = PLOTS[name][0](posterior) if name in PLOTS else getattr(bc.plots, name)(posterior)
    figure = np.ravel(drawn)[0].figure
    assert plt.get_fignums() == [figure.number]
    assert overflow(figure) <= 0


@pytest.mark.parametrize("name", PLOTS)
def test_axes_that_are_given_are_drawn_on(name, posterior):
    draw, shape = PLOTS[name]
    figure, axes = plt.subplots(1, shape, squeeze=False)
    spare = plt.figure()
    if shape == 1:
        assert draw(posterior, ax=axes[0, 0]) is axes[0, 0]
    else:
        assert (np.ravel(draw(posterior, axes=axes)) == axes.ravel()).all()
    assert plt.get_fignums() == [figure.number, spare.number]
