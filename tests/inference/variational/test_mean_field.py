"""Bound, sweep and terms of the answers: against plain loops and exact evidence."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import betaln, logsumexp, softmax

from bayesclust.constraints import LabelConstraints, LabelNoise, LinkNoise
from bayesclust.constraints.factor_graph import stack_tables
from bayesclust.families import FAMILIES
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.variational.answers import SoftAnswers
from bayesclust.inference.variational.fit import HyperAscent
from bayesclust.inference.variational.mean_field import MeanField, Task
from bayesclust.partition_priors import DirichletProcess
from tests.exactness import exact
from tests.exactness.cases import all_views, data_for, known_views, learned, problem
from tests.inference.variational import plain
from tests.inference.variational.test_weights import PRIORS

ROUNDING = 1e-9


def start(case, number=4, seed=0, **options):
    r = np.random.default_rng(seed).dirichlet(np.ones(number), size=case.n_items)
    return MeanField(Task(case), r, case.family.initial_hyper(), **options)


@pytest.mark.parametrize("freeze_noise", [False, True])
def test_a_sweep_is_plain_coordinate_ascent(freeze_noise):
    case = problem("gaussian", n=7)
    state = start(case, freeze_noise=freeze_noise)
    logits, tables = state.expected_logits(state.expected_table()), []
    for view, counts in zip(case.constraints, state.counts, strict=True):
        noise = view.noise.initial(view.n_sources)
        tables.append(
            view.noise.log_table(noise) if freeze_noise else view.noise.expected_log_table(counts)
        )
    order = np.concatenate([step.items for step in state.task.answers.steps])
    expected = plain.sweep(case.constraints, tables, logits, state.r, order)
    state.sweep()
    found = state.r[:, np.argsort(-expected.sum(axis=0), kind="stable").argsort()]
    np.testing.assert_allclose(found, expected, atol=1e-9)


LEARNED = PRIORS["dirichlet process, learned"]


RISING = [(name, 2, LEARNED) for name in ("labels", *FAMILIES)]
RISING += [("gaussian", d, prior) for d, prior in zip([1, 3] * 3, PRIORS.values(), strict=True)]


@pytest.mark.parametrize(("name", "d", "prior"), RISING)
def test_bound_rises_and_stays_below_the_evidence(name, d, prior):
    labels = name == "labels"
    case = labelled(accuracy=(5.0, 1.0), alike=6.0)[0] if labels else problem(name, 6, d, seed=d)
    case = replace(case, partition_prior=prior)
    _, values = exact.log_posterior(case.family, case.constraints, prior)
    evidence = float(logsumexp(values)) + case.family.log_constant
    for seed in range(6 if labels else 3):
        state = start(case, number=prior.most_clusters or 6, seed=seed)
        path = [state.bound]
        for _ in range(40):
            state.sweep()
            path.append(state.bound)
        assert (np.diff(path) > -ROUNDING).all()
        assert path[0] + labels < path[-1] < evidence


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


def test_messages_and_counts(rng):
    views, r = all_views(7, rng), rng.dirichlet(np.ones(3), size=7)
    noise = [view.noise.sample_prior(view.n_sources, rng) for view in views]
    tables = [view.noise.log_table(params) for view, params in zip(views, noise, strict=True)]
    answers = SoftAnswers(views, 7)
    answers.use_table(stack_tables(views, noise))
    seen = []
    for step in answers.steps:
        seen.extend(step.items)
        for i, message in zip(step.items, step.messages(r), strict=True):
            values = []
            for k in range(3):
                hard = r.copy()
                hard[i] = np.arange(3) == k
                values.append(plain.expected_log_answers(views, tables, hard))
            change = np.array(values) - values[0]  # up to a constant
            np.testing.assert_allclose(message - message[0], change, atol=1e-10)
    assert sorted(seen) == list(range(7))
    for view, counts in zip(views, answers.counts(r), strict=True):
        np.testing.assert_allclose(counts, plain.soft_counts(view, r), atol=1e-12)
    assert SoftAnswers((), 7).counts(r) == []


ROWS = [(0, 0), (0, 1), (1, 0), (2, 1), (2, 1), (5, 1)]


def labelled(**noise):
    labels = LabelConstraints(ROWS, 6, source=[0, 1, 1, 0, 1, 0], noise=LabelNoise(**noise))
    case = problem("gaussian", n=6)
    return replace(case, constraints=(labels, *case.constraints)), labels


@pytest.mark.parametrize("freeze_noise", [False, True])
def test_labels_and_classes_are_updated_as_plain_loops_do(freeze_noise):
    case, labels = labelled(none=0.3)
    case = replace(case, constraints=(labels,))
    state = start(case, freeze_noise=freeze_noise)
    state.sweep()
    params = labels.noise.initial(2)
    expected = np.log(params["confusion"])
    if not freeze_noise:
        expected = labels.noise.expected_log_confusion(state.counts[0])
    terms = case.family.terms(state.statistics, state.hyper)
    logits = state.task.log_density(terms, 4) + state.weights.expected_log
    for (item, answer), source in zip(ROWS, labels.source, strict=True):
        for k, c in product(range(4), range(3)):
            logits[item, k] += state.classes[k, c] * expected[source, c, answer]
    r = softmax(logits, axis=1)
    r = r[:, np.argsort(-r.sum(axis=0), kind="stable")]
    classes = np.tile(np.log([0.35, 0.35, 0.3]), (4, 1))
    for (item, answer), source in zip(ROWS, labels.source, strict=True):
        classes += np.outer(r[item], expected[source, :, answer])
    classes = softmax(classes, axis=1)
    counts = np.zeros((2, 2, 3))
    for (item, answer), source in zip(ROWS, labels.source, strict=True):
        counts[source, answer] += r[item] @ classes
    state.sweep()
    np.testing.assert_allclose(state.r, r, atol=1e-12)
    np.testing.assert_allclose(state.classes, classes, atol=1e-12)
    np.testing.assert_allclose(state.counts[0], counts.reshape(4, 3), atol=1e-12)


def test_with_labels_of_one_component_it_is_nearly_the_evidence_of_one_cluster():
    """With noise that is nearly known, all of it but what is lost by the class apart from noise."""
    case, labels = labelled(accuracy=(6e5, 1e5), alike=1e5, none=0.0)
    whole = start(replace(case, constraints=(labels,)), number=1, freeze_noise=True)
    none = start(replace(case, constraints=()), number=1)
    said = labels.log_prob(np.zeros(6, int), labels.noise.initial(2))
    assert whole.bound - none.bound == pytest.approx(said, rel=1e-6)
