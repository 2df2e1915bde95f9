"""Threads take turns in Python: who comes from compiled code waits for who is there, but not for ever."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bayesclust._jit import kernel
from bayesclust._stream import as_stream, enter_python
from bayesclust._turns import TURN, YIELDS

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="threads have other names there, and take no turns"
)
SOMEBODY_ELSE, FOR_EVER = 12345, 2**62


@kernel
def go_and_come_back(turn, rng, yields):
    meanwhile = turn[0]
    enter_python(rng, yields)
    return meanwhile


@pytest.fixture(autouse=True)
def nobody():
    TURN[0] = 0
    yield
    TURN[0] = 0


@pytest.fixture
def rng():
    return as_stream(np.random.default_rng(0))


def test_a_thread_that_is_back_has_the_turn_and_gives_it_up_when_it_goes(rng):
    assert go_and_come_back(TURN, rng, YIELDS) == 0
    assert TURN[0] == threading.get_ident()
    assert go_and_come_back(TURN, rng, YIELDS) == 0
    assert TURN[0] == threading.get_ident()


def test_it_waits_until_the_turn_is_free(rng):
    TURN[0] = SOMEBODY_ELSE
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(go_and_come_back, TURN, rng, FOR_EVER)
        time.sleep(0.1)
        assert not waiting.done()
        TURN[0] = 0
        assert (
            waiting.result(timeout=10) == SOMEBODY_ELSE
        )  # who has not the turn leaves it to whoever has
        assert TURN[0] not in {0, SOMEBODY_ELSE}


def test_it_does_not_wait_for_who_never_goes(rng):
    TURN[0] = SOMEBODY_ELSE
    assert go_and_come_back(TURN, rng, YIELDS) == SOMEBODY_ELSE
    assert TURN[0] == threading.get_ident()


def test_streams_of_one_thread_do_not_wait_for_each_other():
    streams = [as_stream(np.random.default_rng(seed)) for seed in range(3)]
    for stream in streams * 3:
        assert go_and_come_back(TURN, stream, FOR_EVER) == 0


def test_several_threads_all_come_to_their_end():
    def work(seed):
        stream = as_stream(np.random.default_rng(seed))
        return sum(
            go_and_come_back(TURN, stream, YIELDS) == threading.get_ident() for _ in range(2000)
        )

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [0] * 4


def test_generators_take_no_turns():
    TURN[0] = SOMEBODY_ELSE
    assert go_and_come_back(TURN, np.random.default_rng(0), FOR_EVER) == SOMEBODY_ELSE
    assert TURN[0] == SOMEBODY_ELSE
