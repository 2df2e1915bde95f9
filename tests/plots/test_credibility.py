import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree

ROWS = [
    'links, source 0, "same"',
    'links, source 0, "different"',
    'links, source 1, "same"',
    'links, source 1, "different"',
    'triplets, "yes"',
    'triplets, "no"',
    'triplets, "dnk"',
]


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def rows_of(table):
    """The answers of each row, from the table's columns."""
    for view, source, answer in [
        ("links", 0, "same"),
        ("links", 0, "different"),
        ("links", 1, "same"),
        ("links", 1, "different"),
        ("triplets", 0, "yes"),
        ("triplets", 0, "no"),
        ("triplets", 0, "dnk"),
    ]:
        yield table[
            (table["view"] == view) & (table["source"] == source) & (table["answer"] == answer)
        ]


def dots(collection):
    return np.sort(np.asarray(collection.get_offsets())[:, 0])


def test_every_answer_is_a_dot_in_its_row(posterior):
    ax = bc.plots.credibility(posterior)
    assert row_names(ax) == ROWS
    assert len(ax.collections) == len(ROWS)
    rows = rows_of(bc.constraint_credibility(posterior))
    for y, (collection, answers) in enumerate(zip(ax.collections, rows, strict=True)):
        np.testing.assert_array_equal(dots(collection), np.sort(answers["credibility"]))
        heights = np.asarray(collection.get_offsets())[:, 1]
        assert (np.abs(heights - y) < 0.5).all()
        assert len(set(heights)) == len(heights)


def test_wrong_answers_are_crosses(posterior, views):
    flipped = np.concatenate([view.flipped for view in views])
    ax = bc.plots.credibility(posterior, flipped=flipped)
    table = bc.constraint_credibility(posterior).assign(flipped=flipped)
    assert len(ax.collections) == 2 * len(ROWS)
    for y, answers in enumerate(rows_of(table)):
        right, wrong = ax.collections[2 * y : 2 * y + 2]
        np.testing.assert_array_equal(
            dots(right), np.sort(answers["credibility"][~answers["flipped"]])
        )
        np.testing.assert_array_equal(
            dots(wrong), np.sort(answers["credibility"][answers["flipped"]])
        )
        doubted = answers["credibility"] < 0.5
        expected = f"{doubted.sum()} of {len(answers)} doubted,\n"
        expected += (
            f"{(doubted & answers['flipped']).sum()} of the {answers['flipped'].sum()} wrong"
        )
        assert ax.texts[y].get_text() == expected
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "right in truth",
        "wrong in truth",
    ]


def test_title_counts_doubted_answers(posterior):
    ax = bc.plots.credibility(posterior)
    doubted = (bc.constraint_credibility(posterior)["credibility"] < 0.5).sum()
    assert doubted > 0
    assert ax.get_title(loc="left").endswith(f"{doubted} of 110 answers doubted")
    assert ax.get_legend() is None


def test_one_view_and_source_is_not_named():
    links = bc.PairwiseConstraints([(0, 1), (0, 2)], [False, True], n_items=3)
    tree = to_datatree({"z": [[[0, 0, 1]] * 4]}, constraints=[links])
    assert row_names(bc.plots.credibility(tree)) == ['"same"', '"different"']


def test_axes_given_are_used_and_no_figure_is_made(posterior):
    figure, (first, second) = plt.subplots(1, 2)
    plt.sca(second)
    assert bc.plots.credibility(posterior, ax=first) is first
    assert plt.get_fignums() == [figure.number]
    assert plt.gca() is second
    assert not second.collections


def test_nothing_overlaps_or_overflows(posterior, views):
    flipped = np.concatenate([view.flipped for view in views])
    ax = bc.plots.credibility(posterior, flipped)
    figure = ax.figure
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()
    boxes = [
        ax.get_legend().get_window_extent(),
        *(t.get_window_extent() for t in [ax._left_title, *ax.texts]),
    ]
    assert all(not a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_thousands_of_answers(rng):
    truth = rng.integers(0, 4, 80)
    links = bc.PairwiseConstraints.sample(truth, size=3000, error_rate=0.1, seed=0)
    ax = bc.plots.credibility(
        to_datatree({"z": [[truth, truth]]}, constraints=[links]), links.flipped
    )
    assert sum(len(collection.get_offsets()) for collection in ax.collections) == 3000
    assert f"{links.flipped.sum()} of 3,000 answers doubted" in ax.get_title(loc="left")


def test_posteriors_without_answers_are_refused():
    with pytest.raises(ValueError, match="constant_data"):
        bc.plots.credibility(to_datatree({"z": [[[0, 1]]]}))
    with pytest.raises(TypeError, match="DataTree"):
        bc.plots.credibility([[0, 1]])
    none = bc.PairwiseConstraints(np.zeros((0, 2), int), [], n_items=2)
    with pytest.raises(ValueError, match="no answers"):
        bc.plots.credibility(to_datatree({"z": [[[0, 1]]]}, constraints=[none]))
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("flipped", "error", "words"),
    [
        ([True], ValueError, "110 answers"),
        (np.full(110, 2), TypeError, "truth values"),
        (["no"] * 110, TypeError, "truth"),
    ],
)
def test_flipped_must_fit(posterior, flipped, error, words):
    with pytest.raises(error, match=words):
        bc.plots.credibility(posterior, flipped=flipped)
    assert plt.get_fignums() == []
