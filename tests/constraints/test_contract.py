"""The contract of every kind of constraints with a table, under every noise model."""

import importlib
import inspect
import pickle
import pkgutil
import re
from itertools import product

import numpy as np
import pytest

import bayesclust.constraints as package
import docs.skeletons.constraint  # noqa: F401  (one kind outside the package)
from bayesclust._numba import kernel
from bayesclust.constraints import Constraints, NoiseModel
from bayesclust.constraints.factor_graph import (
    add_site_logits,
    compile_sites,
    log_prob_touching,
    stack_tables,
)
from tests.constraints.known import KNOWN, fold

N, M, S = 9, 60, 3


def concrete(base):
    """All classes below `base` that can be instantiated, those of users among them."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    found, queue = [], [base]
    while queue:
        queue += queue.pop().__subclasses__()
        found += [kind for kind in queue[-1:] if not inspect.isabstract(kind) and kind not in found]
    # what `queries` has is made of another kind and its noise
    elsewhere = r"tests\.|bayesclust\.(?!constraints)|bayesclust\.constraints\.queries"
    found = [kind for kind in found if not re.match(elsewhere, kind.__module__)]
    return sorted(found, key=lambda kind: kind.__name__)


KINDS = [kind for kind in concrete(Constraints) if len(kind.members) > 1]
NOISES = concrete(NoiseModel)
MODELS = [noise() for noise in NOISES] + KNOWN
COMBINATIONS = [(view, noise) for view, noise in product(KINDS, MODELS) if view.kind == noise.kind]


def random_constraints(kind, rng, noise=None, m=M):
    items = np.array([rng.choice(N, len(kind.members), replace=False) for _ in range(m)])
    source = rng.permutation(np.arange(m) % S)
    return kind(items, rng.integers(len(kind.vocabulary), size=m), N, source=source, noise=noise)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def view(request, rng):
    return random_constraints(request.param, rng)


@pytest.fixture(params=COMBINATIONS, ids=lambda pair: f"{pair[0].__name__}-{pair[1]}"[:70])
def noisy(request, rng):
    kind, noise = request.param
    return random_constraints(kind, rng, noise)


def test_all_classes_are_found():
    assert {"PairwiseConstraints", "RelativeConstraints", "OddOneOut"} <= {
        kind.__name__ for kind in KINDS
    }
    assert {"LinkNoise", "UniformNoise", "ConfusionNoise", "OddNoise"} <= {
        kind.__name__ for kind in NOISES
    }
    assert {view for view, _ in COMBINATIONS} == set(KINDS)


def plain_pattern(labels):
    """Equality pattern from its definition in words."""
    if len(labels) == 2:
        return 0 if labels[0] == labels[1] else 1
    i, j, k = labels
    together = [i == j == k, i == j != k, i == k != j, j == k != i]
    return together.index(True) if any(together) else 4


def test_counts_and_log_prob_agree_with_a_plain_loop(noisy, rng):
    z = rng.integers(4, size=N)
    params = noisy.noise.sample_prior(S, rng)
    confusion = noisy.noise.confusion(params)
    counts = np.zeros((S * noisy.n_answers, noisy.n_patterns), dtype=int)
    log_prob = 0.0
    for items, answer, source in zip(noisy.items, noisy.answers, noisy.source, strict=True):
        pattern = plain_pattern([int(z[item]) for item in items])
        counts[source * noisy.n_answers + answer, pattern] += 1
        log_prob += np.log(
            max(confusion[source, noisy.truth[pattern], answer], np.finfo(float).tiny)
        )
    np.testing.assert_array_equal(noisy.counts(z), counts)
    assert counts.any(axis=0).all(), "the data must show every pattern"
    assert noisy.log_prob(z, params) == pytest.approx(log_prob)
    assert isinstance(noisy.log_prob(z, params), float)


compiled_logits = kernel(lambda *given: add_site_logits(*given), cache=False)


def test_compiled_factors_are_differences_of_log_prob(noisy, rng):
    """The kernels of samplers against the definition, for every choice of cluster of an item."""
    params = noisy.noise.sample_prior(S, rng)
    sites, table = compile_sites([noisy], N), stack_tables([noisy], [params])
    mark, seen = np.zeros(N, np.int64), set()
    for i in range(N):
        z = rng.integers(4, size=N)
        tried = np.tile(z, (5, 1))
        tried[:, i] = np.arange(5)
        mine = (noisy.items == i).any(axis=1)
        seen |= set(noisy.patterns(tried)[:, mine].ravel().tolist())
        values = noisy.log_prob(tried, params)
        logits = np.zeros(5)
        compiled_logits(sites, table, z, i, logits)
        np.testing.assert_allclose(logits, values - values[-1], atol=1e-9)
        one = log_prob_touching(sites, table, z, np.array([i]), mark)
        assert one == pytest.approx(table[sites.code, sites.patterns(z)][mine].sum())
    assert seen == set(range(noisy.n_patterns))
    everyone = log_prob_touching(sites, table, z, np.arange(N), mark)
    assert everyone == pytest.approx(noisy.log_prob(z, params))
    assert not mark.any()


def test_leading_axes_of_z_and_of_the_noise_are_batches(noisy, rng):
    z = rng.integers(4, size=(2, 3, N))
    drawn = [noisy.noise.sample_prior(S, rng) for _ in range(6)]
    params = {
        name: np.array([draw[name] for draw in drawn]).reshape(2, 3, *drawn[0][name].shape)
        for name in drawn[0]
    }
    log_prob = noisy.log_prob(z, params)
    log_prior, log_marginal = (
        noisy.noise.log_prior(params),
        noisy.noise.log_marginal(noisy.counts(z)),
    )
    for cell, one in zip(np.ndindex(2, 3), drawn, strict=True):
        assert log_prob[cell] == pytest.approx(noisy.log_prob(z[cell], one))
        np.testing.assert_array_equal(noisy.truths(z)[cell], noisy.truths(z[cell]))
        assert log_marginal[cell] == pytest.approx(noisy.noise.log_marginal(noisy.counts(z[cell])))
        if noisy.noise.free:
            assert log_prior[cell] == pytest.approx(noisy.noise.log_prior(one))


def test_the_table_holds_distributions_over_answers(noisy, rng):
    noise = noisy.noise
    table = noise.log_table(noise.sample_prior(S, rng))
    assert table.shape == (S * noisy.n_answers, noisy.n_patterns)
    total = np.exp(table).reshape(S, noisy.n_answers, -1).sum(axis=1)
    np.testing.assert_allclose(total, 1)
    assert tuple(noisy.truth) == noise.truth
    assert noise.n_answers == noisy.n_answers


def test_statements_hold_where_the_answer_is_true(view):
    for z in product(range(3), repeat=3):
        labels = np.resize(z, N)
        true = view.truths(labels) == view.said
        held = view.satisfied(labels)
        if view.kind == "relative":  # "closer" says less than the probabilistic models read into it
            held |= true
            true |= held
        np.testing.assert_array_equal(held, true)


def test_frames_and_rows_give_the_constraints_back(view):
    frame = view.to_frame()
    assert list(frame.columns) == [*view.members, "answer", "source"]
    assert [view.vocabulary.index(word) for word in frame["answer"]] == view.answers.tolist()
    again = type(view).from_frame(frame, n_items=N)
    names = np.array([f"item {i}" for i in range(N)])
    table = frame.assign(**{m: names[view.items[:, t]] for t, m in enumerate(view.members)})
    named = type(view).from_frame(table, ids=names)
    rows = type(view).from_rows(view.rows, N)
    for other in (again, named, rows):
        np.testing.assert_array_equal(other.items, view.items)
        np.testing.assert_array_equal(other.answers, view.answers)
    np.testing.assert_array_equal(named.source, view.source)
    assert named.to_frame()[[*view.members]].equals(table[[*view.members]])


def test_costs_are_limits_of_the_noise(view):
    """A unit of confidence in an answer costs what its probability falls by, up to a constant."""
    costs = view.costs(view.unit_confidence())
    assert costs.shape == (S, view.n_answers, 5)
    np.testing.assert_array_equal(view.confidence_of(costs), view.unit_confidence())
    right = np.argmin(costs[0, :, : view.n_patterns], axis=0)
    np.testing.assert_array_equal(view.said_by(right), view.truth)


@pytest.mark.parametrize("noise", NOISES, ids=lambda kind: kind.__name__)
def test_every_parameter_is_sampled_by_default(noise, rng):
    model = noise()
    assert model.free == tuple(model.parameters) == tuple(model.initial(S))
    drawn = model.sample_prior(S, rng)
    assert all((drawn[name] != model.initial(S)[name]).all() for name in model.free)


def test_answers_are_more_likely_right_than_wrong_by_default(view):
    confusion = view.noise.confusion(view.noise.initial(S))
    said = view.said_by(np.arange(view.n_answers))
    for truth in set(view.truth.tolist()):
        assert (confusion[:, truth, said == truth].sum(axis=-1) > 0.5).all()


def test_simulated_answers_follow_the_confusion_matrix(noisy, rng):
    z, params = rng.integers(3, size=N), noisy.noise.sample_prior(S, rng)
    copies = 400
    many = type(noisy)(
        np.tile(noisy.items, (copies, 1)),
        np.tile(noisy.answers, copies),
        N,
        source=np.tile(noisy.source, copies),
        noise=noisy.noise,
    )
    drawn = many.simulate(z, params, rng)
    folded = fold(noisy.noise, drawn.counts(z))
    asked = folded.sum(axis=-1)
    expected = noisy.noise.confusion(params)[asked > 0]
    error = np.abs(folded[asked > 0] / asked[asked > 0, None] - expected)
    spread = np.sqrt(expected * (1 - expected) / asked[asked > 0, None])
    assert (error <= 4.5 * spread + 1e-12).all()
    np.testing.assert_array_equal(drawn.flipped, drawn.said != drawn.truths(z))
    np.testing.assert_array_equal(drawn.items, many.items)


def test_restrict_keeps_the_answers_among_the_items(view, rng):
    drawn = view.simulate(rng.integers(3, size=N), view.noise.initial(S), rng)
    kept = np.array([5, 0, 7, 3, 8, 1])
    small = drawn.restrict(kept)
    rows = [row for row in range(M) if set(drawn.items[row].tolist()) <= set(kept.tolist())]
    assert 0 < len(small) == len(rows) < M
    assert [set(kept[items].tolist()) for items in small.items] == [
        set(drawn.items[row].tolist()) for row in rows
    ]
    np.testing.assert_array_equal(small.answers, drawn.answers[rows])
    np.testing.assert_array_equal(small.flipped, drawn.flipped[rows])
    z = rng.integers(3, size=N)
    np.testing.assert_array_equal(small.patterns(z[kept]), drawn.patterns(z)[rows])
    assert (small.n_items, small.n_sources, len(drawn)) == (6, S, M)
    mask = np.arange(N) % 2 == 0
    by_index = view.restrict(np.flatnonzero(mask))
    np.testing.assert_array_equal(view.restrict(mask).items, by_index.items)


def test_with_answers_leaves_the_first_view_alone(view):
    before = view.answers.copy()
    other = view.with_answers(np.zeros(M, dtype=int))
    assert (other.answers == 0).all()
    assert other.flipped is None
    np.testing.assert_array_equal(view.answers, before)
    words = view.with_answers([view.vocabulary[code] for code in view.answers])
    np.testing.assert_array_equal(words.answers, view.answers)


def test_arrays_are_read_only_and_not_the_callers(view):
    for array in (view.items, view.answers, view.source):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    items, answers = np.array(view.items), np.array(view.answers)
    other = type(view)(items, answers, N)
    items[:] = answers[:] = 0
    np.testing.assert_array_equal(other.items, view.items)
    np.testing.assert_array_equal(other.answers, view.answers)


def test_repr_says_what_is_inside(view):
    text = repr(view)
    for word, count in zip(view.vocabulary, np.bincount(view.answers), strict=True):
        assert f"{count} {word}" in text
    assert f"from {S} sources, on {N} items" in text


def test_a_view_without_answers_says_nothing(view, rng):
    empty = type(view)([], [], N)
    z, params = rng.integers(3, size=(4, N)), empty.noise.initial(1)
    assert (len(empty), empty.n_sources) == (0, 1)
    np.testing.assert_array_equal(empty.log_prob(z, params), np.zeros(4))
    assert empty.noise.log_marginal(empty.counts(z[0])) == pytest.approx(0)
    assert len(empty.to_frame()) == len(empty.restrict([1, 2, 3])) == 0


def test_a_view_survives_pickling(noisy):
    again = pickle.loads(pickle.dumps(noisy))
    np.testing.assert_array_equal(again.items, noisy.items)
    assert (again.noise, again.name, again.n_sources) == (noisy.noise, noisy.name, S)


def soft_counts(view, rng):
    """Expected counts under labels drawn at random."""
    return view.counts(rng.integers(4, size=(5, N))).mean(axis=0)


def test_evidence_of_soft_counts_grows_by_the_expected_table(noisy, rng):
    """log_marginal is a log normaliser: its gradient by the counts is E[log p]."""
    noise, counts, step = noisy.noise, soft_counts(noisy, rng), 1e-4
    assert (counts % 1 > 0).any()
    expected = np.empty_like(counts)
    for cell in np.ndindex(counts.shape):
        up, down = counts.copy(), counts.copy()
        up[cell] += step
        down[cell] -= step
        expected[cell] = (noise.log_marginal(up) - noise.log_marginal(down)) / (2 * step)
    np.testing.assert_allclose(noise.expected_log_table(counts), expected, rtol=1e-5, atol=1e-6)


def test_expected_table_is_the_mean_over_posterior_draws(noisy, rng):
    noise, counts = noisy.noise, soft_counts(noisy, rng)
    times = 4000
    drawn = noise.draw(np.broadcast_to(counts, (times, *counts.shape)), noise.initial(S), rng)
    # known parameters come back without the batch axis of the counts
    drawn = {
        name: np.broadcast_to(v, (times, *v.shape[-len(noise.parameters[name]) :]))
        for name, v in drawn.items()
    }
    tables = noise.log_table(drawn)
    error = 5 * tables.std(axis=0) / np.sqrt(times) + 1e-9
    assert (np.abs(tables.mean(axis=0) - noise.expected_log_table(counts)) < error).all()
