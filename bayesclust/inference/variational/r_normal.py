"""Standard normals as R draws them, so that code released in R can be followed from the same start."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from bayesclust.typing import FloatArray

MULTIPLIER, WORDS, SCRAMBLES = 69069, 624, 50
BIG = 134217728


def r_normals(seed: int, size: int) -> FloatArray:
    """Return what ``set.seed(seed); rnorm(size)`` gives in R: its Mersenne Twister and inversion.

    Parameters
    ----------
    seed : int
    size : int

    Returns
    -------
    ndarray of shape (size,)

    Examples
    --------
    >>> r_normals(1, 3).round(7)
    array([-0.6264538,  0.1836433, -0.8356286])
    """
    words = []
    for step in range(SCRAMBLES + 1 + WORDS):
        seed = (MULTIPLIER * seed + 1) % 2**32
        if step > SCRAMBLES:  # the first word is the position in the state, which R sets to its end
            words.append(seed)
    generator = np.random.MT19937()
    generator.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(words, dtype=np.uint32), "pos": WORDS},
    }
    uniform = generator.random_raw(2 * size).reshape(size, 2) / 2.0**32
    return np.asarray(ndtri((np.floor(BIG * uniform[:, 0]) + uniform[:, 1]) / BIG))


__all__ = ["r_normals"]
