"""DCRC's Gibbs sampler: exact posteriors by enumeration, Geweke's joint test, calibration, intervals that cover."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise
from bayesclust.inference.dcrc.gibbs import DCRCChain, DCRCProblem
from bayesclust.inference.dcrc.weights import WeightObjective, WeightSampler
from bayesclust.models.dcrc import WeightPrior
from tests.exactness import exact
from tests.exactness.cases import all_views, known_views, links, triplets
from tests.exactness.dcrc import (
    World,
    labels_drawn,
    on_more_items,
    posterior_at,
    posterior_of_partitions,
    with_anchors,
)
from tests.exactness.generative import answers_given
from tests.exactness.test_calibration import DRAWS, p_values
from tests.exactness.test_geweke import LIMIT, assert_agree, standard_error

N, K = 6, 3
PRIOR = WeightPrior(precision=0.7, bias_scale=1.5, separation=2.0, balance=3.0)
LEARNED = WeightPrior(precision=(2.0, 1.5), bias_scale=1.5, separation=2.0, balance=3.0)
UNEVEN = WeightPrior(
    precision=0.7, bias_scale=1.5, separation=1.0, balance=2.0, proportions=(0.6, 0.4)
)


def case(views=all_views, seed=1, prior=None, K=K, d=2):
    """A problem with answers of every kind about all items but the last."""
    rng = np.random.default_rng(seed)
    answered = tuple(on_more_items(view, N) for view in views(N - 1, rng))
    return DCRCProblem(rng.normal(size=(N, d)), answered, rng.normal(size=(K, d + 1)), prior)


def compared(problem, number, seed, chain_type=DCRCChain):
    z, _ = labels_drawn(chain_type(problem, np.random.default_rng(seed)), number)
    states, values = posterior_at(problem)
    return exact.compare(with_anchors(z, K), with_anchors(states, K), values)


@pytest.mark.parametrize("views", [all_views, known_views])
def test_labels_given_the_weights(views):
    result = compared(case(views), 5000, 2)
    assert result.agrees, result
    assert result.number > 10


class AnswersTwice(DCRCChain):
    """Counts every answer twice when single labels are drawn."""

    def sweep(self, **options):
        self.table = 2 * self.table
        super().sweep(**options)


class BlindBlocks(DCRCChain):
    """Moves blocks as if all classes were equally probable."""

    def _move_blocks(self):
        log_p, self.log_p = self.log_p, np.zeros_like(self.log_p)
        super()._move_blocks()
        self.log_p = log_p


@pytest.mark.parametrize("fault", [AnswersTwice, BlindBlocks])
def test_faulty_labels_are_noticed(fault):
    assert not compared(case(), 16_000, 2, fault).agrees


def grid(prior, nodes=51, reach=6.0):
    """One weight and a bias of two classes, over a grid of their differences, which are all that matters, and log masses."""
    bias = np.linspace(-reach, reach, nodes)
    if isinstance(prior.precision, tuple):
        shape, rate = prior.precision  # a normal of Gamma precision is a t; slices of equal mass
        slope = stats.t.ppf((np.arange(151) + 0.5) / 151, 2 * shape) * np.sqrt(2 * rate / shape)
        mass = np.zeros(151)
    else:
        slope, mass = bias * np.sqrt(2 / prior.precision), -0.5 * bias**2
    half = (
        np.stack(
            np.meshgrid(slope, bias * np.sqrt(2) * prior.bias_scale, indexing="ij"), axis=-1
        ).reshape(-1, 2)
        / 2
    )
    return np.stack([half, -half], axis=1), np.add.outer(mass, -0.5 * bias**2).ravel()


def compared_partitions(problem, weights, log_mass, number, seed):
    """Partitions, and the length of the difference of two classes, against sums over weights."""
    z, W = labels_drawn(DCRCChain(problem, np.random.default_rng(seed)), number, warmup=300)
    partitions, values, by_weight = posterior_of_partitions(problem, weights, log_mass)
    result = exact.compare(z, partitions, values)
    mass = np.exp(by_weight - logsumexp(by_weight))
    for column in (
        (0, 1) if problem.prior.precision == PRIOR.precision else (1,)
    ):  # squares of a t are too wild to average
        expected = mass @ (weights[:, 0, column] - weights[:, 1, column]) ** 2
        found = (W[:, 0, column] - W[:, 1, column]) ** 2
        assert abs(found.mean() - expected) < LIMIT * standard_error(found), (
            column,
            expected,
            found.mean(),
        )
    return result


@pytest.mark.parametrize(
    "prior",
    [PRIOR, pytest.param(UNEVEN, marks=pytest.mark.slow), LEARNED],
    ids=["even", "uneven", "learned precision"],
)
def test_weights_drawn_too(prior):
    problem = case(seed=3, prior=prior, K=2, d=1)
    result = compared_partitions(problem, *grid(prior), 3000, 4)
    assert result.agrees, result
    assert result.number > 2


@pytest.mark.slow
def test_forgotten_entropies_are_noticed():
    problem = case(seed=3, prior=PRIOR, K=2, d=1)
    plain = WeightPrior(PRIOR.precision, PRIOR.bias_scale)
    z, _ = labels_drawn(
        DCRCChain(case(seed=3, prior=plain, K=2, d=1), np.random.default_rng(4)), 3000
    )
    assert not exact.compare(z, *posterior_of_partitions(problem, *grid(PRIOR))[:2]).agrees


@pytest.mark.slow
def test_weights_of_three_classes_at_length():
    problem = case(seed=5, prior=PRIOR)
    scale = np.append(np.full(2, PRIOR.precision**-0.5), PRIOR.bias_scale)
    weights = np.random.default_rng(5).normal(size=(150_000, K, 3)) * scale
    z, _ = labels_drawn(DCRCChain(problem, np.random.default_rng(6)), 30_000, warmup=500)
    result = exact.compare(
        z, *posterior_of_partitions(problem, weights, np.zeros(len(weights)))[:2]
    )
    assert result.agrees, result


@pytest.mark.slow
@pytest.mark.parametrize("seed", [10, 11])
@pytest.mark.parametrize("views", [all_views, known_views])
def test_labels_given_the_weights_at_length(views, seed):
    assert compared(case(views, seed), 30_000, seed).agrees


def template(confusion=False, prior=None):
    rng = np.random.default_rng(11)
    noise = (
        ConfusionNoise(prior=[[4, 1, 2], [1, 3, 1], [1, 1, 2]])
        if confusion
        else UniformNoise(eps=(2.0, 3.0))
    )
    views = (links(6, rng, LinkNoise(p=(3.0, 2.0), q=(2.0, 2.0))), triplets(6, rng, noise))
    return DCRCProblem(
        rng.normal(size=(7, 1)),
        tuple(on_more_items(v, 7) for v in views),
        rng.normal(size=(K, 2)),
        prior,
    )


def functionals(z, W, precision, noise, views):
    values = {"log precision": np.log(precision), "precision |W|": precision * np.abs(W[0, 0])}
    values |= {f"together {j}": z[0] == z[j] for j in (1, 6)}
    values |= {f"class 0 has {i}": z[i] == 0 for i in (0, 6)}
    values |= {f"|W|{place}": np.abs(W[place]) for place in np.ndindex(W.shape)}
    values |= {"W W": W[0, 0] * W[1, 0], "W b": W[0, 0] * W[0, 1], "b b": W[0, 1] * W[1, 1]}
    for view, parameters in zip(views, noise, strict=True):
        right = (view.answers == view.truths(z)).mean()
        values[f"{view.name} right"] = right
        values |= {
            f"{name}{at}": x
            for name, array in parameters.items()
            for at, x in np.ndenumerate(array)
        }
        values |= {f"{name} right": array.flat[0] * right for name, array in parameters.items()}
        values |= {
            f"{view.name} {code}": (view.answers == code).mean() for code in range(view.n_answers)
        }
        values |= {f"{view.name} steep": right * np.abs(W[0, 0] - W[1, 0])}
    return values


def columns(rows):
    return {key: np.array([row[key] for row in rows], dtype=float) for key in rows[0]}


def z_scores(problem, number, seed, chain_type=DCRCChain):
    """Geweke's test: everything from the prior, against sweeps with the answers drawn anew after each."""
    first, second = np.random.default_rng(seed).spawn(2)
    rows = []
    for _ in range(number):
        world = World(problem, first)
        rows.append(
            functionals(world.z, world.W, world.precision, world.noise, world.problem.constraints)
        )
    expected, chain, rows = columns(rows), World(problem, second).chain(chain_type, second), []
    if chain.sampler is not None:
        chain.sampler.mean_log_step = np.log(0.8)
    for _ in range(number):
        chain.sweep()
        z = chain.draw()[0]["z"]
        chain.hear(answers_given(chain.problem.constraints, z, chain.noise, second))
        rows.append(
            functionals(z, chain.W, chain.precision, chain.noise, chain.problem.constraints)
        )
    found = columns(rows)
    return {
        key: (found[key].mean() - expected[key].mean())
        / np.hypot(standard_error(found[key]), expected[key].std() / np.sqrt(number))
        for key in expected
        if expected[key].std() > 0  # what is held does not vary, or is nan
    }


