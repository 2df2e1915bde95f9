"""Noise models that tests go through beside the defaults; a file of one's own may add to them."""

import numpy as np

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise

KNOWN = [
    LinkNoise(pooled=True),
    LinkNoise(p=0.9, q=(2.0, 3.0), pooled=True),
    UniformNoise(eps=(2.0, 3.0), pooled=True),
    ConfusionNoise(prior=[[4, 1, 2], [1, 3, 1], [1, 1, 2]], pooled=True),
    LinkNoise(p=0.9, q=0.7),
    LinkNoise(p=(2.0, 3.0), q=0.7),
    UniformNoise(eps=0.2),
    ConfusionNoise(matrix=[[0.8, 0.1, 0.1], [0.0, 0.9, 0.1], [0.2, 0.3, 0.5]]),
]


def fold(noise, counts):
    """Sum counts (S * A, n_patterns) over patterns of one truth: (S, truth, A)."""
    n_truths = max(noise.truth) + 1
    folded = np.zeros((len(counts) // noise.n_answers, n_truths, noise.n_answers))
    for pattern, truth in enumerate(noise.truth):
        folded[:, truth] += counts[:, pattern].reshape(-1, noise.n_answers)
    return folded
