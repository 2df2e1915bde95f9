"""The bound and the sweep: against plain loops, exact evidence and known cases; monotone at every step."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln, logsumexp

from bayesclust.constraints import LinkNoise, PairwiseConstraints
from bayesclust.families import FAMILIES
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.variational.fit import HyperAscent
from bayesclust.inference.variational.mean_field import MeanField, Task, softmax
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact
from tests.exactness.cases import all_views, data_for, fixed, known_views, learned, problem
from tests.inference.variational import plain

ROUNDING = 1e-9


def start(case, number=4, seed=0, **options):
    r = np.random.default_rng(seed).dirichlet(np.ones(number), size=case.n_items)
    return MeanField(Task(case), r, case.family.initial_hyper(), **options)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("freeze_noise", [False, True])
def test_a_sweep_is_plain_coordinate_ascent(name, freeze_noise):
    case = problem(name, n=7)
    state = start(case, freeze_noise=freeze_noise)
    logits, tables = state.expected_logits(), []
    for view, counts in zip(case.constraints, state.counts, strict=True):
        noise = view.noise.initial(view.n_sources)
        tables.append(
            view.noise.log_table(noise)
            if freeze_noise
            else view.noise.expected_log_table(counts, view.n_sources)
        )
    order = np.concatenate([step.items for step in state.task.answers.steps])
    expected = plain.sweep(case.constraints, tables, logits, state.r, order)
    state.sweep()
    found = state.r[:, np.argsort(-expected.sum(axis=0), kind="stable").argsort()]
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("freeze_noise", [False, True])
def test_no_colour_lowers_the_bound_under_held_factors(name, freeze_noise):
    case = problem(name, n=9, seed=1)
    state = start(case, seed=1, freeze_noise=freeze_noise)
    for _ in range(3):
        logits, r = state.expected_logits(), state.r.copy()
        table = state.expected_table()
        ends = np.cumsum([view.n_sources * view.n_answers for view in case.constraints])
        tables = [
            part[:, : view.n_patterns]
            for view, part in zip(case.constraints, np.split(table, ends[:-1]), strict=True)
        ]
        values = [plain.surrogate(case.constraints, tables, logits, r)]
        state.task.answers.use_table(table)
        for step in state.task.answers.steps:
            r[step.items] = softmax(logits[step.items] + step.messages(r))
            values.append(plain.surrogate(case.constraints, tables, logits, r))
        assert (np.diff(values) > -ROUNDING).all()
        assert values[-1] > values[0]
        # what the other factors then gain is not negative
        before = state.bound
        state.sweep()
        assert state.bound > before + values[-1] - values[0] - ROUNDING


@pytest.mark.parametrize("concentration", [DirichletProcess(0.8), DirichletProcess((2.0, 1.0))])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_never_above_the_evidence_and_never_falling(name, d, concentration):
    case = replace(problem(name, n=6, d=d, seed=d), partition_prior=concentration)
    _, values = exact.log_posterior(case.family, case.constraints, concentration)
    evidence = float(logsumexp(values)) + case.family.log_constant
    for seed in range(3):
        state = start(case, number=6, seed=seed)
        path = [state.bound]
        for _ in range(40):
            state.sweep()
            path.append(state.bound)
        assert (np.diff(path) > -ROUNDING).all()
        assert path[-1] > path[0]
        assert path[-1] < evidence


@pytest.mark.parametrize("name", FAMILIES)
def test_of_one_component_it_is_the_evidence_of_one_cluster(name):
    alpha = 0.8
    case = replace(problem(name, n=6), partition_prior=DirichletProcess(alpha))
    state = start(case, number=1)
    z = np.zeros(6, np.int64)
    expected = case.family.log_marginal(case.family.X, state.hyper) + case.family.log_constant
    expected += sum(float(view.noise.log_marginal(view.counts(z))) for view in case.constraints)
    expected += betaln(7.0, alpha) - betaln(1.0, alpha)  # all items on the first stick
    expected += case.family.log_shared_prior(state.hyper)
    assert state.bound == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_near_the_evidence_where_the_posterior_is_one_partition(d, rng):
    """Two far groups and answers that are all but certain leave one partition; what is lost is that sticks have an order."""
    z, alpha = np.array([0, 0, 0, 0, 1, 1]), 1.0
    X = rng.normal(size=(6, d)) * 0.1 + 100.0 * z[:, None]
    noise = LinkNoise(p=1 - 1e-6, q=1 - 1e-6)
    pairs = [(i, j) for i in range(6) for j in range(i)]
    links = PairwiseConstraints(pairs, [z[i] == z[j] for i, j in pairs], 6, noise=noise)
    case = TVClustProblem(fixed(FAMILIES["gaussian"]).bind(X), (links,), DirichletProcess(alpha))
    states, values = exact.log_posterior(case.family, case.constraints, case.partition_prior)
    evidence, mode = float(logsumexp(values)), states[np.argmax(values)]
    assert np.array_equal(mode, z)
    assert np.exp(values.max() - evidence) > 1 - 1e-5
    state = MeanField(Task(case), np.eye(2)[z], case.family.initial_hyper())
    for _ in range(20):
        state.sweep()
    # p(partition) / p(these labels) = alpha^2 Gamma(alpha) Gamma(4) Gamma(2) / Gamma(alpha + 6) /
    # (B(5, a + 2) B(3, a) a^2)
    order = (
        DirichletProcess(alpha).log_prob(np.array([4, 2]), {"concentration": alpha})
        - betaln(5.0, alpha + 2.0)
        - betaln(3.0, alpha)
        - 2 * np.log(alpha)
    )
    assert order > 0
    assert evidence + case.family.log_constant - state.bound == pytest.approx(order, abs=1e-4)


@pytest.mark.parametrize("name", FAMILIES)
def test_learned_hyper_parameters_climb_to_a_maximum(name, rng):
    family = learned(FAMILIES[name])
    bound = family.bind(data_for(family, 30, 2, rng))
    state = start(TVClustProblem(bound), seed=3)
    ascent, path = HyperAscent(bound.free), [state.bound]
    for _ in range(60):
        ascent.climb(state)
        path.append(state.bound)
    assert (np.diff(path) >= 0).all()
    assert path[-1] > path[0]
    for j in bound.free:
        for factor in (0.98, 1.02):
            other = state.hyper.copy()
            other[j] *= factor
            assert state.data_bound_at(other) <= state.data_bound + ROUNDING


def test_known_noise_and_trusted_noise_agree(rng):
    """Where every rate is known, trusting the prior mean is no assumption."""
    views = known_views(7, rng)
    views = (views[0].with_noise(LinkNoise(p=0.95, q=0.8)), *views[1:])
    case = replace(problem("gaussian", n=7), constraints=views)
    assert start(case, freeze_noise=True).bound == pytest.approx(start(case).bound, rel=1e-12)


def test_rows_in_chunks_give_the_same(monkeypatch, rng):
    case = replace(problem("gaussian", n=23), constraints=all_views(23, rng))
    whole = start(case)
    monkeypatch.setattr("bayesclust.inference.variational.mean_field.CHUNK", 24)
    parts = start(case)
    for _ in range(3):
        whole.sweep()
        parts.sweep()
    np.testing.assert_allclose(parts.r, whole.r, atol=1e-10)
    assert parts.bound == pytest.approx(whole.bound, rel=1e-12)
