"""Claims that no recorded cell decides, each on few settings."""

import numpy as np
import pytest

import bayesclust as bc
from experiments import active, sources

pytestmark = pytest.mark.slow


def test_queries_chosen_by_the_posterior_are_ahead_of_others():
    area = {method: [] for method in active.Plan().methods}
    for data in ("iris", "wine"):
        for trial in range(4):
            for method, areas in area.items():  # which begin with the same posterior
                areas.append(active.run(active.Cell(2, method, data, 60, trial))["area"])
    ours = np.array(area.pop("posterior"))
    for method, areas in area.items():
        assert (ours - areas).mean() > 0.005, method


@pytest.mark.parametrize("fraction", [0.01, 0.03, 0.05])
@pytest.mark.parametrize("data", ["wine", "ecoli"])
@pytest.mark.filterwarnings("ignore::bayesclust.families.TiedColumnsWarning")
def test_dispersed_chains_agree(data, fraction):
    if data not in bc.datasets.names(installed=True):
        pytest.skip(f"the files of {data} come with the extra `datasets`")
    items, noise = sources.load(data), {"fraction": fraction, "error_rate": 0.1}
    links = bc.PairwiseConstraints.sample(items.y, **noise, seed=0)
    est = bc.TVClust(cluster_model="single", num_samples=5000, random_state=0, progress=False)
    est.fit(sources.standardized(items.X), constraints=links)
    followed = bc.diagnose(est, seed=0).table
    rhat = followed[followed["state"] != "constant"]["rhat"].fillna(np.inf)
    assert rhat.max() < 1.05, rhat.idxmax()
