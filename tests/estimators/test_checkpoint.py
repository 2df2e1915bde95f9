"""Fits with a checkpoint: longer runs resume, other calls are refused."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.estimators import base, cluster_models, tvclust
from bayesclust.families import FullGaussian
from bayesclust.inference import checkpoint
from bayesclust.inference.chain import Chain, Moves, TVClustProblem, TwoLevelProblem
from bayesclust.inference.checkpoint import from_text, to_text
from bayesclust.inference.runner import InterruptedRunWarning
from bayesclust.inference.samplers import SAMPLERS, chain_starts
from bayesclust.partition_priors import DirichletProcess

SHORT = {
    "cluster_model": "single",
    "num_chains": 2,
    "num_warmup": 5,
    "num_samples": 6,
    "progress": False,
}


RNG = np.random.default_rng(7)
X = np.concatenate([RNG.normal(size=(7, 2)), RNG.normal(5, 1, size=(7, 2))])
LINKS = bc.PairwiseConstraints([(0, 1), (2, 12)], [True, False], n_items=14)


def fit_at(path, random_state=1, X=X, constraints=LINKS, init=None, **settings):
    est = bc.TVClust(random_state=random_state, **(SHORT | settings))
    return est.fit(X, constraints=constraints, init=init, checkpoint=path)


@pytest.fixture
def fit(tmp_path):
    return partial(fit_at, tmp_path / "run.zarr")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Calls again where a run is stored."""
    path = tmp_path_factory.mktemp("stored") / "run.zarr"
    fit_at(path)
    return partial(fit_at, path)


def draws(est):
    every = est.posterior_["posterior"].to_dataset().variables.items()
    return {name: values.values for name, values in every}


def assert_same(one, other):
    first, second = draws(one), draws(other)
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("sampler", ["collapsed", "gibbs", "blocked"])
def test_a_longer_run_resumes(fit, sampler):
    settings = {"sampler": sampler, "partition_prior": bc.partition_priors.PitmanYor()}
    fit(**settings)
    assert_same(fit(**settings, num_samples=15), fit_at(None, num_samples=15, **settings))


def test_the_first_call_and_the_second(fit):
    assert_same(fit(), fit(n_jobs=1, loss="binder", progress=True).set_params(loss="vi"))


def test_a_seed_that_was_drawn_is_kept(fit):
    assert_same(fit(random_state=None), fit(random_state=None))


def test_a_generator_is_known_by_its_state(fit):
    assert_same(
        fit(random_state=np.random.default_rng(4)), fit(random_state=np.random.default_rng(4))
    )
    with pytest.raises(ValueError, match=r"with other random_state: "):
        fit(random_state=np.random.default_rng(5))
    spawned = np.random.default_rng(4)
    spawned.spawn(1)  # draws the same, and has other children
    with pytest.raises(ValueError, match=r"with other random_state: "):
        fit(random_state=spawned)


@pytest.mark.parametrize(
    "seed", [np.random.RandomState, np.random.SeedSequence, lambda n: [n, 1], np.random.PCG64]
)
def test_any_kind_of_seed_is_known_again(fit, seed):
    assert_same(fit(random_state=seed(4)), fit(random_state=seed(4)))
    with pytest.raises(ValueError, match=r"with other random_state: "):
        fit(random_state=seed(5))


def test_a_sampler_is_known_by_its_name(fit):
    collapsed = SAMPLERS["collapsed"]
    named = bc.TVClust(collapsed, random_state=1, **SHORT).fit(X, constraints=LINKS)

    def mine(*given):
        return collapsed(*given)

    assert_same(fit(sampler=mine), named)
    for nameless in (lambda *given: collapsed(*given), partial(collapsed)):
        said = r"^a checkpoint knows a sampler by its name, .* by def\.$"
        with pytest.raises(ValueError, match=said):
            fit(sampler=nameless)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"random_state": 2}, "random_state"),
        ({"num_warmup": 6}, "num_warmup"),
        ({"num_chains": 3}, "num_chains"),
        ({"family": "gaussian_diagonal"}, "family"),
        ({"family": bc.families.FullGaussian(scale=0.3)}, "family"),
        ({"partition_prior": bc.partition_priors.DirichletProcess(2.0)}, "partition_prior"),
        ({"thinning": 2}, "thinning"),
        ({"moves": Moves(split_merge=1)}, "moves"),
        ({"constraints": None}, "constraints"),
        ({"sampler": "gibbs"}, "sampler"),
        ({"init": np.zeros(14, int)}, "init"),
        ({"X": X + 1}, "data"),
        ({"constraints": LINKS.with_answers(1 - LINKS.answers)}, "constraints"),
    ],
)
def test_another_call_is_refused(stored, change, what):
    with pytest.raises(
        ValueError, match=rf"is of another run, with other {what}: give another path"
    ):
        stored(**change)