@pytest.mark.parametrize("confusion", [False, True], ids=["eps", "confusion"])
def test_joint_distribution(confusion):
    assert_agree(z_scores(template(confusion), 1500, seed=1))


def test_joint_distribution_with_weights():
    assert_agree(z_scores(template(prior=LEARNED), 1500, seed=3))


@pytest.mark.slow
@pytest.mark.parametrize("confusion", [False, True], ids=["eps", "confusion"])
@pytest.mark.parametrize("prior", [None, PRIOR, LEARNED], ids=["held", "drawn", "learned"])
def test_joint_distribution_at_length(confusion, prior):
    assert_agree(z_scores(template(confusion, prior), 8000, seed=5))


def assert_noticed(problem, chain_type=DCRCChain):
    assert max(np.abs(list(z_scores(problem, 1500, 2, chain_type).values()))) > LIMIT + 1


class SwappedRows(ConfusionNoise):
    """Counts true "yes" as "no" when drawing the matrix."""

    def draw(self, counts, params, rng):
        return super().draw(counts[..., [0, 2, 1, 3, 4]], params, rng)


class TooHopeful(UniformNoise):
    """Forgets half of the wrong answers."""

    def tallies(self, counts):
        return super().tallies(counts) // np.array([2, 1])


@pytest.mark.parametrize("confusion", [False, True], ids=["eps", "confusion"])
def test_faulty_noise_is_noticed(confusion):
    problem = template(confusion)
    pairs, view = problem.constraints
    wrong = SwappedRows(prior=view.noise.prior) if confusion else TooHopeful(view.noise.eps)
    assert_noticed(DCRCProblem(problem.points, (pairs, view.with_noise(wrong)), problem.W))


