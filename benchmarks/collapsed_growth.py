"""How a sweep of the collapsed sampler grows with items, features, clusters and links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bayesclust.constraints import PairwiseConstraints
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain
from benchmarks.collapsed_scan import FAMILY
from benchmarks.data import mixture
from benchmarks.records import Growth
from benchmarks.timing import Run, Scale, grow

SCAN, BLOCKS = Moves(link_blocks=False, split_merge=0), Moves(split_merge=0)
N_ITEMS = (1000, 3000, 10_000, 30_000, 100_000)
N_FEATURES = (2, 4, 8, 16, 32, 64)
N_CLUSTERS = (2, 5, 10, 20, 50, 100)
N_LINKS = (0, 1000, 3000, 10_000, 30_000, 100_000)


def sweep(n: int, d: int, K: int, links: int, moves: Moves) -> Callable[[], Run]:
    """A chain from the generating labels; what it does not know of them is one answer in ten."""
    X, z = mixture(n, d, K, np.random.default_rng(0))
    views = (PairwiseConstraints.sample(z, size=links, error_rate=0.1, seed=0),) if links else ()

    def build() -> Run:
        return collapsed_chain(
            TVClustProblem(FAMILY.bind(X), views), z, np.random.default_rng(1), moves
        ).sweep

    return build


def run(scale: Scale) -> Iterator[Growth]:
    """Let one size grow at a time."""
    items, linked = scale.pick((2000, 10_000), (200, 200))
    scan = "CPU time of a sweep of single items"

    def few(sizes: tuple[int, ...], quick: tuple[int, ...]) -> tuple[int, ...]:
        return scale.pick(sizes, quick)

    yield grow(
        "Collapsed sweep along n, d = 10, K = 10",
        "items",
        scan,
        few(N_ITEMS, (100, 300)),
        lambda n: sweep(n, 10, 10, 0, SCAN),
        scale,
        most_slope=1.1,
    )
    yield grow(
        f"Collapsed sweep along d, n = {items}, K = 10",
        "features",
        scan,
        few(N_FEATURES, (2, 4)),
        lambda d: sweep(items, d, 10, 0, SCAN),
        scale,
    )
    yield grow(
        f"Collapsed sweep along K, n = {items}, d = 10",
        "clusters",
        scan,
        few(N_CLUSTERS, (2, 4)),
        lambda K: sweep(items, 10, K, 0, SCAN),
        scale,
    )
    for moves, measured in ((SCAN, scan), (BLOCKS, f"{scan} and a pass over the link blocks")):
        title = "Collapsed sweep" + (" with link blocks" if moves.link_blocks else "")
        yield grow(
            f"{title} along links, n = {linked}, d = 10, K = 10",
            "links",
            measured,
            few(N_LINKS, (0, 50, 100)),
            partial(sweep, linked, 10, 10, moves=moves),
            scale,
        )
