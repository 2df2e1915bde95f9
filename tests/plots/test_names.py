"""Names of items, columns, sources and classes: any are drawn, as they are written."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

import bayesclust as bc
from bayesclust.plots._style import shortened
from bayesclust.posterior.tree import with_names
from tests.plots.test_layout import overflow

Y = np.repeat([0, 1, 2], 6)
ODD = ["_a_$_per_$", "$\\q$\nü", f"${'é_long ' * 30}{{_$"]
ITEMS = [f"{ODD[i % 3]}{i}" for i in range(18)]
PLOTS = {
    "agreement": lambda p, **k: bc.plots.agreement(bc.agreement({ODD[1]: Y, ODD[2]: Y // 2}), **k),
    "alluvial": lambda p, **k: bc.plots.alluvial({ODD[2]: ITEMS, ODD[0]: Y}, **k),
    "prior_sizes": lambda p, **k: bc.plots.prior_sizes({ODD[2]: None}, 18, num_draws=20, **k),
    "profiles": lambda p, **k: bc.plots.profiles(p, Y, **k),
}
PLOTS |= {
    name: getattr(bc.plots, name)
    for name in ("confusion", "constraint_graph", "credibility", "credibility_ranking")
}
PLOTS |= {name: getattr(bc.plots, name) for name in ("partitions", "reliability")}


@pytest.fixture(scope="module")
def fit():
    names = ODD * 6
    classes = [(i, f"{names[i]}, {i % 9}") for i in range(18)]
    labels = bc.LabelConstraints(classes, 18, source=names)
    pairs = np.c_[np.arange(17), np.arange(1, 18)]
    grades = bc.PairwiseConstraints.from_scores(pairs, Y[1:] == Y[:-1], 18, source=names[:17])
    X = np.random.default_rng(0).normal(4.0 * np.c_[Y, Y % 2])
    short = {"num_chains": 2, "num_warmup": 10, "num_samples": 10, "random_state": 0}
    est = bc.TVClust(cluster_model="single", progress=False, **short)
    with pytest.warns(bc.posterior.DiagnosisWarning):
        return est.fit(pd.DataFrame(X, ITEMS, ODD[1:]), constraints=[labels, grades])


@pytest.mark.parametrize("name", PLOTS)
def test_odd_names_are_drawn_as_written(name, fit):
    drawn = PLOTS[name](fit)
    axes = np.ravel(drawn)
    assert overflow(axes[0].figure) <= 0
    for given in (axes, plt.subplots(1, len(axes), squeeze=False)[1][0]):
        given[0].figure.canvas.draw()
        if given is not axes:
            PLOTS[name](fit, **({"axes": given} if np.ndim(drawn) else {"ax": given[0]}))
        words = [text for ax in given for text in ax.findobj(Text) if "$" in text.get_text()]
        assert words
        assert not any(text.get_parse_math() for text in words)


def test_traces_of_items_and_the_report_show_odd_names(fit, tmp_path):
    together = "together[{}, {}]".format(*ITEMS[:2])
    tree = fit.posterior_
    names = bc.plots.chains.label_free(tree, tree["posterior"]["z"].values, 20, 0)
    axes = bc.plots.traces(fit, [name for name in names if name.startswith(together[:9])][:3])
    assert overflow(axes[0].figure) <= 0
    assert bc.write_report(fit, tmp_path / "page.html").exists()


def test_legends_list_names_with_an_underscore():
    _, ax = bc.plots.prior_sizes({"_a": None, "b": None}, 9, num_draws=20)
    assert [text.get_text()[:2] for text in ax.get_legend().get_texts()] == ["_a", "b:"]


def test_what_was_on_the_axes_stays_mathematics(fit):
    _, ax = plt.subplots()
    mine = ax.text(0.5, 0.5, r"$\\beta$")
    bc.plots.credibility(fit, ax=ax)
    assert mine.get_parse_math()


@pytest.mark.parametrize("draw", [bc.plots.partitions, bc.plots.constraint_graph])
def test_axes_have_the_names_of_the_columns_that_are_passed(draw, posterior):
    X = pd.DataFrame(posterior["observed_data"]["X"].values, columns=["height", "weight"])
    ax = np.ravel(draw(posterior, X))[-1]
    assert (ax.get_xlabel(), np.ravel(draw(posterior))[-1].get_xlabel()) == ("height", "feature 0")


def test_long_names_that_begin_and_end_alike_are_told_apart():
    names = [f"Patient number {k:04} of the hospital of Northern Somewhere" for k in range(12)]
    assert shortened(names, 14) == [f"…{k:04}…" for k in range(12)]
    words = [f"{'x' * 20}{k}{'y' * 20}" for k in (5, 6, 5)]
    assert shortened(words, 12) == ["xxxxxxx… (0)", "xxxxxxx… (1)", "xxxxxxx… (0)"]


def test_items_are_told_apart_and_named_away_from_the_colour_bar(posterior):
    names = [f"Patient number {k:04} of the hospital of Northern Somewhere" for k in range(18)]
    named = with_names(posterior, items=names)
    rows = bc.plots.credibility_ranking(named).get_yticklabels()
    assert len({row.get_text() for row in rows}) > 30
    graph = bc.plots.constraint_graph(named, below=0.05)
    shown = {text.get_text(): text.get_ha() for text in graph.texts}
    assert set(shown) <= {f"…{k:04}…" for k in range(18)}
    x = posterior["observed_data"]["X"].values[:, 0]
    right = x > x.min() + 0.75 * np.ptp(x)
    assert all((ha == "right") == right[int(name[1:5])] for name, ha in shown.items())
