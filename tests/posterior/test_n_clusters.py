"""The posterior of the number of clusters."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree


def test_shares_by_hand():
    draws = [[[0, 0, 0, 1], [0, 1, 2, 2]], [[0, 0, 0, 0], [0, 1, 2, 3]]]
    table = bc.n_clusters_posterior(np.array(draws))
    assert table.index.tolist() == [1, 2, 3, 4]
    assert table["probability"].tolist() == [0.25] * 4
    assert table["lowest"].tolist() == [0.0] * 4
    assert table["highest"].tolist() == [0.5] * 4
    # four batches of one draw, 0 0 0 1: their standard deviation is 1 / 2
    np.testing.assert_allclose(table["mcse"], 0.25)


def test_only_clusters_of_a_size_count():
    draws = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 2], [0, 1, 2, 3, 4]]
    assert bc.n_clusters_posterior(draws, min_size=2)["probability"].tolist() == [1 / 3, 0, 2 / 3]
    assert bc.n_clusters_posterior(draws, min_size=2).index.tolist() == [0, 1, 2]
    assert bc.n_clusters_posterior(draws, min_size=3)["probability"].tolist() == [2 / 3, 1 / 3]


def test_all_forms_of_the_same_draws_agree(rng):
    z = rng.integers(4, size=(3, 30, 12))
    expected = bc.n_clusters_posterior(z)
    assert expected.equals(bc.n_clusters_posterior(to_datatree({"z": z})))
    pooled = bc.n_clusters_posterior(z.reshape(90, 12))
    assert expected["probability"].equals(pooled["probability"])
    assert expected["probability"].sum() == pytest.approx(1)


def test_monte_carlo_error_is_that_of_repetitions(rng):
    """A two-state chain that stays with probability 0.8: its mean scatters three times as much as independent draws."""
    shares, errors = [], []
    for _ in range(200):
        state = np.cumsum(rng.random((4, 1000)) > 0.8, axis=1) % 2
        z = np.stack([np.zeros_like(state), np.zeros_like(state), state], axis=-1)
        table = bc.n_clusters_posterior(z)
        shares.append(table["probability"].iloc[-1])
        errors.append(table["mcse"].iloc[-1])
    assert np.std(shares) == pytest.approx(
        2 * 0.5 / np.sqrt(4000), rel=0.15
    )  # sqrt((1 + r) / (1 - r)) with r = 0.6
    assert np.mean(errors) == pytest.approx(np.std(shares), rel=0.2)


def test_one_draw_has_no_error():
    assert bc.n_clusters_posterior([[0, 1]])["mcse"].isna().all()


@pytest.mark.parametrize(
    ("posterior", "settings", "said"),
    [
        ([[0, 1]], {"min_size": 0}, "min_size must be an integer of at least 1"),
        ([0, 1], {}, "draws must have shape"),
        (np.zeros((0, 2, 3), int), {}, "draws must have shape"),
    ],
)
def test_bad_input(posterior, settings, said):
    with pytest.raises(ValueError, match=said):
        bc.n_clusters_posterior(posterior, **settings)