def test_trajectories_accepted_by_position_alone_are_noticed(monkeypatch):
    monkeypatch.setattr(WeightSampler, "_kinetic", lambda self, momentum: 0.0)
    assert_noticed(template(prior=PRIOR))


def test_free_biases_are_noticed(monkeypatch):
    right = WeightObjective.value_and_gradient

    def without_prior_of_biases(self, W, q):
        value, slope = right(self, W, q)
        slope[:, -1] += 1.5 * self.bias_ridge * W[:, -1]
        return value + 0.75 * self.bias_ridge * float((W[:, -1] ** 2).sum()), slope

    monkeypatch.setattr(WeightObjective, "value_and_gradient", without_prior_of_biases)
    assert_noticed(template(prior=PRIOR))


class WithoutItsPrior(WeightPrior):
    """Forgets the prior of the precision once there are weights."""

    def draw_precision(self, W, rng):
        return float(rng.gamma(W[:, :-1].size / 2) / ((W[:, :-1] ** 2).sum() / 2))


def test_a_precision_without_its_prior_is_noticed():
    assert_noticed(template(prior=WithoutItsPrior((2.0, 1.5), 1.5, 2.0, 3.0)))


def quantities(z, W, noise, chain):
    first, second = np.triu_indices(len(z), 1)
    values = {"pairs": int((z[first] == z[second]).sum()), "log joint": chain.log_joint()}
    values |= {
        "steep": float(
            np.abs(W[0, 0] - W[1, 0]) + np.abs(W[1, 0] - W[2, 0]) + np.abs(W[0, 0] - W[2, 0])
        )
    }
    return values | {
        f"{n}{at}": float(x) for own in noise for n, a in own.items() for at, x in np.ndenumerate(a)
    }


@pytest.mark.slow
@pytest.mark.parametrize("prior", [None, LEARNED], ids=["held", "drawn"])
def test_ranks_are_uniform(prior):
    rows, base = [], np.random.default_rng(12)
    views = (
        links(19, base, LinkNoise(p=(4.0, 2.0), q=(3.0, 2.0)), size=40),
        triplets(19, base, UniformNoise(eps=(2.0, 4.0)), size=20),
    )
    problem = DCRCProblem(
        base.normal(size=(20, 1)),
        tuple(on_more_items(v, 20) for v in views),
        base.normal(size=(K, 2)),
        prior,
    )
    for rng in np.random.default_rng(7).spawn(100):
        world = World(problem, rng)
        truth = quantities(world.z, world.W, world.noise, world.chain(DCRCChain, rng))
        start = problem.W if prior is None else rng.normal(size=(K, 2))
        chain = DCRCChain(DCRCProblem(problem.points, world.problem.constraints, start, prior), rng)
        for sweep in range(150):
            chain.sweep(adapt=True, freeze_noise=sweep < 75)
        below, level = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
        for _ in range(DRAWS):
            for _ in range(8):
                chain.sweep()
            chain.draw()
            for key, value in quantities(chain.z, chain.W, chain.noise, chain).items():
                below[key] += value < truth[key]
                level[key] += value == truth[key]
        rows.append({key: below[key] + int(rng.integers(level[key] + 1)) for key in truth})
    values = p_values({key: np.array([row[key] for row in rows]) for key in rows[0]})
    assert {key: value for key, value in values.items() if value < 1e-3} == {}
