"""MinimalModification: scikit-learn's rules, refusals, and the posterior whose mode it is."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import bayesclust as bc
from bayesclust.estimators.minimal_modification import ConflictError
from bayesclust.inference.limits.minimal_modification.modify import find_super_instances
from bayesclust.posterior.tree import to_datatree
from tests.inference.limits.minimal_modification.plain import N, random_case
from tests.refusals import refused

X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]])
SEEN = [0, 0, 0, 1, 1, 2]


def modes(case, precision, probability):
    """Log posterior of every partition, up to a constant."""
    labels = case.partitions()
    held = case.held(labels)
    log_prior = -precision * case.costs(labels)
    log_likelihood = np.where(held, np.log(probability), np.log1p(-probability)).sum(axis=1)
    return labels, log_prior + log_likelihood


@pytest.mark.parametrize("seed", range(10))
def test_it_is_the_mode_of_a_posterior_at_the_partition(seed):
    case = random_case(seed + 300)._replace(satisfied=1.0)
    case.rows["triplets"] = [row for row in case.rows["triplets"] if row[3] != "dnk"]
    rng = np.random.default_rng(seed)
    probability, precision = (
        rng.uniform(0.55, 0.99, size=len(case.origin)),
        float(rng.uniform(0.3, 3)),
    )
    est = case.estimator(precision=precision)
    est.fit(case.X, partition=case.seen, constraints=case.constraints(), credibility=probability)
    labels, log_posterior = modes(case, precision, probability)
    found = log_posterior[(labels == est.labels_).all(axis=1)]
    assert found == pytest.approx([log_posterior.max()], abs=1e-6)
    # and the objective is that log posterior in units of the data
    constant = np.log(probability).sum()
    assert est.objective_ == pytest.approx((constant - log_posterior.max()) / precision, abs=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_super_instances_move_as_one(seed):
    """Enumerate the partitions that leave super-instances whole and other items in place."""
    rng = np.random.default_rng(seed)
    X, seen = rng.normal(size=(14, 2)), rng.permutation(np.r_[0, 1, 2, rng.integers(3, size=11)])
    links = bc.PairwiseConstraints.sample(rng.integers(3, size=14), size=3, seed=seed)
    est = bc.MinimalModification(1.0, 0.4, new_clusters=1, new_cluster_distance=2.0)
    est.fit(X, partition=seen, constraints=links)
    named = np.unique(links.items)
    groups = find_super_instances(X, seen, named, 0.4)
    apart = np.linalg.norm(X[:, None] - X[None], axis=2)
    D = np.column_stack([*(apart[:, seen == c].min(axis=1) for c in range(3)), np.full(14, 2.0)])
    best = np.inf
    for values in product(range(4), repeat=len(named)):
        labels = seen.copy()
        for group, value in zip(groups, values, strict=True):
            labels[group] = value
        if (links.truths(labels) == links.answers).all():
            moved = np.flatnonzero(labels != seen)
            best = min(best, D[moved, labels[moved]].sum())
    assert est.objective_ == pytest.approx(best)
    assert (links.truths(est.labels_) == links.answers).all()
    assert set(est.moved_) <= set(np.concatenate(groups))


def test_credibility_of_a_posterior_decides_what_is_violated():
    links = bc.PairwiseConstraints.from_lists([(0, 1), (3, 4), (2, 3), (2, 5)], [(0, 3)], N)
    draws = (
        [[0, 0, 0, 1, 1, 2]] * 5
        + [[0, 0, 1, 1, 1, 2]] * 3
        + [[0, 1, 1, 1, 1, 0]]
        + [[0, 0, 1, 1, 2, 1]]
    )
    tree = to_datatree({"z": [draws]}, {"log_joint": [[0.0] * 10]}, constraints=[links])
    table = bc.constraint_credibility(tree)
    assert table.credibility.tolist() == [0.9, 0.9, 0.5, 0.1, 1.0]
    rule = bc.LabelConstraints([(2, 2)], N)
    est = bc.MinimalModification(super_instances=1.0, precision=2.0)
    right = [*table.credibility, 1.0]
    est.fit(X, partition=[1, 0, 0, 1, 1, 2], constraints=[links, rule], credibility=right)
    # items 0 and 3 must part, for which item 0 goes a distance of 1 to item 1; item 2 goes to the
    # cluster of item 5
    assert est.labels_.tolist() == [0, 0, 2, 1, 1, 2]
    assert est.violated_.empty


def test_the_partition_may_come_from_an_estimator():
    data = np.random.default_rng(0).normal(size=(30, 2)) + 6.0 * np.repeat([0, 1], 15)[:, None]
    fitted = bc.DPMeans(n_clusters=2).fit(data)
    for partition in (fitted, bc.DPMeans(n_clusters=2), fitted.labels_):
        assert (
            bc.MinimalModification().fit(data, partition=partition).labels_.tolist()
            == fitted.labels_.tolist()
        )


def test_numbers_of_clusters_are_kept_and_new_ones_come_next():
    rules = [bc.LabelConstraints([(5, 3)], N), bc.PairwiseConstraints([(0, 3)], [True], N)]
    est = bc.MinimalModification(super_instances=1.0, new_clusters=1).fit(
        X, partition=SEEN, constraints=rules
    )
    # item 3 is nearer to item 2 than item 0 to item 3; cluster 2 is empty
    assert est.labels_.tolist() == [0, 0, 0, 0, 1, 3]
    assert est.n_clusters_ == 3
    assert est.moved_.tolist() == [3, 5]
    # one anchor a cluster, item 1 of the first; the new one at twice the largest distance, from
    # item 0 to item 5
    assert est.cost_ == pytest.approx(9.0 + 2 * 30.0)


def test_a_conflict_is_named_in_a_sentence():
    links = bc.PairwiseConstraints.from_lists([(0, 1), (1, 2), (3, 4)], [(0, 2), (4, 5)], N)
    with pytest.raises(ConflictError) as error:
        bc.MinimalModification().fit(X, partition=SEEN, constraints=links)
    assert error.value.conflict == [("links", 0), ("links", 1), ("links", 3)]
    assert str(error.value) == (
        "these constraints cannot all hold: links[0] (items 0 and 1 together), links[1] (items 1 "
        "and 2 together), links[3] (items 0 and 2 apart): leave one out, allow new_clusters, or "
        "require less by min_satisfied or credibility."
    )
    named = pd.DataFrame(X, index=list("uvwxyz"), columns=["x"])
    est = bc.MinimalModification(super_instances=1.0, min_satisfied=0.8).fit(
        named, partition=SEEN, constraints=links
    )
    assert est.violated_.row.tolist() == [3]
    assert est.violated_.what.tolist() == ["items u and w apart"]
    with pytest.raises(ConflictError, match="items u and v together"):
        bc.MinimalModification(min_satisfied=0.95).fit(named, partition=SEEN, constraints=links)


LINKS = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, True], N)


def modified(partition=SEEN, constraints=None, credibility=None, **settings):
    given = {"constraints": constraints, "credibility": credibility}
    return bc.MinimalModification(**settings).fit(X, partition=partition, **given)


@pytest.mark.parametrize(
    ("settings", "links", "rows", "sentence"),
    [
        ({"max_diameter": 0.5}, None, [], "no partition has max_diameter=0.5 by moving whole"),
        ({"max_size": 2}, LINKS, [0, 1], "these constraints cannot all hold under max_size=2: "),
    ],
)
def test_bounds_that_nothing_keeps_are_named(settings, links, rows, sentence):
    with pytest.raises(ConflictError, match="^" + sentence) as error:
        modified(constraints=links, super_instances=1.0, **settings)
    assert error.value.conflict == [("links", row) for row in rows]


ROWS = """
modified([0, 0, -1, 0, 0, 0])
    ValueError: partition[2] is -1: number the clusters 0, 1, 2, ..., and give noise one of
    its own.
