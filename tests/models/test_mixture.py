"""The program of clusters that are mixtures against the density that its sampler keeps."""

import numpy as np
import pytest

from bayesclust.constraints.stored import noise_names
from bayesclust.families import get_family
from bayesclust.models import log_joint, tvclust_mixture
from bayesclust.partition_priors import DirichletProcess
from bayesclust.partition_priors.nested import WITHIN, nested_log_prob
from tests.families.reference import log_conditional
from tests.models.test_tvclust import T, Z, answers, data_for, density, drawn, log_labels

C = np.array([1, 0, 3, 1, 0, 3])
S = 4
PRIORS = DirichletProcess(), WITHIN


def within_labels(beta):
    """log p(components | clusters, beta), and log p(sticks | all labels) as a function."""
    parts = [log_labels(C[g == Z], beta, S) for g in range(T)]

    def given(sticks):
        return sum(log_prob(stick) for (_, log_prob), stick in zip(parts, sticks, strict=True))

    return sum(value for value, _ in parts), given


@pytest.mark.parametrize(("name", "power"), [("gaussian", 1.0), ("poisson", 0.3)])
def test_program_and_collapsed_joint_are_one_model(name, power):
    """Candidate's identity, as for the plain model."""
    X, views, family = data_for(name), answers(), get_family(name)
    bound = family.bind(X).coarsened(power)
    options = {"truncation": T, "within_truncation": S, "power": power}
    params = drawn(tvclust_mixture, X, views, family, **options) | {"z": Z, "component": C}
    total = density(tvclust_mixture, (X, views, family), options, params)
    hyper = np.array([float(params.get(prior.name, prior.median)) for prior in bound.hyper_priors])
    alpha, beta = float(params["concentration"]), float(params["within_concentration"])
    noise = [{k: params[own[k]] for k in own} for own in noise_names(views)]
    values, within_values = {"concentration": alpha}, {"concentration": beta}
    at = {"values": values, "within_values": within_values, "hyper": hyper, "noise": noise}
    collapsed = log_joint(Z, bound, Z * S + C, constraints=views, **at)
    (labelled, sticks), (below, within) = log_labels(Z, alpha, T), within_labels(beta)
    collapsed += (
        labelled
        + below
        - nested_log_prob(Z * S + C, Z, *PRIORS, values, within_values)
        - np.log(hyper[bound.free]).sum()
    )
    by_program = total - log_conditional(bound, hyper, Z * S + C, T * S, params)
    by_program -= sticks(params["stick"]) + within(params["within_stick"])
    assert by_program == pytest.approx(collapsed, abs=1e-8)


def test_a_component_in_two_clusters_is_impossible():
    assert nested_log_prob([0, 0], [0, 1], *PRIORS, *(2 * [{"concentration": 1.0}])) == -np.inf
