"""The settings `cluster_model` and `power` of TVClust."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust._io import load_netcdf, write_netcdf
from bayesclust.constraints.stored import noise_names
from bayesclust.estimators.cluster_models import (
    COMPONENTS,
    MOST_LEFT,
    Candidates,
    Choice,
    Comparison,
    Pilot,
    held_out_log_prob,
    hopeful,
    shares_log_prob,
    tells,
)
from bayesclust.inference.dcrc import classifier
from bayesclust.inference.dcrc.em import EMSettings, fit_em
from bayesclust.inference.dcrc.weights import log_classes
from bayesclust.inference.limits.tuning import folds
from bayesclust.inference.runner import Draws

SHORT = {
    "num_chains": 2,
    "num_warmup": 100,
    "num_samples": 100,
    "progress": False,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def crossed():
    """Two classes of two tight groups each, at the corners of a square: no class is an ellipse."""
    rng = np.random.default_rng(0)
    corners, y = np.array([[0, 0], [8, 8], [0, 8], [8, 0]]), np.repeat([0, 0, 1, 1], 20)
    X = np.repeat(corners, 20, axis=0) + rng.normal(size=(80, 2))
    return X, y, bc.PairwiseConstraints.sample(y, size=120, error_rate=0.1, seed=1)


@pytest.fixture(scope="module")
def mixture(crossed):
    X, _, links = crossed
    return bc.TVClust(cluster_model="mixture", **SHORT).fit(X, constraints=links)


@pytest.fixture(scope="module")
def plain(crossed):
    X, _, links = crossed
    return bc.TVClust(cluster_model="single", **SHORT).fit(X, constraints=links)


def test_answers_group_what_the_data_keep_apart(crossed, mixture, plain):
    y = crossed[1]
    assert bc.metrics.pairwise_f(mixture.labels_, y) == 1.0
    draws = mixture.posterior_["posterior"]
    assert abs(float(draws["p"].mean()) - 0.9) < 0.1
    assert draws["n_components"].values.mean() > 3.5 > draws["n_clusters"].values.mean()
    assert plain.n_clusters_ == 4, "answers that hold a class together are taken for noise"


def test_prediction_is_of_clusters(crossed, mixture):
    y = crossed[1]
    new = np.array([[0.5, -0.5], [8.0, 7.0], [0.0, 9.0], [7.5, 0.0]])
    np.testing.assert_array_equal(mixture.predict(new), mixture.labels_[[0, 20, 40, 60]])
    similarity = mixture.predict_similarity(new[:1])
    assert similarity.shape == (1, 80)
    assert similarity[0, y == 0].min() > 0.95 > 0.05 > similarity[0, y == 1].max()
    proba = mixture.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_density_of_new_items_is_a_mean_over_components(mixture):
    """Far from all data the base measure alone counts, whichever cluster opens a component."""
    grid = np.stack(
        np.meshgrid(np.linspace(-30, 38, 200), np.linspace(-30, 38, 200)), axis=-1
    ).reshape(-1, 2)
    cell = (68 / 199) ** 2
    total = np.exp(mixture.score_samples(grid)).sum() * cell
    assert 0.9 < total < 1.02


def test_power_makes_the_data_weigh_less():
    """Heavy tails call for clusters of outlying items, but not where ten items count as two."""
    X = np.random.default_rng(3).standard_t(2.0, size=(120, 2))
    fits = [bc.TVClust(power=power, **SHORT).fit(X) for power in (0.2, 1.0, None)]
    weak, strong, plain = (est.posterior_["posterior"]["n_clusters"].values for est in fits)
    assert weak.mean() + 2 < strong.mean()
    np.testing.assert_array_equal(strong, plain)


def test_auto_takes_what_predicts_the_answers(crossed):
    X, y, links = crossed
    est = bc.TVClust(**SHORT).fit(X, constraints=links)
    assert est.cluster_model_ == "mixture"
    assert bc.metrics.pairwise_f(est.labels_, y) == 1.0
    table = est.model_scores_
    assert table["chosen"].sum() == 1
    assert table["behind"].min() == 0
    assert {name.split(",")[0] for name in table.index} == {"single", "mixture", "classifier"}
    assert max(map(len, table.to_string().splitlines())) <= 80


def pilot(name, score):
    return Pilot(Choice(name, 1.0, "gaussian", 2), [], score=np.asarray(score))


def test_hopeless_models_are_dropped(rng):
    spread = rng.normal(size=400)
    behind = [0.002, 0.5, 0.001, 0.0, 0.003]
    pilots = [pilot(str(i), spread + 0.1 * rng.normal(size=400) - b) for i, b in enumerate(behind)]
    best = max(range(5), key=lambda i: pilots[i].score.mean())
    left = [own.choice.cluster_model for own in hopeful(pilots)]
    assert len(left) == MOST_LEFT
    assert "1" not in left
    assert str(best) in left
    assert hopeful(pilots[:1]) == pilots[:1]


class Told(Comparison):
    """A comparison of models whose runs score what is told of them by part, by name or classes."""

    def __init__(self, tried, said):
        self.tried = tried
        self.pilots = {}
        self.part = 0
        self.said = said
        self.ran = []
        self.by_shares = np.full(100, -0.6)

    def begin(self, choice, schedule):
        name = choice.n_classes or choice.family, choice.scaled
        self.ran.append(name)
        level = self.said[name] if self.part == 0 else self.said[name] - self.part
        own = self.pilots.setdefault(choice, Pilot(choice))
        own.score = level + 0.05 * np.random.default_rng(len(self.ran)).normal(size=100)
        own.clusters = 9.0
        return float(own.score.mean())

    def go_on(self, pilot, schedule):
        return float(pilot.score.mean())


def mixture_of(name, scaled=True):
    return Choice("mixture", 1.0, name, 2, scaled)


def classes(*numbers):
    return [Choice("classifier", 1.0, "logistic", 2, True, k) for k in numbers]


def test_a_hopeless_scaling_is_dropped_at_once():
    tried = [mixture_of(name, scaled) for name in ("a", "b", "c") for scaled in (True, False)]
    said = dict.fromkeys([(own.family, own.scaled) for own in tried], -0.4)
    for worse, ran in ((0.0, 6), (0.05, 4)):
        told = Told(tried, said | {("a", True): -0.4 - worse})
        told.densities()
        assert len(told.ran) == ran
        assert (("b", True) in told.ran) == (worse == 0)


def test_classifiers_are_tried_unless_the_nearest_is_hopeless():
    tried = [mixture_of("a"), *classes(2, 3, 8, 20, 30, 40)]
    said = {("a", True): -0.4, (2, True): -0.6, (3, True): -0.45, (20, True): -0.5}
    said |= {(30, True): -0.5, (40, True): -0.3}
    for near, best, ran in ((-0.4, 8, [8, 2, 3, 20, 30]), (-0.45, None, [8])):
        told = Told(tried, said | {(8, True): near})
        told.densities()
        found = told.classifiers()
        assert [own.choice.n_classes for own in found] == ([] if best is None else [best])
        assert [name for name, _ in told.ran[1:]] == ran


def test_of_classifiers_about_as_good_that_with_the_fewest_classes_is_left():
    tried = [mixture_of("a"), *classes(2, 3, 8, 20, 30)]
    said = {("a", True): -0.4, (2, True): -0.6, (3, True): -0.4, (20, True): -0.5, (30, True): -0.5}
    for eight, left in ((-0.37, 8), (-0.396, 3)):  # the standard error is .007
        told = Told(tried, said | {(8, True): eight})
        told.densities()
        assert [own.choice.n_classes for own in told.classifiers()] == [left]
        assert max(told.pilots.values(), key=lambda own: own.score.mean()).choice.n_classes == 8


def test_with_labels_a_classifier_is_compared_to_the_end_and_taken_if_as_good():
    tried = [mixture_of("a"), *classes(3)]
    for level, taken in ((-0.5, 0), (-0.408, 1)):
        told = Told(tried, {("a", True): -0.4, (3, True): level})
        told.labelled = True
        close = told.close([*told.densities(), *told.classifiers()], 3.0)
        assert [own.choice for own in close] == tried
        choice, table = told.outcome()
        assert choice == tried[taken]
        assert table["behind"].iloc[1] > 0
        told.labelled = False
        assert told.outcome()[0] == tried[0]


def test_many_labels_are_classified_by_as_many_classes(rng):
    X = rng.normal(size=(100, 3))
    for number, expected in ((14, []), (15, [("radial", 3)])):
        rows = [(i, "abc"[i % 3]) for i in range(number)] * 2
        labels = bc.LabelConstraints(rows, 100)
        tried = Candidates(X, "gaussian", None).to_try(None, densities=False, labels=[labels])
        assert [(own.family, own.n_classes) for own in tried if own.n_classes] == expected


def test_the_best_are_compared_on_further_parts():
    """What has most scores is chosen from, and compared with others on the scores these have."""
    tried = [mixture_of("a"), mixture_of("b"), mixture_of("c")]
    told = Told(tried, {("a", True): -0.4, ("b", True): -0.44, ("c", True): -0.37})
    told.densities()
    told.part = 1
    told.by_shares = np.full(200, -2.0)
    told.further([told.pilots[own] for own in tried[:2]])
    choice, table = told.outcome()
    assert choice == tried[0]
    assert table["held"].tolist() == [200, 200, 100]
    a, b, c = (told.pilots[own].score for own in tried)
    behind = [0, np.mean(a - b), np.mean(a[:100] - c)]
    np.testing.assert_allclose(table["behind"], behind, atol=6e-4)
    assert behind[2] < 0 < behind[1]
    np.testing.assert_allclose(table["error"].iloc[2], np.std(a[:100] - c) / 10, atol=6e-4)


def test_mixtures_must_be_better_than_one_component():
    tried = [Choice("single", 1.0, "a", 2), mixture_of("b"), mixture_of("c")]
    for behind, chosen in ((0.001, 0), (0.01, 2)):
        told = Told(tried, {})
        for own, level in zip(tried, (behind, 0.001, 0.0), strict=True):
            told.pilots[own] = Pilot(own, score=np.full(100, -0.4 - level))
        assert told.outcome()[0] == tried[chosen]


def test_many_columns_are_compared_by_their_components(rng):
    X = rng.normal(size=(300, 30))
    few, many = (Candidates(part, "gaussian", None) for part in (X[:, :20], X))
    assert {own.n_dimensions for own in few.to_try(None, densities=True)} == {20}
    tried = many.to_try(None, densities=True)
    assert [own.power for own in tried] == [1.0, 1.0, 1.0, 0.7]
    assert tried[-1][3] == max(COMPONENTS)
    assert {own[3:5] for own in many.to_try(1.0, densities=True)} == {(q, True) for q in COMPONENTS}
    X[:, 0] *= 10
    assert {own.scaled for own in many.to_try(1.0, densities=True)} == {True, False}
    classes = [own.n_dimensions for own in many.to_try(1.0, densities=False) if own.n_classes]
    assert set(classes) == {30}
    tied = Candidates(X, "gaussian_tied", None).to_try(0.5, densities=False)
    assert [own[:4] for own in tied] == [
        (model, 0.5, "gaussian_tied", 30) for model in ("single", "mixture")
    ]


def test_most_components_weigh_less_however_few_items(rng):
    tried = Candidates(rng.normal(size=(12, 25)), "gaussian", None).to_try(None, densities=True)
    assert {own.n_dimensions for own in tried if own.power < 1} == {10}


def test_components_are_in_units_of_roots_of_their_deviations(rng):
    """Densities of them stay those in the user's units."""
    X = rng.normal(size=(300, 30)) * np.geomspace(1, 50, 30)
    few = mixture_of("gaussian")._replace(n_dimensions=4, scaled=False)
    problem, reduction = Candidates(X, "gaussian", None).problem(few, [])
    family, items = problem.family, reduction.transform(X)
    spread = items.std(axis=0)
    expected = items / np.sqrt(spread * spread.mean())
    np.testing.assert_allclose(family.X, expected, atol=1e-12)
    np.testing.assert_allclose(family.transform(items), expected, atol=1e-12)
    jacobian = np.linalg.slogdet(family.transform(np.eye(4)) - family.transform(np.zeros((4, 4))))
    np.testing.assert_allclose(family.log_base(items[:1]), jacobian[1])


