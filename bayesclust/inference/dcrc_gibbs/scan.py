"""Labels of items given class probabilities that are in hand: one by one, and in the groups that links hold together.

For item i, with log P(y_i = k | x_i; W) given (Pei et al., DCRC, Eq. 6) and the answers under Table
I or any other noise:

    log w_k = log P(y_i = k | x_i; W) + site logits of k

The number of classes is fixed, so nothing is opened or closed. Bonds between items are those of
`link_blocks`; a block c of them goes to class k with  log w_k = sum_{i in c} log P(y_i = k | x_i;
W) + the answers that did not drop out, with c in k.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bayesclust._numba import kernel
from bayesclust.constraints.sites import UNPLACED, Sites, add_block_logits, add_site_logits
from bayesclust.inference.link_blocks import draw_blocks
from bayesclust.inference.seating import draw_index


@kernel
def scan_classes(
    z: NDArray[np.int64],
    log_p: NDArray[np.float64],
    sites: Sites,
    table: NDArray[np.float64],
    order: NDArray[np.int64],
    moved: NDArray[np.int64],
    rng: Generator,
) -> None:
    """Draw the labels z of the items in `order`, one after another; log_p is (n, K)."""
    logits = np.empty(log_p.shape[1])
    for i in order:
        logits[:] = log_p[i]
        add_site_logits(sites, table, z, i, logits)
        k = draw_index(logits, len(logits), rng)
        moved[0] += k != z[i]
        z[i] = k


@kernel
def move_class_blocks(
    z: NDArray[np.int64],
    log_p: NDArray[np.float64],
    sites: Sites,
    table: NDArray[np.float64],
    moved: NDArray[np.int64],
    rng: Generator,
) -> int:
    """Draw bonds, and one label for every block that they make, one after another; returns how many there were.

    log_p is (n, K).
    """
    blocks, logits = draw_blocks(sites, table, z, rng), np.empty(log_p.shape[1])
    for block in range(len(blocks.begin)):
        items = blocks.items[blocks.begin[block] : blocks.end[block]]
        old = z[items[0]]
        logits[:] = 0.0
        for i in items:
            logits += log_p[i]
            z[i] = UNPLACED
        add_block_logits(sites, table, z, items, True, logits)
        k = draw_index(logits, len(logits), rng)
        z[items] = k
        moved[0] += k != old
    return len(blocks.begin)
