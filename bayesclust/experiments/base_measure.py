"""Which default for the base measure? Candidates side by side on generated data that no paper reports on.

Run as ``python -m bayesclust.experiments.base_measure``. Mixtures differ in dimension, number and separation of clusters and
in their tails (Gaussian, or Student t with five degrees of freedom, as real clusters rather are); answers are none, or 3% of
the pairs with one in ten wrong. The default rests on this comparison, in which no data set of the papers takes part.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray

ITEMS = 200
DEGREES = 5


class Case(NamedTuple):
    """A generated data set."""

    name: str
    X: FloatArray
    y: IntArray


def candidates() -> dict[str, Any]:
    """The base measures compared."""
    Full, Prior = bc.families.FullGaussian, bc.families.HyperPrior
    stiff = Prior("strength", 30.0, 0.5, least=1.0)
    return {
        "default": Full(),
        "mean precision learned": Full(mean_precision="learn"),
        "mean precision 0.01": Full(mean_precision=0.01),
        "strength about 30": Full(strength=stiff),
        "scale 0.1, strength 1": Full(0.1, 1.0),
        "scale 0.3, strength 1": Full(0.3, 1.0),
    }


def cases(seed: int) -> Iterator[Case]:
    """Mixtures of correlated clusters, with Gaussian and with heavy tails."""
    shapes = ((4, 3), (13, 3), (5, 8), (13, 8))
    for number, ((d, k), separation, heavy) in enumerate(product(shapes, (4.0, 7.0), (False, True))):
        rng = np.random.default_rng([seed, number])
        y = np.r_[np.arange(k), rng.integers(k, size=ITEMS - k)]
        centres = rng.normal(size=(k, d)) * separation / np.sqrt(2 * d)
        roots = np.linalg.qr(rng.normal(size=(k, d, d)))[0] * np.exp(rng.uniform(-0.5, 0.5, (k, 1, d)))
        noise = rng.normal(size=(ITEMS, d))
        if heavy:
            noise /= np.sqrt(rng.chisquare(DEGREES, size=(ITEMS, 1)) / DEGREES)
        X = centres[y] + np.einsum("nde,ne->nd", roots[y], noise)
        yield Case(f"d {d}, K {k}, separation {separation:g}{', heavy tails' if heavy else ''}", X, y)


def score(family: Any, case: Case, fraction: float, seed: int) -> float:
    """Pairwise F of the point estimate to the generating labels."""
    links = None
    if fraction:
        links = bc.PairwiseConstraints.sample(case.y, fraction=fraction, flip=0.1, seed=seed)
    est = bc.TVClust(
        family=family, num_chains=2, num_warmup=150, num_samples=150, random_state=seed, progress=False
    )
    return float(bc.metrics.pairwise_f(est.fit(case.X, constraints=links).labels_, case.y))


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
