"""What a summary finds, and how it says so in a terminal."""

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

import bayesclust as bc
from bayesclust.posterior.diagnosis import DiagnosisWarning
from bayesclust.posterior.tree import to_datatree, with_names
from bayesclust.report import as_text, findings, report_page
from bayesclust.report.text import sections


def test_numbers_partition_and_ball_are_those_of_the_posterior(tree, found):
    z = tree["posterior"]["z"].values.reshape(-1, 24)
    numbers, counts = np.unique(z.max(axis=1) + 1, return_counts=True)
    assert found.numbers == {
        int(k): pytest.approx(c / 200) for k, c in zip(numbers, counts, strict=True)
    }
    np.testing.assert_array_equal(found.labels, bc.point_estimate(tree))
    assert found.ball.radius == bc.credible_ball(tree).radius
    diagnosis = bc.diagnose(tree)
    assert (found.ok, found.verdict) == (diagnosis.ok, diagnosis.verdict)
    assert found.clusters["items"].tolist() == sorted(np.bincount(found.labels), reverse=True)
    similarity = bc.similarity_matrix(tree)
    for row in found.clusters.to_dict("records"):
        members = np.flatnonzero(found.labels == row["cluster"])
        inside = similarity[np.ix_(members, members)]
        sure = (inside.sum(axis=1) - 1) / (len(members) - 1)
        assert row["confidence"] == pytest.approx(sure.mean())
        best = {found.names.index(name) for name in row["typical"]}
        assert best == set(members[np.argsort(-sure, kind="stable")[:5]])


def test_one_draw_of_a_run_that_was_stopped(make):
    tree = make(shape=(1, 1))
    tree.attrs["interrupted"] = 1
    assert findings(tree).facts["draws"] == "1 × 1, interrupted"


def test_unsure_items_are_named(found):
    assert {found.names.index(name) for name in found.least_sure["item"][:3]} == {3, 11, 19}
    assert found.least_sure["confidence"].is_monotonic_increasing
    assert found.least_sure["confidence"].max() < 0.95


def test_the_least_credible_answers_are_listed_by_name(tree, found):
    table = bc.constraint_credibility(tree)
    wrong = table[table["credibility"] < 0.5].sort_values(
        ["credibility", "credibility_loo"], kind="stable"
    )
    assert (found.answers, found.probably_wrong) == (100, len(wrong))
    listed = wrong.head(20)
    assert found.listed["credibility"].tolist() == listed["credibility"].tolist()
    rows = zip(found.listed.to_dict("records"), listed.to_dict("records"), strict=True)
    for row, own in rows:
        asked = [own[m] for m in "ijk" if own[m] is not None and own[m] == own[m]]
        assert row["about"] == asked
        names = {"ann": "ann", "</script>": "</script>", 0: ""}  # one nobody named
        assert row["source"] == names[own["source"]]
    assert set(found.sources["source"]) == {"ann", "</script>", ""}


@pytest.mark.parametrize(
    ("settings", "shape", "kind", "word"),
    [
        ({"sampler": "collapsed"}, (2, 30), "chains", "run"),
        ({"sampler": "variational"}, (2, 30), "mean field", "mean-field"),
        (
            {"inference": "variational_em", "n_clusters": 3},
            (2, 30),
            "mean field",
            "mean-field",
        ),
        ({"xi_rate": 2.0, "divergence": "euclidean"}, (1, 1), "partition", "one partition"),
    ],
)
def test_the_kind_of_draws_decides_the_verdict(make, settings, shape, kind, word):
    found = findings(make(settings=settings, shape=shape, constraints=False))
    assert found.kind == kind
    assert (found.ok is None) == (kind != "chains")
    assert word in found.verdict
    assert as_text(found)


def test_without_answers_or_noise_there_is_less_to_say():
    found = findings(to_datatree({"z": [[[0, 0, 1], [0, 1, 1]]]}))
    assert found.answers == found.probably_wrong == len(found.listed) == len(found.sources) == 0
    assert "ANSWERS" not in as_text(found)
    links = bc.PairwiseConstraints([(0, 1), (0, 2)], [True, True], n_items=3)
    found = findings(to_datatree({"z": [[[0, 0, 1]]]}, constraints=[links]))
    assert found.sources.empty
    assert found.probably_wrong == 1
    text = as_text(found)
    assert "0, 2: same" in text
    assert "1 of 2 answers do not agree with the partition." in text
    assert not any(word in text for word in ("P(right)", "confidence", "typical", "more likely"))


def test_wrong_answers_of_a_source_are_counted_once(found):
    (part,) = (part for part in sections(found) if part.name == "sources")
    wrong = found.sources.drop_duplicates(["view", "source"])
    counts = [f"{row.wrong:.1f} of {row.answers}" for row in wrong.itertuples()]
    assert [row[-1] for row in part.rows if row[-1]] == counts
    assert all(word in part.note for word in ("p: a pair", "q: a pair", "noise: an answer"))
    assert "confusion" not in part.note


