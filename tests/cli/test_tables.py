"""Tables of items and answers: what is read, and what is refused by file and line."""

import argparse

import numpy as np
import pytest

from bayesclust.cli import tables
from bayesclust.cli.tables import read_answers, read_sheet


def read_items(path, *options, missing=False):
    parser = argparse.ArgumentParser()
    tables.add_reading(parser)
    parser.add_argument("data")
    return tables.read_items(parser.parse_args([str(path), *options]), missing=missing)


@pytest.fixture
def table(tmp_path):
    def write(text, name="data.csv"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write


def test_items_have_the_names_of_their_column(table):
    items = read_items(table("a, id ,b\n1,x,2\n\n3.5,y,-4e1\n"))
    assert (items.names, items.named, items.features) == (["x", "y"], "id", ["a", "b"])
    np.testing.assert_array_equal(items.X, [[1, 2], [3.5, -40]])


def test_items_without_names_are_row_numbers(table):
    items = read_items(table("a,b\n1,2\n3,4\n"))
    assert (items.names, items.named) == (["0", "1"], None)


def test_columns_are_chosen_left_out_and_named(table):
    path = table('\ufeffwho;a;b;kind\n x ;1;2;red\n"y;z";3;4;blue\n')
    items = read_items(path, "--id=who", "--drop=kind", "--delimiter=;")
    assert (items.names, items.features) == (["x", "y;z"], ["a", "b"])
    own = read_items(path, "--id=who", "--features=b", "--delimiter=;")
    assert own.X.tolist() == [[2], [4]]


def test_tabs_and_no_header(table):
    items = read_items(table("1\t2\n3\t4\n", "data.tsv"), "--no-header")
    assert (items.features, items.X.tolist()) == (["0", "1"], [[1, 2], [3, 4]])


def test_columns_are_scaled_and_missing_cells_stay(table):
    scaled = read_items(table("a,b\n1,5\n3,5\nNA,5\n"), "--standardize", missing=True)
    np.testing.assert_allclose(scaled.X, [[-1, 0], [1, 0], [np.nan, 0]])


def test_missing_cells_are_let_through_where_they_may_be(table):
    items = read_items(table("a,b\n1,NA\n,4\n"), missing=True)
    np.testing.assert_array_equal(items.X, [[1, np.nan], [np.nan, 4]])


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("", [], r"data\.csv is empty"),
        ("a,b\n", [], r"column names and no rows"),
        ("1,2\n3,4\n", [], r"line 1: the names of the columns are all numbers .* --no-header"),
        ("a,\n1,2\n", [], r"line 1: column 2 has no name"),
        ("a,a\n1,2\n", [], r"line 1: two columns are called 'a'"),
        ("a,b\n1,2\n\n3\n", [], r"line 4: there are 1 cells, but 2 columns \(a, b\)"),
        ("a,b\n1,2\n3,red\n", [], r"line 3: b is 'red', which is no number: .*--drop b.*--id b"),
        ("a,b\n1,2\n3,\n", [], r"line 3: b is missing"),
        ("a,b\n1,inf\n3,4\n", [], r"line 2: b is infinite"),
        ("id,b\nx,1\ny,2\nx,3\n", [], r"line 4: id 'x' stands in line 2 too"),
        ("id,b\nx,1\n,2\n", [], r"line 3: the item has no id"),
        ("name,b\nx,1\n", ["--id=nmae"], r"line 1: .* 'nmae', .* did you mean 'name'\?"),
        ("a,b\n1,2\n", ["--drop=c"], r"line 1: there is no column 'c', only a, b\."),
        ("a,b\n1,2\n", ["--drop", "a", "b"], r"line 1: no columns are left to cluster by, of a, b"),
        ("a,b\n1,2\n", ["--delimiter=::"], r"the delimiter must be one character; got '::'"),
        (b"a,b\n1,\xff2\n", [], r"no text in UTF-8"),
        ('a,b\n1,"2\n', [], r"line \d: no table \(.*\): look for a stray quote"),
    ],
)
def test_bad_data_are_refused_by_file_and_line(table, text, options, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        read_items(table(text), *options)
    assert "\n" not in str(error.value)


@pytest.fixture
def items(table):
    return read_items(table("id,a\nant,1\nbee,2\ncow,3\ndog,4\n", "items.csv"))


def answers_of(read):
    table = read.constraints.to_frame()
    return table.drop(columns="source").to_numpy().tolist()


def test_answers_are_about_named_items(table, items):
    pairs = table(
        "answer,j,i,when\nsame,bee,ant,now\nNO,cow,dog,then\n1,ant,dog,now\n", "pairs.csv"
    )
    read = read_answers([pairs], 2, items)
    assert answers_of(read) == [[0, 1, "same"], [2, 3, "different"], [0, 3, "same"]]
    assert (read.constraints.source.tolist(), read.sources) == ([0, 0, 0], None)
    assert read.notes == [f"{pairs}: columns ignored: when."]
    triplets = table("i,j,k,answer\nant,bee,cow,yes\nbee,dog,ant,?\n", "triplets.csv")
    read = read_answers([triplets], 3, items)
    assert answers_of(read) == [[0, 1, 2, "yes"], [1, 3, 0, "dnk"]]


def test_sources_have_their_names_in_order_of_the_alphabet(table, items):
    pairs = table(
        "i,j,answer,source\nant,bee,same,zoe\nant,cow,same,ann\nant,dog,same,zoe\n", "pairs.csv"
    )
    read = read_answers([pairs], 2, items)
    assert (read.constraints.source.tolist(), read.sources) == ([1, 0, 1], ["ann", "zoe"])


def test_each_of_several_files_is_a_source(table, items):
    paths = [table(f"i,j,answer\nant,{who},same\n", f"{who}.csv") for who in ("cow", "bee")]
    read = read_answers(paths, 2, items)
    assert answers_of(read) == [[0, 2, "same"], [0, 1, "same"]]
    assert (read.constraints.source.tolist(), read.sources) == ([1, 0], ["bee", "cow"])


@pytest.mark.parametrize(
    ("text", "size", "sentence"),
    [
        ("a,b,same\nant,bee,1\n", 2, r"line 1: .*, but i, j and answer are needed for pairs"),
        ("i,j,answer\nant,bee,yes\n", 3, r"line 1: .* i, j, k and answer are needed for triplets"),
        ("i,j,answer\nant,bea,same\n", 2, r"line 2: .* id 'bea'; did you mean 'bee'\?"),
        ("i,j,answer\nant,bee,same\nant,ant,same\n", 2, r"line 3: the answer names an item twice"),
        ("i,j,answer\nant,bee,maybe\n", 2, r"line 2: .* 'maybe': write same or different"),
        ("i,j,k,answer\nant,bee,cow,same\n", 3, r"line 2: .* 'same': write yes, no or dnk"),
        ("i,j,answer,source\nant,bee,same,\n", 2, r"line 2: the source is empty"),
    ],
)
def test_bad_answers_are_refused_by_file_and_line(table, items, text, size, sentence):
    with pytest.raises(ValueError, match=r"pairs\.csv, " + sentence):
        read_answers([table(text, "pairs.csv")], size, items)


def test_numbers_of_rows_are_checked(table):
    items = read_items(table("a\n1\n2\n"))
    with pytest.raises(
        ValueError, match=r"line 2: there is no item '2': .*data\.csv names none, .* from 0 to 1"
    ):
        read_answers([table("i,j,answer\n0,2,same\n", "pairs.csv")], 2, items)


def test_lines_are_those_of_the_file_also_after_cells_of_several_lines(table):
    sheet = read_sheet(table('id,a\n"x\ny",1\nz,2\n'))
    assert sheet.index.tolist() == [3, 4]
    assert str(tables.wrong(sheet, 4, "bad")).endswith("data.csv, line 4: bad.")
