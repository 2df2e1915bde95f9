"""Layout of every plot: nothing leaves the figure, and axes that are given are drawn on."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesclust as bc

PLOTS = {
    "agreement": (lambda p, **k: bc.plots.agreement(bc.agreement({"a": p, "b": [0] * 18}), **k), 1),
    "constraint_graph": (bc.plots.constraint_graph, 1),
    "credibility": (bc.plots.credibility, 1),
    "credibility_ranking": (bc.plots.credibility_ranking, 1),
    "listed": (lambda p, **k: bc.plots.credibility_ranking(p, max_listed=60, **k), 1),
    "entropy": (bc.plots.entropy, 1),
    "n_clusters": (bc.plots.n_clusters, 1),
    "similarity": (bc.plots.similarity, 1),
    "partitions": (bc.plots.partitions, 4),
    "reliability": (bc.plots.reliability, 2),
    "ranks": (bc.plots.ranks, 6),
    "traces": (lambda p, **k: bc.plots.traces(p, ["log_joint", "n_clusters"], **k), (2, 2)),
}


def overflow(figure):
    """How far the figure's contents stick out of it, in inches."""
    figure.canvas.draw()
    box = figure.get_tightbbox()
    return max(-box.x0, -box.y0, box.x1 - figure.get_figwidth(), box.y1 - figure.get_figheight())


@pytest.mark.parametrize("name", PLOTS)
def test_nothing_overflows_the_one_new_figure(name, posterior):
    drawn = PLOTS[name][0](posterior)
    figure = np.ravel(drawn)[0].figure
    assert plt.get_fignums() == [figure.number]
    assert overflow(figure) <= 0


@pytest.mark.parametrize("name", PLOTS)
def test_axes_that_are_given_are_drawn_on(name, posterior):
    draw, shape = PLOTS[name]
    figure, axes = plt.subplots(*(shape if isinstance(shape, tuple) else (1, shape)), squeeze=False)
    spare = plt.figure()
    if shape == 1:
        assert draw(posterior, ax=axes[0, 0]) is axes[0, 0]
        with pytest.raises(TypeError, match="ax must be Matplotlib axes or None"):
            draw(posterior, ax=3)
    else:
        assert (np.ravel(draw(posterior, axes=axes)) == axes.ravel()).all()
        with pytest.raises(ValueError, match="axes"):
            draw(posterior, axes=[None])
    assert plt.get_fignums() == [figure.number, spare.number]


def test_arguments_that_do_not_fit_are_refused(posterior):
    refused = [
        (lambda: bc.plots.credibility_ranking(posterior, max_listed=0), "max_listed"),
        (lambda: bc.plots.constraint_graph(posterior, below=0), "below"),
        (lambda: bc.plots.partitions([[0, 1]]), "no data to place its items in the plane: pass X"),
        (lambda: bc.plots.partitions([[0, 1]], [[0, 0]]), "X has 1 rows, but the posterior has 2"),
        (lambda: bc.plots.partitions(posterior, level=1), "level"),
        (
            lambda: bc.plots.partitions(posterior, axes=[None]),
            "axes are 1, but the panels of a credible ball take 4",
        ),
        (
            lambda: bc.plots.n_clusters([[0, 0, 1]], labels=[0, 1]),
            "labels has 2 items, but the posterior has 3",
        ),
    ]
    for call, words in refused:
        with pytest.raises(ValueError, match=words):
            call()
    assert plt.get_fignums() == []
