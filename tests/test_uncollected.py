"""The garbage collector is off meanwhile, and afterwards as it was."""

import gc

import pytest

from bayesclust._uncollected import uncollected


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
