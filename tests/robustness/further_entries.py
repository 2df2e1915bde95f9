"""The table of public entries, continued: models, data sets, pictures, questions, sessions; and what takes no data."""

import tempfile
from pathlib import Path

import numpy as np

import bayesclust as bc
from tests.robustness import world
from tests.robustness.world import SEVERAL, TRIPLETS, TRUTH, N, X, entry

S = bc.active
DRAWS = ("draws", world.tree)
ANSWERED = ("answered", world.tree)
FLAGS = np.zeros(sum(map(len, SEVERAL)), int)
W = np.array([[0.1, 0.2, 0.0], [0.0, 0.1, 0.3]])
KNOWN = bc.UniformNoise(eps=0.1)


def traced(program):
    """A NumPyro program run once with random numbers."""

    def run(**arguments):
        from numpyro import handlers

        sites = handlers.trace(handlers.seed(program, 0)).get_trace(**arguments)
        return {name: site["value"] for name, site in sites.items() if site["type"] == "sample"}

    return run


def to_file(write, name):
    """Write into a folder of its own; the path may be wrong."""

    def run(path=name, **arguments):
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder) / path if path == name else path
            write(path=where, **arguments)

    return run


def saved_session(path, **arguments):
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "session.npz"
        world.session().save(own)
        return bc.InteractiveSession.load(
            own if path == "session.npz" else path, **arguments
        ).labels


def answering(question, answer):
    session = world.session()
    session.answer(question, answer)
    return session.n_pending


def suggest_queries(**arguments):
    return S.suggest_queries(**{"num_draws": 20, **arguments})