def test_components_are_remembered_for_new_items(rng):
    """Two classes in a plane of 24 columns, each at two opposite corners of a square."""
    group = np.repeat([0, 1, 2, 3], 45)
    y = group % 2
    plane = rng.normal(size=(180, 2)) + 12 * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[group]
    X = plane @ rng.normal(size=(2, 24)) + 0.5 * rng.normal(size=(180, 24))
    links = bc.PairwiseConstraints.sample(y[:150], size=150, error_rate=0.1, seed=1)
    est = bc.TVClust(**SHORT | {"num_chains": 4}).fit(X[:150], constraints=links)
    assert est.cluster_model_ == "mixture"
    assert est.reduction_.transform(X).shape[1] in COMPONENTS
    assert bc.metrics.pairwise_f(est.labels_, y[:150]) > 0.95
    assert (est.predict(X[150:]) == est.labels_[149]).all()
    assert np.isfinite(est.score_samples(X[150:])).all()
    with pytest.raises(ValueError, match="24"):
        est.predict(X[:, :20])


def test_more_columns_than_items(rng):
    X, y = rng.normal(size=(8, 120)), np.repeat([0, 1], 4)
    links = bc.PairwiseConstraints.sample(y, size=12, seed=0)
    est = bc.TVClust(**SHORT | {"num_warmup": 5, "num_samples": 5}).fit(X, constraints=links)
    assert max(name.split("d = ")[1][0] for name in est.model_scores_.index) == "7"
    assert est.predict(X).shape == (8,)


