"""The garbage collector is off meanwhile, and afterwards as it was."""

import gc

import pytest

from bayesclust._uncollected import PYTHONS_OWN, uncollected


def fail():
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            pass
        assert not gc.isenabled()
        raise ZeroDivisionError


@pytest.mark.parametrize("before", [True, False])
def test_it_is_left_as_it_was(before):
    (gc.enable if before else gc.disable)()
    try:
        with pytest.raises(ZeroDivisionError):
            fail()
        assert gc.isenabled() is before
    finally:
        gc.enable()


@pytest.mark.parametrize("old", [True, False])
def test_what_was_made_is_old_where_that_is_asked(old):
    gc.collect()
    with uncollected(old=old):
        made = [[] for _ in range(5000)]
        ids = {id(one) for one in made}
    aged = sum(id(one) in ids for one in gc.get_objects(generation=2))
    assert aged == (5000 if old else 0)


def test_what_others_set_aside_stays_there():
    kept = [[] for _ in range(2 * PYTHONS_OWN)]
    gc.collect()
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        with uncollected(old=True):
            assert kept
        assert gc.get_freeze_count() == before > PYTHONS_OWN
    finally:
        gc.unfreeze()
