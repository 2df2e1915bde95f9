"""Defaults on iris and wine: at or above the best published package, and the flipped answers found."""

import numpy as np
import pytest

from experiments.peers import SETTINGS, score


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: f"{s.data}-{s.fraction}-{s.flip}")
def test_defaults_reach_the_best_peer(setting):
    result = score(setting)
    error = np.std(result.sampler, ddof=1) / np.sqrt(len(result.sampler))
    assert np.mean(result.sampler) > setting.kmeans
    if setting.flip:
        assert np.mean(result.sampler) >= setting.best_peer - error
        assert np.mean(result.credibility) >= 0.95