def test_fewer_than_ten_constraints_leave_no_choice(crossed):
    X, y, _ = crossed
    links = bc.PairwiseConstraints.sample(y, size=9, seed=1)
    est = bc.TVClust(**SHORT | {"num_samples": 5}).fit(X, constraints=links)
    assert (est.cluster_model_, est.model_scores_, est.reduction_) == ("single", None, None)


def test_constraints_are_held_out_and_scored_by_hand(crossed, rng):
    X, y, links = crossed
    triplets = bc.RelativeConstraints.sample(y, size=30, error_rate=0.1, seed=2)
    kept, held = next(folds([links, triplets], rng))
    assert [len(a) + len(b) for a, b in zip(kept, held, strict=True)] == [120, 30]
    assert sum(map(len, held)) == 30
    z = rng.integers(0, 3, (2, 5, len(X)))
    noise = {"p": rng.random((2, 5, 1)), "q": rng.random((2, 5, 1)), "noise": rng.random((2, 5, 1))}
    assert [set(names.values()) for names in noise_names(held)] == [{"p", "q"}, {"noise"}]
    found = held_out_log_prob(Draws({"z": z} | noise, {}, False), kept, held)
    likely = []
    for one, names in zip(held, noise_names(held), strict=True):
        for m in range(len(one)):
            alone = one.restrict(one.items[m]).with_answers(one.answers[m : m + 1])
            given = [
                alone.log_prob(z[c, s, one.items[m]], {k: noise[v][c, s] for k, v in names.items()})
                for c, s in np.ndindex(2, 5)
            ]
            likely.append(np.log(np.exp(given).mean()))
    np.testing.assert_allclose(found, likely)
    shares = [
        (np.sum(known.answers == answer) + 1) / (len(known) + len(one.vocabulary))
        for known, one in zip(kept, held, strict=True)
        for answer in one.answers
    ]
    np.testing.assert_allclose(shares_log_prob(kept, held), np.log(shares))


