"""Random small problems of modification, and their best answers by looking at every partition.

Nothing of the package but its constructors is used: distances, constraints and objectives are
written out anew.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

import bayesclust as bc

N = 6


def pair(labels, i, j, same):
    return (labels[:, i] == labels[:, j]) == same


def triplet(labels, i, j, k, answer):
    """Whether G_i = G_k implies G_i = G_j; "dnk" does not count."""
    ij, ik = labels[:, i] == labels[:, j], labels[:, i] == labels[:, k]
    return {"yes": ~ik | ij, "no": ~ij | ik, "dnk": ij == ik}[answer]


def label(labels, item, cluster):
    return labels[:, item] == cluster


def span(labels, items, clusters):
    return np.isin(labels[:, items], clusters).all(axis=1)


def spread(labels, items, most):
    ordered = np.sort(labels[:, items], axis=1)
    return 1 + (np.diff(ordered, axis=1) != 0).sum(axis=1) <= most


def implication(labels, premise, conclusion):
    if_so = np.all([pair(labels, *link) for link in premise], axis=0)
    return ~if_so | np.all([pair(labels, *link) for link in conclusion], axis=0)


KINDS = {
    "links": pair,
    "triplets": triplet,
    "label": label,
    "span": span,
    "spread": spread,
    "implication": implication,
}


class Case(NamedTuple):
    """A problem: data, partition, constraints by kind, and settings."""

    X: np.ndarray
    seen: np.ndarray
    rows: dict
    new: int
    far: float
    satisfied: float

    @property
    def K(self):
        return int(self.seen.max()) + 1 + self.new

    def constraints(self):
        """The same as the package takes them."""
        links, triplets = self.rows["links"], self.rows["triplets"]
        views = [
            bc.PairwiseConstraints([row[:2] for row in links], [row[2] for row in links], N),
            bc.RelativeConstraints([row[:3] for row in triplets], [row[3] for row in triplets], N),
        ]
        spread = bc.constraints.SpreadConstraints
        rules = bc.LabelConstraints, bc.SpanConstraints, spread, bc.ImplicationConstraints
        return views + [kind(self.rows[kind.kind], N) for kind in rules]

    def estimator(self, **settings):
        """With all items as anchors, and each its own super-instance."""
        new = {"new_clusters": self.new, "new_cluster_distance": self.far}
        return bc.MinimalModification(1.0, 1.0, min_satisfied=self.satisfied, **new, **settings)

    def distances(self):
        """D[i, c], (N, K): to the nearest item of a cluster."""
        apart = np.linalg.norm(self.X[:, None] - self.X[None], axis=2)
        D = np.full((N, self.K), self.far)
        for c in range(self.K - self.new):
            D[:, c] = apart[:, self.seen == c].min(axis=1) if (self.seen == c).any() else np.inf
        return D

    def costs(self, labels):
        """What every partition (row) costs, constraints aside."""
        moved = labels != self.seen
        return np.where(moved, self.distances()[np.arange(N), labels], 0.0).sum(axis=1)

    def held(self, labels, row_of=None):
        """Whether partitions (rows) satisfy constraints (columns), in the order of the kinds."""
        columns = [KINDS[kind](labels, *row) for kind, rows in self.rows.items() for row in rows]
        return np.array(columns, dtype=bool).reshape(len(self.origin), len(labels)).T

    @property
    def origin(self):
        """Name and row of every constraint."""
        return [(kind, at) for kind, rows in self.rows.items() for at in range(len(rows))]

    @property
    def unsure(self):
        unsure = [n == "triplets" and self.rows[n][at][3] == "dnk" for n, at in self.origin]
        return np.array(unsure, dtype=bool)

    def partitions(self):
        """All of them, (K ** N, N), as far as items can go there."""
        everything = np.array(list(product(range(self.K), repeat=N)))
        return everything[np.isfinite(self.costs(everything))]

    def best(self, fits=None):
        """The least objective, or infinity where too few constraints can be satisfied."""
        labels = self.partitions()
        labels = labels if fits is None else labels[fits(self.X, labels)]
        held, hard = self.held(labels), ~self.unsure
        needed = np.ceil(np.round(self.satisfied * hard.sum(), 9))
        return self.costs(labels)[held[:, hard].sum(axis=1) >= needed].min(initial=np.inf)

    def can_hold(self, chosen, fits=None):
        """Whether some partition satisfies all constraints named."""
        columns = [self.origin.index(one) for one in chosen]
        labels = self.partitions()
        labels = labels if fits is None else labels[fits(self.X, labels)]
        return bool(self.held(labels)[:, columns].all(axis=1).any())


def links_of(rng, number):
    return [
        (*rng.choice(N, 2, replace=False).tolist(), bool(rng.integers(2))) for _ in range(number)
    ]


def random_case(seed):
    """A problem that has a few constraints of every kind, by turns satisfiable or not."""
    rng = np.random.default_rng(seed)
    K, new = int(rng.integers(2, 4)), int(rng.integers(2))
    seen = rng.permutation(np.r_[np.arange(K), rng.integers(K, size=N - K)])

    def some(size):
        return rng.choice(N, size, replace=False).tolist()

    def clusters(size):
        return rng.choice(K + new, min(size, K + new), replace=False).tolist()

    premises = [links_of(rng, rng.integers(1, 3)) for _ in range(rng.integers(3))]
    rows = {
        "links": links_of(rng, rng.integers(4)),
        "triplets": [
            (*some(3), str(rng.choice(["yes", "no", "dnk"]))) for _ in range(rng.integers(4))
        ],
        "label": [(some(1)[0], clusters(1)[0]) for _ in range(rng.integers(3))],
        "span": [
            (some(rng.integers(1, 4)), clusters(rng.integers(1, 3))) for _ in range(rng.integers(3))
        ],
        "spread": [
            (some(rng.integers(2, 5)), int(rng.integers(1, 3))) for _ in range(rng.integers(2))
        ],
        "implication": [(premise, links_of(rng, rng.integers(1, 3))) for premise in premises],
    }
    satisfied = float(rng.choice([1.0, 1.0, 0.9, 0.7, 0.5]))
    far = float(rng.uniform(0.5, 4))
    return Case(rng.normal(size=(N, 2)), seen, rows, new, far, satisfied)
