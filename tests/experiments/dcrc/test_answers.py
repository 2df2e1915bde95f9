"""Answers: who gives them, how often they are wrong, and what each method hears of them."""

import numpy as np
import pytest

import bayesclust as bc
from experiments.reproduce import sources, stand_ins
from experiments.reproduce.dcrc import paper
from experiments.reproduce.dcrc.answers import ask, data_number, heard


@pytest.fixture(scope="module")
def balance():
    return sources.load("balance")


def test_answers_are_those_of_earlier_releases(balance):
    """The seed of a cell's answers is what it was when the first numbers in the results were measured."""
    expected = bc.RelativeConstraints.sample(
        balance.y, size=94, error_rate=0.0, seed=np.random.default_rng([0, 3, 2, 150])
    )
    view = ask(balance, "right", 94, [0, 3, data_number("balance"), 150])
    np.testing.assert_array_equal(view.items, expected.items)
    np.testing.assert_array_equal(view.answers, view.truths(balance.y))


def test_sets_have_numbers_of_their_own():
    names = [*bc.datasets.names(), *stand_ins.STAND_INS, "there/other.csv"]
    assert len({data_number(name) for name in names}) == len(names)
    assert data_number("there/other.csv") == data_number("elsewhere/other.csv")


def shares(truth, given, size):
    counts = np.zeros((size, size))
    np.add.at(counts, (truth, given), 1)
    return counts / counts.sum(axis=1, keepdims=True), counts.sum(axis=1)


def test_people_err_as_in_table_iv(balance):
    view = ask(balance, "people", 30_000, [1])
    found, numbers = shares(view.truths(balance.y), view.answers, 3)
    expected = np.array([[18.5, 0.33, 4.83], [0.33, 16.5, 4.5], [3.5, 3.0, 98.5]])
    expected /= expected.sum(axis=1, keepdims=True)
    error = np.sqrt(expected * (1 - expected) / numbers[:, None])
    assert (np.abs(found - expected) < 4 * error).all()


def test_people_err_about_pairs_as_in_table_iv(balance):
    links = ask(balance, "people-pairs", 30_000, [1])
    found, numbers = shares(links.truths(balance.y).astype(int), links.answers, 2)
    # code 1 is "together", which the table has first
    expected = np.array([[162.0 / 172.83, 10.83 / 172.83], [9.67 / 52.17, 42.5 / 52.17]])
    assert (
        np.abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / numbers[:, None])
    ).all()


def test_boundary_answers_are_right_and_about_items_near_a_boundary():
    data = sources.load("fuzzy")
    view = ask(data, "boundary", 300, [1])
    np.testing.assert_array_equal(view.answers, view.truths(data.y))
    named = np.unique(view.items)
    assert len(named) == 60
    means = np.array([data.X[data.y == k].mean(axis=0) for k in range(3)])
    distances = np.sort(np.linalg.norm(data.X[:, None] - means, axis=2), axis=1)
    margin = distances[:, 1] - distances[:, 0]
    assert margin[named].max() < np.delete(margin, named).min()


def test_pairs_inferred_from_right_answers_are_right(balance):
    view = ask(balance, "right", 200, [1])
    links = heard(view, "pairs")
    told = int((view.answers < 2).sum())
    assert len(links) == 2 * told
    np.testing.assert_array_equal(links.answers, links.truths(balance.y))
    assert links.answers.sum() == told


def test_what_is_left_of_nothing_is_nothing(balance):
    silent = bc.RelativeConstraints([(0, 1, 2)], ["dnk"], n_items=625)
    assert heard(silent, "all") is silent
    assert (
        heard(silent, "pairs")
        is heard(silent, "yes and no")
        is heard(silent, "nothing")
        is heard(None, "all")
        is None
    )
    assert ask(balance, "none", 0, [1]) is None
    links = bc.PairwiseConstraints([(0, 1)], [True], n_items=625)
    assert heard(links, "pairs") is links


def test_stand_ins_have_the_sizes_of_what_they_stand_for():
    birds = sources.load("birdsong")
    assert birds.X.shape == (4998, 38)
    assert tuple(np.bincount(birds.y)) == stand_ins.SPECIES
    syllables = sources.load("syllables")
    assert syllables.X.shape == (2601, 38)
    p = np.bincount(syllables.y) / 2601
    assert len(p) == 14
    assert p.min() > 0
    together, yes = (p**2).sum(), (p**2).sum() - (p**3).sum()
    assert together == pytest.approx(
        paper.TABLE_IV_PAIRS[0].sum() / paper.TABLE_IV_PAIRS.sum(), abs=0.01
    )
    assert yes == pytest.approx(paper.TABLE_IV[0].sum() / paper.TABLE_IV.sum(), abs=0.01)


def test_a_file_is_read_with_its_classes_last(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b,kind\n1,2.5,x\n3,4,y\n5,6,x\n", encoding="utf-8")
    data = sources.load(str(path))
    assert data.X.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert data.y.tolist() == [0, 1, 0]
    assert data.target_names == ("x", "y")
    path = tmp_path / "words.csv"
    path.write_text("a,b,kind\n1,word,x\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"words\.csv has something else than numbers before its last column"
    ):
        sources.load(str(path))
    path = tmp_path / "holes.csv"
    path.write_text("a,b,kind\n1,,x\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"holes\.csv has no features or missing values"):
        sources.load(str(path))
