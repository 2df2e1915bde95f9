"""Rules in draws and in fits: credibility, restriction, growth and storage."""

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.constraints import ImplicationConstraints, SpreadConstraints
from bayesclust.constraints.stored import constraints_from_dataset, to_dataset
from bayesclust.posterior.tree import to_datatree
from bayesclust.report.findings import findings

N = 6
GROUPS = [((0, 1, 2), 1), ((1, 3, 4, 5), 2)]
RULES = [([(0, 1, True)], [(2, 3, False)])]


@pytest.fixture
def groups():
    return SpreadConstraints(GROUPS, N, source=["ann", "bob"], answers=[True, False])


@pytest.fixture
def tree(rng, groups):
    z = rng.integers(0, 3, (2, 30, N))
    noise = {name: rng.uniform(0.5, 1, (2, 30, 2)) for name in "pq"}
    dims = dict.fromkeys("pq", ("spread_source",))
    return to_datatree({"z": z, **noise}, constraints=[groups], dims=dims)


def test_credibility_is_that_of_plain_loops(tree, groups):
    table = bc.constraint_credibility(tree)
    draws = tree["posterior"]
    z = draws["z"].values.reshape(-1, N)
    assert table["rule"].tolist() == ["0, 1, 2 together", "1, 3, 4, 5 in at most 2 clusters"]
    for m, (items, most) in enumerate(GROUPS):
        holds = np.array([len({labels[i] for i in items}) <= most for labels in z])
        right = holds == bool(groups.answers[m])
        p, q = (draws[name].values.reshape(-1, 2)[:, m] for name in "pq")
        said = np.where(holds, p, 1 - q) if groups.answers[m] else np.where(holds, 1 - p, q)
        np.testing.assert_allclose(table["credibility"][m], right.mean())
        loo = (right / said).sum() / (1 / said).sum()
        np.testing.assert_allclose(table["credibility_loo"][m], loo)
        np.testing.assert_allclose(table["elpd_loo"][m], -np.log((1 / said).mean()))
    assert "bayes_factor" not in table
    assert bc.source_reliability(tree)["source"].tolist() == ["ann", "ann", "bob", "bob"]


def test_names_of_items_are_said(rng, groups):
    tree = to_datatree({"z": rng.integers(0, 2, (1, 9, N))}, constraints=[groups])
    tree["posterior"] = tree["posterior"].to_dataset().assign_coords(item=list("abcdef"))
    rules = bc.constraint_credibility(tree)["rule"].tolist()
    assert rules == ["a, b, c together", "b, d, e, f in at most 2 clusters"]


def test_rules_are_listed_in_words(rng, groups):
    """Alone, and beside answers whose items have columns of their own."""
    links = bc.PairwiseConstraints([(0, 5)], [False], N)
    draws = {"z": np.zeros((1, 9, N), int)} | {name: np.full((1, 9, 2), 0.9) for name in "pq"}
    dims = dict.fromkeys("pq", ("spread_source",))
    alone = to_datatree(draws, constraints=[groups], dims=dims)
    assert findings(alone).listed["about"].tolist() == [["1, 3, 4, 5 in at most 2 clusters"]]
    ax = bc.plots.credibility_ranking(alone)
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == [
        '1, 3, 4, 5 in at most 2 clusters: "no" (bob)',
        '0, 1, 2 together: "yes" (ann)',
    ]
    both = to_datatree({"z": draws["z"]}, constraints=[groups, links])
    table = bc.constraint_credibility(both)
    assert table.columns[:5].tolist() == ["view", "i", "j", "rule", "answer"]
    assert table["i"].isna().tolist() == [True, True, False]
    graph = bc.plots.constraint_graph(both, rng.normal(size=(N, 2)))
    assert len(graph.collections[0].get_segments()) == 1  # of the link


