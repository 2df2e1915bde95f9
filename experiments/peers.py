"""Defaults against the best of the published packages, on iris and wine with noisy links.

Run as ``python -m experiments.peers``. Pairs are drawn from the unordered pairs, columns
standardised, nothing tuned. The peers' figures (pairwise F, mean of five seeds) were measured under
the same protocol with k-means, ITML and MMC with k-means (metric-learn), PCK- and MPCK-Means
(active-semi-supervised-clustering), constrained Ward linkage and the TVClust authors' code told the
true number of clusters; shown is the best of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import bayesclust as bc

SEEDS = range(5)


class Setting(NamedTuple):
    """A data set, how many pairs are answered, how many answers are wrong, and what the best peer reaches."""

    data: str
    fraction: float
    flip: float
    best_peer: float
    kmeans: float


SETTINGS = (
    Setting("iris", 0.01, 0.0, 0.961, 0.744),
    Setting("iris", 0.03, 0.1, 0.936, 0.744),
    Setting("iris", 0.05, 0.1, 0.993, 0.744),
    Setting("wine", 0.01, 0.0, 0.963, 0.932),
    Setting("wine", 0.03, 0.1, 0.971, 0.932),
    Setting("wine", 0.05, 0.1, 0.968, 0.932),
)


class Score(NamedTuple):
    """Results by seed: pairwise F of sampler and limit, and how well credibility finds the flipped answers."""

    sampler: list[float]
    limit: list[float]
    credibility: list[float]


def fit(setting: Setting, seed: int) -> tuple[float, float, float]:
    """(F of the sampler, F of RDP-means, area under the ROC curve of credibility) for one seed."""
    from sklearn.metrics import roc_auc_score

    data = bc.datasets.load(setting.data)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    links = bc.PairwiseConstraints.sample(
        data.y, fraction=setting.fraction, error_rate=setting.flip, seed=seed
    )
    est = bc.TVClust(random_state=seed, progress=False).fit(X, constraints=links)
    limit = bc.RDPMeans(random_state=seed).fit(X, constraints=links)
    flipped, area = np.asarray(links.flipped), np.nan
    if flipped.any():
        area = roc_auc_score(~flipped, bc.constraint_credibility(est)["credibility"])
    f = bc.metrics.pairwise_f
    return f(est.labels_, data.y), f(limit.labels_, data.y), float(area)


def score(setting: Setting, seeds: range = SEEDS) -> Score:
    """All seeds of one setting."""
    sampler, limit, credibility = zip(*(fit(setting, seed) for seed in seeds), strict=True)
    return Score(list(sampler), list(limit), list(credibility))


def rows() -> Iterator[str]:
    """The table, line by line."""
    yield "| data | pairs | wrong | TVClust | s.e. | best peer | k-means | RDP-means | ROC area of credibility |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for setting in SETTINGS:
        result = score(setting)
        error = np.std(result.sampler, ddof=1) / np.sqrt(len(result.sampler))
        area = f"{np.mean(result.credibility):.3f}" if setting.flip else ""
        yield (
            f"| {setting.data} | {setting.fraction:.0%} | {setting.flip:.0%} | {np.mean(result.sampler):.3f} | {error:.3f} "
            f"| {setting.best_peer:.3f} | {setting.kmeans:.3f} | {np.mean(result.limit):.3f} | {area} |"
        )


def main() -> None:
    """Print the table."""
    for row in rows():
        print(row, flush=True)


if __name__ == "__main__":
    main()
