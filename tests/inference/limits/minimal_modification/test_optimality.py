"""The modification found is the best of all partitions; where none is, a conflict is named."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.estimators.minimal_modification import ConflictError
from tests.inference.limits.minimal_modification.plain import N, random_case

FEW, MANY = 60, 500


def check(seed):
    """Compare one problem with all partitions; returns whether it has a solution."""
    case = random_case(seed)
    best, estimator = case.best(), case.estimator()
    if np.isinf(best):
        with pytest.raises(ConflictError) as error:
            estimator.fit(case.X, partition=case.seen, constraints=case.constraints())
        conflict = error.value.conflict
        assert not case.can_hold(conflict)
        assert all(case.can_hold(conflict[:at] + conflict[at + 1 :]) for at in range(len(conflict)))
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


def test_best_of_all_partitions():
    solved = [check(seed) for seed in range(FEW)]
    assert FEW / 5 < sum(solved) < FEW


@pytest.mark.slow
def test_best_of_all_partitions_many_times():
    solved = [check(seed) for seed in range(1000, 1000 + MANY)]
    assert MANY / 5 < sum(solved) < MANY


def test_without_constraints_nothing_moves(rng):
    X, seen = rng.normal(size=(N, 2)), np.array([0, 0, 1, 1, 2, 2])
    found = bc.MinimalModification().fit(X, partition=seen)
    assert found.labels_.tolist() == seen.tolist()
    assert (found.objective_, found.bound_, len(found.violated_)) == (0.0, 0.0, 0)
