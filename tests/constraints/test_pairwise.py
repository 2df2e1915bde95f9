"""Pairwise constraints: sampling, matrices; components against all partitions."""

import re
from datetime import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

from bayesclust import InteractiveSession, RDPMeans, TVClust, limit_path
from bayesclust.constraints import (
    LabelConstraints,
    LinkNoise,
    PairwiseConstraints,
    RelativeConstraints,
)
from bayesclust.constraints.entailment import must_link_components
from tests.exactness.exact import partitions

nan = float("nan")
read = partial(PairwiseConstraints.from_frame, n_items=3)


def random_links(n, m, rng):
    pairs = [rng.choice(n, 2, replace=False) for _ in range(m)]
    return PairwiseConstraints(pairs, rng.random(m) < 0.5, n)


def possible(view):
    """Partitions that make every answer right."""
    z = partitions(view.n_items)
    return z[(view.truths(z) == view.answers).all(axis=1)]


def test_pairs_are_stored_with_the_smaller_item_first():
    links = PairwiseConstraints([(3, 1), (0, 2)], ["same", "different"], 4)
    np.testing.assert_array_equal(links.items, [(1, 3), (0, 2)])
    np.testing.assert_array_equal(links.may_links, [(1, 3)])
    np.testing.assert_array_equal(links.may_not_links, [(0, 2)])


CODINGS = [
    [1, -1],
    [1.0, 0.0],
    ["YES", "No"],
    [" must_link", "Cannot Link"],
    ["true", "0"],
    ["Y", "n"],
]
CODINGS += [np.array([True, False], dtype=object), pd.Series([True, False], dtype="boolean")]


@pytest.mark.parametrize("same", CODINGS, ids=str)
def test_answers_are_taken_as_they_are_commonly_coded(same):
    frame = pd.DataFrame({"i": [0, 1], "j": [1, 2], "answer": same})
    for links in (PairwiseConstraints([(0, 1), (1, 2)], same, 3), read(frame)):
        assert links.answers.tolist() == [1, 0]


class Table(dict):
    """A table of columns, as pyarrow has it."""

    columns, column_names = (), ("i", "j", "answer")


def test_tables_of_pyarrow_are_read():
    columns = {"i": [2, 1], "j": [0, 2], "answer": ["yes", "no"]}
    links = read(Table({name: pd.Series(values) for name, values in columns.items()}))
    assert links.rows == ((0, 2, "same"), (1, 2, "different"))


NAMED = pd.DataFrame({"i": ["ann"], "j": ["bob"], "answer": ["same"]})
IDS = ["bob", "eve", "ann"]


@pytest.mark.parametrize(
    ("table", "ids", "sentence"),
    [
        (NAMED, ["bob", "eve"], r"row 0 names 'ann', but ids are 'bob' and 'eve': correct it\."),
        (NAMED, [*IDS, "eve"], r"^ids has 'eve' twice: give each item a name of its own\.$"),
        (NAMED, NAMED, r"^ids has shape \(1, 3\): pass one name for each item\.$"),
        (NAMED.assign(j=[nan]), IDS, r"^row 0 lacks an item: name all of its items, or remove it"),
        (NAMED.assign(j=["ann "]), IDS, r"^row 0 names 'ann' twice: remove this row\.$"),
        (
            NAMED.assign(k=["eve"]),
            IDS,
            r"has a column 'k', but PairwiseConstraints are about i and j: read it",
        ),
        (NAMED.rename(columns={"i": "a"}), IDS, r"no column 'i', only a, j and answer: name its"),
    ],
)
def test_tables_that_name_no_items_are_refused(table, ids, sentence):
    with pytest.raises(ValueError, match=sentence):
        PairwiseConstraints.from_frame(table, ids=ids)


@pytest.mark.parametrize("ids", [[101, 205], [1.0, 2.0]])
def test_numbers_of_sources_are_their_names(ids):
    table = pd.DataFrame({"i": [0, 1], "j": [1, 2], "answer": ["same", "no"], "source": ids[::-1]})
    links = read(table)
    assert links.source_names == tuple(f"{number:g}" for number in ids)
    assert links.source.tolist() == [1, 0]
    assert read(table.assign(source=[1, 0])).source_names is None


def test_names_of_items_are_compared_as_words():
    table = pd.DataFrame({"i": ["10"], "j": ["12 "], "answer": ["same"]})
    assert read(table, n_items=None, ids=[10, 11, 12]).items.tolist() == [[0, 2]]
    with pytest.raises(TypeError, match=r"^row 0 names items by words, \['10', '12 '\]: pass ids"):
        read(table)


