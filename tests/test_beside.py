"""Kernels compiled by other processes: found in the cache by the first call, and no harm where they are not."""

import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from bayesclust import _beside
from bayesclust._beside import Queue, compile_beside, feed, number_of_compilers

ROOT = Path(__file__).resolve().parents[1]
FIRST, SECOND, THIRD = (("module", name, ()) for name in ("first", "second", "third"))
COPY = """
import os
from bayesclust import _beside

_beside._queue.doing.add("what threads of the first process will settle")
child = os.fork()
if child == 0:
    os._exit(len(_beside._queue.doing))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
FIT = """
import os
import numpy as np
import bayesclust as bc
from bayesclust import _beside

# as many as are asked for, however few processors this machine has
_beside.number_of_compilers = lambda: int(os.environ["BAYESCLUST_COMPILERS"])
data = bc.datasets.make_mixture(30, 2, 2, seed=0)
links = bc.PairwiseConstraints.sample(data.y, size=20, seed=0)
est = bc.TVClust(num_chains=1, num_warmup=3, num_samples=5, random_state=0, progress=False, n_jobs=1)
est.fit(data.X, constraints=links)
from bayesclust.inference.split_merge import attempt
print(est.posterior_["posterior"]["z"].values.sum(), est.posterior_["sample_stats"]["log_joint"].values.sum())
print(sum(attempt.stats.cache_hits.values()), *(len(part) for part in (_beside._queue.todo, _beside._queue.doing)))
"""


@pytest.fixture
def alone(monkeypatch):
    """A queue that starts no processes by itself."""
    monkeypatch.setattr(_beside, "number_of_compilers", lambda: 0)
    return Queue()


def orders(*tasks):
    return {task: pickle.dumps(pickle.dumps(task)) for task in tasks}


def assert_waits_until_it_is_settled(queue, task):
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.claim, task)
        time.sleep(0.1)
        assert not waiting.done()
        queue.settle(task)
        waiting.result(timeout=10)


def test_they_are_begun_in_the_order_in_which_they_were_asked_for_but_the_last(alone):
    alone.put(orders(THIRD), last=True)
    alone.put(orders(FIRST, SECOND), last=False)
    assert [alone.take()[0] for _ in range(3)] == [FIRST, SECOND, THIRD]
    assert alone.take() is None


def test_each_is_asked_for_once(alone):
    alone.put(orders(FIRST), last=False)
    alone.take()
    alone.put(orders(FIRST, SECOND), last=False)
    assert alone.take()[0] == SECOND


def test_what_was_not_begun_is_compiled_by_whoever_calls_it(alone):
    alone.put(orders(FIRST), last=False)
    alone.claim(FIRST)
    assert alone.take() is None


def test_what_was_begun_is_waited_for(alone):
    alone.put(orders(FIRST), last=False)
    alone.take()
    assert_waits_until_it_is_settled(alone, FIRST)


def test_who_waits_compiles_what_nobody_has_begun(alone, monkeypatch):
    compiled = []
    monkeypatch.setattr(
        _beside, "compile_here", lambda task: (compiled.append(task), alone.settle(FIRST))
    )
    alone.put(orders(FIRST, SECOND, THIRD), last=False)
    alone.take()
    alone.claim(FIRST)
    assert compiled == [SECOND]
    assert list(alone.todo) == [THIRD]


def test_who_waits_leaves_alone_what_is_to_be_last(alone, monkeypatch):
    monkeypatch.setattr(
        _beside, "compile_here", lambda task: pytest.fail("it was not to be compiled yet")
    )
    alone.put(orders(THIRD), last=True)
    alone.put(orders(FIRST), last=False)
    alone.take()
    assert_waits_until_it_is_settled(alone, FIRST)
    assert list(alone.todo) == [THIRD]


def test_what_is_to_be_last_waits_for_what_is_about_to_be_asked_for(alone, monkeypatch):
    monkeypatch.setattr(_beside, "LINGER", 10.0)
    alone.put(orders(THIRD), last=True)
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(alone.take)
        time.sleep(0.05)
        alone.put(orders(FIRST), last=False)
        assert taken.result(timeout=5)[0] == FIRST
    monkeypatch.setattr(_beside, "LINGER", 0.05)
    assert alone.take()[0] == THIRD


def test_what_is_to_be_last_may_be_all_there_is(alone, monkeypatch):
    monkeypatch.setattr(_beside, "LINGER", 0.05)
    alone.put(orders(THIRD), last=True)
    assert alone.take()[0] == THIRD


def test_nothing_is_waited_for_without_end(alone, monkeypatch):
    monkeypatch.setattr(_beside, "PATIENCE", 0.05)
    monkeypatch.setattr(_beside, "compile_here", lambda task: time.sleep(0.1))
    alone.put(orders(FIRST, SECOND, THIRD), last=False)
    alone.take()
    alone.claim(FIRST)
    assert list(alone.todo) == [THIRD]


@pytest.mark.parametrize(
    "program",
    [
        "raise SystemExit",
        "import os, sys; os.write(1, bytes(1)); sys.stdin.buffer.read(1); sys.exit(1)",
    ],
    ids=["at once", "in the middle of its work"],
)
def test_a_process_that_dies_leaves_the_rest_to_others(alone, monkeypatch, program):
    monkeypatch.setattr(_beside, "PROGRAM", program)
    alone.put(orders(FIRST, SECOND), last=False)
    alone.workers = 1
    feed(alone)
    assert alone.workers == 0
    assert not alone.doing
    alone.claim(FIRST)
    alone.claim(SECOND)


def test_where_no_process_can_be_started_nothing_is_lost(alone, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(ROOT / "no such program"))
    alone.put(orders(FIRST), last=False)
    alone.workers = 1
    feed(alone)
    assert (alone.workers, list(alone.todo)) == (0, [FIRST])


def test_a_task_that_fails_or_cannot_be_read_ends_no_process(alone, monkeypatch):
    done, settle = [], alone.settle
    monkeypatch.setattr(alone, "settle", lambda task: (done.append(task), settle(task)))
    alone.put(orders(("bayesclust.no_such_module", "kernel", ()), SECOND), last=False)
    alone.put({THIRD: pickle.dumps(b"of a type that is defined nowhere")}, last=True)
    alone.workers = 1
    feed(alone)
    assert (alone.workers, alone.todo, alone.doing, len(done)) == (0, {}, set(), 3)


def test_it_has_the_path_of_this_process_and_not_the_current_directory(
    alone, monkeypatch, tmp_path
):
    (tmp_path / "random.py").write_text("raise SystemExit")  # NumPy imports one of this name
    (tmp_path / "on the path").mkdir()
    told = "import pathlib\n\nclass told:\n    compile = pathlib.Path('told').write_text"
    (tmp_path / "on the path" / "told.py").write_text(told)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "on the path"), tmp_path, *sys.path])
    alone.put(orders(("told", "told", "a signature")), last=False)
    alone.workers = 1
    feed(alone)
    assert (tmp_path / "told").read_text() == "a signature"


def test_what_is_printed_is_no_answer(alone, monkeypatch):
    monkeypatch.setattr(_beside, "PROGRAM", "print('loud'); " + _beside.PROGRAM)
    order, tell = [], _beside._tell
    monkeypatch.setattr(
        _beside, "_tell", lambda process, what: (order.append(what), tell(process, what))
    )
    monkeypatch.setattr(alone, "settle", lambda task: order.append(task))
    alone.put(orders(FIRST, SECOND), last=False)
    alone.workers = 1
    feed(alone)
    assert order[2::2] == [FIRST, SECOND]


def test_it_starts_none_itself(alone, monkeypatch):
    seen = {}
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda *_, env, **__: seen.update(env) or (_ for _ in ()).throw(OSError),
    )
    alone.workers = 1
    feed(alone)
    assert seen[_beside.VARIABLE] == "0"


def test_as_many_are_started_as_there_is_work_for(monkeypatch):
    started = []
    monkeypatch.setattr(_beside, "number_of_compilers", lambda: 3)
    monkeypatch.setattr(_beside, "feed", started.append)
    queue = Queue()
    queue.put(orders(FIRST), last=False)
    queue.take()
    queue.put(orders(SECOND), last=False)
    assert queue.workers == 2
    queue.take()
    assert queue.take() is None
    assert queue.workers == 1


def test_where_there_can_be_no_threads_there_are_no_processes(monkeypatch):
    def refused(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_beside, "number_of_compilers", lambda: 3)
    monkeypatch.setattr(threading.Thread, "start", refused)
    queue = Queue()
    queue.put(orders(FIRST, SECOND), last=False)
    assert (queue.workers, len(queue.todo)) == (0, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no copies of a process here")
def test_a_copy_of_this_process_waits_for_nobody():
    assert python(COPY)[0] == "0"


def test_how_many_there_may_be(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for said, number in {"": 3, "0": 0, "2": 2, "50": 7, "many": 3}.items():
        monkeypatch.setenv(_beside.VARIABLE, said)
        assert number_of_compilers() == number
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert number_of_compilers() == 0


def test_programs_that_hold_python_start_none(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv(_beside.VARIABLE)
    for program, number in {
        "/usr/bin/python3.12": 3,
        "C:/Python/PythonW.exe": 3,
        "/opt/app/serve": 0,
        None: 0,
    }.items():
        monkeypatch.setattr(sys, "executable", program)
        assert number_of_compilers() == number
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert number_of_compilers() == 0


def test_kernels_without_a_cache_and_those_at_hand_are_not_asked_for(monkeypatch, tmp_path):
    from bayesclust._jit import kernel

    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    asked = []
    monkeypatch.setattr(_beside._queue, "put", lambda orders, last: asked.extend(orders))
    compile_beside([(kernel(lambda x: x, cache=False), (1,))])
    doubled = kernel(lambda x: 2 * x)
    compile_beside([(doubled, (1,))])
    assert [task[2][0].name for task in asked] == ["int64"]
    doubled(1)
    compile_beside([(doubled, (1,))])
    assert len(asked) == 1
    compile_beside([(doubled, (np.ones(2),))])
    assert len(asked) == 2


def python(code, **environment):
    command = [sys.executable, "-W", "error", "-c", code]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    run = subprocess.run(
        command, env=settings, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def fit(folder, compilers):
    drawn, cached = python(FIT, NUMBA_CACHE_DIR=str(folder), **{_beside.VARIABLE: str(compilers)})
    return drawn, [int(word) for word in cached.split()]


def test_a_first_fit_finds_what_others_compiled_and_draws_the_same(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        alone, helped = pool.map(fit, (tmp_path / "alone", tmp_path / "helped"), (0, 1))
    assert alone[0] == helped[0]
    assert alone[1] == [0, 0, 0]
    assert helped[1] == [1, 0, 0]