def test_labels_are_held_out_by_item_and_scored_by_hand(rng):
    rows = [(i, int(rng.integers(2))) for i in range(10) for _ in range(2)]
    labels = bc.LabelConstraints(rows, 10, source=[0, 1] * 10)
    seen = []
    for (kept,), (held,) in folds([labels], rng):
        assert not set(kept.items[:, 0]) & set(held.items[:, 0])
        assert len(held) == 4
        seen += held.items[:, 0].tolist()
    assert sorted(seen) == [i for i in range(10) for _ in range(2)]
    z = rng.integers(0, 3, (2, 5, 10))
    drawn = {"accuracy": rng.random((2, 5, 2)), "confusion": rng.dirichlet([1, 1], (2, 5, 2, 3))}
    found = held_out_log_prob(Draws({"z": z} | drawn, {}, False), [kept], [held])
    likely = {}
    for item, source, answer in zip(held.items[:, 0], held.source, held.answers, strict=True):
        given = []
        for at in np.ndindex(2, 5):
            p, matrix = np.array(labels.class_weights), drawn["confusion"][at]
            for i, s, a in zip(kept.items[:, 0], kept.source, kept.answers, strict=True):
                if z[at][i] == z[at][item]:
                    p = p * matrix[s, :, a]
            given.append(p @ matrix[source, :, answer] / p.sum())
        likely.setdefault(item, []).append(np.log(np.mean(given)))
    np.testing.assert_allclose(found, [np.mean(likely[item]) for item in sorted(likely)])
    share = (np.bincount(kept.answers, minlength=2) + 1) / (len(kept) + 2)
    by_item = held.answers[np.argsort(held.items[:, 0], kind="stable")].reshape(2, 2)
    np.testing.assert_allclose(shares_log_prob([kept], [held]), np.log(share)[by_item].mean(axis=1))


