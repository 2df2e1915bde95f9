"""Leaving one answer out, and the reliability of sources, against exact posteriors and plain loops."""

import numpy as np
import pytest

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree


def three_sources(rng, draws=9):
    """A posterior of three partitions of four items with links of two sources and triplets with a confusion matrix."""
    links = bc.PairwiseConstraints(
        [(0, 1), (1, 2), (2, 3)], [True, False, True], n_items=4, source=[0, 1, 1]
    )
    triplets = bc.RelativeConstraints(
        [(0, 1, 2), (3, 2, 0)], ["yes", "dnk"], n_items=4, noise=bc.ConfusionNoise()
    )
    chains = 2
    z = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 2]])[rng.integers(3, size=(chains, draws))]
    noise = {
        "p": rng.uniform(0.6, 0.9, (chains, draws, 2)),
        "q": rng.uniform(0.6, 0.9, (chains, draws, 2)),
        "confusion": rng.dirichlet([1, 1, 1], (chains, draws, 1, 3)),
    }
    dims = {"p": ("source",), "q": ("source",), "confusion": ("triplet_source", "truth", "answer")}
    return (
        to_datatree({"z": z, **noise}, constraints=[links, triplets], dims=dims),
        z,
        noise,
        links,
        triplets,
    )


def likelihood(truth, answer, noise, where):
    """p(answer | truth), spelt out."""
    if isinstance(truth, bool):
        right, wrong = ("p", 1 - noise["p"][where]) if truth else ("q", 1 - noise["q"][where])
        return noise[right][where] if truth == answer else wrong
    return noise["confusion"][(*where[:2], 0, truth, answer)]


def test_log_likelihood_of_every_answer_and_draw(rng):
    tree, z, noise, links, triplets = three_sources(rng)
    group = bc.constraint_log_likelihood(tree)["log_likelihood"]
    assert "log_likelihood" not in tree.children
    for c, b in np.ndindex(z.shape[:2]):
        labels = z[c, b]
        for m, (i, j) in enumerate(links.items):
            where = (c, b, int(links.source[m]))
            expected = likelihood(
                bool(labels[i] == labels[j]), bool(links.answers[m]), noise, where
            )
            assert group["links"].values[c, b, m] == pytest.approx(np.log(expected))
        for m, (i, j, k) in enumerate(triplets.items):
            truth = 2
            if labels[i] == labels[j] != labels[k]:
                truth = 0
            elif labels[i] == labels[k] != labels[j]:
                truth = 1
            expected = likelihood(truth, int(triplets.answers[m]), noise, (c, b))
            assert group["triplets"].values[c, b, m] == pytest.approx(np.log(expected))


def test_leaving_an_answer_out_is_the_posterior_without_it():
    # all partitions of three items by their exact posterior, with and without the last link
    rng = np.random.default_rng(0)
    partitions = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]])
    prior = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
    p, q = 0.8, 0.7
    links = bc.PairwiseConstraints([(0, 1), (1, 2)], [True, True], n_items=3)
    same = partitions[:, [0, 1]] == partitions[:, [1, 2]]
    likelihoods = np.where(same, p, 1 - q)
    posterior = prior * likelihoods.prod(axis=1)
    posterior /= posterior.sum()
    number = 200_000
    z = partitions[rng.choice(5, size=(1, number), p=posterior)]
    known = {"p": np.full((1, number, 1), p), "q": np.full((1, number, 1), q)}
    table = bc.constraint_credibility(to_datatree({"z": z, **known}, constraints=[links]))
    for m in (0, 1):
        rest = prior * likelihoods[:, 1 - m]
        rest /= rest.sum()
        assert table["credibility_loo"][m] == pytest.approx(rest[same[:, m]].sum(), abs=0.01)
        assert table["elpd_loo"][m] == pytest.approx(
            np.log((rest * likelihoods[:, m]).sum()), abs=0.01
        )
        assert table["credibility"][m] == pytest.approx(posterior[same[:, m]].sum(), abs=0.01)


def test_sum_of_log_scores_is_what_arviz_makes_of_the_log_likelihood(rng):
    arviz = pytest.importorskip("arviz")
    tree, *_ = three_sources(rng, draws=1000)
    scores = bc.constraint_credibility(tree)
    expected = arviz.loo(bc.constraint_log_likelihood(tree), var_name="links").elpd
    # Pareto smoothing changes the largest weights a little
    assert scores.loc[scores["view"] == "links", "elpd_loo"].sum() == pytest.approx(
        float(expected), rel=0.02
    )


def test_sources_are_told_apart(rng):
    y = rng.integers(3, size=30)
    links = bc.PairwiseConstraints.sample(y, size=300, error_rate=[0.0, 0.4], n_sources=2, seed=0)
    z = np.tile(y, (2, 50, 1))
    p, q = rng.beta([90, 60], [10, 40], (2, 50, 2)), rng.beta([80, 55], [20, 45], (2, 50, 2))
    dims = {"p": ("source",), "q": ("source",)}
    table = bc.source_reliability(
        to_datatree({"z": z, "p": p, "q": q}, constraints=[links], dims=dims)
    )
    assert table[["source", "parameter"]].values.tolist() == [
        [0, "p"],
        [0, "q"],
        [1, "p"],
        [1, "q"],
    ]
    np.testing.assert_allclose(
        table["mean"], [p[..., 0].mean(), q[..., 0].mean(), p[..., 1].mean(), q[..., 1].mean()]
    )
    np.testing.assert_allclose(table["lower"][0], np.quantile(p[..., 0], 0.05))
    flipped = np.bincount(links.source, weights=links.flipped, minlength=2)
    np.testing.assert_allclose(table["wrong"], np.repeat(flipped, 2))
    np.testing.assert_array_equal(table["answers"], np.repeat(np.bincount(links.source), 2))


def test_a_confusion_matrix_has_a_row_for_each_cell(rng):
    tree, _, noise, *_ = three_sources(rng)
    table = bc.source_reliability(tree).query("view == 'triplets'")
    assert table["parameter"].tolist()[:3] == [
        "confusion[yes, yes]",
        "confusion[yes, no]",
        "confusion[yes, dnk]",
    ]
    np.testing.assert_allclose(table["mean"], noise["confusion"].mean(axis=(0, 1)).ravel())


def test_what_has_no_noise_is_refused():
    links = bc.PairwiseConstraints([(0, 1)], [True], n_items=2)
    tree = to_datatree({"z": np.zeros((1, 4, 2), int)}, constraints=[links])
    for function in (bc.constraint_log_likelihood, bc.source_reliability):
        with pytest.raises(ValueError, match="has no p, q"):
            function(tree)
