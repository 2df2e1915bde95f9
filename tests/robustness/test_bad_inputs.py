"""Bad input is refused before any work: an error of the package, one sentence that names it.

One argument of a good call is replaced by something that is wrong for certain.
"""

import re
import traceback
import warnings

import numpy as np
import pytest

from tests.robustness.bad_values import SORTS, bad_values
from tests.robustness.entries import TABLE, WITHOUT_DATA, matches, public
from tests.robustness.world import FAULT_SEED

ACCEPTED_ELSEWHERE = {
    ("sklearn.utils.validation", "_check_n_features"),
    ("sklearn.utils.validation", "_check_feature_names"),
    ("sklearn.utils.validation", "_get_feature_names"),
    ("sklearn.utils.validation", "check_is_fitted"),
}
"""scikit-learn's own sentences about changed features and estimators without a fit."""
LONGEST = 1000
TRACED = ["models.tvclust*"]
"""NumPyro programs, which compile much before some of their arguments are seen."""
WORDS = {
    "posterior": ["z", "draws", "labels", "group", "stored", "constraints"],
    "first": ["z", "draws", "labels", "posterior", "group"],
    "second": ["z", "draws", "labels", "posterior", "group"],
    "z": ["labels"],
    "components": ["labels"],
    "constraints": ["answers", "views"],
    "answers": ["same"],
    "query": ["pairs", "triplets"],
    "draws": ["labels"],
    "random_state": ["seed"],
    "seed": ["random_state"],
}
"""Other words by which an argument may be called, since checks are shared."""


def outcome(call, *given):
    """The error of a call, or None where all that is given was taken; warnings are passed over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(*given)
        except Exception as error:
            return error
    return None


def call_with(entry, argument, value):
    """Call an entry with one argument replaced."""
    entry.call(**{**entry.good(), argument: value})


def faults(error, argument):
    """What is wrong with an error as a refusal, in words; nothing where it is right."""
    if error is None:
        return ["was taken"]
    found = []
    if not isinstance(error, (ValueError, TypeError)):
        found.append(f"is a {type(error).__name__}")
    *_, last = traceback.walk_tb(error.__traceback__)
    where = (last[0].f_globals.get("__name__", "?"), last[0].f_code.co_name)
    if not where[0].startswith("bayesclust.") and where not in ACCEPTED_ELSEWHERE:
        found.append(f"comes from {where[0]}:{last[1]}")
    sentence = str(error)
    if not sentence.endswith((".", "?", "...")) or "\n" in sentence or len(sentence) > LONGEST:
        found.append("is not one sentence")
    words = "|".join(map(re.escape, [argument, *WORDS.get(argument, ())]))
    if not re.search(rf"\b({words})", sentence):
        found.append(f"does not name {argument}")
    return found


def refusals(name, argument, values):
    """What is wrong with the refusals of bad values of one argument."""
    wrong = []
    for value in values:
        error = outcome(call_with, TABLE[name], argument, value)
        reasons = faults(error, argument)
        wrong += [f"{name}({argument}={value!r}) {reason}: {error}" for reason in reasons]
    return wrong


def bad_of(name, argument, rng):
    entry = TABLE[name]
    return bad_values(entry.arguments[argument].sort, entry.good()[argument], rng)


@pytest.mark.parametrize("name", [name for name in TABLE if not matches(name, TRACED)])
def test_a_bad_value_of_every_argument_is_refused(name):
    """One at random; the slow suite has them all."""
    rng, wrong = np.random.default_rng(FAULT_SEED), []
    for argument in TABLE[name].arguments:
        values = bad_of(name, argument, rng)
        wrong += refusals(name, argument, [values[rng.integers(len(values))]])
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_every_bad_value_of_every_argument_is_refused(name):
    wrong = []
    for argument in TABLE[name].arguments:
        wrong += refusals(name, argument, bad_of(name, argument, np.random.default_rng(FAULT_SEED)))
    assert wrong == []


def test_faulty_refusals_would_be_seen():
    """Errors from elsewhere, of another kind, without a sentence or the name are faults."""

    def unnamed():
        raise ValueError("this is wrong.")

    assert faults(None, "X") == ["was taken"]
    elsewhere = faults(outcome(lambda: np.zeros(3)[5]), "X")
    assert [fault.split()[0] for fault in elsewhere] == ["is", "comes", "is", "does"]
    assert faults(outcome(unnamed), "this")[0].startswith("comes from tests.robustness")
    assert refusals("point_estimate", "loss", ["nonsense"]) == []


def test_every_public_parameter_has_a_sort():
    """The table is made of signatures: a new parameter without a sort is a KeyError there."""
    found = public()
    assert [name for name in found if not matches(name, WITHOUT_DATA) and name not in TABLE] == []
    unused = [pattern for pattern in WITHOUT_DATA if not any(matches(n, [pattern]) for n in found)]
    assert unused == []
    sorts = {a.sort.removeprefix("optional ") for e in TABLE.values() for a in e.arguments.values()}
    assert [sort for sort in sorts if sort not in SORTS and sort[0] not in "(["] == []
