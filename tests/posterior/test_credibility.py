import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree


def plain_truth(labels):
    """What a faultless source says of two or three items with these labels."""
    if len(labels) == 2:
        return "same" if labels[0] == labels[1] else "different"
    i, j, k = labels
    if i == j != k:
        return "yes"
    if i == k != j:
        return "no"
    return "dnk"


@pytest.fixture
def views(rng):
    pairs = np.array([rng.choice(15, 2, replace=False) for _ in range(40)])
    links = bc.PairwiseConstraints(
        pairs, rng.random(40) < 0.5, n_items=15, source=np.arange(40) % 2
    )
    triples = np.array([rng.choice(15, 3, replace=False) for _ in range(60)])
    triplets = bc.RelativeConstraints(triples, rng.choice(["yes", "no", "dnk"], 60), n_items=15)
    return [links, triplets]


def test_every_answer_against_a_plain_loop(noisy_draws, views):
    z = noisy_draws(15, 3, 60, noise=0.3)
    table = bc.constraint_credibility(to_datatree({"z": z.reshape(3, 20, 15)}, constraints=views))
    assert len(table) == 100
    rows = table.itertuples(index=False)
    for view in views:
        for items, answer, source in zip(view.items, view.answers, view.source, strict=True):
            row = next(rows)
            word = view.vocabulary[answer]
            truths = [plain_truth(labels) for labels in z[:, items].tolist()]
            shares = {name: truths.count(name) / 60 for name in view.vocabulary}
            assert (row.view, row.answer, row.source) == (view.name, word, source)
            assert [row.i, row.j, row.k][: len(items)] == items.tolist()
            assert row.credibility == pytest.approx(shares[word])
            assert shares[row.likely] == pytest.approx(max(shares.values()))
    assert table["k"].isna().tolist() == [True] * 40 + [False] * 60


def test_pairs_alone_have_no_third_item(views):
    table = bc.constraint_credibility(
        to_datatree({"z": np.zeros((1, 4, 15), int)}, constraints=views[:1])
    )
    assert table.columns.tolist() == [
        "view",
        "i",
        "j",
        "answer",
        "source",
        "credibility",
        "mcse",
        "likely",
    ]
    assert (table["credibility"] == (table["answer"] == "same")).all()


def test_standard_errors_cover_the_error_they_speak_of(rng):
    n, share, runs = 2, 0.3, 300
    links = [bc.PairwiseConstraints([(0, 1)], [True], n_items=n)]
    errors, claimed = [], []
    for _ in range(runs):
        together = rng.random((2, 200)) < share
        z = np.zeros((2, 200, 2), int)
        z[..., 1] = ~together
        row = bc.constraint_credibility(to_datatree({"z": z}, constraints=links)).iloc[0]
        errors.append(row["credibility"] - share)
        claimed.append(row["mcse"])
    assert np.mean(claimed) == pytest.approx(np.sqrt(share * (1 - share) / 400), rel=0.05)
    assert np.mean(np.abs(errors) < 2 * np.array(claimed)) == pytest.approx(
        0.95, abs=3 * np.sqrt(0.05 * 0.95 / runs)
    )


def test_flipped_answers_are_the_least_believed(rng, noisy_draws):
    truth = np.arange(60) % 3
    links = bc.PairwiseConstraints.sample(truth, fraction=0.2, error_rate=0.15, seed=0)
    z = np.tile(truth, (2, 50, 1))
    stray = rng.random(z.shape) < 0.1
    z[stray] = rng.integers(3, size=stray.sum())
    table = bc.constraint_credibility(to_datatree({"z": z}, constraints=[links]))
    flipped = np.asarray(links.flipped)
    assert flipped.any()
    assert table["credibility"][flipped].max() < table["credibility"][~flipped].min()
    least = table.nsmallest(int(flipped.sum()), "credibility").index
    assert set(least) == set(np.flatnonzero(flipped))


def test_a_run_without_constraints_is_refused():
    with pytest.raises(
        ValueError,
        match=r"has no group 'constant_data'.* pass the posterior_ of a fit with constraints",
    ):
        bc.constraint_credibility(to_datatree({"z": np.zeros((1, 4, 15), int)}))


def test_odds_are_those_of_the_chinese_restaurant(views):
    """Of items that are seated in turn: the second with the first, the third with either."""
    z = np.zeros((1, 4, 15), int)
    z[0, 0, :] = np.arange(15)  # all together in three draws of four, all apart in one
    alpha = np.array([[0.5, 1.0, 2.0, 4.0]])
    tree = to_datatree({"z": z, "concentration": alpha}, constraints=views)
    table = bc.constraint_credibility(tree)
    together, third = (1 / (1 + alpha)).mean(), 1 / (2 + alpha)
    # i j apart from k: j sits down by i, and k by itself; or i, k and j likewise
    yes = (1 / (1 + alpha) * alpha * third).mean()
    prior = {"same": together, "different": 1 - together, "yes": yes, "no": yes, "dnk": 1 - 2 * yes}
    right = {"same": 3, "different": 1, "yes": 0, "no": 0, "dnk": 4}
    for row in table.itertuples():
        p, times = prior[row.answer], right[row.answer]
        assert row.bayes_factor == pytest.approx((times + 0.5) / (4.5 - times) / (p / (1 - p)))


def test_items_are_shown_with_their_clusters(views):
    tree = to_datatree({"z": np.zeros((1, 4, 15), int)}, constraints=views)
    labels = np.arange(15) // 5
    table = bc.constraint_credibility(tree, labels=labels)
    assert (table["cluster_i"] == labels[table["i"]]).all()
    assert table["cluster_k"].isna().tolist() == [True] * 40 + [False] * 60
    assert table["cluster_k"].dropna().tolist() == labels[views[1].items[:, 2]].tolist()
    with pytest.raises(ValueError, match="labels has 2 items, but the posterior has 15"):
        bc.constraint_credibility(tree, labels=[0, 1])


def test_an_estimator_brings_its_clusters(rng):
    X = rng.normal(size=(20, 1)) + np.repeat([[0.0], [6.0]], 10, axis=0)
    links = bc.PairwiseConstraints([(0, 1), (0, 19)], [True, False], n_items=20)
    est = bc.TVClust(
        num_chains=1, num_warmup=20, num_samples=20, progress=False, random_state=0
    ).fit(X, constraints=links)
    table = bc.constraint_credibility(est)
    assert table["cluster_i"].tolist() == est.labels_[[0, 0]].tolist()
    assert table["cluster_j"].tolist() == est.labels_[[1, 19]].tolist()
    assert (table["bayes_factor"] > 1).all()