def test_a_model_tells_something_where_it_beats_the_shares(rng):
    by_shares = rng.normal(size=400)
    noise = rng.normal(size=400)
    level, better = pilot("single", by_shares + noise - noise.mean()), by_shares + noise + 0.2
    assert not tells([level], by_shares)
    assert tells([level, pilot("mixture", better)], by_shares)


def test_coins_leave_the_simplest_model(crossed):
    X, y, _ = crossed
    coins = bc.PairwiseConstraints.sample(y, size=120, error_rate=0.5, seed=3)
    table = bc.TVClust(**SHORT).fit(X, constraints=coins).model_scores_
    assert table["behind"].argmin() > 0
    assert table["chosen"].argmax() == (table["behind"] <= table["error"]).argmax() == 0


@pytest.mark.slow
def test_models_that_predict_nothing_yet_go_on():
    """Spirals with answers for whose noise the first rounds find another explanation."""
    spirals = bc.datasets.make_shape("spirals", 180, noise=0.03, seed=0)
    links = bc.PairwiseConstraints.sample(spirals.y, size=300, error_rate=0.1, seed=1)
    settings = {"num_warmup": 300, "num_samples": 100, "random_state": 0, "progress": False}
    X = (spirals.X - spirals.X.mean(axis=0)) / spirals.X.std(axis=0)
    est = bc.TVClust(**settings).fit(X, constraints=links)
    assert est.cluster_model_ == "mixture"
    assert bc.metrics.pairwise_f(est.labels_, spirals.y) > 0.8


def assert_predicts_as(est, X, path):
    """So does what a file holds of a fit."""
    write_netcdf(est.posterior_, path)
    again = bc.estimators.restored(load_netcdf(path))
    for of in (bc.TVClust.predict_proba, bc.TVClust.predict_novelty, bc.TVClust.predict_similarity):
        np.testing.assert_array_equal(of(again, X), of(est, X))


def test_a_classifier_parts_one_cloud(rng, tmp_path):
    """Classes on both sides of a line through one cluster, of which no density knows."""
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    links = bc.PairwiseConstraints.sample(y, size=300, error_rate=0.1, seed=1)
    est = bc.TVClust(**SHORT).fit(X, constraints=links)
    assert (est.cluster_model_, est.n_clusters_) == ("classifier", 2)
    assert bc.metrics.pairwise_f(est.labels_, y) > 0.9
    proba = est.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (est.predict(X) == est.labels_).mean() > 0.9
    assert (est.predict_novelty(X) == 0).all()
    together = est.predict_similarity(X[:1])[0]
    assert together[est.labels_ == est.labels_[0]].mean() > 0.8
    assert_predicts_as(est, X[:5] + 0.1, tmp_path / "run.nc")
    assert not hasattr(est, "log_joint")
    with pytest.raises(ValueError, match="a classifier, which has no density of items"):
        est.score_samples(X)
    assert bc.constraint_credibility(est)["credibility"].between(0, 1).all()
    assert abs(float(est.posterior_["posterior"]["p"].mean()) - 0.9) < 0.1