def test_names_are_compared_with_those_of_the_data():
    X = pd.DataFrame({"a": [0.0, 5.0, 1.0]}, index=IDS)
    links = PairwiseConstraints.from_frame(NAMED, ids=X.index)
    for data in (X, X.to_numpy(), X.reset_index(drop=True)):  # the last two have no names
        assert len(RDPMeans(penalty=4.0).fit(data, constraints=links).labels_) == 3
    with pytest.raises(ValueError, match=r"^the constraints 'links' and X name items differently"):
        RDPMeans(penalty=4.0).fit(X.iloc[::-1], constraints=links)
    labels = LabelConstraints.from_frame(NAMED.drop(columns="j"), ids=IDS)
    with pytest.raises(ValueError, match=r"another order, 'bob' there and 'ann' in X: read"):
        RDPMeans(penalty=4.0).fit(X.iloc[::-1], constraints=[labels])
    backwards = PairwiseConstraints.from_frame(NAMED, ids=X.index[::-1])
    limit = RDPMeans(penalty=4.0).fit(X)
    est = TVClust("gibbs", num_chains=1, num_warmup=2, num_samples=2, progress=False).fit(X)
    for takes in (
        lambda given: est.extend(constraints=given),
        InteractiveSession(X, limit).add,
        lambda given: limit_path(X, constraints=given, limit=limit, progress=False),
    ):
        with pytest.raises(ValueError, match=r"another order, 'ann' there and 'bob' in X: read"):
            takes(backwards)
    turned = links.restrict([2, 1, 0])
    assert len(RDPMeans(penalty=4.0).fit(X.iloc[::-1], constraints=turned).labels_) == 3


def test_a_notebook_shows_answers_by_source():
    links = PairwiseConstraints([(0, 1), (1, 2)], [1, 1], 3, source=["<ann>", "bob"])
    cells = re.findall("<t[hd]>(.*?)</t", links._repr_html_())
    by_source = ["source", "", "&lt;ann&gt;", "1", "bob", "1"]
    assert [cell for cell in cells if cell in by_source][:6] == by_source
    assert cells[-5:] == ["1", "1", "2", "same", "bob"]
    assert "1 label on 3 items" in LabelConstraints([(2, 0)], 3)._repr_html_()


def test_answers_are_flipped_at_the_rate_of_their_source(rng):
    labels = rng.integers(5, size=200)
    rates = [0.0, 0.1, 0.45, 1.0]
    links = PairwiseConstraints.sample(labels, size=8000, error_rate=rates, n_sources=4, seed=1)
    wrong = links.answers != (labels[links.items[:, 0]] == labels[links.items[:, 1]])
    np.testing.assert_array_equal(links.flipped, wrong)
    for source, rate in enumerate(rates):
        mine = wrong[links.source == source]
        assert len(mine) == 2000
        assert stats.binomtest(int(mine.sum()), 2000, rate).pvalue > 1e-3


def test_flips_are_independent_draws_not_an_exact_share():
    labels = np.arange(40) % 3
    wrong = [
        PairwiseConstraints.sample(labels, size=100, error_rate=0.2, seed=seed).flipped.sum()
        for seed in range(300)
    ]
    assert np.var(wrong) == pytest.approx(100 * 0.2 * 0.8, rel=0.25)


@pytest.mark.parametrize("form", [np.array, np.ndarray.tolist])
def test_a_dense_matrix_is_read_from_either_side(form):
    E = np.array([[nan, 1, nan, 0], [1, 1, nan, nan], [nan, 0, 1, nan], [nan, nan, 1, nan]])
    links = PairwiseConstraints.from_matrix(form(E))
    answered = dict(zip(map(tuple, links.items.tolist()), links.answers.tolist(), strict=True))
    assert answered == {(0, 1): 1, (0, 3): 0, (1, 2): 0, (2, 3): 1}
    assert links.n_items == 4


@pytest.mark.parametrize(
    "kind", [sparse.coo_array, sparse.csr_array, sparse.csc_matrix, sparse.lil_array]
)
def test_a_sparse_matrix_stores_its_answers_zeros_included(kind):
    rows, columns, values = [0, 3, 1, 2, 2], [1, 0, 2, 1, 2], [1.0, 0.0, 0.0, 0.0, 1.0]
    stored = kind(sparse.coo_array((values, (rows, columns)), shape=(4, 4)))
    links = PairwiseConstraints.from_matrix(stored)
    answered = dict(zip(map(tuple, links.items.tolist()), links.answers.tolist(), strict=True))
    assert answered == {(0, 1): 1, (0, 3): 0, (1, 2): 0}


def test_a_matrix_of_every_answer_comes_back(rng):
    labels = rng.integers(3, size=12)
    links = PairwiseConstraints.from_matrix(labels[:, None] == labels)
    assert len(links) == 66
    np.testing.assert_array_equal(links.truths(labels), links.answers)


def test_lists_become_answers():
    links = PairwiseConstraints.from_lists(
        [(1, 0)], [(2, 1), (0, 2)], n_items=5, noise=LinkNoise(p=0.9), name="ann"
    )
    np.testing.assert_array_equal(links.items, [(0, 1), (1, 2), (0, 2)])
    np.testing.assert_array_equal(links.answers, [1, 0, 0])
    assert (links.noise, links.name) == (LinkNoise(p=0.9), "ann")
    assert len(PairwiseConstraints.from_lists([], [], n_items=2)) == 0