def test_each_rule_is_a_question_of_its_own():
    """Of two sources that answer one rule in two ways, and another rule alone."""
    rows = [((0, 1, 2), 1), ((0, 1, 2), 1), ((3, 4), 1)]
    rules = SpreadConstraints(rows, N, source=[0, 1, 1], answers=[True, False, False])
    draws = {"z": np.zeros((1, 5, N), int)} | {name: np.full((1, 5, 2), 0.9) for name in "pq"}
    tree = to_datatree(draws, constraints=[rules], dims=dict.fromkeys("pq", ("spread_source",)))
    checks = bc.constraint_ppc(tree).set_index("check")["observed"]
    assert checks["disagreements"] == 1


def test_a_limit_takes_none(rng, groups):
    X = np.r_[rng.normal(size=(3, 2)), 9 + rng.normal(size=(3, 2))]
    draws = {"z": np.tile([0, 0, 0, 1, 1, 1], (1, 5, 1))}
    draws |= {name: np.full((1, 5, 2), 0.9) for name in "pq"}
    tree = to_datatree(draws, constraints=[groups], dims=dict.fromkeys("pq", ("spread_source",)))
    assert bc.RDPMeans.from_posterior(tree, X, divergence="euclidean").xi is None


def test_stored_rules_say_the_same(rng, groups):
    rules = ImplicationConstraints(RULES, N)
    z = rng.integers(0, 3, (20, N))
    for own, read in zip(
        [groups, rules], constraints_from_dataset(to_dataset([groups, rules])), strict=True
    ):
        assert (own.truths(z) == read.truths(z)).all()
        assert own.in_words("abcdef") == read.in_words("abcdef")


def test_restriction_keeps_what_is_among_the_items(groups):
    part = groups.restrict([2, 1, 0, 5])
    assert part.rows == (((2, 1, 0), 1),)
    assert (part.n_items, part.answers.tolist()) == (4, [1])
    assert ImplicationConstraints(RULES, N).restrict([3, 2, 1, 0]).rows == (
        (((3, 2, True),), ((1, 0, False),)),
    )


def test_what_is_said_not_to_hold_is_no_rule(groups):
    with pytest.raises(TypeError, match="row 1 of 'spread' is said not to hold"):
        groups.statements()
    with pytest.raises(TypeError, match="row 1 of 'spread' is said not to hold"):
        bc.InteractiveSession(np.arange(N)[:, None]).add(groups)
    assert groups.satisfied([0, 0, 0, 1, 2, 2]).tolist() == [True, True]


def test_lines_of_groups_do_not_count():
    """A column `count` is of answers; a group has a line for each of its items."""
    table = pd.DataFrame({"group": list("aabb"), "i": [0, 1, 2, 3], "count": [1, 1, 2, 2]})
    table["most"] = 1
    assert SpreadConstraints.from_frame(table, n_items=N).rows == (((0, 1), 1), ((2, 3), 1))


def test_methods_that_know_tuples_alone_refuse_them(rng, groups):
    for method in (bc.RDPMeans(), bc.DCRC(2), bc.TVClust(sampler="blocked")):
        with pytest.raises(TypeError, match=r"SpreadConstraints, but this method uses"):
            method.fit(rng.normal(size=(N, 2)), constraints=groups)


def test_groups_grow_and_wrong_ones_are_found():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) + 5 * np.eye(3)[y, :2] * [1, 1.2]
    groups = SpreadConstraints.sample(y, size=20, members=3, error_rate=0.2, seed=2)
    assert (groups.flipped == [len(set(y[list(items)])) > 1 for items, _ in groups.rows]).all()
    settings = {"num_warmup": 150, "num_samples": 200, "num_chains": 2, "progress": False}
    est = bc.TVClust(cluster_model="single", random_state=0, **settings)
    est.fit(X, constraints=groups)
    credibility = bc.constraint_credibility(est)["credibility"].to_numpy()
    assert credibility[groups.flipped].max() < 0.3 < 0.7 < credibility[~groups.flipped].min()
    more = SpreadConstraints([((0, 60), 1)], 61)
    est.extend(X[:1], constraints=more)
    assert len(bc.constraint_credibility(est)) == len(groups) + 1
