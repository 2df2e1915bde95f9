"""Which default for the base measure? Candidates side by side on generated data that no paper reports on.

Run as ``python -m bayesclust.experiments.base_measure``. Mixtures differ in dimension, number and separation of clusters
and in whether columns are rounded; answers are none, or 3% of the pairs with one in ten wrong. The default rests on this
comparison, in which no data set of the papers takes part.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray


class Case(NamedTuple):
    """A generated data set."""

    name: str
    X: FloatArray
    y: IntArray


def candidates() -> dict[str, Any]:
    """The base measures compared: fixed, and learned under priors of several widths."""
    Prior = bc.families.HyperPrior
    scale = {"wide": Prior("scale", 0.5, 1.0, least=1e-3), "narrow": Prior("scale", 0.5, 0.5, least=1e-3)}
    strength = {15: Prior("strength", 15.0, 0.5, least=1.0), 5: Prior("strength", 5.0, 0.5, least=1.0)}
    learned = {
        f"scale {s}, strength {t}": bc.families.FullGaussian(scale=scale[s], strength=strength[t])
        for s, t in product(scale, strength)
    }
    fixed = {f"scale {s}, fixed": bc.families.FullGaussian(s, 1.0, 0.05) for s in (0.1, 0.3)}
    return {"default": bc.families.FullGaussian(), **learned, **fixed}


def cases(seed: int) -> Iterator[Case]:
    """Mixtures of 200 items."""
    shapes = ((2, 4), (5, 3), (5, 8), (12, 3))
    for (d, k), separation, rounded in product(shapes, (3.0, 6.0), (False, True)):
        data = bc.datasets.make_mixture(200, d, k, separation=separation, seed=seed)
        X = np.round(data.X, 1) if rounded else data.X
        yield Case(f"d {d}, K {k}, separation {separation:g}{', rounded' if rounded else ''}", X, data.y)


def score(family: Any, case: Case, fraction: float, seed: int) -> float:
    """Adjusted Rand index of the point estimate to the generating labels."""
    links = None
    if fraction:
        links = bc.PairwiseConstraints.sample(case.y, fraction=fraction, flip=0.1, seed=seed)
    est = bc.TVClust(
        family=family, num_chains=2, num_warmup=150, num_samples=150, random_state=seed, progress=False
    )
    return float(bc.metrics.adjusted_rand(est.fit(case.X, constraints=links).labels_, case.y))


def main(seed: int = 0) -> None:
    """Print the mean and the worst agreement of each candidate.

    Parameters
    ----------
    seed : int, default 0
        Of data, answers and fits.
    """
    print(f"{'':26}{'no answers':>22}{'3%, one in ten wrong':>24}")
    for name, family in candidates().items():
        line = f"{name:26}"
        for fraction in (0.0, 0.03):
            values = [score(family, case, fraction, seed) for case in cases(seed)]
            line += f"{np.mean(values):14.3f} (worst {min(values):.2f})"
        print(line, flush=True)


if __name__ == "__main__":
    main()
