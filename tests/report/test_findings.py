from html import unescape

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree, with_names
from bayesclust.report import as_text, findings, report_page


def test_numbers_partition_and_ball_are_those_of_the_posterior(make):
    tree = make()
    found = findings(tree)
    z = tree["posterior"]["z"].values.reshape(-1, 24)
    numbers, counts = np.unique(z.max(axis=1) + 1, return_counts=True)
    assert found.numbers == {
        int(k): pytest.approx(c / 400) for k, c in zip(numbers, counts, strict=True)
    }
    np.testing.assert_array_equal(found.labels, bc.point_estimate(tree))
    assert found.ball.radius == bc.credible_ball(tree).radius
    assert (found.ok, found.verdict) == (bc.diagnose(tree).ok, bc.diagnose(tree).verdict)
    sizes = np.bincount(found.labels)
    assert found.clusters["items"].tolist() == sorted(sizes, reverse=True)
    similarity = bc.similarity_matrix(tree)
    for row in found.clusters.to_dict("records"):
        members = np.flatnonzero(found.labels == row["cluster"])
        inside = similarity[np.ix_(members, members)]
        sure = (inside.sum(axis=1) - 1) / (len(members) - 1)
        assert row["confidence"] == pytest.approx(sure.mean())
        best = {found.names.index(name) for name in row["typical"]}
        assert best == set(members[np.argsort(-sure, kind="stable")[:5]])


def test_unsure_items_are_named(make):
    found = findings(make())
    assert {found.names.index(name) for name in found.least_sure["item"][:3]} == {3, 11, 19}
    assert found.least_sure["confidence"].is_monotonic_increasing
    assert found.least_sure["confidence"].max() < 0.95


def test_the_least_credible_answers_are_listed_by_name(make):
    tree = make()
    table = bc.constraint_credibility(tree)
    doubted = table[table["credibility"] < 0.5].sort_values(
        ["credibility", "credibility_loo"], kind="stable"
    )
    found = findings(tree, max_listed=7)
    assert (found.answers, found.probably_wrong) == (100, len(doubted))
    assert found.listed["credibility"].tolist() == doubted["credibility"].head(7).tolist()
    for row, own in zip(
        found.listed.to_dict("records"), doubted.head(7).to_dict("records"), strict=True
    ):
        asked = [own[m] for m in "ijk" if own[m] is not None and own[m] == own[m]]
        assert row["items"] == [found.names[int(i)] for i in asked]
        assert row["source"] == (
            ["ann", "</script>"][own["source"]] if own["view"] == "links" else "source 0"
        )
    assert set(found.sources["source"]) == {"ann", "</script>", "source 0"}


@pytest.mark.parametrize(
    ("settings", "shape", "kind"),
    [
        ({"sampler": "collapsed"}, (2, 30), "chains"),
        ({"sampler": "variational"}, (2, 30), "mean field"),
        ({"inference": "variational_em", "n_clusters": 3}, (2, 30), "mean field"),
        ({"xi_rate": 2.0, "divergence": "euclidean"}, (1, 1), "partition"),
    ],
)
def test_what_the_draws_are_decides_the_verdict(make, settings, shape, kind):
    found = findings(make(settings=settings, shape=shape))
    assert found.kind == kind
    assert (found.ok is None) == (kind != "chains")
    words = {"chains": "run", "mean field": "mean-field", "partition": "one partition"}
    assert words[kind] in found.verdict
    assert as_text(found)


def test_without_answers_data_or_settings():
    found = findings(to_datatree({"z": [[[0, 0, 1], [0, 1, 1]]]}))
    assert found.answers == found.probably_wrong == len(found.listed) == len(found.sources) == 0
    assert "ANSWERS" not in as_text(found)


def test_answers_without_noise_have_no_sources():
    links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    found = findings(to_datatree({"z": [[[0, 0, 1]]]}, constraints=[links]))
    assert found.sources.empty
    assert found.probably_wrong == 1
    assert "0, 2: same" in as_text(found)


def test_what_the_noise_model_does_not_expect_is_told(make):
    assert all("expected" in sentence for sentence in findings(make()).surprises)
    truth = np.repeat([0, 1], 15)
    coin = bc.PairwiseConstraints.sample(truth, size=60, error_rate=[0.0, 0.5], n_sources=2, seed=1)
    draws = {
        "z": np.tile(truth, (2, 40, 1)),
        "p": np.full((2, 40, 2), 0.97),
        "q": np.full((2, 40, 2), 0.97),
    }
    tree = to_datatree(
        draws, constraints=[coin], dims={"p": ("links_source",), "q": ("links_source",)}
    )
    tree = with_names(tree, sources={"links": ["ann", "bob"]})
    found = findings(tree)
    wrong = sum(
        (truth[coin.items[:, 0]] == truth[coin.items[:, 1]])[coin.source == 1]
        != coin.answers[coin.source == 1]
    )
    assert wrong > 8
    assert any(
        sentence.startswith(f"links, bob: wrong answers: {wrong}, where ")
        for sentence in found.surprises
    )
    assert any("bob conflicts with the rest" in sentence for sentence in found.surprises)
    assert not any("ann" in sentence for sentence in found.surprises)
    assert "NOT AS THE NOISE MODEL EXPECTS\n  links, bob" in as_text(found)
    page = unescape(report_page(tree))
    assert all(f"<li>{sentence}</li>" in page for sentence in found.surprises)


def test_the_text_says_what_was_found(make):
    found = findings(make(), max_listed=5)
    text = as_text(found)
    assert (
        f"ANSWERS: {found.probably_wrong} OF 100 ARE PROBABLY WRONG, THE 5 LEAST CREDIBLE" in text
    )
    first = found.listed.iloc[0]
    assert f"{', '.join(first['items'])}: {first['answer']}, by {first['source']}" in text
    assert f"within {found.ball.radius:.2f} bits" in text
    for k, share in found.numbers.items():
        assert (f"P(K = {k}) = {share:.2f}" in text) == (share >= 0.005)
    assert "links, ann: p" in text
    assert "\xa0" not in text