def test_a_classifier_takes_noisy_labels(rng):
    """Classes on both sides of a line, of which an annotator in two knows something."""
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    rates = [0.05, 0.45]
    labels = bc.LabelConstraints.sample(
        y[:400], size=80, n_sources=2, per_item=2, error_rate=rates, seed=1
    )
    est = bc.TVClust(**SHORT).fit(X[:400], constraints=labels)
    assert est.cluster_model_ == "classifier"
    proba = est.predict_label_proba()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba.to_numpy().argmax(axis=1) == y[:400]).mean() > 0.9
    assert (est.predict_label_proba(X[400:]).to_numpy().argmax(axis=1) == y[400:]).mean() > 0.9
    table = bc.source_reliability(est)
    good, bad = table.loc[table["parameter"] == "accuracy", "mean"]
    assert good > 0.85 > 0.75 > bad
    assert bc.constraint_credibility(est)["credibility"].between(0, 1).all()


def test_a_radial_classifier_parts_along_a_curve(rng, tmp_path):
    """A disc within one uniform cloud: no line and no ellipses part it from the rest."""
    X = rng.uniform(-1, 1, size=(500, 2))
    y = ((X**2).sum(axis=1) < 0.6).astype(int)
    labels = bc.LabelConstraints.sample(
        y[:400], size=80, n_sources=2, per_item=2, error_rate=0.1, seed=1
    )
    store = tmp_path / "run.zarr"
    est = bc.TVClust(**SHORT).fit(X[:400], constraints=labels, checkpoint=store)
    assert (est.cluster_model_, est.family_) == ("classifier", "radial")
    assert_predicts_as(est, X[400:], tmp_path / "run.nc")
    assert est.model_scores_["chosen"]["classifier, radial, K = 2, d = 2"]
    proba = est.predict_label_proba(X).to_numpy()
    assert (proba.argmax(axis=1) == y).mean() > 0.9
    again = bc.TVClust(**SHORT).fit(X[:400], constraints=labels, checkpoint=store)
    np.testing.assert_array_equal(again.predict_label_proba(X), proba)
    est.extend(X[400:])
    assert est._problem.radial
    assert (est.predict_label_proba().to_numpy().argmax(axis=1) == y).mean() > 0.9


def test_classes_of_few_labelled_items_are_no_surer_than_they_are_right():
    """At the mode of the weights they are too sure: moderated, they score better."""
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.arange(400) % 2
        X = rng.normal(size=(400, 6)) + 1.5 * y[:, None] * (np.arange(6) == 0)
        labels = bc.LabelConstraints([(i, y[i]) for i in range(20)], 400)
        problem = classifier.classifier_problem(X, [labels], 2, None, rng, radial=True)
        every = np.arange(20, 400), y[20:]
        scores = [
            max(log_p[every].mean(), log_p[every[0], 1 - y[20:]].mean())  # classes have no order
            for log_p in (
                problem.log_classes(problem.points),
                log_classes(problem.W, problem.points),
            )
        ]
        gains.append(scores[0] - scores[1])
    assert np.mean(gains) > 3 * np.std(gains) / np.sqrt(len(gains))


def test_annotators_of_one_item_do_not_weigh_down_items_without_labels(monkeypatch, rng):
    """Three labels of each item leave the weight of the others' entropy as one does."""
    weights = []

    def entropies(points, constraints, n_clusters, settings, rng):
        weights.append(settings.tau * sum(map(len, constraints)))
        return fit_em(points, constraints, n_clusters, settings, rng)

    monkeypatch.setattr(classifier, "fit_em", entropies)
    X, rows = rng.normal(size=(40, 2)), [(i, i % 2) for i in range(10)]
    once, thrice = (bc.LabelConstraints(rows * times, 40) for times in (1, 3))
    links = bc.PairwiseConstraints([(0, 1), (2, 3), (0, 1)], [1, 0, 1], 40)
    for given in ([once], [thrice], [thrice, links]):
        classifier.classifier_problem(X, given, 2, EMSettings(starts=1, kept=1), rng)
    np.testing.assert_allclose(weights, [10, 10, 13])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"cluster_model": "mixture", "sampler": "gibbs"}, "sampler='collapsed'"),
        ({"power": 0.0}, r"power must lie in \(0, 1\]; got 0.0"),
        ({"cluster_model": "mixture", "partition_prior": "gamma"}, "partition_prior"),
    ],
)
def test_bad_settings(settings, sentence):
    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(ValueError, match=sentence):
        bc.TVClust(**(SHORT | settings)).fit(X)
