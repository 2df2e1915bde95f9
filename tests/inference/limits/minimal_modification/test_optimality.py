"""The modification found is the best of all partitions; where none is, a conflict is named."""

from typing import NamedTuple

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.estimators.minimal_modification import ConflictError
from tests.inference.limits.minimal_modification.plain import N, random_case

FEW, MANY = 60, 500


class Bounds(NamedTuple):
    """Bounds on clusters, and which partitions keep to them."""

    least: int | None = None
    most: int | None = None
    diameter: float | None = None

    def __call__(self, X, labels):
        least, most, diameter = self.least or 1, self.most or N, self.diameter or np.inf
        kept = np.ones(len(labels), dtype=bool)
        for row, z in enumerate(labels):
            for cluster in np.unique(z):
                members = X[z == cluster]
                apart = np.linalg.norm(members[:, None] - members, axis=-1).max()
                kept[row] &= least <= len(members) <= most and apart <= diameter
        return kept


def random_bounds(seed):
    rng = np.random.default_rng(seed)
    some = int(rng.integers(1, 4)), int(rng.integers(3, 6)), float(rng.uniform(1.0, 4.0))
    return Bounds(*(bound if rng.random() < 0.6 else None for bound in some))


NONE = Bounds()


def check(seed, fits=NONE):
    """Compare one problem with all partitions; returns whether it has a solution."""
    case = random_case(seed)
    bounds = {"min_size": fits.least, "max_size": fits.most, "max_diameter": fits.diameter}
    best, estimator = case.best(fits), case.estimator(**bounds)
    if np.isinf(best):
        with pytest.raises(ConflictError) as error:
            estimator.fit(case.X, partition=case.seen, constraints=case.constraints())
        conflict = error.value.conflict
        assert not case.can_hold(conflict, fits)
        without = [conflict[:at] + conflict[at + 1 :] for at in range(len(conflict))]
        assert all(case.can_hold(fewer, fits) for fewer in without)
        assert all(f"{name}[{row}]" in str(error.value) for name, row in conflict)
        return False
    estimator.fit(case.X, partition=case.seen, constraints=case.constraints())
    labels = estimator.labels_[None]
    held = case.held(labels)[0]
    assert estimator.gap_ == 0
    assert estimator.objective_ == pytest.approx(best, abs=1e-7)
    assert estimator.cost_ == pytest.approx(case.costs(labels)[0])
    assert held[~case.unsure].sum() >= case.satisfied * (~case.unsure).sum() - 1e-9
    broken = [
        one
        for one, kept, counts in zip(case.origin, held, ~case.unsure, strict=True)
        if counts and not kept
    ]
    violated = estimator.violated_
    assert list(zip(violated.constraints, violated.row, strict=True)) == broken
    assert estimator.moved_.tolist() == np.flatnonzero(estimator.labels_ != case.seen).tolist()
    return True


@pytest.mark.parametrize(
    "seeds", [range(FEW), pytest.param(range(1000, 1000 + MANY), marks=pytest.mark.slow)]
)
def test_best_of_all_partitions(seeds):
    solved = [check(seed) for seed in seeds]
    assert len(seeds) / 5 < sum(solved) < len(seeds)


def test_best_of_all_partitions_within_bounds():
    bounds = [random_bounds(seed) for seed in range(FEW)]
    solved = [check(seed, fits) for seed, fits in enumerate(bounds)]
    assert FEW / 5 < sum(solved) < FEW
    cases = map(random_case, range(FEW))
    kept = [fits(case.X, case.seen[None])[0] for fits, case in zip(bounds, cases, strict=True)]
    assert sum(kept) < FEW / 2  # most are not kept to begin with


def test_without_constraints_nothing_moves(rng):
    X, seen = rng.normal(size=(N, 2)), np.array([0, 0, 1, 1, 2, 2])
    found = bc.MinimalModification().fit(X, partition=seen)
    assert found.labels_.tolist() == seen.tolist()
    assert (found.objective_, found.bound_, len(found.violated_)) == (0.0, 0.0, 0)