modified(constraints=bc.LabelConstraints([(0, 1), (1, 3)], N))
    ValueError: label[1] names cluster 3, but clusters are numbered 0 to 2, new ones included:
    correct the number or allow more new_clusters.
modified(constraints=LINKS, credibility=[0.5])
    ValueError: credibility has shape (1,), but there are 2 constraints: pass one probability
    for each, in order.
modified(min_size=3, max_size=2)
    ValueError: max_size=2 is less than min_size=3: raise it to that at least.
modified(min_size=7)
    ValueError: min_size must be an integer from 1 to 6; got 7.
modified(max_size=1)
    ValueError: no number of clusters up to 3 splits 6 items into clusters of 1 to 1: change
    min_size or max_size, or allow more new_clusters.
modified(max_diameter=0.5, super_instances=0.1)
    ValueError: max_diameter=0.5 is less than the 2 between two of the 3 items of one
    super-instance: raise it, or super_instances (1 moves every item by itself).
bc.TVClust(min_size=2)
    TypeError: TVClust takes no 'min_size': MinimalModification and MPCKMeans bound the sizes of
    clusters; in TVClust a least size would freeze moves of single items, and clusters stay small
    under partition_prior=bayesclust.partition_priors.Microclustering().
modified(constraints=LINKS, credibility=[0.5, 1.5])
    ValueError: credibility[1] is 1.5: pass probabilities from 0 to 1.
"""
test_bad_input_is_refused_in_a_sentence = refused(ROWS, globals())


def test_fit_predict_takes_what_fit_does():
    links = bc.PairwiseConstraints([(0, 2)], [True], 4)
    X, given = np.arange(4.0)[:, None], {"partition": [0, 0, 1, 1], "constraints": links}
    expected = bc.MinimalModification().fit(X, **given).labels_
    assert (bc.MinimalModification().fit_predict(X, **given) == expected).all()
