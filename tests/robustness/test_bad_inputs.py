"""Bad input is refused at the door: a ValueError or TypeError of the package's own, in one sentence that says what of.

One argument of a good call is replaced by something that is wrong for certain.
"""

from itertools import cycle, islice

import numpy as np
import pytest

from tests.robustness.corruptions import corruptions
from tests.robustness.door import faults, outcome
from tests.robustness.table import TABLE

QUICK, MANY = 150, 1000


def chosen(number, seed):
    """Random (entry, argument) pairs, each as often as any other, in random order."""
    pairs = [(name, argument) for name, entry in TABLE.items() for argument in entry.arguments]
    order = np.random.default_rng(seed).permutation(len(pairs))
    return islice(cycle([pairs[at] for at in order]), number)


def judged(number, seed):
    """What is wrong with the refusals of so many random bad inputs."""
    wrong = []
    for at, (name, argument) in enumerate(chosen(number, seed)):
        rng, entry = np.random.default_rng([seed, at]), TABLE[name]
        values = corruptions(entry.arguments[argument].sort, entry.good()[argument], rng)
        value = values[rng.integers(len(values))]
        error = outcome(entry, argument, value)
        wrong += [
            f"{name}({argument}={value!r}) {fault}: {error}" for fault in faults(error, argument)
        ]
    return wrong


def test_random_bad_inputs():
    assert judged(QUICK, seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_many_random_bad_inputs(seed):
    """Two thousand: every argument in the table several times, each time with another fault."""
    assert judged(MANY, seed) == []


def test_a_fault_would_be_seen():
    """The judge itself: errors from elsewhere, of another kind, without a sentence or the name are faults."""

    def elsewhere():
        return np.zeros(3)[5]

    def unnamed():
        raise ValueError("this is wrong.")

    def caught(call):
        try:
            call()
        except Exception as error:
            return error
        return None

    assert faults(None, "X") == ["was taken"]
    assert [fault.split()[0] for fault in faults(caught(elsewhere), "X")] == [
        "is",
        "comes",
        "is",
        "does",
    ]
    assert faults(caught(unnamed), "this")[0].startswith("comes from tests.robustness")
    assert faults(outcome(TABLE["point_estimate"], "loss", "nonsense"), "loss") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_every_bad_value_of_every_argument(name):
    wrong = []
    for argument, (sort, _) in TABLE[name].arguments.items():
        for value in corruptions(sort, TABLE[name].good()[argument], np.random.default_rng(0)):
            error = outcome(TABLE[name], argument, value)
            wrong += [f"{argument}={value!r} {fault}: {error}" for fault in faults(error, argument)]
    assert wrong == []
