"""CPU seconds for each effective draw of the collapsed sampler, by the moves of a sweep."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

import bayesclust as bc
from bayesclust.datasets import make_mixture
from bayesclust.families import FullGaussian
from bayesclust.inference.chain import Moves, TVClustProblem
from bayesclust.inference.samplers import collapsed_chain, default_moves
from benchmarks.records import Alternative, Race
from benchmarks.timing import Scale, cpu

N, FEATURES, CLUSTERS, LINKS, WRONG = 200, 2, 4, (100, 1000), 0.1
ITEMS = "single items"
MOVES = {
    ITEMS: Moves(link_blocks=False, split_merge=0),
    "+ link blocks": Moves(split_merge=0),
    "+ split-merge (default)": default_moves(collapsed_chain, N),
}
FOLLOWED = {
    "n_clusters": "number of clusters",
    "entropy": "entropy of their sizes",
    "rand_to_reference": "Rand index",
}


def sampled(
    problem: TVClustProblem, z: NDArray[np.int64], moves: Moves, seed: int, sweeps: int
) -> tuple[float, list[float]]:
    """CPU seconds of the sweeps after the warm-up, and ArviZ's bulk ESS of each functional."""
    chain = collapsed_chain(problem, z, np.random.default_rng(seed), moves)
    for _ in range(sweeps // 5):
        chain.sweep(adapt=True)
    draws = np.empty((1, sweeps, N), np.int64)

    def sweep() -> None:
        for at in range(sweeps):
            chain.sweep()
            draws[0, at] = chain.labels

    seconds = cpu(sweep)
    ess = bc.diagnose(draws, n_pairs=0).table.loc[list(FOLLOWED), "ess"].fillna(1.0)
    return seconds, [float(each) for each in ess]


def run(scale: Scale) -> Iterator[Race]:
    """As many sweeps of every kind, under few answers and under many; seeds repeat."""
    sweeps, seeds = scale.pick((2000, 5), (60, 2))
    data = make_mixture(N, FEATURES, CLUSTERS, seed=0)
    for number in LINKS:
        links = bc.PairwiseConstraints.sample(data.y, size=number, error_rate=WRONG, seed=0)
        problem = TVClustProblem(FullGaussian().bind(data.X), (links,))
        for moves in MOVES.values():
            sampled(problem, data.y, moves, 0, 10)  # compiles
        spent: dict[str, list[list[float]]] = {name: [] for name in MOVES}
        for seed in range(seeds):
            for name, moves in MOVES.items():
                seconds, ess = sampled(problem, data.y, moves, seed, sweeps)
                spent[name].append([seconds / each for each in ess])
        for f, words in enumerate(FOLLOWED.values()):
            yield Race(
                f"Effective draws of the {words}, n = {N}, d = {FEATURES}, {CLUSTERS} classes, "
                f"{number} links",
                f"CPU time for each effective draw, {sweeps} sweeps; one answer in ten is wrong",
                ITEMS,
                tuple(
                    Alternative(name, tuple(each[f] for each in values))
                    for name, values in spent.items()
                ),
                note="A chain in which it never changes counts as one effective draw.",
            )
