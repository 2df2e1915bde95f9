"""MPCK-Means as one would write it from the paper, slow and short, in the units of the data."""

import itertools

import numpy as np
from scipy.optimize import minimize


def random_problem(rng, n=20, d=2, links=12, consistent=False):
    """Items in three loose groups; answers about pairs by the groups or at random."""
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) * rng.uniform(0.3, 3, d) + 2.0 * rng.normal(size=(3, d))[y]
    pairs = np.array(
        [sorted(rng.choice(n, 2, replace=False)) for _ in range(links)], dtype=np.int64
    ).reshape(-1, 2)
    may = y[pairs[:, 0]] == y[pairs[:, 1]] if consistent else rng.random(links) < 0.5
    return X, pairs, may, rng.uniform(0.2, 2, links)


def matrices(metric, n_clusters, diagonal):
    """One (d, d) matrix per cluster from `metric_` of any of the four shapes."""
    if diagonal:
        return [np.diag(row) for row in np.broadcast_to(metric, (n_clusters, metric.shape[-1]))]
    return list(np.broadcast_to(metric, (n_clusters, *metric.shape[-2:])))


def length(v, A):
    return float(v @ A @ v)


def diameter(X, A):
    return max(length(X[i] - X[j], A) for i, j in itertools.combinations(range(len(X)), 2))


def objective(X, z, centers, A, pairs, may, weight, prior, per_cluster, diagonal):
    """Eq. 6 term by term, with the prior."""
    C = np.cov(X, rowvar=False, bias=True).reshape(X.shape[1], -1)
    C = np.diag(np.diag(C)) if diagonal else C
    total = sum(
        length(x - centers[k], A[k]) - np.linalg.slogdet(A[k])[1] for x, k in zip(X, z, strict=True)
    )
    far = [diameter(X, one) for one in A]
    for (i, j), same, w in zip(pairs, may, weight, strict=True):
        gap = X[i] - X[j]
        if same and z[i] != z[j]:
            total += w * (length(gap, A[z[i]]) + length(gap, A[z[j]])) / 2
        elif not same and z[i] == z[j]:
            total += w * (far[z[i]] - length(gap, A[z[i]]))
    return total + prior * sum(
        np.trace(one @ C) - np.linalg.slogdet(one)[1] for one in (A if per_cluster else A[:1])
    )


def plain_objective(X, z, centers, pairs, may, weight):
    """Eq. 1."""
    violated = (z[pairs[:, 0]] == z[pairs[:, 1]]) != may
    return np.square(X - centers[z]).sum() + weight[violated].sum()


def best_metric(points, terms, full):
    """The least f over metrics by a general solver, with diam^2 as one more unknown."""
    r = points.shape[1]
    gaps = [points[i] - points[j] for i, j in itertools.combinations(range(len(points)), 2)]
    lower = np.tril_indices(r)

    def read(v):
        if not full:
            return np.diag(np.exp(v[:-1]))
        L = np.zeros((r, r))
        L[lower] = v[:-1]
        L[np.diag_indices(r)] = np.exp(np.diag(L))
        return L @ L.T

    S = terms.scatter if full else np.diag(terms.scatter)

    def f(v):
        A = read(v)
        away = v[-1] - np.array([length(g, A) for g in terms.gaps])
        return float(
            np.trace(A @ S)
            - terms.n * np.linalg.slogdet(A)[1]
            + (terms.weights @ away if len(away) else 0.0)
        )

    start = np.zeros(len(lower[0]) + 1 if full else r + 1)
    start[-1] = max(length(g, read(start)) for g in gaps)
    limits = {"type": "ineq", "fun": lambda v: v[-1] - np.array([length(g, read(v)) for g in gaps])}
    end = minimize(
        f, start, method="SLSQP", constraints=[limits], options={"maxiter": 1000, "ftol": 1e-12}
    )
    return end.fun
