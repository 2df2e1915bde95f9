"""The alluvial plot: blocks and bands are as high as their items are many, and few cross."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest

import bayesclust as bc


def drawn(ax, columns):
    """Blocks of each column from the top down, and bands: (column, left, right, height)."""
    blocks = [[] for _ in range(columns)]
    for bar in ax.patches:
        at = round(bar.get_x() + bar.get_width() / 2)
        blocks[at].append((bar.get_y(), bar.get_y() + bar.get_height()))
    bands = []
    for at, collection in enumerate(ax.collections):
        for path in collection.get_paths():
            x, y = path.vertices[:-1].T
            ends = [y[np.isclose(x, side)] for side in (x.min(), x.max())]
            place = [
                next(
                    k
                    for k, (low, high) in enumerate(blocks[at + side])
                    if low - 1e-9 <= end.min() and end.max() <= high + 1e-9
                )
                for side, end in enumerate(ends)
            ]
            bands.append((at, *place, round(float(np.ptp(ends[0])), 6)))
    return blocks, bands


def crossing(tables):
    """Pairs of items whose bands cross, by going through all pairs of cells."""
    total = 0
    for table in tables:
        for (a, b), (c, d) in product(np.ndindex(table.shape), repeat=2):
            total += table[a, b] * table[c, d] * (a < c and b > d)
    return total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("nested", [False, True])
def test_bands_are_shared_items_and_few_cross(seed, nested):
    rng = np.random.default_rng(seed)
    labels = [rng.integers(k, size=60) for k in (3, 4, 3)]
    if nested:  # none need cross
        labels[::2] = [rng.permutation(3)[np.minimum(labels[1], 2)] for _ in range(2)]
    ax = bc.plots.alluvial({str(k): own for k, own in enumerate(labels)})
    blocks, bands = drawn(ax, 3)
    names = [text.get_text().split()[0] for text in ax.texts]
    orders = np.split(np.array(names, int), [3, 7])
    for own, order, column in zip(labels, orders, blocks, strict=True):
        np.testing.assert_allclose([b - a for a, b in column], np.bincount(own)[order])
    tables = [np.zeros((3, 4)), np.zeros((4, 3))]
    for at, left, right, height in bands:
        tables[at][left, right] += height
    counts = [
        np.array([[(one == a) & (two == b) for b in set(two)] for a in set(one)]).sum(axis=2)
        for one, two in pairwise(labels)
    ]
    for table, own, one, two in zip(tables, counts, orders, orders[1:], strict=False):
        np.testing.assert_allclose(table, own[np.ix_(one, two)])
    each = product(*(map(list, permutations(range(k))) for k in (3, 4, 3)))
    least = min(crossing([counts[0][a][:, b], counts[1][b][:, c]]) for a, b, c in each)
    assert crossing(tables) <= 1.1 * least
    assert least > 0 or nested
