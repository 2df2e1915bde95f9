"""Credibility of answers and reliability of sources: the numbers drawn are those of the tables."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from scipy.stats import beta

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree, with_names
from tests.plots.test_layout import overflow

KINDS = [
    ("links", 0, "same"),
    ("links", 0, "different"),
    ("links", 1, "same"),
    ("links", 1, "different"),
    ("triplets", 0, "yes"),
    ("triplets", 0, "no"),
    ("triplets", 0, "dnk"),
]
ROWS = [
    f'{view}, source {source}, "{word}"' if view == "links" else f'{view}, "{word}"'
    for view, source, word in KINDS
]


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def rows_of(table):
    """The answers of each row, from the table's columns."""
    groups = table.groupby(["view", "source", "answer"])
    return [groups.get_group(kind) for kind in KINDS]


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


def test_wrong_answers_are_crosses(posterior, flipped):
    ax = bc.plots.credibility(posterior, flipped=flipped)
    table = bc.constraint_credibility(posterior).assign(flipped=flipped)
    assert len(ax.collections) == 2 * len(ROWS)
    for y, answers in enumerate(rows_of(table)):
        right, crosses = ax.collections[2 * y : 2 * y + 2]
        value, wrong = answers["credibility"], answers["flipped"]
        np.testing.assert_array_equal(dots(right), np.sort(value[~wrong]))
        np.testing.assert_array_equal(dots(crosses), np.sort(value[wrong]))
        found = f"{((value < 0.5) & wrong).sum()} of the {wrong.sum()} wrong"
        expected = f"{(value < 0.5).sum()} of {len(answers)} probably wrong,\n{found}"
        assert ax.texts[y].get_text() == expected
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["right in truth", "wrong in truth"]
    ax.figure.canvas.draw()
    texts = [ax._left_title, *ax.texts]
    boxes = [part.get_window_extent() for part in (legend, *texts)]
    assert all(not a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


STYLES = {
    "same": [("j", "solid")],
    "different": [("j", "dashed")],
    "yes": [("j", "solid"), ("k", "dashed")],
    "no": [("k", "solid"), ("j", "dashed")],
    "dnk": [("j", "dotted"), ("k", "dotted")],
}


def style_of(part):
    _, dashes = part.get_linestyle()[0]
    return "solid" if dashes is None else "dashed" if dashes[0] > 2 * dashes[1] / 1.2 else "dotted"


def lines_of(ax):
    """Every line drawn: its ends, its credibility, and whether it is solid, dashed or dotted."""
    return sorted(
        (np.round(segment, 9).tolist(), round(float(value), 9), style_of(part))
        for part in ax.collections
        if isinstance(part, LineCollection)
        for segment, value in zip(part.get_segments(), part.get_array(), strict=True)
    )


def expected_lines(X, table):
    return sorted(
        (
            np.round(X[[row["i"], row[other]]], 9).tolist(),
            round(row["credibility"], 9),
            style,
        )
        for row in table.to_dict("records")
        for other, style in STYLES[row["answer"]]
    )


def test_every_answer_is_drawn_between_its_items(posterior):
    X = posterior["observed_data"]["X"].values
    ax = bc.plots.constraint_graph(posterior)
    table = bc.constraint_credibility(posterior)
    assert set(table["answer"]) == {"same", "different", "yes", "no", "dnk"}
    assert lines_of(ax) == expected_lines(X, table)
    np.testing.assert_array_equal(ax.collections[-1].get_offsets(), X)
    doubted = (table["credibility"] < 0.5).sum()
    assert ax.get_title(loc="left") == f"110 answers, {doubted} probably wrong"


def test_means_and_intervals_are_those_of_the_draws(posterior):
    links, triplets = bc.plots.reliability(posterior)
    for ax, names in ((links, ("p", "q")), (triplets, ("noise",))):
        for line, band, name in zip(ax.lines, ax.collections, names, strict=True):
            draws = posterior["posterior"][name].values.reshape(120, -1)
            np.testing.assert_allclose(line.get_xdata(), draws.mean(axis=0))
            ends = np.array(band.get_segments())[:, :, 0]
            np.testing.assert_allclose(ends, np.quantile(draws, [0.05, 0.95], axis=0).T)
            np.testing.assert_array_equal(np.round(line.get_ydata()), range(draws.shape[1]))
    assert links.get_title(loc="left") == "links: noise of 2 sources"
    assert [text.get_text() for text in triplets.get_legend().get_texts()] == ["an answer is wrong"]


def test_sources_have_their_names_and_numbers_of_answers(posterior, views):
    ax = bc.plots.reliability(with_names(posterior, sources={"links": ["ann", "bob"]}))[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ann", "bob"]
    z = posterior["posterior"]["z"].values.reshape(120, 18)
    i, j = views[0].items.T
    wrong = ((z[:, i] == z[:, j]) != (views[0].answers == 1)).mean(axis=0)
    for source, text in enumerate(ax.texts):
        own = views[0].source == source
        given, found = re.fullmatch(r"(\d+) answers, (\d+\.\d) wrong", text.get_text()).groups()
        assert int(given) == own.sum()
        assert float(found) == pytest.approx(wrong[own].sum(), abs=0.0501)


@pytest.mark.parametrize("sources", [1, 12, 150])
def test_any_number_of_sources_fits(sources, rng):
    truth = np.repeat([0, 1], 30)
    links = bc.PairwiseConstraints.sample(truth, size=300, n_sources=sources, seed=0)
    draws = {"z": np.tile(truth, (1, 20, 1))}
    draws |= {name: rng.beta(9, 2, (1, 20, sources)) for name in "pq"}
    tree = to_datatree(draws, constraints=[links], dims=dict.fromkeys("pq", ("links_source",)))
    (ax,) = bc.plots.reliability(tree)
    assert overflow(ax.figure) <= 0
    assert len(ax.lines[0].get_xdata()) == sources
    assert len(ax.texts) == (sources if sources <= 40 else 0)


@pytest.mark.parametrize("sources", [1, 2, 9])
def test_curves_of_scores_have_room_below_their_title(sources, rng):
    truth = np.repeat([0, 1], 30)
    pairs = bc.PairwiseConstraints.sample(truth, size=300, n_sources=sources, seed=0)
    graded = bc.PairwiseConstraints.from_scores(
        pairs.items, rng.uniform(size=300), n_items=60, source=pairs.source
    )
    rows = rng.dirichlet(np.ones(12), (1, 20, sources, 2))
    draws = {"z": np.tile(truth, (1, 20, 1)), "grades": rows}
    (ax,) = bc.plots.reliability(to_datatree(draws, constraints=[graded]))
    assert overflow(ax.figure) <= 0
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    legend = ax.get_legend().get_window_extent()
    title = ax._left_title.get_window_extent()
    assert box.height > 2
    assert 0 <= (title.y0 - legend.y1) / ax.figure.dpi < 0.3
    assert len(ax.containers) == sources


def test_the_list_names_the_least_credible_in_order(posterior):
    names = [f"item-{i}" for i in range(18)]
    named = with_names(posterior, items=names, sources={"links": ["ann", "bob"]})
    ax = bc.plots.credibility_ranking(named, max_listed=30)
    table = bc.constraint_credibility(posterior)
    rows = table.sort_values("credibility", kind="stable").head(30)
    expected = []
    for row in rows.to_dict("records"):
        members = ", ".join(names[row[which]] for which in "ijk" if not pd.isna(row[which]))
        by = f" ({('ann', 'bob')[row['source']]})" if row["view"] == "links" else ""
        expected.append(f'{members}: "{row["answer"]}"{by}')
    assert row_names(ax) == expected
    dots, hollow = ax.containers[0][0], ax.lines[-1]
    np.testing.assert_array_equal(dots.get_xdata(), rows["credibility"])
    np.testing.assert_array_equal(hollow.get_xdata(), rows["credibility_loo"])
    whiskers = ax.collections[0].get_segments()
    np.testing.assert_allclose([s[1, 0] - s[0, 0] for s in whiskers], 2 * 2 * rows["mcse"])
    doubted = table["credibility"] < 0.5
    text = f"The 30 least credible of 110 answers, {doubted.sum()} probably wrong"
    assert ax.get_title(loc="left") == text


def expected_bins(claimed, met, number):
    """Mean, share and interval of each of `number` intervals of probabilities that has answers."""
    for low in np.arange(number) / number:
        own = (claimed >= low) & ((claimed < low + 1 / number) | (low + 1 / number >= 1))
        if own.any():
            hits, misses = met[own].sum(), (~met[own]).sum()
            ends = beta.ppf([0.05, 0.95], hits + 0.5, misses + 0.5)
            yield [claimed[own].mean(), met[own].mean(), *ends, own.sum()]


def test_calibration_shows_shares_of_right_answers(posterior, views, flipped):
    table = bc.constraint_credibility(posterior)
    # of pairs the likeliest answer is the other one where that given has less than one half
    own = table.loc[table["view"] == "links"]
    given = np.exp(own["elpd_loo"].to_numpy())
    values = {name: posterior["posterior"][name].values for name in "zpq"}
    dims = dict.fromkeys("pq", ("links_source",))
    links = to_datatree(values, constraints=views[:1], dims=dims)
    for tree, wrong, claimed, met in (
        (posterior, flipped, table["credibility"].to_numpy(), ~flipped),
        (links, None, np.maximum(given, 1 - given), given > 0.5),
    ):
        ax = bc.plots.calibration(tree, wrong, n_bins=5)
        mean, share, low, high, counts = np.transpose(list(expected_bins(claimed, met, 5)))
        np.testing.assert_allclose(ax.lines[1].get_xydata(), np.transpose([mean, share]))
        whiskers = np.array(ax.collections[0].get_segments())[:, :, 1]
        np.testing.assert_allclose(whiskers, np.transpose([low, high]))
        assert [text.get_text() for text in ax.child_axes[0].texts] == [f"{n:.0f}" for n in counts]
        assert f"{claimed.mean():.2f} on average, {met.mean():.2f} of them" in ax.get_title("left")


def test_confusion_has_a_row_for_each_source_and_truth(posterior):
    links, triplets = bc.plots.confusion(posterior)
    draws = posterior["posterior"]
    p, q = (draws[name].values.reshape(120, 2) for name in "pq")
    same = np.stack([p, 1 - q], axis=2).reshape(120, 4)
    np.testing.assert_allclose(links.lines[0].get_xdata(), same.mean(axis=0))
    ends = np.array(links.collections[0].get_segments())[:, :, 0]
    np.testing.assert_allclose(ends, np.quantile(same, [0.05, 0.95], axis=0).T)
    np.testing.assert_allclose(links.lines[1].get_xdata(), 1 - same.mean(axis=0))
    assert row_names(links)[1:3] == [
        'source 0, "different" in truth',
        'source 1, "same" in truth',
    ]
    noise = draws["noise"].values.mean()
    expected = np.where(np.eye(3, dtype=bool), 1 - noise, noise / 2)
    means = [line.get_xdata() for line in triplets.lines]
    np.testing.assert_allclose(np.transpose(means), expected)
    assert row_names(triplets) == [f'"{word}" in truth' for word in ("yes", "no", "dnk")]


def test_a_graph_of_many_answers_shows_the_least_credible(posterior):
    rng = np.random.default_rng(0)
    pairs = [rng.choice(18, 2, replace=False) for _ in range(400)]
    links = bc.PairwiseConstraints(pairs, rng.integers(2, size=400), n_items=18)
    tree = to_datatree(
        {"z": posterior["posterior"]["z"].values},
        X=posterior["observed_data"]["X"].values,
        constraints=[links],
    )
    ax = bc.plots.constraint_graph(tree)
    assert len(lines_of(ax)) == 60
    table = bc.constraint_credibility(tree)
    assert max(value for _, value, _ in lines_of(ax)) == pytest.approx(
        table["credibility"].nsmallest(60).max(), abs=1e-9
    )
    few = bc.plots.constraint_graph(posterior, below=0.05)
    own = bc.constraint_credibility(posterior).query("credibility <= 0.05")
    assert 0 < len(own) <= 15
    ends = own[["i", "j", "k"]].melt()["value"].dropna()
    assert {text.get_text() for text in few.texts} == set(ends.astype(str))


def test_a_graph_counts_the_answers_that_it_draws(posterior):
    links = bc.PairwiseConstraints([(0, 1), (2, 3)], [True, False], n_items=18)
    groups = bc.constraints.SpreadConstraints([([0, 1, 2], 1), ([3, 4], 1), ([6, 7], 1)], 18)
    draws, X = posterior["posterior"]["z"].values, posterior["observed_data"]["X"].values
    tree = to_datatree({"z": draws}, X=X, constraints=[links, groups])
    ax = bc.plots.constraint_graph(tree)
    assert len(lines_of(ax)) == 2
    title = ax.get_title(loc="left")
    assert title.startswith("2 answers, ")
    assert title.endswith(";\n3 of other kinds not shown")
    alone = to_datatree({"z": draws}, X=X, constraints=[groups])
    assert 'alt="Answers between' in bc.report.report_page(tree)
    assert 'alt="Answers between' not in bc.report.report_page(alone)