AXES = ("optional axes", None)
LABELS = ("optional integer labels", TRUTH)
MODELS = {
    "models.tvclust": entry(
        traced(bc.models.tvclust),
        slow=True,
        X=("items", X),
        constraints=("optional views", SEVERAL),
        family=("family", "gaussian"),
        concentration=("amount", (1.0, 1.0)),
        truncation=("count", 5),
    ),
    "models.tvclust_mixture": entry(
        traced(bc.models.tvclust_mixture),
        slow=True,
        X=("items", X),
        constraints=("optional views", SEVERAL),
        family=("family", "gaussian"),
        concentration=("amount", (1.0, 1.0)),
        within_concentration=("amount", (1.0, 10.0)),
        truncation=("count", 3),
        within_truncation=("count", 3),
    ),
    "models.dcrc": entry(
        traced(bc.models.dcrc),
        slow=True,
        X=("items", X),
        n_clusters=("count", 3),
        constraints=("optional views", SEVERAL),
    ),
    "models.PaperObjective": entry(
        lambda **values: bc.models.PaperObjective(**values).K,
        X=("new items", X),
        n_clusters=("count", 3),
        constraints=(
            "views",
            [bc.RelativeConstraints(TRIPLETS.items, TRIPLETS.answers, N, noise=KNOWN)],
        ),
        tau=("[0, inf)", 1.0),
        penalty=("[0, inf)", 0.1),
    ),
    "models.log_joint": entry(
        lambda z, alpha: bc.models.log_joint(z, world.bound(), alpha=alpha),
        z=("item labels", TRUTH),
        alpha=("(0, inf)", 1.0),
    ),
    "models.mixture_log_joint": entry(
        lambda z, components: bc.models.mixture_log_joint(z, components, world.bound()),
        z=("item labels", TRUTH),
        components=("item labels", TRUTH),
    ),
    "models.dcrc_log_joint": entry(
        lambda z, X, W: bc.models.dcrc_log_joint(W, z, X),
        z=("class labels", TRUTH % 2),
        X=("new items", X),
        W=("weights", W),
    ),
    "models.WeightPrior": entry(bc.models.WeightPrior, precision=("amount", (1.0, 1.0))),
}
SHAPE = {"n": ("count", 20), "seed": ("seed", 0)}
DATA = {
    "datasets.load": entry(bc.datasets.load, name=("choice", "iris")),
    "datasets.make_mixture": entry(
        bc.datasets.make_mixture,
        **SHAPE,
        d=("count", 2),
        k=("count", 2),
        separation=("[0, inf)", 4.0),
        elongation=("[1, inf)", 2.0),
    ),
    "datasets.make_counts": entry(
        bc.datasets.make_counts,
        **SHAPE,
        d=("count", 3),
        k=("count", 2),
        length=("[1, inf)", 50.0),
        concentration=("(0, inf)", 0.5),
    ),
    "datasets.make_visual_words": entry(
        bc.datasets.make_visual_words,
        **SHAPE,
        d=("count", 5),
        k=("count", 2),
        length=("[1, inf)", 50.0),
        spread=("[0, inf)", 0.5),
        contrast=("[0, inf)", 0.5),
        concentration=("(0, inf)", 100.0),
    ),
    "datasets.make_shape": entry(
        bc.datasets.make_shape, **SHAPE, kind=("choice", "moons"), noise=("[0, inf)", 0.05)
    ),
}
PICTURES = {
    "plots.similarity": entry(
        bc.plots.similarity,
        slow=True,
        posterior=DRAWS,
        labels=LABELS,
        ax=AXES,
        order=("choice", "clusters"),
    ),
    "plots.entropy": entry(
        bc.plots.entropy, slow=True, posterior=DRAWS, X=("optional points", X), ax=AXES
    ),
    "plots.n_clusters": entry(
        bc.plots.n_clusters, slow=True, posterior=DRAWS, labels=LABELS, ax=AXES
    ),
    "plots.partitions": entry(
        bc.plots.partitions,
        slow=True,
        posterior=DRAWS,
        X=("optional points", X),
        labels=LABELS,
        level=("(0, 1)", 0.9),
        loss=("loss", "vi"),
        axes=AXES,
    ),
    "plots.traces": entry(
        bc.plots.traces,
        slow=True,
        posterior=("tree", world.tree),
        var_names=("optional choice", ["n_clusters"]),
        axes=AXES,
    ),
    "plots.ranks": entry(
        bc.plots.ranks,
        slow=True,
        posterior=("tree", world.tree),
        names=("optional choice", ["n_clusters"]),
        axes=AXES,
    ),
    "plots.credibility": entry(
        bc.plots.credibility,
        slow=True,
        posterior=ANSWERED,
        flipped=("optional flags", FLAGS),
        ax=AXES,
    ),
    "plots.credibility_ranking": entry(
        bc.plots.credibility_ranking,
        slow=True,
        posterior=ANSWERED,
        flipped=("optional flags", FLAGS),
        max_listed=("optional count", 3),
        ax=AXES,
    ),
    "plots.reliability": entry(bc.plots.reliability, slow=True, posterior=ANSWERED, axes=AXES),
    "plots.constraint_graph": entry(
        bc.plots.constraint_graph,
        slow=True,
        posterior=ANSWERED,
        X=("optional points", X),
        below=("(0, 1]", 1.0),
        ax=AXES,
    ),
    "plots.agreement": entry(
        bc.plots.agreement,
        slow=True,
        matrix=("table", lambda: bc.agreement({"a": TRUTH, "b": TRUTH[::-1]})),
        ax=AXES,
    ),
    "plots.limit_path": entry(
        bc.plots.limit_path, slow=True, path=("path table", world.path), axes=AXES
    ),
    "write_report": entry(
        to_file(bc.write_report, "report.html"),
        slow=True,
        posterior=("tree", world.tree),
        path=("path", "report.html"),
        max_listed=("natural", 3),
        level=("(0, 1)", 0.9),
    ),
}
QUESTIONS = {
    "active.suggest_queries": entry(
        suggest_queries,
        posterior=DRAWS,
        kind=("choice", "pair"),
        size=("count", 2),
        target=("target", "vi"),
        queries=("questions", [(0, 1), (2, 3)]),
        num_draws=("count", 20),
        num_candidates=("count", 50),
        seed=("seed", 0),
    ),
    "active.check_query_strategy": entry(
        S.check_query_strategy, query_strategy=("query strategy", "random")
    ),
    "active.query_strategy_of": entry(
        S.query_strategy_of, query_strategy=("query strategy", "random")
    ),
    "active.RandomQueries": entry(S.RandomQueries, kind=("choice", "pair")),
    "active.NPU": entry(S.NPU, n_trees=("count", 5), seed=("natural", 0)),
    "active.ExploreConsolidate": entry(S.ExploreConsolidate, n_clusters=("optional count", 3)),
    "active.PosteriorQueries": entry(
        S.PosteriorQueries,
        kind=("choice", "pair"),
        target=("target", "vi"),
        estimator=("optional anything else", None),
        min_gain=("optional [0, inf)", None),
        noise=("optional noise", None),
        num_draws=("count", 10),
        num_candidates=("count", 10),
    ),
    "InteractiveSession": entry(
        lambda **values: bc.InteractiveSession(**values).labels,
        X=("items", X),
        partition=("optional integer labels", TRUTH),
        y=("optional labels", TRUTH),
        modification=("optional anything else", None),
        query_strategy=("query strategy", "random"),
        random_state=("seed", 0),
    ),
    "InteractiveSession.ask": entry(lambda size: world.session().ask(size), size=("count", 2)),
    "InteractiveSession.answer": entry(
        answering, query=("question", world.pair_question()), answer=("choice", "same")
    ),
    "InteractiveSession.add": entry(
        lambda constraints: world.session().add(constraints), constraints=("views", SEVERAL)
    ),
    "InteractiveSession.area_under_budget_curve": entry(
        lambda score: world.scored().area_under_budget_curve(score), score=("choice", "quality")
    ),
    "InteractiveSession.save": entry(
        to_file(lambda path: world.session().save(path), "s.npz"), path=("path", "s.npz")
    ),
    "InteractiveSession.load": entry(
        saved_session,
        path=("file", "session.npz"),
        X=("items", X),
        query_strategy=("optional query strategy", None),
    ),
}
FURTHER = {**MODELS, **DATA, **PICTURES, **QUESTIONS}

