"""The random field of MPCK-Means as a NumPyro program, against its exact log joint and plain loops."""

import numpy as np
import pytest
from numpyro.infer.util import log_density

import bayesclust as bc
from bayesclust.models.hmrf import Field, hmrf, hmrf_log_joint
from tests.inference.limits.mpck import plain

VARIANTS = [(None, False), ("diagonal", False), ("diagonal", True), ("full", False), ("full", True)]


def state(rng, metric, per_cluster, n=9, d=3, K=3):
    X, pairs, may, _ = plain.random_problem(rng, n, d, 10)
    H = K if per_cluster else 1
    A = {
        "diagonal": rng.gamma(2.0, size=(H, d)),
        "full": np.stack([np.cov(rng.normal(size=(d, 8))) for _ in range(H)]),
    }
    sites = {"z": rng.integers(0, K, n), "center": rng.normal(size=(K, d)), "metric": A.get(metric)}
    return (
        X,
        bc.PairwiseConstraints(pairs, may, n),
        {name: value for name, value in sites.items() if value is not None},
    )


@pytest.mark.parametrize(("metric", "per_cluster"), VARIANTS)
def test_program_and_log_joint_are_the_paper_s_energy(rng, metric, per_cluster):
    field = Field(
        metric,
        per_cluster,
        temperature=0.7,
        same=0.4,
        different=1.3,
        prior_items=2.0,
        center_scale=2.5,
    )
    for _ in range(5):
        X, links, sites = state(rng, metric, per_cluster)
        z, center, A = sites["z"], sites["center"], sites.get("metric")
        weight = np.where(links.answers == 1, 0.4, 1.3)
        terms = (X, z, center)
        answers = (links.items, links.answers == 1, weight)
        if metric is None:
            J = plain.plain_objective(*terms, *answers)
        else:
            each = plain.matrices(A if per_cluster else A[0], 3, metric == "diagonal")
            J = plain.objective(*terms, each, *answers, 2.0, per_cluster, metric == "diagonal")
        C = np.cov(X, rowvar=False, bias=True)
        spread = 2.5**2 * (C if metric == "full" else np.diag(np.diag(C)))
        wanted = -J / 0.7 - 9 * np.log(3)
        for row in center - X.mean(axis=0):
            wanted -= 0.5 * (
                row @ np.linalg.solve(spread, row) + np.linalg.slogdet(2 * np.pi * spread)[1]
            )
        assert hmrf_log_joint(z, center, A, X, [links], field) == pytest.approx(wanted)
        program, _ = log_density(hmrf, (X, 3, links, field), {}, sites)
        assert float(program) == pytest.approx(wanted)


def test_enumerated_labels_are_refused():
    X = np.arange(8.0).reshape(4, 2)
    sites = {
        "z": np.zeros((2, 1), dtype=int),
        "center": np.zeros((2, 2)),
        "metric": np.ones((1, 2)),
    }
    with pytest.raises(ValueError, match=r"^the labels z arrived enumerated"):
        log_density(hmrf, (X, 2), {}, sites)


@pytest.mark.parametrize(
    ("field", "X", "sentence"),
    [
        (
            Field(),
            [[1.0, 2.0], [1.0, 3.0]],
            "X has the same value in all of column 0: drop the column.",
        ),
        (
            Field("full"),
            [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]],
            "X does not spread in all directions: drop columns that others give, or choose another metric.",
        ),
    ],
)
def test_data_without_spread_are_refused(field, X, sentence):
    with pytest.raises(ValueError, match=r"^X ") as caught:
        hmrf_log_joint([0] * len(X), np.zeros((1, 2)), None, X, [], field)
    assert str(caught.value) == sentence


def test_settings_out_of_range():
    for settings in (
        {"temperature": 0.0},
        {"prior_items": 0.0},
        {"same": -1.0},
        {"metric": "round"},
    ):
        with pytest.raises(ValueError, match=next(iter(settings))):
            Field(**settings)
