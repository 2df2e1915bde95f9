"""The mean field once more in plain loops, of which families give the expected densities alone."""

from itertools import product

import numpy as np
from scipy.integrate import nquad
from scipy.special import betaln

from bayesclust.constraints.base import equality_patterns


def pattern_probabilities(view, r):
    """Probability of each pattern of each answer, by going through all labels of its items."""
    found = np.zeros((len(view), view.n_patterns))
    for f, items in enumerate(view.items):
        for labels in product(range(r.shape[1]), repeat=len(items)):
            weight = np.prod([r[i, k] for i, k in zip(items, labels, strict=True)])
            found[f, equality_patterns(labels)] += weight
    return found


def expected_log_answers(views, tables, r):
    """E log p(answers), each view under its own table (codes, patterns)."""
    return sum(
        float((pattern_probabilities(view, r) * table[view.codes]).sum())
        for view, table in zip(views, tables, strict=True)
    )


def soft_counts(view, r):
    counts = np.zeros((view.n_sources * view.n_answers, view.n_patterns))
    for code, row in zip(view.codes, pattern_probabilities(view, r), strict=True):
        counts[code] += row
    return counts


def sweep(views, tables, logits, r, order):
    """One round of coordinate ascent, by putting each item wholly in every component."""
    r = r.copy()
    for i in order:
        values = []
        for k in range(r.shape[1]):
            r[i] = np.arange(r.shape[1]) == k
            values.append(logits[i, k] + expected_log_answers(views, tables, r))
        weights = np.exp(np.array(values) - max(values))
        r[i] = weights / weights.sum()
    return r


def log_moment(size, discount, concentration):
    """log E prod_k pi_k^N_k, stick after stick; the last of a known number takes what is left."""
    value = 0.0
    for k, own in enumerate(size, start=1):
        after = concentration + k * discount
        if after > 0:
            value += betaln(1 - discount + own, after + sum(size[k:]))
            value -= betaln(1 - discount, after)
    return value


def weight_bound(size, prior):
    """The same with the prior's learned parameters integrated out."""
    names = list(prior.learned)

    def density(*point):
        values = prior.initial() | dict(zip(names, point, strict=True))
        return np.exp(log_moment(size, *prior.stick_parameters(values)) + prior.log_prior(values))

    limits = [(0, 1) if prior.learned[name].unit else (0, 40) for name in names]
    return np.log(nquad(density, limits)[0] if names else density())
