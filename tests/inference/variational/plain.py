"""The mean field once more in plain loops: no shared algebra with the fast version but the families' expected densities."""

from itertools import product

import numpy as np
from scipy.special import digamma, gammaln

from bayesclust.constraints.base import equality_patterns


def pattern_probabilities(view, r):
    """Probability of each pattern of each answer, by going through all labels of its items; item, pattern by loops."""
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


def surrogate(views, tables, logits, r):
    """The part of the bound that depends on r while the other factors are held."""
    entropy = -sum(p * np.log(p) for p in r.ravel() if p > 0)
    return float((r * logits).sum()) + expected_log_answers(views, tables, r) + entropy


def sweep(views, tables, logits, r, order):
    """One round of coordinate ascent, item after item: the logits of each by putting it wholly in every component."""
    r = r.copy()
    for i in order:
        values = []
        for k in range(r.shape[1]):
            r[i] = np.arange(r.shape[1]) == k
            values.append(logits[i, k] + expected_log_answers(views, tables, r))
        weights = np.exp(np.array(values) - max(values))
        r[i] = weights / weights.sum()
    return r


def log_weights(first, second):
    """E log pi_k under q(V_k) = Beta(first, second)."""
    found = []
    for k in range(len(first)):
        value = digamma(first[k]) - digamma(first[k] + second[k])
        for j in range(k):
            value += digamma(second[j]) - digamma(first[j] + second[j])
        found.append(value)
    return np.array(found)


def stick_bound(size, prior, first, second, shape=None, rate=None):
    """E log p(z | V) p(V | alpha) p(alpha) - E log q(V) q(alpha), term by term; alpha fixed where shape is None."""
    alpha = prior.fixed if shape is None else shape / rate
    log_alpha = np.log(alpha) if shape is None else digamma(shape) - np.log(rate)
    value = float((np.asarray(size) * log_weights(first, second)).sum())
    for a, b in zip(first, second, strict=True):
        log_v, log_rest = digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
        value += log_alpha + (alpha - 1) * log_rest
        value -= (a - 1) * log_v + (b - 1) * log_rest + gammaln(a + b) - gammaln(a) - gammaln(b)
    if shape is None:
        return value
    value += (
        prior.a * np.log(prior.b) - gammaln(prior.a) + (prior.a - 1) * log_alpha - prior.b * alpha
    )
    return value - (shape * np.log(rate) - gammaln(shape) + (shape - 1) * log_alpha - rate * alpha)
