"""The garbage collector is off meanwhile, and afterwards as it was."""

import gc
import os
import threading
import warnings

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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no copies of processes here")
def test_a_copy_of_a_process_has_it_on_again():
    entered, done = threading.Event(), threading.Event()

    def work():
        with uncollected():
            entered.set()
            done.wait(10)

    other = threading.Thread(target=work)
    other.start()
    entered.wait(10)
    assert not gc.isenabled()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # Python and JAX do not like copies of processes with threads
        child = os.fork()
    if child == 0:
        os._exit(0 if gc.isenabled() else 1)
    done.set()
    other.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()
