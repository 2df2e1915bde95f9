"""Tables of items and answers: what is read, and what is refused by file, item and column."""

import argparse

import numpy as np
import pytest

from bayesclust.cli import tables
from bayesclust.constraints import (
    LabelConstraints,
    PairwiseConstraints,
    RelativeConstraints,
    SpreadConstraints,
)

NAMES = ["ant", "bee", "cow", "dog"]


def read_items(path, *options, **more):
    parser = argparse.ArgumentParser()
    tables.add_reading(parser)
    parser.add_argument("data")
    given = parser.parse_args([str(path), *options])
    return tables.read_items(argparse.Namespace(**vars(given), **more))


@pytest.fixture
def table(tmp_path):
    def write(text, name="data.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write


def test_items_have_the_names_of_their_column(table):
    items = read_items(table("a, id ,b\n1,x,2\n\n3.5,y,-4e1\n"))
    assert (list(items.index), list(items)) == (["x", "y"], ["a", "b"])
    np.testing.assert_array_equal(items, [[1, 2], [3.5, -40]])


def test_items_without_names_are_row_numbers(table):
    items = read_items(table("a\tb\n1\t2\n3\t4\n", "data.tsv"))
    assert list(items.index) == [0, 1]
    np.testing.assert_array_equal(items, [[1, 2], [3, 4]])


def test_columns_are_left_out_and_named(table):
    path = table('\ufeffwho,a,b,kind\n x ,1,2,red\n"y,z",3,4,blue\n')
    items = read_items(path, "--id=who", "--drop=kind")
    assert (list(items.index), list(items)) == (["x", "y,z"], ["a", "b"])


def test_columns_are_scaled_and_missing_cells_stay(table):
    scaled = read_items(table("a,b\n1,5\n3,5\nNA,5\n"), "--standardize")
    np.testing.assert_allclose(scaled, [[-1, 0], [1, 0], [np.nan, 0]])


def test_words_stay_where_the_family_takes_them(table):
    path = table("a,town\n1,Rome\n3,\n,Oslo\n")
    items = read_items(path, "--standardize", family="mixed")
    np.testing.assert_allclose(items["a"], [-1, 1, np.nan])
    assert items["town"].fillna("missing").tolist() == ["Rome", "missing", "Oslo"]


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("", [], r"data\.csv is empty: it needs a line that names the columns"),
        ("a,b\n", [], r"data\.csv has no rows below its first line"),
        ("1,2\n3,4\n", [], r"has numbers as the names of its columns: put a line of names first"),
        ("a;b\n1;2\n", [], r"seems to have semicolons between its cells: save it with commas"),
        ("a\tb\n1\t2\n", [], r"seems to have tabs between its cells: save it with commas"),
        ("a,\n1,2\n", [], r"has the columns a, : give each a name of its own, in line 1"),
        ("a,a\n1,2\n", [], r"has the columns a, a: give each"),
        ("a;b\n1,5;2\n", [], r"semicolons between its cells and decimal commas: write points"),
        ('a,b\n"1,5",2\n', [], r"a of item 0 is '1,5', .*: write decimals with a point"),
        ("a,b\n1,2\n\n3,4,5\n", [], r"data\.csv, line 4 has 3 cells, the first line has 2: "),
        (
            "a,b\n1,2\n3,red\n",
            [],
            r"b of item 1 is 'red', which is not a number: .*--drop b.*--id b",
        ),
        ("id,b\nx,1\ny,2\nx,3\n", [], r"has id 'x' twice"),
        ("id,b\nx,1\n,2\n", [], r"has id '' twice, or empty: name each item once"),
        ("name,b\nx,1\n", ["--id=nmae"], r"has no column 'nmae', only name, b\."),
        ("a,b\n1,2\n", ["--drop=c"], r"has no column 'c', only a, b\."),
        (b"a,b\n1,\xff2\n", [], r"is not in UTF-8: save it as CSV UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), [], r"is not in UTF-8: save it as CSV UTF-8"),
        ('a,b\n\n1,"2\n', [], r"data\.csv, line 3: a quotation mark is not closed"),
    ],
)
def test_bad_data_are_refused_by_file(table, text, options, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        read_items(table(text), *options)
    assert "data.csv" in str(error.value)
    assert "\n" not in str(error.value)


def answers_of(read):
    """Rows of the initials of items and the answer."""
    rows = read.to_frame()[[*read.members, "answer"]].to_numpy().tolist()
    return [[*(name[0] for name in items), answer] for *items, answer in rows]


def test_answers_are_about_named_items(table):
    text = "answer,j,i,when\nsame,bee,ant,now\nNO,cow,dog,then\n1,ant,dog,now\n"
    read = tables.read_answers([table(text, "pairs.csv")], PairwiseConstraints, NAMES)
    assert answers_of(read) == [[*"ab", "same"], [*"cd", "different"], [*"ad", "same"]]
    assert (read.n_items, read.n_sources, read.source_names) == (4, 1, None)
    triplets = table("i,j,k,answer\nant,bee,cow,yes\nbee,dog,ant,?\n", "triplets.csv")
    read = tables.read_answers([triplets], RelativeConstraints, NAMES)
    assert answers_of(read) == [[*"abc", "yes"], [*"bda", "dnk"]]


def test_sources_have_their_names_in_order_of_the_alphabet(table):
    text = "i,j,answer,source\nant,bee,same,zoe\nant,cow,same,ann\nant,dog,same,zoe\n"
    read = tables.read_answers([table(text, "pairs.csv")], PairwiseConstraints, NAMES)
    assert (read.source.tolist(), read.source_names) == ([1, 0, 1], ("ann", "zoe"))


def test_each_of_several_files_is_a_source(table):
    paths = [table(f"i,j,answer\nant,{who},same\n", f"{who}.csv") for who in ("cow", "bee")]
    read = tables.read_answers(paths, PairwiseConstraints, NAMES)
    assert answers_of(read) == [[*"ac", "same"], [*"ab", "same"]]
    assert (read.source.tolist(), read.source_names) == ([1, 0], ("bee", "cow"))


def test_scores_and_counts_are_read(table):
    scored = table("i,j,score,source\nant,bee,0.97,m\nant,cow,.1,m\n", "pairs.csv")
    read = tables.read_answers([scored], PairwiseConstraints, NAMES)
    assert answers_of(read) == [[*"ab", "0.95-0.98"], [*"ac", "0.1-0.2"]]
    voted = table("i,j,answer,count\nant,bee,yes,3\nant,bee,no,2\nant,cow,no,0\n", "pairs.csv")
    read = tables.read_answers([voted], PairwiseConstraints, NAMES)
    assert answers_of(read) == [[*"ab", "same"]] * 3 + [[*"ab", "different"]] * 2


def test_an_answer_without_a_count_counts_once(table):
    paths = [table("i,j,answer,count\nant,bee,yes,2.0\nant,cow,no,\n", "a.csv")]
    paths.append(table("i,j,answer\nant,dog,no\n", "b.csv"))
    read = tables.read_answers(paths, PairwiseConstraints, NAMES)
    assert read.items.tolist() == [[0, 1], [0, 1], [0, 2], [0, 3]]


def test_whole_numbers_are_names_with_and_without_decimals(table):
    """A column in which cells are empty, or were, is often written as 3.0."""
    text = "i,j,answer\n0.0,2.0,same\n1,2,different\n"
    for names in (range(3), ["0.0", "1.0", "2.0"]):
        read = tables.read_answers([table(text, "pairs.csv")], PairwiseConstraints, names)
        assert read.items.tolist() == [[0, 2], [1, 2]]


PAIRS, TRIPLETS = PairwiseConstraints, RelativeConstraints


@pytest.mark.parametrize(
    ("text", "kind", "sentence"),
    [
        (
            "i,j,score\nant,bee,1.2\n",
            PAIRS,
            r", line 2: scores is 1\.2: pass for each pair a score",
        ),
        ("i,j,score\nant,bee,\n", PAIRS, ", line 2: scores is nan: pass for"),
        ("i,j,answer,count\nant,bee,1,-2\n", PAIRS, ", line 2 has the count '-2': give a whole"),
        ("i,j,answer,count\nant,bee,same,1e30\n", PAIRS, ", line 2 has the count '1e30'"),
        (
            "i,j,answer,count\nant,bee,1,2\n\nant,cow,1,1.5\n",
            PAIRS,
            r", line 4 has the count '1\.5': give",
        ),
        (
            "i,j,answer,count\nant,bee,same,3\nant,cow,maybe,1\n",
            PAIRS,
            ", line 3: answer is 'maybe', not an answer",
        ),
        ("a,b,same\nant,bee,1\n", PAIRS, ": the table has no column 'i', only a, b and same: name"),
        ("i,j,answer\nant,bee,yes\n", TRIPLETS, ": the table has no column 'k'"),
        (
            "i,j,answer\nant,bea,same\n",
            PAIRS,
            r", line 2 names 'bea', but ids are 'ant', 'bee', 'cow' and 'dog': correct it",
        ),
        ("i,j,answer\nant,bee,1\n ,bee,1\n", PAIRS, ", line 3 names '', but ids are"),
        ("i,j,answer\nant,ant,same\n", PAIRS, ", line 2 names 'ant' twice: remove this row"),
        (
            "i,j,answer\nant,bee,maybe\n",
            PAIRS,
            ", line 2: answer is 'maybe', not an answer: pass",
        ),
        (
            "i,j,answer\nant,bee,same\nant,cow,NA\n",
            PAIRS,
            ", line 3: answer is nan, not an answer: pass",
        ),
        ("i,j,answer\nant,bee\n", PAIRS, ", line 2: answer is nan, not"),
        (
            "i,j,k,answer\nant,bee,cow,same\n",
            TRIPLETS,
            ", line 2: answer is 'same', not an answer",
        ),
        ("i,j,answer,source\nant,bee,same,\n", PAIRS, ", line 2 has no source: say who answered"),
        ("i,answer\nant,x\nbee,nan\n", LabelConstraints, ", line 3 has no label: leave"),
        ("group,i\n,ant\n", SpreadConstraints, ", line 2 has no group: name one there"),
    ],
)
def test_bad_answers_are_refused_by_file_and_line(table, text, kind, sentence):
    path = table(text, "pairs.csv")
    with pytest.raises(ValueError, match=r"pairs\.csv.*" + sentence):
        tables.read_answers([path], kind, NAMES)


def test_answers_about_rows_say_how_to_name_items(table):
    items = read_items(table("a\n1\n2\n"))
    path = table("i,j,answer\nant,bee,same\n", "pairs.csv")
    with pytest.raises(
        ValueError, match=r"line 2 names 'ant', but ids are '0' and '1': correct it\. .*--id COLUMN"
    ):
        tables.read_answers([path], PAIRS, items.index)


def test_missing_labels_are_no_labels(table):
    path = table("id,label\nant,x\nbee,NA\n")
    with pytest.raises(ValueError, match="has no label for 'bee'"):
        tables.read_labels(path, tables.read_named(path, None), ["ant", "bee"])
