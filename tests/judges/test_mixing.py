"""Four dispersed chains agree where answers are doubtful, and move faster than single items would."""

import pytest

import bayesclust as bc
from experiments.mixing import DATA, FRACTIONS, PLAIN, run


@pytest.mark.slow
@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize("data", DATA)
def test_dispersed_chains_agree(data, fraction):
    if data not in bc.datasets.names(installed=True):
        pytest.skip(f"the files of {data} come with the extra `datasets`")
    result = run(data, fraction, seed=0, num_samples=5000)
    assert result.max_rhat < 1.05, result.worst


@pytest.mark.slow
def test_moves_bring_five_times_the_effective_draws_where_single_items_are_slowest():
    rates = {
        moves: min(run("wine", r, 0, 5000, moves).rate for r in FRACTIONS)
        for moves in (None, PLAIN)
    }
    assert rates[None] > 5 * rates[PLAIN]