def test_a_summary_gives_its_verdict_once():
    links = bc.PairwiseConstraints([(0, 2)], [True], n_items=3)
    tree = to_datatree({"z": [[[0, 0, 1]]]}, constraints=[links], attrs={"diagnosis": "Stuck."})
    with pytest.warns(DiagnosisWarning, match="Stuck"):
        bc.constraint_credibility(tree)
    assert findings(tree).probably_wrong == 1  # a warning would be an error here


def test_the_features_that_tell_clusters_apart_are_listed(rng):
    y = np.repeat([0, 1], 30)
    columns = ["noise", "width", "length", "height"]
    X = pd.DataFrame(rng.normal(size=(60, 4)) + np.outer(y, [0, 5, 5, 9]), columns=columns)
    settings = {"family": "gaussian_diagonal", "num_samples": 50, "random_state": 0}
    est = bc.TVClust("variational", **settings).fit(X)
    found = findings(est)
    expected = bc.cluster_profiles(est, found.labels)
    pd.testing.assert_frame_equal(found.profiles, expected)
    rows = next(part for part in sections(found) if part.name == "profiles").rows
    assert [row[:2] for row in rows[::3]] == [["0", "height"], ["1", "height"]]
    row = expected.loc[(1, "height")]
    ends = f"{row['mean_low']:.3g} to {row['mean_high']:.3g}"
    assert rows[3][2:4] == [f"{row['mean']:.3g}", ends]
    assert "WHAT TELLS THE CLUSTERS APART" in as_text(found)
    assert report_page(est).count(">height</td>") == 2
    assert findings(est.posterior_).profiles.empty


def test_surprises_of_the_noise_model_are_told():
    truth = np.repeat([0, 1], 15)
    coin = bc.PairwiseConstraints.sample(truth, size=60, error_rate=[0.0, 0.5], n_sources=2, seed=1)
    noise = {name: np.full((2, 20, 2), 0.97) for name in "pq"}
    draws = {"z": np.tile(truth, (2, 20, 1)), **noise}
    tree = to_datatree(draws, constraints=[coin], dims=dict.fromkeys("pq", ("links_source",)))
    tree = with_names(tree, sources={"links": ["ann", "bob"]})
    found = findings(tree)
    i, j = coin.items[coin.source == 1].T
    wrong = ((truth[i] == truth[j]) != coin.answers[coin.source == 1]).sum()
    assert wrong > 8
    sentence = f"links, bob: wrong answers: {wrong}, where "
    assert any(each.startswith(sentence) for each in found.surprises)
    assert any("bob conflicts with the rest" in each for each in found.surprises)
    assert not any("ann" in each for each in found.surprises)
    assert "NOT AS THE NOISE MODEL EXPECTS\n  links, bob" in as_text(found)
    page = unescape(report_page(tree))
    assert all(f"<li>{each}</li>" in page for each in found.surprises)


def test_the_text_says_everything_that_was_found(found):
    text = as_text(found)
    assert f"\n  {found.probably_wrong} of 100 answers are more likely wrong than right" in text
    first = found.listed.iloc[0]
    assert f"{', '.join(first['about'])}: {first['answer']} ({first['source']}; " in text
    assert f"within {found.ball.radius:.2f} bits" in text
    unwrapped = " ".join(text.split())
    for k, share in found.numbers.items():
        assert (f"P(K = {k}) = {share:.2f}" in unwrapped) == (share >= 0.005)
    assert re.search(r"^  links, ann +p .*^  triplets +noise ", text, re.M | re.S)
    assert max(map(len, text.splitlines())) <= 100
    long = [f"{'x' * 70}{i}" for i in range(3)]
    links = bc.PairwiseConstraints([(0, 2)], [True], n_items=3)
    named = with_names(to_datatree({"z": [[[0, 0, 1]]]}, constraints=[links]), items=long)
    shown = as_text(findings(named)).splitlines()
    assert f"{long[0]}, {long[2]}: same" in next(line for line in shown if "(likely" in line)
    assert "\0" not in text


def test_the_number_of_classes_of_a_classifier_is_not_called_certain():
    X, y = make_blobs(40, centers=[[0, 0], [8, 8]], random_state=0)
    triplets = bc.RelativeConstraints.sample(y, size=60, seed=0)
    est = bc.DCRC(2, inference="gibbs", num_chains=2, num_samples=20, random_state=0)
    found = findings(est.fit(X, constraints=triplets).posterior_)
    assert not found.numbers
    assert "2 clusters. Their number was fixed before sampling" in " ".join(as_text(found).split())
