"""Small random problems, and everything about them by plain loops."""

import numpy as np

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
