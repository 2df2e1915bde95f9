import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree

TITLES = [
    "log joint density",
    "number of clusters",
    "concentration",
    'p: a pair from one cluster is answered "same", source 0',
    'p: a pair from one cluster is answered "same", source 1',
    'q: a pair from two clusters is answered "different", source 0',
    'q: a pair from two clusters is answered "different", source 1',
    "noise: an answer is wrong",
]


def titles(axes):
    return [left.get_title(loc="left") for left in axes[:, 0]]


def values_of(posterior):
    draws, stats = posterior["posterior"], posterior["sample_stats"]
    scalars = [stats["log_joint"].values, draws["n_clusters"].values, draws["concentration"].values]
    return scalars + [
        draws[name].values[..., s]
        for name, s in [("p", 0), ("p", 1), ("q", 0), ("q", 1), ("noise", 0)]
    ]


def test_default_rows_and_their_draws(posterior):
    axes = bc.plots.traces(posterior)
    assert axes.shape == (8, 2)
    assert titles(axes) == TITLES
    for left, values in zip(axes[:, 0], values_of(posterior), strict=True):
        assert [line.get_label() for line in left.lines] == ["chain 0", "chain 1", "chain 2"]
        np.testing.assert_array_equal([line.get_ydata() for line in left.lines], values)
        assert len({line.get_color() for line in left.lines}) == 3


def test_distributions_hold_all_draws(posterior):
    axes = bc.plots.traces(posterior)
    for (left, right), values in zip(axes, values_of(posterior), strict=True):
        if values.dtype.kind == "i":
            continue
        assert len(right.patches) == 3
        for patch, chain in zip(right.patches, values, strict=True):
            shares, edges, _ = patch.get_data()
            np.testing.assert_allclose(shares * chain.size, np.histogram(chain, edges)[0])
            assert shares.sum() == pytest.approx(1)
        assert left.get_ylim() == right.get_ylim()


def test_whole_numbers_have_a_bar_for_each_chain_and_number(posterior):
    right = bc.plots.traces(posterior, "n_clusters")[0, 1]
    values = posterior["posterior"]["n_clusters"].values
    numbers = np.unique(values)
    bars = [bar for chain in right.containers for bar in chain.patches]
    shown = [(round(bar.get_y() + bar.get_height() / 2), bar.get_width()) for bar in bars]
    expected = [(number, (chain == number).mean()) for chain in values for number in numbers]
    assert len(right.containers) == 3
    np.testing.assert_allclose(shown, expected)


def test_probabilities_stay_within_their_limits(posterior):
    axes = bc.plots.traces(posterior, ["p", "q", "noise"])
    for left in axes[:, 0]:
        low, high = left.get_ylim()
        drawn = np.concatenate([line.get_ydata() for line in left.lines])
        assert -0.01 <= low < drawn.min() <= drawn.max() < high <= 1.01
        assert high - low >= 0.1
    edges = axes[0, 1].patches[0].get_data().edges
    assert 0 <= edges[0] < edges[-1] <= 1


@pytest.mark.parametrize(
    ("value", "limits"), [(1.0, (0.88, 1.01)), (0.0, (-0.01, 0.12)), (0.5, (0.44, 0.56))]
)
def test_constant_probabilities_get_room(value, limits):
    tree = to_datatree(
        {"z": np.zeros((2, 5, 3), int), "p": np.full((2, 5, 1), value)},
        dims={"p": ("links_source",)},
    )
    axes = bc.plots.traces(tree, "p")
    low, high = axes[0, 0].get_ylim()
    assert limits[0] <= low < value < high <= limits[1]
    shares, edges, _ = axes[0, 1].patches[0].get_data()
    (at,) = np.flatnonzero(shares)
    assert edges[at] <= value <= edges[at + 1]


def test_constants_one_chain_and_one_draw():
    for shape in [(1, 1), (1, 6), (2, 1)]:
        draws = {
            "z": np.zeros((*shape, 4), int),
            "concentration": np.full(shape, 2.5),
            "log_shift": np.zeros(shape),
        }
        axes = bc.plots.traces(to_datatree(draws), ["n_clusters", "concentration", "log_shift"])
        axes[0, 0].figure.canvas.draw()
        assert axes.shape == (3, 2)
        assert axes[1, 0].get_ylim()[0] < 2.5 < axes[1, 0].get_ylim()[1]
        assert len(axes[0, 0].lines) == shape[0]


def test_draws_that_are_not_finite_are_left_out_of_distributions():
    log_joint = np.array([[-np.inf, -5.0, -6.0, -7.0]])
    axes = bc.plots.traces(
        to_datatree({"z": np.zeros((1, 4, 2), int)}, {"log_joint": log_joint}), "log_joint"
    )
    assert axes[0, 1].patches[0].get_data()[0].sum() == pytest.approx(0.75)
    assert np.isfinite(axes[0, 0].get_ylim()).all()


def test_variables_by_name_with_all_their_components(posterior, rng):
    assert titles(bc.plots.traces(posterior, "moved")) == ["moved"]
    draws = {
        "z": np.zeros((1, 4, 3), int),
        "centre": rng.normal(size=(1, 4, 2)),
        "p_night": rng.random((1, 4, 2)),
    }
    tree = to_datatree(draws, dims={"p_night": ("night_source",)})
    assert titles(bc.plots.traces(tree, ["centre"])) == ["centre[0]", "centre[1]"]
    assert titles(bc.plots.traces(tree)) == [
        "number of clusters",
        'p: a pair from one cluster is answered "same", night, source 0',
        'p: a pair from one cluster is answered "same", night, source 1',
    ]


def test_confusion_is_shown_by_its_diagonal_unless_asked_for(rng):
    confusion = rng.dirichlet([1, 1, 1], (2, 5, 1, 3))
    draws = {"z": np.zeros((2, 5, 3), int), "confusion": confusion}
    tree = to_datatree(draws, dims={"confusion": ("triplets_source", "truth", "answer")})
    axes = bc.plots.traces(tree)
    assert titles(axes)[1:] == [
        f'confusion: "{w}" in truth is answered "{w}"' for w in ("yes", "no", "dnk")
    ]
    np.testing.assert_array_equal(axes[3, 0].lines[1].get_ydata(), confusion[1, :, 0, 2, 2])
    assert len(bc.plots.traces(tree, "confusion")) == 9


def test_one_figure_is_made_and_nothing_overflows(posterior):
    figure = bc.plots.traces(posterior)[0, 0].figure
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "chain 0",
        "chain 1",
        "chain 2",
    ]


def test_what_cannot_be_shown_is_refused(posterior):
    with pytest.raises(
        ValueError, match=r"'z' is no variable .* choose from .*concentration.*log_joint"
    ):
        bc.plots.traces(posterior, "z")
    with pytest.raises(ValueError, match="var_names is empty"):
        bc.plots.traces(posterior, [])
    with pytest.raises(TypeError, match="DataTree"):
        bc.plots.traces(np.zeros((3, 4), int))
    assert plt.get_fignums() == []
