"""The TVClust authors' released variational inference and RDP-means, with their settings.

**Variational.** Truncation 15; alpha = 1; columns standardised; normal-Wishart base measure with
kappa0 = 1, nu0 = d and Psi0 = I, all fixed; p ~ Beta(1, 10) and q ~ Beta(10, 1), a prior under
which links say nothing until the data have spoken; means to start with drawn from the standard
normal by R's generator with seed 1, the same for all data; at most 30 sweeps, stopped where the
bound rises by less than a 20,000th; no restart and no move; an item's most probable component as
its label.

With q(theta), q(V), p and q at their optimum the bound is

    L(r) = sum_k log m(weighted items of k) + sticks + log p(soft counts of links) + sum_i H(r_i),

the first term being normal-inverse-Wishart marginals (Murphy 2007, Eq. 266) of weighted items and
the second sum_k log B(1 + N_k, alpha + N_{>k}) (Blei and Jordan 2006, Section 3.2).

Two things differ. The released code counts each link from both of its ends when it updates p and q:
half the prior does the same here. And items of one colour of the graph of links are updated
together, not in the order of the rows.

**RDP-means.** Distances are Euclidean and *not squared*, on raw features, and the penalty is the
k-th largest distance of an item to the mean of all. One centre, uniform in the box of the data,
stands at the start. Each pass visits the items in a new random order while centres stand still: an
item takes the cluster of the smallest distance minus xi times (its may-links into it less its
may-not-links), the later one of equals, or opens one where that is not below the penalty; a cluster
that lost its last item can be joined until the pass ends. Links count from the second pass on, with
xi = xi0 rate^(t - 1) in pass t. Passes end when the centres have stood still for twenty of them in
a row. Means do not minimise sums of unsquared distances, so that no objective falls along these
passes: what `bayesclust.RDPMeans` does instead is the limit of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array
from scipy.special import betaln, digamma, multigammaln, ndtri, xlogy

import bayesclust as bc
from bayesclust.typing import FloatArray, IntArray
from experiments.baselines import links_of

TRUNCATION, MAX_SWEEPS, TOLERANCE, SEED = 15, 30, 5e-5, 1
PRIOR = {True: (0.5, 5.0), False: (5.0, 0.5)}
"""Beta weights of right and wrong answers within a cluster, and between clusters."""
MULTIPLIER, WORDS, SCRAMBLES, BIG = 69069, 624, 50, 134217728


def r_normals(seed: int, size: int) -> FloatArray:
    """What ``set.seed(seed); rnorm(size)`` gives in R: its Mersenne Twister and inversion."""
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


class Links:
    """Yes/no answers about pairs as sparse matrices, by colour of the graph that they make."""

    def __init__(self, constraints: bc.PairwiseConstraints | None, n: int) -> None:
        self.pairs, self.same = links_of(constraints)
        color = colors(self.pairs, n)
        self.groups = [np.flatnonzero(color == c) for c in range(int(color.max()) + 1)]
        ends, others = np.r_[self.pairs, self.pairs[:, ::-1]].T
        signs = [
            csr_array((np.r_[kind, kind].astype(float), (ends, others)), shape=(n, n))
            for kind in (self.same, ~self.same)
        ]
        self.rows = [[sign[group] for sign in signs] for group in self.groups]

    def counts(self, r: FloatArray) -> FloatArray:
        """Expected number of answers, rows "different" and "same", columns apart and together."""
        together = np.minimum(np.einsum("fk,fk->f", *r[self.pairs.T]), 1.0)
        return np.array(
            [
                [np.sum(1.0 - together[kind]), np.sum(together[kind])]
                for kind in (~self.same, self.same)
            ]
        )


def colors(pairs: IntArray, n: int) -> IntArray:
    """Colours of items such that no pair has one colour, items of many pairs first."""
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for i, j in pairs:
        neighbours[i].add(j)
        neighbours[j].add(i)
    color = np.full(n, -1)
    for i in sorted(range(n), key=lambda item: -len(neighbours[item])):
        taken = {color[j] for j in neighbours[i]}
        color[i] = next(c for c in range(n) if c not in taken)
    return color


class Beliefs:
    """Responsibilities r (n, K), and all other factors at their optimum."""

    def __init__(self, X: FloatArray, links: Links, r: FloatArray) -> None:
        self.X, self.links, self.r = X, links, r
        size = r.sum(axis=0)
        self.size, self.later = size, np.append(np.cumsum(size[::-1])[::-1][1:], 0.0)
        d = X.shape[1]
        self.kappa, self.nu = 1.0 + size, d + size
        self.mean = r.T @ X / self.kappa[:, None]
        scatter = np.einsum("nk,na,nb->kab", r, X, X, optimize=True)
        outer = np.einsum("k,ka,kb->kab", self.kappa, self.mean, self.mean)
        self.scale = np.eye(d) + scatter - outer
        self.log_scale = np.linalg.slogdet(self.scale)[1]
        self.counts = links.counts(r)

    def bound(self) -> float:
        """The bound on the log evidence."""
        d = self.X.shape[1]
        data = log_gammas(self.nu, d) - multigammaln(0.5 * d, d) - 0.5 * d * np.log(self.kappa)
        data = data - 0.5 * self.nu * self.log_scale - 0.5 * self.size * d * np.log(np.pi)
        sticks = betaln(1.0 + self.size, 1.0 + self.later)
        noise = 0.0
        for together, (a, b) in PRIOR.items():
            right, wrong = self.counts[[int(together), int(not together)], int(together)]
            noise += betaln(a + right, b + wrong) - betaln(a, b)
        return float(data.sum() + sticks.sum() + noise - xlogy(self.r, self.r).sum())

    def weight(self) -> FloatArray:
        """E log p(answer | together) less that apart, of "different" and "same"."""
        expected = np.zeros((2, 2))
        for together, (a, b) in PRIOR.items():
            right, wrong = self.counts[[int(together), int(not together)], int(together)]
            whole = digamma(a + b + right + wrong)
            expected[int(together), int(together)] = digamma(a + right) - whole
            expected[int(not together), int(together)] = digamma(b + wrong) - whole
        return np.asarray(expected[:, 1] - expected[:, 0])

    def sweep(self) -> Beliefs:
        """Update the responsibilities once, colour by colour, the other factors fixed."""
        d = self.X.shape[1]
        apart = self.X[:, None] - self.mean
        inverse = np.linalg.inv(self.scale)
        squares = self.nu * np.einsum("nka,kab,nkb->nk", apart, inverse, apart, optimize=True)
        log_det = digamma((self.nu[:, None] - np.arange(d)) / 2).sum(axis=1) + d * np.log(2.0)
        whole = digamma(2.0 + self.size + self.later)
        rest = np.append(0.0, np.cumsum(digamma(1.0 + self.later) - whole)[:-1])
        logits = digamma(1.0 + self.size) - whole + rest - 0.5 * squares
        logits += 0.5 * (log_det - self.log_scale - d / self.kappa - d * np.log(2 * np.pi))
        r, (different, same) = self.r.copy(), self.weight()
        for group, (alike, unlike) in zip(self.links.groups, self.links.rows, strict=True):
            message = same * (alike @ r) + different * (unlike @ r)
            r[group] = softmax(logits[group] + message)
        return Beliefs(self.X, self.links, r)


def log_gammas(nu: FloatArray, d: int) -> FloatArray:
    """Multivariate log gamma function of nu / 2, item by item."""
    return np.array([multigammaln(0.5 * value, d) for value in nu])


def softmax(logits: FloatArray) -> FloatArray:
    """Exponentials with rows that sum to one."""
    r = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(r / r.sum(axis=1, keepdims=True))


def fit_as_released(
    X: FloatArray, constraints: bc.PairwiseConstraints | None = None
) -> tuple[Beliefs, FloatArray]:
    """Run the released algorithm; returns its end, and the bound at the start and after sweeps."""
    d = X.shape[1]
    means = r_normals(SEED, TRUNCATION * d).reshape(TRUNCATION, d)
    # every stick starts as Beta(1, 1), with E log V = E log(1 - V) = -1
    sticks = -np.minimum(np.arange(1, TRUNCATION + 1), TRUNCATION - 1)
    squares = ((X[:, None] - means) ** 2).sum(axis=2)
    found = Beliefs(X, Links(constraints, len(X)), softmax(sticks - 0.5 * d * squares))
    path = [found.bound()]
    for _ in range(MAX_SWEEPS - 1):
        found = found.sweep()
        path.append(found.bound())
        if path[-1] - path[-2] < TOLERANCE * abs(path[-2]):
            break
    return found, np.array(path)


XI0, RATE, STILL, MAX_PASSES = 1e-3, 2.0, 20, 300


@njit(cache=True)
def one_pass(
    points: Any, order: Any, graph: Any, xi: float, penalty: float, centers: Any, used: int, z: Any
) -> int:
    """Let the items choose one by one; `centers` has room for n more. Returns the number used."""
    start, neighbour, may = graph
    links = np.zeros(len(centers))
    for i in order:
        for e in range(start[i], start[i + 1]):
            links[z[neighbour[e]]] += xi if may[e] else -xi
        best, choice = np.inf, 0
        for k in range(used):
            cost = np.sqrt(np.sum((points[i] - centers[k]) ** 2)) - links[k]
            if cost <= best:
                best, choice = cost, k
        for e in range(start[i], start[i + 1]):
            links[z[neighbour[e]]] = 0.0
        if not best < penalty:
            choice = used
            centers[used] = points[i]
            used += 1
        z[i] = choice
    return used


def released_rdp_means(X: FloatArray, constraints: Any, n_clusters: int, seed: int) -> IntArray:
    """RDP-means, or without answers DP-means, as released; the penalty is made of `n_clusters`.

    >>> released_rdp_means(np.array([[0.0], [1.0], [10.0], [11.0]]), None, 2, 0)
    array([1, 1, 0, 0])
    """
    rng, (pairs, same) = np.random.default_rng(seed), links_of(constraints)
    ends, others = np.concatenate([pairs, pairs[:, ::-1]]).T
    by_end = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[by_end], np.arange(len(X) + 1))
    graph = start, others[by_end], np.concatenate([same, same])[by_end]
    penalty = float(np.sort(np.linalg.norm(X - X.mean(axis=0), axis=1))[-n_clusters])
    centers = rng.uniform(X.min(axis=0), X.max(axis=0))[None]
    z = np.zeros(len(X), dtype=np.int64)
    still = 0
    for number in range(MAX_PASSES):
        xi = XI0 * RATE**number if number else 0.0
        room = np.concatenate([centers, np.empty_like(X)])
        used = one_pass(X, rng.permutation(len(X)), graph, xi, penalty, room, len(centers), z)
        before = room[:used]
        kept, z, sizes = np.unique(z, return_inverse=True, return_counts=True)
        centers = np.zeros((len(kept), X.shape[1]))
        np.add.at(centers, z, X)
        centers /= sizes[:, None]
        still = still + 1 if np.array_equal(before, centers) else 0
        if still == STILL:
            break
    return z
