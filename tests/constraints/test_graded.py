"""Graded answers: what scores are worth is learned, and all that is made of answers follows."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust._io import load_netcdf, write_netcdf
from bayesclust.constraints import GradedConstraints, GradeNoise, PairwiseConstraints
from bayesclust.inference.chain import TVClustProblem
from bayesclust.inference.samplers import SAMPLERS
from bayesclust.partition_priors import DirichletProcess
from tests.exactness.cases import bound_case, fixed, links
from tests.exactness.generative import assert_agree, assert_noticed
from tests.exactness.test_blocked import assert_exact as assert_blocked
from tests.exactness.test_enumeration import assert_exact
from tests.exactness.test_geweke import z_scores

N = 5


def template(noise, size=16):
    rng = np.random.default_rng(7)
    bound = bound_case("gaussian_spherical", N, 2, rng, fixed)
    pairs = np.array([rng.choice(N, 2, replace=False) for _ in range(size)])
    source = np.arange(size) % 2
    graded = PairwiseConstraints.from_scores(pairs, rng.random(size), N, source, noise)
    return TVClustProblem(bound, (graded, links(N, rng)), DirichletProcess((2.0, 1.0)))


@pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_chains_reach_the_exact_posterior(sampler):
    assert_exact(template(GradeNoise()), None, 2500, 3, sampler)


def test_blocked_chains_reach_the_exact_posterior():
    assert_blocked(template(GradeNoise(pooled=True)), 500, seed=3)


class Turned(GradeNoise):
    """Takes high grades for low ones when the curve is drawn."""

    def draw(self, counts, params, rng):
        turned = counts.reshape(-1, self.n_answers, 2)[:, ::-1].reshape(counts.shape)
        return super().draw(turned, params, rng)


def test_joint_distribution_and_a_fault():
    # few answers, none of them decisive: a chain that is redrawn with its answers mixes slowly
    assert_agree(z_scores(template(GradeNoise(60.0), size=8), 2000, 4))
    assert_noticed(z_scores(template(Turned(60.0), size=8), 1500, 4))


def boastful(seed, n=60, m=400):
    """Scores whose odds are too sure of themselves, and too high, of pairs of three clusters."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(m)])
    together = y[pairs[:, 0]] == y[pairs[:, 1]]
    # the evidence is normal, with means a distance of 2 apart, and its log odds 2 x - log 2
    x = rng.normal(np.where(together, 1.0, -1.0), 1.0)
    right = 2 * x - np.log(2)
    scores = 1 / (1 + np.exp(-(2 * right + 1)))
    X = 3.0 * np.eye(3)[y][:, :2] + rng.normal(size=(n, 2))
    return X, y, together, PairwiseConstraints.from_scores(pairs, scores, n), scores


@pytest.fixture(scope="module")
def fitted():
    X, y, together, graded, scores = boastful(0)
    model = bc.TVClust(
        cluster_model="single",
        num_chains=2,
        num_warmup=100,
        num_samples=200,
        progress=False,
        random_state=0,
    )
    return model.fit(X, constraints=graded), X, y, together, graded, scores


def error_of(p, together, grade):
    """Mean distance of probabilities from shares, over grades."""
    each = [abs(p[grade == g].mean() - together[grade == g].mean()) for g in np.unique(grade)]
    return np.average(each, weights=np.unique(grade, return_counts=True)[1])


def test_what_scores_are_worth_is_learned(fitted):
    est, _, _, together, graded, scores = fitted
    table = bc.source_reliability(est)
    assert table["parameter"].tolist() == [f"together[{word}]" for word in graded.vocabulary]
    assert table["answers"].sum() == len(graded)
    learned = table["mean"].to_numpy()[graded.answers]
    assert error_of(learned, together, graded.answers) < 0.05
    assert error_of(scores, together, graded.answers) > 0.06
    # the same from counts, given the true partition, by the rule of succession
    share = together.mean()
    weights = graded.noise.priors()["grades"]
    counts = np.stack([np.bincount(graded.answers[together == t], minlength=12) for t in (0, 1)])
    rows = (weights + counts) / (weights + counts).sum(axis=1, keepdims=True)
    expected = share * rows[1] / (share * rows[1] + (1 - share) * rows[0])
    often = counts.sum(axis=0) >= 20
    np.testing.assert_allclose(table["mean"][often], expected[often], atol=0.06)


def test_answers_are_right_on_the_side_that_they_speak_for(fitted):
    est, _, _, _, graded, scores = fitted
    table = bc.constraint_credibility(est)
    assert set(table["likely"]) == {"same", "different"}
    z = est.posterior_["posterior"]["z"].values
    same = z[..., graded.items[:, 0]] == z[..., graded.items[:, 1]]
    right = (same == (scores >= 0.5)).mean(axis=(0, 1))
    np.testing.assert_allclose(table["credibility"], right)
    wrong = bc.source_reliability(est)["wrong"].sum()
    assert wrong == pytest.approx((1 - right).sum())
    checks = bc.constraint_ppc(est, num_draws=20).set_index("check")
    assert checks.loc["wrong answers", "observed"] == pytest.approx(wrong, rel=0.1)
    assert np.array_equal(graded.cut().answers, scores >= 0.5)


def test_a_stored_posterior_and_the_plot_show_the_curve(fitted, tmp_path):
    est, _, _, _, graded, _ = fitted
    write_netcdf(est.posterior_, tmp_path / "run.nc")
    again = bc.source_reliability(load_netcdf(tmp_path / "run.nc"))
    pd.testing.assert_frame_equal(again, bc.source_reliability(est), check_dtype=False)
    (ax,) = bc.plots.reliability(est)
    grades = np.unique(graded.answers)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), again["mean"][grades])


def test_other_methods_take_them_or_say_so(fitted):
    est, X, y, _, graded, _ = fitted
    limit = bc.RDPMeans.from_posterior(est, X).fit(X, constraints=graded)
    assert bc.metrics.pairwise_f(limit.labels_, y) > 0.9
    assert (
        bc.metrics.pairwise_f(
            bc.RDPMeans(penalty=20.0, xi=3.0).fit(X, constraints=graded).labels_, y
        )
        > 0.6
    )
    dcrc = bc.DCRC(n_clusters=3, noise=None, random_state=0, progress=False).fit(
        X, constraints=graded
    )
    assert bc.metrics.pairwise_f(dcrc.labels_, y) > 0.6
    with pytest.raises(TypeError, match="this method uses constraints about pairs or labels alone"):
        bc.MPCKMeans(n_clusters=3).fit(X, constraints=graded)
    # the cost of together is what the grade's middle says, less than nothing above one half
    cost = graded.costs(graded.unit_confidence())[0]
    np.testing.assert_allclose(cost[[0, 6, 11], 0] - cost[[0, 6, 11], 1], [0.98, -0.15, -0.98])


def test_frames_with_scores_become_graded():
    frame = pd.DataFrame({"i": [0, 1], "j": [2, 0], "score": [1.0, 0.5], "source": ["b", "a"]})
    graded = PairwiseConstraints.from_frame(frame, n_items=3)
    assert isinstance(graded, GradedConstraints)
    assert graded.rows == ((0, 2, "0.98-1"), (0, 1, "0.5-0.65"))
    assert graded.source_names == ("a", "b")