WITHOUT_DATA = {
    "Moves": "switches of the samplers' moves, read by the estimators that take them",
    "TiedColumnsWarning": "a warning, public to be filtered by",
    "VariationalSettings": "numbers that TVClust checks when it is fitted",
    "PartitionGibbs": "a kernel that NumPyro calls; what it refuses of models is in tests/inference/test_numpyro_scopes.py",
    "constraint_sites": "called inside NumPyro programs with traced labels; the programs are in the table",
    "constraints.DirichletRows": "what a noise model says of itself, read by samplers alone",
    "constraints.NoiseModel": "abstract; its subclasses are in the table, its methods take what samplers hold",
    "constraints.Rules": "abstract; its subclasses are in the table",
    "constraints.Constraints": "abstract; its subclasses are in the table",
    "constraints.StoredConstraints": "made by constraints_from_dataset alone",
    "datasets.SHAPES": "a tuple of names",
    "datasets.Dataset": "what load returns",
    "datasets.names": "takes a switch",
    "families.COMPOSED": "a mapping of names",
    "families.FAMILIES": "a mapping of names",
    "families.BoundFamily": "abstract; what bind returns",
    "families.Family": "abstract; what binds to data is given what check_items has let through",
    "families.HyperPrior": "made by families of checked numbers",
    "losses.AdditiveLoss": "abstract",
    "losses.Loss": "abstract; its methods are in the table",
    "posterior.CredibleBall": "what credible_ball returns; its method is in the table",
    "posterior.PosteriorDistance": "what posterior_distance returns",
    "posterior.Diagnosis": "what diagnose returns",
    "active.QUERY_STRATEGIES": "a mapping of names",
    "active.QueryStrategy": "a protocol",
    "active.Neighbourhoods": "the state that query strategies share, made of checked answers",
    "active.Query": "a pair of words and items, checked where it is answered",
    "active.QueryState": "what sessions hand to query strategies, made of checked data",
    **dict.fromkeys(
        ("losses.ID", "losses.NID", "losses.NVI", "losses.OneMinusARI", "active.MinMax"),
        "takes nothing",
    ),
    "families.*": "settings of families, checked in tests/models/families",
}
"""Public names that are not in the table, and why."""
