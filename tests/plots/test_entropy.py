import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesclust as bc


def bits_by_hand(z):
    share = (z[:, :, None] == z[:, None, :]).mean(axis=0)
    inner = np.clip(share, 1e-300, 1 - 1e-16)
    entropy = np.where(
        (share == 0) | (share == 1), 0, -inner * np.log2(inner) - (1 - inner) * np.log2(1 - inner)
    )
    return entropy.sum(axis=1) / (z.shape[1] - 1)


def test_items_have_the_colour_of_their_entropy_and_the_least_sure_lie_on_top(rng):
    z, X = rng.integers(0, 3, size=(50, 12)), rng.normal(size=(12, 2))
    ax = bc.plots.entropy(z, X)
    dots = ax.collections[-1]
    expected = bits_by_hand(z)
    order = np.argsort(expected)
    np.testing.assert_allclose(dots.get_array(), expected[order], atol=1e-12)
    np.testing.assert_array_equal(dots.get_offsets(), X[order])
    assert dots.norm.vmin == 0
    assert dots.norm.vmax == pytest.approx(expected.max())
    assert ax.child_axes[0].get_ylabel() == "item entropy (bits)"


def test_regions_are_means_of_what_is_near_and_end_far_from_items():
    # two places, of entropy 0 and 1
    X = np.r_[np.full((30, 2), 0.0), np.full((30, 2), 100.0)] + np.random.default_rng(0).normal(
        size=(60, 2)
    )
    z = np.array(
        [np.r_[np.zeros(30), np.arange(1, 31)], np.r_[np.zeros(30), np.full(30, 1)]]
    ).astype(int)
    ax = bc.plots.entropy(z, X)
    mesh = ax.collections[0]
    field = mesh.get_array()
    corners = mesh.get_coordinates()
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    bits = bits_by_hand(z)
    assert (bits[0], bits[-1]) == (0, pytest.approx(29 / 59))
    for place, expected in zip((0, 100), (0, 29 / 59), strict=True):
        near = np.linalg.norm(middles - place, axis=-1) < 3
        np.testing.assert_allclose(field[near].compressed(), expected, atol=1e-6)
        assert not field[near].mask.any()
    far = np.abs(middles[..., 0] - middles[..., 1]) > 70
    assert field.mask[far].all()


def test_regions_can_be_left_out_and_next_to_nothing_looks_so():
    ax = bc.plots.entropy([[0, 0, 1]] * 3, [[0, 0], [1, 1], [2, 2]], regions=False)
    assert len(ax.collections) == 1
    assert ax.collections[0].norm.vmax == 0.1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_items_in_one_place(n):
    ax = bc.plots.entropy([[0] * n], np.ones((n, 2)))
    ax.figure.canvas.draw()
    assert len(ax.collections[-1].get_offsets()) == n


def test_axes_given_are_used(posterior):
    figure, (first, second) = plt.subplots(1, 2)
    assert bc.plots.entropy(posterior, ax=second) is second
    assert plt.get_fignums() == [figure.number]
    assert not first.collections
