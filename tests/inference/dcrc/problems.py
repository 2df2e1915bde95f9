"""Small random problems, and everything about them by plain loops."""

from itertools import product

import numpy as np
from scipy.special import log_softmax, logsumexp

import bayesclust as bc
from bayesclust.inference.dcrc.em import Ascent, EMSettings, NamedAnswers, _objective


def random_views(rng, n, noise, pairs=True):
    """Triplets with answers at random and, where asked for, pairs."""
    triplets = [rng.choice(n, 3, replace=False) for _ in range(rng.integers(1, 6))]
    source = np.arange(len(triplets)) % min(2, len(triplets))
    views = [
        bc.RelativeConstraints(
            triplets, rng.integers(0, 3, len(triplets)), n_items=n, source=source, noise=noise
        )
    ]
    if pairs:
        links = [rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 4))]
        views.append(bc.PairwiseConstraints(links, rng.integers(0, 2, len(links)), n_items=n))
    return views


def ascent(X, views, W, table=None, **settings):
    """An ascent at its start; its items are those of X, the named ones first."""
    chosen = EMSettings(**settings)
    answers = NamedAnswers(views, len(X))
    order = np.append(answers.items, np.setdiff1d(np.arange(len(X)), answers.items))
    features = np.column_stack([X, np.ones(len(X))])[order]
    return Ascent(answers, _objective(features, answers, chosen), chosen, W.copy(), table)


def paper_objective(W, X, view, tau=1.0, penalty=2.0**-6, balance=True, Q=None):
    """Eq. 8 (without balance) or 9 of the paper, eps known, over all labelings; Eq. 10 given Q."""
    log_p = log_softmax(X @ W[:, :-1].T + W[:, -1], axis=1)
    named = np.unique(view.items)
    states = np.array(list(product(range(len(W)), repeat=len(named))))
    i, j, k = (states[:, np.searchsorted(named, items)] for items in view.items.T)
    truth = np.where((i == j) & (i != k), 0, np.where((i == k) & (i != j), 1, 2))
    eps = view.noise.eps
    value = np.where(truth == view.answers, np.log(1 - eps), np.log(eps / 2)).sum(axis=1)
    value += log_p[named, states].sum(axis=1)
    if Q is None:
        value = logsumexp(value)
    else:
        log_q = np.log(Q[named, states]).sum(axis=1)
        value = np.exp(log_q) @ (value - log_q)
    entropy = np.delete(-(np.exp(log_p) * log_p).sum(axis=1), named)
    mean = np.exp(log_p).mean(axis=0)
    value = value / len(view) - penalty * (W[:, :-1] ** 2).sum()
    value -= tau * entropy.mean() if len(entropy) else 0.0
    return float(value - balance * tau * (mean * np.log(mean)).sum())


def slope(function, at, step=1e-6):
    """The gradient of a function of an array, by differences."""
    found = np.empty_like(at)
    for place in np.ndindex(at.shape):
        change = np.zeros_like(at)
        change[place] = step
        found[place] = (function(at + change) - function(at - change)) / (2 * step)
    return found


def table_two(view, q, i, eps):
    """Logits of Eq. 13 for item i, up to a constant: F log alpha by Table II."""
    F = np.zeros(q.shape[1])
    for (a, b, c), answer in zip(view.items, view.answers, strict=True):
        q1, q2, q3 = q[a], q[b], q[c]
        if i == a:
            yes, no = q2 * (1 - q3), (1 - q2) * q3
        elif i == b:
            yes, no = q1 * (1 - q3), (q1 * q3).sum() - q1 * q3
        elif i == c:
            yes, no = (q1 * q2).sum() - q1 * q2, q1 * (1 - q2)
        else:
            continue
        F += (yes, no, 1 - yes - no)[answer]
    return F * np.log(2 * (1 - eps) / eps)
