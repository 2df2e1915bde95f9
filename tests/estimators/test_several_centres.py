"""RDPMeans whose clusters have several centres, and TVClust on the way there."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesclust as bc

SHORT = {"num_chains": 2, "num_warmup": 60, "num_samples": 20, "progress": False, "random_state": 0}
CORNERS = np.array([[0.0, 0.0], [8.0, 8.0], [0.0, 8.0], [8.0, 0.0]])


@parametrize_with_checks(
    [
        bc.RDPMeans(cluster_model="mixture"),
        bc.RDPMeans(cluster_model="mixture", n_clusters=3, n_init=2),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def corners(rng):
    """Two classes of two opposite corners each, and answers, one of ten wrong."""
    y = np.repeat([0, 0, 1, 1], 15)
    X = np.repeat(CORNERS, 15, axis=0) + rng.normal(size=(60, 2))
    return X, y, bc.PairwiseConstraints.sample(y, size=80, error_rate=0.1, seed=1)


@pytest.fixture
def fitted(corners):
    X, _, answers = corners
    return bc.RDPMeans(cluster_model="mixture", within_penalty=40.0, xi=2.0).fit(
        X, constraints=answers
    )


@pytest.mark.parametrize(("shape", "within"), [("moons", 0.3), ("rings", 0.2)])
def test_shapes_that_are_no_balls_with_a_few_answers(shape, within):
    """Plain clusters fail at this penalty, and at the one that RDPMeans chooses for itself; several centres do not."""
    if shape == "moons":
        X, y = make_moons(200, noise=0.06, random_state=0)
    else:
        X, y = make_circles(200, factor=0.4, noise=0.04, random_state=0)
    few = bc.PairwiseConstraints.sample(y, size=20, seed=0)
    several = bc.RDPMeans(cluster_model="mixture", within_penalty=within, xi=1.0).fit(
        X, constraints=few
    )
    assert bc.metrics.adjusted_rand(y, several.labels_) > 0.95
    for plain in (bc.RDPMeans(penalty=within, xi=1.0), bc.RDPMeans(random_state=0)):
        assert bc.metrics.adjusted_rand(y, plain.fit(X, constraints=few).labels_) < 0.5


def test_attributes(corners, fitted):
    X, y, answers = corners
    assert (fitted.labels_ == y).all()
    assert (fitted.components_ == np.repeat([0, 1, 2, 3], 15)).all()
    assert fitted.component_clusters_.tolist() == [0, 0, 1, 1]
    assert (fitted.component_clusters_[fitted.components_] == fitted.labels_).all()
    assert fitted.n_clusters_ == 2
    assert (fitted.within_penalty_, fitted.penalty_) == (40.0, 0.04)
    for k, center in enumerate(fitted.component_centers_):
        np.testing.assert_allclose(center, X[fitted.components_ == k].mean(axis=0))
    for k, center in enumerate(fitted.cluster_centers_):
        np.testing.assert_allclose(center, X[y == k].mean(axis=0))
    together = y[answers.items[:, 0]] == y[answers.items[:, 1]]
    terms = np.square(X - fitted.component_centers_[fitted.components_]).sum() + 40.0 * 4 + 0.04 * 2
    terms += (
        2.0 * (together & (answers.answers == 0)).sum()
        - 2.0 * (together & (answers.answers == 1)).sum()
    )
    assert fitted.objective_ == pytest.approx(terms)
    assert fitted.objective_path_[-1] == fitted.objective_
    assert (np.diff(fitted.objective_path_) <= 1e-9).all()


def test_objective_of_any_clusters_and_components(corners, fitted):
    X, y, _ = corners
    assert fitted.objective(fitted.labels_, fitted.components_) == pytest.approx(fitted.objective_)
    # clusters of one component: two wide balls in the place of four
    data = sum(np.square(X[y == k] - X[y == k].mean(axis=0)).sum() for k in (0, 1))
    own = sum(
        np.square(X[fitted.components_ == k] - c).sum()
        for k, c in enumerate(fitted.component_centers_)
    )
    assert fitted.objective(y) == pytest.approx(fitted.objective_ + data - own - 2 * 40.0)


def test_new_items_go_to_the_cluster_of_the_nearest_centre(fitted):
    assert fitted.predict(CORNERS).tolist() == [0, 0, 1, 1]
    assert fitted.predict(CORNERS + np.array([0.5, -0.5])).tolist() == [0, 0, 1, 1]


def test_penalties_are_chosen_by_answers_held_out(corners):
    X, y, answers = corners
    est = bc.RDPMeans(cluster_model="mixture", random_state=0).fit(X, constraints=answers)
    assert bc.metrics.adjusted_rand(est.labels_, y) > 0.9
    assert est.penalty_ == pytest.approx(est.within_penalty_ / 1000)
    again = bc.RDPMeans(cluster_model="mixture", random_state=0).fit(X, constraints=answers)
    assert (again.components_ == est.components_).all()


def test_the_price_of_a_cluster_decides_where_nobody_answered(corners):
    """Above zero everything is one cluster of four centres; below, as by default, every component is one: DP-means."""
    X, _, _ = corners
    one = bc.RDPMeans(cluster_model="mixture", within_penalty=40.0, penalty=1.0).fit(X)
    assert (one.n_clusters_, len(one.component_centers_)) == (1, 4)
    four = bc.RDPMeans(cluster_model="mixture", within_penalty=40.0, penalty=-1.0).fit(X)
    assert (four.labels_ == bc.DPMeans(penalty=39.0).fit(X).labels_).all()
    assert four.n_clusters_ == 4
    default = bc.RDPMeans(cluster_model="mixture", n_clusters=4).fit(X)
    assert (default.labels_ == four.labels_).all()
    assert default.penalty_ == pytest.approx(-default.within_penalty_ / 1000)


def test_triplets_other_divergences_and_given_starts(rng):
    counts = bc.datasets.make_counts(60, 12, 4, seed=0)
    y = counts.y // 2
    triplets = bc.RelativeConstraints.sample(y, size=200, seed=1)
    settings = {
        "cluster_model": "mixture",
        "divergence": "kl",
        "xi": {"triplets": 2.0},
        "within_penalty": 1.5,
        "random_state": 0,
    }
    est = bc.RDPMeans(**settings, n_init=3).fit(counts.X, constraints=triplets)
    assert bc.metrics.adjusted_rand(est.labels_, y) > 0.9
    start = bc.RDPMeans(**settings, init=est.components_).fit(counts.X, constraints=triplets)
    assert start.objective_ <= est.objective_ + 1e-9


def test_the_sampler_at_large_gamma_stays_at_the_limit(corners, fitted):
    X, y, answers = corners
    model = bc.estimators.AtGamma(1e4, limit=fitted)
    est = bc.TVClust(cluster_model=model, **SHORT).fit(X, constraints=answers, init=y)
    draws = est.posterior_["posterior"]
    assert (draws["z"].values == fitted.labels_).all()
    assert (draws["n_components"].values[:, -1] == 4).all()
    energy = -est.posterior_["sample_stats"]["log_joint"].values[:, -1] / 1e4
    other = bc.TVClust(cluster_model=model, **SHORT).fit(X, constraints=answers, init=np.zeros(60))
    assert (other.labels_ == fitted.labels_).all()
    assert energy == pytest.approx(
        -other.posterior_["sample_stats"]["log_joint"].values[:, -1] / 1e4, rel=1e-6
    )
    assert (est.predict(CORNERS) == [0, 0, 1, 1]).all()


X = np.arange(12.0).reshape(6, 2)
BAD = {
    "a price of what there is not": (
        lambda: bc.RDPMeans(within_penalty=2.0).fit(X),
        ValueError,
        "within_penalty=2.0 is the cost of a component, and single clusters have none: leave it out, or set "
        'cluster_model="mixture".',
    ),
    "clusters below nothing": (
        lambda: bc.RDPMeans(cluster_model="mixture", penalty=-3.0, within_penalty=3.0).fit(X),
        ValueError,
        "penalty must lie in (-3.0, inf); got -3.0.",
    ),
    "components in two clusters": (
        lambda: (
            bc.RDPMeans(cluster_model="mixture", within_penalty=3.0)
            .fit(X)
            .objective([0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1])
        ),
        ValueError,
        "a component has items in two clusters of labels: give every component one cluster.",
    ),
    "components of plain clusters": (
        lambda: bc.RDPMeans(penalty=3.0).fit(X).objective([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]),
        ValueError,
        'components are of clusters that are mixtures: leave them out, or fit with cluster_model="mixture".',
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_a_sentence(case):
    call, kind, sentence = BAD[case]
    with pytest.raises(kind, match=f"^{re.escape(sentence)}$"):
        call()
