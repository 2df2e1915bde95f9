"""The marginal of a cluster that a few items join: an update of low rank against the union of two clusters."""

import numpy as np
import pytest

from bayesclust._numba import kernel
from bayesclust.families import FAMILIES
from bayesclust.families.base import derive, log_marginal_joined, log_marginal_union, set_items
from bayesclust.families.gaussian import by_rank
from tests.judges.cases import data_for, learned

CLUSTER, BLOCK = 0, 1


@kernel
def asked(state, own, items):
    """As the union, and as the samplers ask."""
    set_items(state, own, CLUSTER)
    derive(state, CLUSTER)
    set_items(state, items, BLOCK)
    derive(state, BLOCK)
    return log_marginal_union(state, CLUSTER, BLOCK), log_marginal_joined(
        state, CLUSTER, BLOCK, items
    )


@kernel
def updated(state, items):
    return by_rank(state, CLUSTER, items)


@pytest.mark.parametrize("power", [1.0, 0.3])
@pytest.mark.parametrize(("d", "m"), [(1, 2), (3, 7), (9, 3), (24, 2), (24, 8)])
def test_a_change_of_low_rank(d, m, power, rng):
    family = learned(FAMILIES["gaussian"])
    bound = family.bind(data_for(family, 40, d, rng)).coarsened(power)
    state = bound.new_state(2, bound.initial_hyper())
    order = rng.permutation(40)
    for size in (1, 5, 25):
        items = order[size : size + m]
        union, as_asked = asked(state, order[:size], items)
        by_update = updated(state, items)
        assert by_update == pytest.approx(union, rel=1e-10, abs=1e-8)
        assert as_asked == pytest.approx(union, rel=1e-10, abs=1e-8)


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"gaussian"}))
def test_other_families_answer_by_the_union(name, rng):
    family = learned(FAMILIES[name])
    bound = family.bind(data_for(family, 20, 2, rng))
    union, joined = asked(bound.new_state(2, bound.initial_hyper()), np.arange(8), np.arange(8, 11))
    assert joined == union
