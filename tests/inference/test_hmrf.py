"""The Gibbs sampler of the random field: exact posteriors of few items, Geweke's joint test, and the way to MPCK-Means."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

import bayesclust as bc
from bayesclust.inference.hmrf import FieldProblem, HMRFChain, anneal, draw_metric
from bayesclust.inference.limits.mpck.descend import Settings, search
from bayesclust.inference.limits.mpck.forms import FORMS
from bayesclust.inference.limits.mpck.metric import FarPairs, Pull, value
from bayesclust.models.hmrf import Field, hmrf_log_joint
from tests.inference.limits.mpck import plain

VARIANTS = [(None, False), ("diagonal", False), ("diagonal", True), ("full", False), ("full", True)]


def posed(rng, field, n=8, d=2, links=8, K=2):
    X, pairs, may, _ = plain.random_problem(rng, n, d, links)
    return FieldProblem.of(X, (bc.PairwiseConstraints(pairs, may, n),), K, field)


@pytest.mark.parametrize(("metric", "per_cluster"), VARIANTS)
def test_the_chain_s_log_joint_is_the_model_s(rng, metric, per_cluster):
    for temperature in (2.0, 0.6):
        problem = posed(
            rng, Field(metric, per_cluster, temperature, same=0.5, prior_items=1.5), n=10, d=3, K=3
        )
        chain = HMRFChain(problem, rng.integers(0, 3, 10), rng)
        for _ in range(4):
            chain.sweep()
            centers, A = chain.in_units()
            wanted = hmrf_log_joint(
                chain.z, centers, A, problem.problem.X, problem.views, problem.field
            )
            assert chain.log_joint() == pytest.approx(wanted)


def exact_labels(problem, per_cluster):
    """log p(z) of all labels of items on a line: centres integrated by hand, metrics by a grid over log A."""
    X, field, K = problem.problem.X[:, 0], problem.field, problem.problem.n_clusters
    T, C, links = field.temperature, X.var(), problem.problem.links
    log_a = np.linspace(-14, 10, 6001)
    a, widest, prior = np.exp(log_a), np.ptp(X) ** 2, field.center_scale**2 * X.var()

    def of_cluster(x):
        """log of the integral over a centre of exp(-a sum (x - m)^2 / T) times its prior, for every a."""
        if not len(x):
            return np.zeros_like(a)
        noise = T / (2 * len(x) * a)
        inside = -a * np.square(x - x.mean()).sum() / T
        return (
            inside
            + 0.5 * np.log(noise / (noise + prior))
            - 0.5 * (x.mean() - X.mean()) ** 2 / (noise + prior)
        )

    table = {}
    for z in itertools.product(range(K), repeat=len(X)):
        labels = np.array(z)
        parts = []
        for h in range(K) if per_cluster else [None]:
            mine = labels == h if per_cluster else np.ones(len(X), dtype=bool)
            number = mine.sum() + field.prior_items
            total = number * log_a / T - field.prior_items * a * C / T
            for k in [h] if per_cluster else range(K):
                total = total + of_cluster(X[labels == k])
            for (i, j), same, w in zip(links.pairs, links.may, links.weight, strict=True):
                gap = (X[i] - X[j]) ** 2
                if same and z[i] != z[j]:
                    share = 0.5 * ((z[i] == h) + (z[j] == h)) if per_cluster else 1.0
                    total = total - share * w * a * gap / T
                elif not same and z[i] == z[j] and (not per_cluster or z[i] == h):
                    total = total - w * a * (widest - gap) / T
            parts.append(logsumexp(total + log_a))
        table[z] = sum(parts)
    values = np.array(list(table.values()))
    return dict(zip(table, np.exp(values - logsumexp(values)), strict=True))


def distance_to_exact(problem, exact, sweeps, rng):
    chain = HMRFChain(problem, np.zeros(len(problem.problem.X), dtype=np.int64), rng)
    counts = dict.fromkeys(exact, 0)
    for _ in range(sweeps):
        chain.sweep()
        counts[tuple(chain.z.tolist())] += 1
    return 0.5 * sum(abs(counts[z] / sweeps - p) for z, p in exact.items())


@pytest.mark.parametrize("per_cluster", [False, True])
def test_labels_have_their_exact_posterior(rng, per_cluster):
    field = Field(
        "diagonal", per_cluster, temperature=1.3, same=0.3, different=0.4, prior_items=1.5
    )
    links = bc.PairwiseConstraints(
        [(0, 1), (1, 2), (2, 3), (0, 4)], [False, False, True, True], n_items=5
    )
    X = np.array([[0.0], [0.4], [1.5], [2.0], [3.5]])
    problem = FieldProblem.of(X, (links,), 2, field)
    exact = exact_labels(problem, per_cluster)
    assert distance_to_exact(problem, exact, 4000, rng) < 0.07
    # a sampler of another temperature is noticed
    other = exact_labels(
        FieldProblem.of(X, (links,), 2, Field("diagonal", per_cluster, 4.0, 0.3, 0.4, 1.5)),
        per_cluster,
    )
    assert 0.5 * sum(abs(exact[z] - other[z]) for z in exact) > 0.15


@pytest.mark.slow
@pytest.mark.parametrize("per_cluster", [False, True])
def test_labels_have_their_exact_posterior_to_a_hundredth(rng, per_cluster):
    field = Field(
        "diagonal", per_cluster, temperature=1.3, same=0.3, different=0.4, prior_items=1.5
    )
    links = bc.PairwiseConstraints(
        [(0, 1), (1, 2), (2, 3), (0, 4)], [False, False, True, True], n_items=5
    )
    problem = FieldProblem.of(np.array([[0.0], [0.4], [1.5], [2.0], [3.5]]), (links,), 2, field)
    assert distance_to_exact(problem, exact_labels(problem, per_cluster), 60_000, rng) < 0.02


@pytest.mark.parametrize("name", FORMS)
def test_metrics_have_their_full_conditional(rng, name):
    """Against draws that leave broken cannot-links aside, weighted by what these say."""
    form, r, T = FORMS[name], 2, 1.5
    points = rng.normal(size=(12, r))
    gaps, weights = points[:5] - points[5:10], np.full(5, 0.15)
    pull = Pull(13.0, form.scatter(points, np.ones(12)) + form.one(r), gaps, weights)
    X, pairs, may, _ = plain.random_problem(rng, 12, r, 0)
    problem = FieldProblem.of(X, (bc.PairwiseConstraints(pairs, may, 12),), 2, Field(name)).problem
    problem = problem._replace(points=points)
    plainly, far = pull._replace(gaps=gaps[:0], weights=weights[:0]), FarPairs(points)

    def functionals(A):
        inside = A if A.ndim == 1 else A[np.tril_indices(r)]
        return np.array([form.log_det(A), *inside])

    drawn, loose, log_weight = [], [], []
    for _ in range(1500):
        A = draw_metric(problem, pull, T, rng)
        assert A is not None
        drawn.append(functionals(A))
        B = draw_metric(problem, plainly, T, rng)
        loose.append(functionals(B))
        diameter = far.search(form, B)[0]
        log_weight.append((value(form, plainly, B, diameter) - value(form, pull, B, diameter)) / T)
    weight = np.exp(np.array(log_weight) - max(log_weight))
    weight /= weight.sum()
    expected = weight @ np.array(loose)
    error = np.sqrt(
        np.square(weight) @ np.square(np.array(loose) - expected)
        + np.var(drawn, axis=0) / len(drawn)
    )
    assert (np.abs(np.mean(drawn, axis=0) - expected) < 4 * error).all()
    assert (np.abs(np.mean(loose, axis=0) - expected) > 6 * error).any()


def redrawn(problem, z, centers, A, temperature, rng):
    """Items given all else: Gaussian with covariance T / 2 A^(-1)."""
    points = np.empty_like(problem.points)
    for i, k in enumerate(z):
        own = A[k if problem.per_cluster else 0]
        half = np.linalg.cholesky(
            np.linalg.inv(np.diag(own) if own.ndim == 1 else own) * temperature / 2.0
        )
        points[i] = centers[k] + half @ rng.normal(size=len(half))
    gaps = points[problem.links.pairs[:, 0]] - points[problem.links.pairs[:, 1]]
    return problem._replace(points=points, gaps=gaps)


def functionals(problem, z, centers, A):
    log_det = [problem.form.log_det(one) for one in A]
    points = problem.points
    return np.array(
        [
            z[0] == z[1],
            z[0] == z[2],
            np.tanh(centers).mean(),
            np.square(centers).mean(),
            np.mean(log_det),
            np.square(log_det).mean(),
            np.exp(-np.square(points[0] - points[1]).sum()),
            np.tanh(points.std(axis=0)).mean(),
            (z[0] == z[1]) * np.exp(-np.square(points[0] - points[1]).sum()),
        ],
        dtype=float,
    )


QUICK = [(None, False), ("diagonal", True)]


@pytest.mark.parametrize(
    ("metric", "per_cluster"),
    [
        pytest.param(*variant, marks=() if variant in QUICK else pytest.mark.slow)
        for variant in VARIANTS
    ],
)
def test_geweke(rng, metric, per_cluster):
    """Answers at constant costs without a metric, a metric at T = 2 without answers: there the field can be drawn from."""
    n, K, T = 6, 2, 2.0 if metric else 6.0
    field = Field(
        metric, per_cluster, T, same=0.7, different=0.9, prior_items=4.0, center_scale=1.5
    )
    X, pairs, may, _ = plain.random_problem(rng, n, 2, 0 if metric else 5)
    start = FieldProblem.of(X, (bc.PairwiseConstraints(pairs, may, n),), K, field)
    problem, links = start.problem, start.problem.links
    labels = np.array(list(itertools.product(range(K), repeat=n)))
    weight = np.exp([-links.weight[links.broken(z)].sum() / T for z in labels])
    r, H = problem.points.shape[1], problem.n_metrics
    none = Pull(
        field.prior_items, field.prior_items * problem.form.one(r), np.empty((0, r)), np.empty(0)
    )
    half = np.linalg.cholesky(np.linalg.inv(start.center_precision))

    def prior():
        z = labels[rng.choice(len(labels), p=weight / weight.sum())]
        A = (
            np.stack([draw_metric(problem, none, T, rng) for _ in range(H)])
            if metric
            else np.ones((1, r))
        )
        centers = rng.normal(size=(K, r)) @ half.T
        return redrawn(problem, z, centers, A, T, rng), z, centers, A

    number = 2000
    expected = np.array([functionals(*prior()) for _ in range(number)])
    first, z, centers, A = prior()
    chain = HMRFChain(start._replace(problem=first), z, rng)
    chain.centers, chain.metrics = centers, chain.metrics._replace(A=A)
    found = np.empty_like(expected)
    for row in found:
        chain.sweep()
        world = redrawn(chain.posed.problem, chain.z, chain.centers, chain.metrics.A, T, rng)
        chain.posed = chain.posed._replace(problem=world)
        row[:] = functionals(world, chain.z, chain.centers, chain.metrics.A)
    batches = found.reshape(40, -1, found.shape[1]).mean(axis=1)
    error = np.sqrt(
        np.maximum(batches.var(axis=0), found.var(axis=0) / number) / 40
        + expected.var(axis=0) / number
    )
    score = np.abs(found.mean(axis=0) - expected.mean(axis=0)) / np.maximum(error, 1e-12)
    assert (score < 4.5).all(), score.round(1)


@pytest.mark.parametrize(("metric", "per_cluster"), VARIANTS)
def test_annealing_arrives_at_fixed_points_of_mpck_means(rng, metric, per_cluster):
    at_once = []
    for _ in range(3):
        problem = posed(
            rng, Field(metric, per_cluster, same=0.5, different=0.5), n=20, links=12, K=2
        )
        end, path = anneal(problem, rng.integers(0, 2, 20), rng, sweeps=120)
        assert np.mean(path[-10:]) < np.mean(path[:10])
        assert end.converged
        # what was left to do at temperature zero
        at_once.append(path[-1] - end.objective)
        best = search(problem.problem, Settings(), 10, rng).objective
        assert end.objective <= best + 0.15 * abs(best) + 5.0
    assert np.median(at_once) < 0.05


def test_a_chain_goes_on_from_its_snapshot(rng):
    from bayesclust.inference.snapshots import from_text, to_text

    problem = posed(rng, Field("full", True), n=12)
    chain = HMRFChain(problem, rng.integers(0, 2, 12), np.random.default_rng(1))
    chain.sweep()
    kept = from_text(to_text(chain.snapshot()))
    other = HMRFChain(problem, np.zeros(12, dtype=np.int64), np.random.default_rng(2))
    other.restore(kept)
    for _ in range(3):
        chain.sweep()
        other.sweep()
    assert (chain.z == other.z).all()
    assert chain.log_joint() == other.log_joint()
