"""Every public entry that takes data, by its name: how to call it, and what sort of thing each argument is."""

import numpy as np

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree
from tests.robustness import world
from tests.robustness.fit_entries import FITS
from tests.robustness.world import (
    LINKS,
    RULES,
    SEVERAL,
    TRIPLETS,
    TRUTH,
    N,
    X,
    entry,
)

P = bc.posterior
S = bc.active
LABELS = ("labels", TRUTH)
DRAWS = ("draws", world.tree)
ANSWERED = ("answered", world.tree)
CODES = np.asarray(TRIPLETS.answers)
FLAGS = np.zeros(len(LINKS) + len(TRIPLETS), int)
OUT = np.array([[2.0, 0.0, 0.5]])
TABLE = {
    **FITS,
    # answers
    "PairwiseConstraints": entry(
        bc.PairwiseConstraints,
        pairs=("tuples", LINKS.items),
        same=("answers", [1, 1, 0, 0, 1]),
        n_items=("count", N),
        source=("optional sources", [0, 0, 1, 1, 0]),
        noise=("optional noise", None),
        name=("name", "links"),
    ),
    "RelativeConstraints": entry(
        bc.RelativeConstraints,
        triplets=("tuples", TRIPLETS.items),
        answers=("answers", CODES),
        n_items=("count", N),
        source=("optional sources", [0, 1, 0]),
        noise=("optional noise", None),
        name=("name", "triplets"),
    ),
    "PairwiseConstraints.sample": entry(
        bc.PairwiseConstraints.sample,
        labels=LABELS,
        fraction=("(0, 1]", 0.2),
        error_rate=("[0, 1]", 0.1),
        n_sources=("count", 2),
        seed=("seed", 0),
        name=("name", "links"),
    ),
    "RelativeConstraints.sample": entry(
        bc.RelativeConstraints.sample,
        labels=LABELS,
        size=("count", 9),
        error_rate=("[0, 1]", 0.1),
        n_sources=("count", 2),
        seed=("seed", 0),
        name=("name", "links"),
    ),
    "PairwiseConstraints.from_lists": entry(
        bc.PairwiseConstraints.from_lists,
        must_link=("tuples", LINKS.items[:2]),
        cannot_link=("tuples", LINKS.items[2:4]),
        n_items=("count", N),
        noise=("optional noise", None),
        name=("name", "links"),
    ),
    "PairwiseConstraints.from_matrix": entry(
        bc.PairwiseConstraints.from_matrix,
        E=("matrix", [[1.0, 0.0], [0.0, 1.0]]),
        noise=("optional noise", None),
        name=("name", "links"),
    ),
    **{
        name: entry(
            getattr(bc, name),
            rows=("rows", rows),
            n_items=("count", N),
            name=("optional name", "mine"),
        )
        for name, rows in {
            "LabelConstraints": [(0, 1), (3, 0)],
            "SpanConstraints": [([0, 1], [0, 2])],
            "SpreadConstraints": [([0, 1, 2], 2)],
            "ImplicationConstraints": [([(0, 1, True)], [(2, 3, True)])],
        }.items()
    },
    "LinkNoise": entry(bc.LinkNoise, p=("prior", (4.0, 1.0)), q=("prior", (4.0, 1.0))),
    "UniformNoise": entry(bc.UniformNoise, eps=("prior", (1.0, 9.0))),
    "ConfusionNoise": entry(bc.ConfusionNoise, prior=("optional weights", np.ones((3, 3)))),
    "constraints.Constraints.restrict": entry(LINKS.restrict, items=("indices", [0, 1, 2, 5])),
    "constraints.Constraints.with_answers": entry(
        LINKS.with_answers, answers=("answers", [0, 1, 0, 1, 1])
    ),
    "constraints.Constraints.with_noise": entry(
        LINKS.with_noise, noise=("noise", bc.LinkNoise(0.9, 0.9))
    ),
    "constraints.Constraints.patterns": entry(LINKS.patterns, z=("item labels", TRUTH)),
    "constraints.Constraints.truths": entry(LINKS.truths, z=("item labels", TRUTH)),
    "constraints.Constraints.counts": entry(LINKS.counts, z=("item labels", TRUTH)),
    "constraints.Rules.satisfied": entry(RULES.satisfied, labels=("integer labels", TRUTH)),
    "constraints.constraint_graph": entry(
        bc.constraints.constraint_graph, constraints=("views", SEVERAL), n_items=("count", N)
    ),
    "constraints.greedy_coloring": entry(
        bc.constraints.greedy_coloring, constraints=("views", SEVERAL), n_items=("count", N)
    ),
    "constraints.to_dataset": entry(bc.constraints.to_dataset, constraints=("stored", SEVERAL)),
    "constraints.constraints_from_dataset": entry(
        bc.constraints.constraints_from_dataset,
        ds=("stored dataset", lambda: bc.constraints.to_dataset(SEVERAL)),
    ),
    "constraints.equality_patterns": entry(
        bc.constraints.equality_patterns, labels=("label tuples", [[0, 0, 1]])
    ),
    # columns
    "describe_columns": entry(bc.describe_columns, X=("items with gaps", X)),
    "dequantize": entry(bc.dequantize, X=("items with gaps", X), seed=("seed", 0)),
    "families.mixed_family": entry(
        bc.families.mixed_family, X=("items with gaps", X), covariance=("choice", "full")
    ),
    "families.get_family": entry(bc.families.get_family, family=("family", "gaussian")),
    # draws
    "similarity_matrix": entry(bc.similarity_matrix, posterior=DRAWS),
    "similar_items": entry(bc.similar_items, posterior=DRAWS, n_neighbors=("count", 3)),
    "item_entropy": entry(bc.item_entropy, posterior=DRAWS),
    "n_clusters_posterior": entry(bc.n_clusters_posterior, posterior=DRAWS, min_size=("count", 1)),
    "point_estimate": entry(
        bc.point_estimate,
        posterior=DRAWS,
        loss=("loss", "vi"),
        n_runs=("count", 2),
        max_clusters=("natural", 0),
        seed=("seed", 0),
        n_jobs=("optional count", 1),
    ),
    "credible_ball": entry(
        bc.credible_ball,
        posterior=DRAWS,
        labels=("optional integer labels", TRUTH),
        level=("(0, 1)", 0.9),
        loss=("loss", "vi"),
    ),
    "diagnose": entry(
        bc.diagnose,
        posterior=("tree", world.tree),
        n_pairs=("natural", 5),
        max_rhat=("(1, inf)", 1.05),
        min_ess=("(0, inf)", 10.0),
        seed=("seed", 0),
    ),
    "posterior_distance": entry(
        bc.posterior_distance,
        first=DRAWS,
        second=DRAWS,
        loss=("loss", "vi"),
        num_draws=("count", 10),
    ),
    "constraint_credibility": entry(
        bc.constraint_credibility, posterior=ANSWERED, labels=("optional integer labels", TRUTH)
    ),
    "source_reliability": entry(bc.source_reliability, posterior=ANSWERED),
    "view_conflict": entry(bc.view_conflict, posterior=ANSWERED),
    "constraint_log_likelihood": entry(bc.constraint_log_likelihood, posterior=ANSWERED),
    "constraint_ppc": entry(
        bc.constraint_ppc, posterior=ANSWERED, num_draws=("count", 20), seed=("seed", 0)
    ),
    "posterior.stacked_partitions": entry(P.stacked_partitions, posterior=DRAWS),
    "posterior.canonical": entry(P.canonical, z=("integer array", TRUTH)),
    "posterior.to_datatree": entry(
        lambda z, X, views: to_datatree({"z": z}, X=X, constraints=views),
        z=("draws array", np.tile(TRUTH, (2, 3, 1))),
        X=("points", X),
        constraints=("views", SEVERAL),
    ),
    "posterior.CredibleBall.distance": entry(
        lambda labels: bc.credible_ball(world.tree()).distance(labels),
        labels=("integer labels", TRUTH),
    ),
    "losses.as_loss": entry(bc.losses.as_loss, loss=("loss", "vi")),
    "losses.expected_losses": entry(
        bc.losses.expected_losses,
        loss=("loss object", bc.losses.VI()),
        estimates=("label rows", TRUTH[None]),
        draws=("label rows", np.tile(TRUTH, (3, 1))),
    ),
    "losses.pairwise_losses": entry(
        bc.losses.pairwise_losses,
        loss=("loss object", bc.losses.VI()),
        estimates=("label rows", TRUTH[None]),
        draws=("label rows", np.tile(TRUTH, (3, 1))),
    ),
    "losses.VI": entry(bc.losses.VI, a=("(0, inf)", 1.0)),
    "losses.Binder": entry(bc.losses.Binder, a=("(0, inf)", 1.0)),
    "losses.Loss.loss": entry(
        bc.losses.VI().loss,
        truth=("integer labels", TRUTH),
        estimate=("integer labels", TRUTH[::-1]),
    ),
    "losses.Loss.expected": entry(
        bc.losses.VI().expected,
        estimate=("integer labels", TRUTH),
        draws=("label rows", np.tile(TRUTH, (3, 1))),
    ),
    # scores
    **{
        f"metrics.{name}": entry(
            getattr(bc.metrics, name), labels=LABELS, truth=("labels", np.roll(TRUTH, 1))
        )
        for name in ("adjusted_rand", "nmi", "pairwise_f", "pairwise_scores")
    },
    "metrics.variation_of_information": entry(
        bc.metrics.variation_of_information,
        labels=LABELS,
        truth=("labels", np.roll(TRUTH, 1)),
        base=("(1, inf)", 2.0),
    ),
    "information.pair": entry(bc.information.pair, K=("cluster numbers", [2, 3])),
    "information.triplet": entry(bc.information.triplet, K=("cluster numbers", [2, 3])),
    "compare": entry(
        bc.compare,
        methods=("methods", lambda: {"sampler": world.tree(), "truth": TRUTH}),
        y=("optional labels", TRUTH),
        reference=("optional choice", None),
        limit=("optional choice", None),
        level=("(0, 1)", 0.9),
        loss=("loss", "vi"),
    ),
    "agreement": entry(
        bc.agreement,
        methods=("methods", lambda: {"a": TRUTH, "b": np.roll(TRUTH, 1)}),
        measure=("choice", "vi"),
        loss=("loss", "vi"),
    ),
    "leave_view_out": entry(
        bc.leave_view_out,
        slow=True,
        estimator=("estimator", lambda: world.fitted("TVClust")),
        X=("items", X),
        constraints=("views", SEVERAL),
        loss=("loss", "vi"),
    ),
    "bayesian_signed_rank": entry(
        bc.bayesian_signed_rank,
        differences=("differences", [0.1, 0.2, -0.1]),
        rope=("[0, inf)", 0.01),
        strength=("(0, inf)", 0.5),
        num_samples=("count", 100),
        seed=("seed", 0),
    ),
}