def test_a_component_is_contradicted_where_no_partition_is_possible():
    found = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        links = random_links(6, int(rng.integers(3, 10)), rng)
        component = must_link_components(links.may_links, 6)
        torn = component[links.may_not_links]
        found.append(bool((torn[:, 0] == torn[:, 1]).any()))
        assert found[-1] == (len(possible(links)) == 0)
    assert 3 <= sum(found) <= 22


def test_a_long_chain_needs_no_recursion():
    n = 50_000
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    assert (must_link_components(chain[::-1], n) == 0).all()


DAYS = pd.date_range("2024-01-01", periods=4)
DATED = pd.DataFrame({"i": DAYS[[2, 0]], "j": DAYS[[0, 3]], "answer": ["same", "different"]})


@pytest.mark.parametrize("ids", [DAYS, DAYS.to_numpy(), list(DAYS), DAYS.strftime("%Y-%m-%d")])
def test_items_may_be_named_by_dates(ids):
    links = PairwiseConstraints.from_frame(DATED, ids=ids)
    assert links.rows == ((0, 2, "same"), (0, 3, "different"))
    assert links.item_names == ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
    data = pd.DataFrame({"x": [0.0, 9.0, 0.0, 9.0]}, index=DAYS)
    RDPMeans(n_clusters=2).fit(data, constraints=links)
    with pytest.raises(ValueError, match=r"'2024-01-01' there and '2024-01-04'"):
        RDPMeans(n_clusters=2).fit(data[::-1], constraints=links)


def test_tables_of_polars_are_read():
    polars = pytest.importorskip("polars")
    dated = polars.DataFrame({name: DATED[name].to_numpy() for name in DATED})
    whole_days = dated.with_columns(polars.col("i", "j").cast(polars.Date))
    for table in (dated, whole_days):
        for ids in (DAYS, polars.Series(DAYS.to_numpy()), DAYS.date.tolist()):
            links = PairwiseConstraints.from_frame(table, ids=ids)
            assert links.items.tolist() == [[0, 2], [0, 3]]
    times = polars.DataFrame({"i": [time(1), time(2), time(3)]})
    for other in (dated[["i"]], times):
        with pytest.raises(TypeError, match=r"^X must hold numbers, unlike column i: drop such"):
            RDPMeans(n_clusters=2).fit(other)
    with pytest.raises(TypeError, match=r"^the table is a LazyFrame, not yet computed: call"):
        PairwiseConstraints.from_frame(dated.lazy(), ids=DAYS)


def test_large_numbers_of_items_are_not_rounded():
    """Beside decimals, as a column becomes that lacked a cell once."""
    table = pd.DataFrame({"i": [2**53 + 1], "j": [5.0], "answer": ["same"]})
    links = PairwiseConstraints.from_frame(table, ids=[2**53, 2**53 + 1, 5])
    assert links.items.tolist() == [[1, 2]]
    with pytest.raises(TypeError, match="pairs must hold integers"):
        PairwiseConstraints.from_frame(table.assign(i=1e300), n_items=9)
    words = table.assign(i="-1.0", j="0.0")
    assert PairwiseConstraints.from_frame(words, ids=[0.0, -1.0]).items.tolist() == [[0, 1]]


def test_truth_values_beside_codes_stay_what_they_are():
    for answers in ([True, False, 2], [np.True_, np.False_, 2]):
        triplets = RelativeConstraints([(0, 1, 2), (1, 2, 3), (2, 3, 4)], answers, n_items=5)
        assert [row[-1] for row in triplets.rows] == ["yes", "no", "dnk"]
    as_objects = np.array([np.int64(1), np.bool_(False)], dtype=object)
    assert PairwiseConstraints([(0, 1), (1, 2)], as_objects, 3).answers.tolist() == [1, 0]


def test_more_answers_than_there_is_memory_for_are_refused():
    table = pd.DataFrame({"i": [0], "j": [1], "answer": ["same"], "count": [10**15]})
    with pytest.raises(MemoryError, match="keeping 1,000,000,000,000,000 answers needs"):
        PairwiseConstraints.from_frame(table, n_items=2)
    with pytest.raises(MemoryError, match="drawing 499,999,500,000 of 499,999,500,000 questions"):
        PairwiseConstraints.sample(np.zeros(10**6, int), fraction=1.0)


def test_columns_of_pyarrow_have_names():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"u": [0.0, 1.0, 9.0], "v": [1.0, 0.0, 9.0]})
    assert RDPMeans(n_clusters=2).fit(table).feature_names_in_.tolist() == ["u", "v"]


@pytest.mark.parametrize("name", ["X", "item", "feature", "chain", "draw"])
def test_names_that_results_use_are_refused(name):
    with pytest.raises(ValueError, match=f"^name is '{name}', as results call something else: gi"):
        PairwiseConstraints([(0, 1)], [True], n_items=2, name=name)
