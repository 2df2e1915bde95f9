"""DCRC's chains on data of a usual size: errors of answers are learned, and intervals cover."""

import numpy as np
import pytest

import bayesclust as bc

# Pei et al., Table IV (a): people's answers by the true one
COUNTED = np.array([[18.5, 0.33, 4.83], [0.33, 16.5, 4.5], [3.5, 3.0, 98.5]])
PEOPLE = COUNTED / COUNTED.sum(axis=1, keepdims=True)
RUNS = 10
# the labels known, so many answers leave an error of .060 on average, of standard deviation .026 in
# one run
LARGEST = 0.09
CHAINS = {
    "inference": "gibbs",
    "num_chains": 2,
    "num_warmup": 200,
    "num_samples": 400,
    "progress": False,
}
# of ten runs of nine entries, which are not independent, 90% intervals of a right sampler hardly
# ever cover less
LEAST_COVER = 0.8


def learned(weights, seed):
    """Largest error of an entry, and which intervals cover, of the confusion matrix."""
    data = bc.datasets.make_mixture(1400, 10, 14, separation=12.0, seed=seed)
    triplets = bc.RelativeConstraints.sample(data.y, size=900, confusion=PEOPLE, seed=100 + seed)
    est = bc.DCRC(14, noise="confusion", weights=weights, random_state=seed, **CHAINS).fit(
        data.X, constraints=triplets
    )
    drawn = est.posterior_["posterior"]["confusion"].values[:, :, 0]
    lower, upper = np.quantile(drawn, (0.05, 0.95), axis=(0, 1))
    return np.abs(est.confusion_["triplets"][0] - PEOPLE).max(), (lower <= PEOPLE) & (
        upper >= PEOPLE
    )


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["mode", "sample"])
def test_confusion_of_people_is_learned(weights):
    errors, covered = zip(*(learned(weights, seed) for seed in range(RUNS)), strict=True)
    assert np.mean(errors) <= LARGEST, errors
    assert np.mean(covered) >= LEAST_COVER, np.mean(covered, axis=0)
