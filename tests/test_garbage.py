"""What was there before a kernel is compiled is out of the collector's way meanwhile, and in its care again afterwards."""

import gc
from types import SimpleNamespace

import pytest
from numba import njit

from bayesclust._garbage import Aside
from bayesclust._jit import inner, kernel


@pytest.fixture
def counts():
    """Objects that were set aside each time that a function was typed; nothing is set aside before."""
    found = []
    gc.unfreeze()
    yield found
    gc.unfreeze()


def noted(counts):
    """A function that numba asks at compile time."""
    from numba.extending import overload

    def ask(x): ...

    @overload(ask)
    def _ask(x):
        counts.append(gc.get_freeze_count())
        return lambda x: x + 1

    return ask


def ours(function):
    function.__module__ = "bayesclust.somewhere"
    return function


def test_objects_are_set_aside_while_a_kernel_is_compiled_and_no_longer(counts):
    ask = noted(counts)
    within = inner(ours(lambda x: ask(x)), cache=False)
    assert kernel(ours(lambda x: within(x)), cache=False)(1) == 2
    assert min(counts) > 10_000
    assert gc.get_freeze_count() == 0


def test_so_they_are_where_it_fails(counts):
    ask = noted(counts)
    with pytest.raises(Exception, match="nowhere"):
        kernel(ours(lambda x: ask(x) + x.nowhere), cache=False)(1)
    assert min(counts) > 10_000
    assert gc.get_freeze_count() == 0


def test_what_others_set_aside_stays_there(counts):
    ask = noted(counts)
    gc.freeze()
    before = gc.get_freeze_count()
    assert kernel(ours(lambda x: ask(x)), cache=False)(1) == 2
    assert gc.get_freeze_count() > 0.9 * before  # a few of them are gone


def test_other_packages_are_left_alone(counts):
    ask = noted(counts)
    assert njit(lambda x: ask(x))(1) == 2
    assert set(counts) == {0}


def test_functions_are_told_apart_by_their_package():
    aside = Aside("bayesclust")
    for module, meant in {
        "bayesclust.inference.scan": True,
        "bayesclusters": False,
        "numba.np": False,
    }.items():
        function = SimpleNamespace(__module__=module)
        assert (
            aside._is_meant(SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)}))
            == meant
        )
