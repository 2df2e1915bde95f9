"""Defaults against the best of the published packages, on iris and wine with noisy links.

Run as ``python -m experiments.peers``. Pairs are drawn from the unordered pairs, columns
standardized, nothing tuned. The peers' figures (pairwise F, mean of five seeds) were measured under
the same protocol with k-means, ITML and MMC with k-means (metric-learn), PCK- and MPCK-Means
(active-semi-supervised-clustering), constrained Ward linkage and the TVClust authors' code told the
true number of clusters; shown is the best of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

import bayesclust as bc
from experiments import frame, sources

SEEDS = range(5)


class Setting(NamedTuple):
    """A data set, shares of pairs answered and of wrong answers, and the best peer."""

    data: str
    fraction: float
    error_rate: float
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


def fit(setting: Setting, seed: int) -> dict[str, float]:
    """F of the sampler and of RDP-means, and the ROC area of credibility, for one seed."""
    from sklearn.metrics import roc_auc_score

    data = sources.load(setting.data)
    X, rate = sources.standardized(data.X), setting.error_rate
    links = bc.PairwiseConstraints.sample(
        data.y, fraction=setting.fraction, error_rate=rate, seed=seed
    )
    est = bc.TVClust(random_state=seed, progress=False).fit(X, constraints=links)
    limit = bc.RDPMeans(random_state=seed).fit(X, constraints=links)
    wrong, area = np.asarray(links.flipped), np.nan
    if wrong.any():
        area = float(roc_auc_score(~wrong, bc.constraint_credibility(est)["credibility"]))
    f = bc.metrics.pairwise_f
    return {"sampler": f(est.labels_, data.y), "limit": f(limit.labels_, data.y), "area": area}


def score(setting: Setting, seeds: range = SEEDS) -> pd.DataFrame:
    """All seeds of one setting."""
    return pd.DataFrame([fit(setting, seed) for seed in seeds])


def rows() -> Iterator[list[str]]:
    """The rows of the table."""
    for setting in SETTINGS:
        found = score(setting)
        mean = found.mean()
        numbers = [mean.sampler, frame.standard_error(found.sampler), setting.best_peer]
        numbers += [setting.kmeans, mean.limit, mean.area]
        shares = f"{setting.fraction:.0%}", f"{setting.error_rate:.0%}"
        yield [setting.data, *shares, *map(frame.decimal, numbers)]


def main() -> None:
    """Print the table, line by line."""
    head = ["data", "pairs", "wrong", "TVClust", "s.e.", "best peer", "k-means", "RDP-means"]
    for line in frame.in_markdown([*head, "ROC area of credibility"], rows()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
