import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree, with_names


def intervals(collection):
    return np.array([[start[0], end[0]] for start, end in collection.get_segments()])


def test_means_and_intervals_are_those_of_the_draws(posterior):
    links, triplets = bc.plots.reliability(posterior)
    for ax, names in ((links, ("p", "q")), (triplets, ("noise",))):
        for line, band, name in zip(ax.lines, ax.collections, names, strict=True):
            draws = posterior["posterior"][name].values.reshape(120, -1)
            np.testing.assert_allclose(line.get_xdata(), draws.mean(axis=0))
            np.testing.assert_allclose(intervals(band), np.quantile(draws, [0.05, 0.95], axis=0).T)
            np.testing.assert_array_equal(np.round(line.get_ydata()), range(draws.shape[1]))
    assert links.get_title(loc="left") == "links: noise of 2 sources"
    assert [text.get_text() for text in triplets.get_legend().get_texts()] == ["an answer is wrong"]


def test_sources_have_their_names_and_numbers_of_answers(posterior, views):
    ax = bc.plots.reliability(with_names(posterior, sources={"links": ["ann", "bob"]}))[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ann", "bob"]
    z = posterior["posterior"]["z"].values.reshape(120, 18)
    i, j = views[0].items.T
    wrong = ((z[:, i] == z[:, j]) != (views[0].answers == 1)).mean(axis=0)
    for source, text in enumerate(ax.texts):
        own = views[0].source == source
        given, found = re.fullmatch(r"(\d+) answers, (\d+\.\d) wrong", text.get_text()).groups()
        assert int(given) == own.sum()
        assert float(found) == pytest.approx(wrong[own].sum(), abs=0.0501)


def test_a_confusion_matrix_is_shown_by_its_diagonal(rng):
    triplets = bc.RelativeConstraints([(0, 1, 2), (1, 0, 2)], ["yes", "dnk"], n_items=3)
    confusion = rng.dirichlet([5, 2, 1], (2, 30, 1, 3))
    draws = {"z": np.zeros((2, 30, 3), int), "confusion": confusion}
    noisy = bc.RelativeConstraints(
        triplets.items, triplets.answers, n_items=3, noise=bc.ConfusionNoise()
    )
    tree = to_datatree(
        draws, constraints=[noisy], dims={"confusion": ("triplets_source", "truth", "answer")}
    )
    (ax,) = bc.plots.reliability(tree)
    means = confusion.mean(axis=(0, 1, 2))
    np.testing.assert_allclose([line.get_xdata()[0] for line in ax.lines], np.diag(means))
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == [f'"{word}" in truth is answered so' for word in ("yes", "no", "dnk")]


@pytest.mark.parametrize("sources", [1, 12, 150])
def test_any_number_of_sources_fits(sources, rng):
    links = bc.PairwiseConstraints.sample(
        np.repeat([0, 1], 30), size=300, n_sources=sources, seed=0
    )
    draws = {
        "z": np.tile(np.repeat([0, 1], 30), (1, 20, 1)),
        "p": rng.beta(9, 1, (1, 20, sources)),
        "q": rng.beta(9, 2, (1, 20, sources)),
    }
    tree = to_datatree(
        draws, constraints=[links], dims={"p": ("links_source",), "q": ("links_source",)}
    )
    (ax,) = bc.plots.reliability(tree)
    figure = ax.figure
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0) >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()
    assert len(ax.lines[0].get_xdata()) == sources
    assert len(ax.texts) == (sources if sources <= 40 else 0)


def test_axes_are_one_for_each_view(posterior):
    _, axes = plt.subplots(2, 1)
    assert (bc.plots.reliability(posterior, axes) == axes).all()
    with pytest.raises(ValueError, match="axes are 3, but the views take 2"):
        bc.plots.reliability(posterior, [None] * 3)
