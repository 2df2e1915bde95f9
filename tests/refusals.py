"""Tables of refusals: calls at the margin, each followed by its error, indented and wrapped."""

import re

import pytest


def cases(table):
    """The calls of a table with their errors, "kind: sentence", for `parametrize`."""
    found = []
    for block in re.split(r"\n(?=\S)", table.strip()):
        call, *error = block.splitlines()
        found.append(pytest.param(call, " ".join(line.strip() for line in error), id=call[:60]))
    return found


def refusal(call, names):
    """The error that a call raises, which must be of one of these kinds, as in a table."""
    kinds = (TypeError, ValueError, AttributeError)
    with pytest.raises(kinds) as caught:
        eval(call, names)
    assert type(caught.value) in kinds
    return f"{type(caught.value).__name__}: {caught.value}"


def refused(table, names):
    """The test that each call of a table fails as it says there; `names` are those of the calls."""

    @pytest.mark.parametrize(("call", "error"), cases(table))
    def test(call, error):
        assert refusal(call, names) == error

    return test
