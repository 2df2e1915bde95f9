"""How similarities of items and credibilities of answers grow with the number of draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree
from benchmarks.data import noisy_draws
from benchmarks.records import Growth
from benchmarks.timing import Run, Scale, grow

DRAWS = (100, 300, 1000, 3000, 10_000)


def similarities(n: int, draws: int) -> Callable[[], Run]:
    """The whole matrix."""
    z = noisy_draws(n, draws)
    return lambda: lambda: bc.similarity_matrix(z)


def credibilities(n: int, draws: int) -> Callable[[], Run]:
    """As many answers as items, from two sources whose noise was drawn too."""
    rng, z = np.random.default_rng(1), noisy_draws(n, draws)
    links = bc.PairwiseConstraints.sample(z[0], size=n, error_rate=[0.05, 0.2], n_sources=2, seed=0)
    noise = {name: rng.beta(90, 10, (1, draws, 2)) for name in "pq"}
    dims = dict.fromkeys("pq", ("links_source",))
    tree = to_datatree(
        {"z": z[None], **noise},
        {"log_joint": rng.normal(size=(1, draws))},
        constraints=[links],
        dims=dims,
    )
    return lambda: lambda: bc.constraint_credibility(tree)


def run(scale: Scale) -> Iterator[Growth]:
    """Let the draws grow."""
    n, draws = scale.pick((1000, DRAWS), (100, (20, 40)))
    for prepare, title, measured in (
        (similarities, "Similarity matrix", "CPU time of the matrix, all threads together"),
        (credibilities, f"Credibilities of {n} answers", "CPU time of the table"),
    ):
        yield grow(
            f"{title} along draws, n = {n}",
            "draws",
            measured,
            draws,
            partial(prepare, n),
            scale,
            most_slope=1.1,
        )