def test_the_variational_sampler_has_nothing_to_keep(fit):
    with pytest.raises(ValueError, match=r"sampler='variational' has none: leave it out"):
        fit(sampler="variational")


def test_the_choice_of_a_model_is_kept(fit, monkeypatch):
    y = np.repeat([0, 1], 7)
    links = bc.PairwiseConstraints.sample(y, size=20, error_rate=0.1, seed=0)
    settings = {"cluster_model": "auto", "constraints": links}
    once = fit(**settings)

    def never(*arguments):
        raise AssertionError("compared again")

    with monkeypatch.context() as patched:
        patched.setattr(cluster_models, "choose", never)
        again = fit(**settings, num_samples=15)
    pd.testing.assert_frame_equal(once.model_scores_, again.model_scores_)
    assert_same(again, fit_at(None, **settings, num_samples=15))


def test_snapshots_are_restored_whatever_slots_are_free():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=120)
    X = rng.normal(size=(120, 3)) + 3 * rng.normal(size=(4, 3))[y]
    links = bc.PairwiseConstraints.sample(y, size=200, error_rate=0.1, seed=0)
    family, prior = FullGaussian().bind(X), DirichletProcess()
    for problem in (
        TVClustProblem(family, (links,)),
        TwoLevelProblem(family, (links,), prior, prior),
    ):
        for make in chain_starts("collapsed", problem, None, None, rng.spawn(4)):
            chain = make()
            for sweep in range(40):
                chain.sweep(adapt=sweep < 20)
                z = chain.state.labels.copy()
                chain.restore(from_text(to_text(chain.snapshot())))
                np.testing.assert_array_equal(chain.state.labels, z)


@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
@pytest.mark.parametrize("label", [-1, 10**6])
def test_labels_out_of_range_are_refused(sampler, label):
    makers = chain_starts(
        sampler, TVClustProblem(FullGaussian().bind(X), (LINKS,)), None, None, RNG.spawn(2)
    )
    chain = makers[0]()
    chain.sweep()
    snapshot = from_text(to_text(chain.snapshot()))
    chain.restore(snapshot)
    place = snapshot["state"]["assignment"]["z"] if "state" in snapshot else snapshot["z"][0]
    place[3] = label
    with pytest.raises(ValueError, match="a snapshot has labels out of range: remove the check"):
        chain.restore(snapshot)


def test_a_search_that_stops_resumes(tmp_path, monkeypatch):
    """The first half of the warm-up has no draws, but its states are kept all the same."""
    longer = {"num_warmup": 200, "num_samples": 10, "n_jobs": 1}
    sweep, swept = Chain.sweep, []

    def counted(chain, **options):
        if len(swept) == stop:
            raise RuntimeError("stopped")
        swept.append(chain)
        sweep(chain, **options)

    monkeypatch.setattr(checkpoint, "SECONDS", -1.0)
    monkeypatch.setattr(Chain, "sweep", counted)
    stop = -1
    expected = fit_at(tmp_path / "whole.zarr", **longer)
    whole, stop = len(swept), 120
    swept.clear()
    with pytest.raises(RuntimeError, match="stopped"):
        fit_at(tmp_path / "run.zarr", **longer)
    stop = -1
    swept.clear()
    assert_same(fit_at(tmp_path / "run.zarr", **longer), expected)
    assert len(swept) <= whole - 40


@pytest.mark.parametrize("at", ["point_estimate", "diagnose"])
def test_an_interrupt_after_the_last_draw_keeps_the_draws(at, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    expected = bc.TVClust(random_state=1, **SHORT).fit(X, constraints=LINKS)
    home = tvclust if at == "point_estimate" else base
    monkeypatch.setattr(home, at, interrupt)
    with pytest.warns(InterruptedRunWarning, match="after the last draw: the draws are kept"):
        found = bc.TVClust(random_state=1, **SHORT).fit(X, constraints=LINKS)
    assert found.posterior_.attrs["interrupted"] == 1
    last = expected.posterior_["posterior"]["z"].values[-1, -1]
    np.testing.assert_array_equal(draws(found)["z"], draws(expected)["z"])
    labels = expected.labels_ if at == "diagnose" else last
    assert bc.metrics.adjusted_rand(found.labels_, labels) == 1
