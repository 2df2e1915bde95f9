"""Every public entry that takes data or settings, found by discovery: how to call it, with what.

The arguments are those of the signature; each has a sort (see `bad_values`) and a good value by its
name in `PARAMETERS`, or by the name of the entry too in `OWN`. A new parameter whose name is in
neither has to be given one, or to be named in `UNCHECKED`.
"""

import inspect
import tempfile
from copy import deepcopy
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesclust as bc
from bayesclust.active import Query
from tests.robustness import world
from tests.robustness.world import (
    ESTIMATORS,
    LINKS,
    NEW,
    PARTITION,
    RULES,
    SEVERAL,
    TRIPLETS,
    TRUTH,
    N,
    X,
)

FLAGS = np.zeros(sum(map(len, SEVERAL)), int)


def sort(words, /, **good):
    """Arguments of one sort: a good value of each."""
    return {argument: (words, value) for argument, value in good.items()}


PARAMETERS: dict[str, tuple[str, Any]] = {
    **sort("items", X=X),
    **sort("optional labels", y=TRUTH),
    **sort("item labels", z=TRUTH),
    **sort("optional item labels", components=TRUTH),
    **sort("optional integer labels", labels=TRUTH, partition=TRUTH),
    **sort("labels", truth=np.roll(TRUTH, 1)),
    **sort("draws", posterior=world.tree, first=world.tree, second=world.tree),
    **sort("label rows", draws=np.tile(TRUTH, (3, 1))),
    **sort("integer labels", estimate=TRUTH[::-1]),
    **sort("methods", methods=lambda: {"sampler": world.tree(), "truth": TRUTH}),
    **sort("differences", gammas=[0.1, 10.0]),
    **sort("table", matrix=lambda: bc.agreement({"a": TRUTH, "b": TRUTH[::-1]})),
    **sort("constraints", constraints=SEVERAL),
    **sort("tuples", pairs=LINKS.items, triplets=TRIPLETS.items, must_link=LINKS.items[:2]),
    **sort("tuples", cannot_link=LINKS.items[2:4]),
    **sort("answers", same=[1, 1, 0, 0, 1], answers=[0, 1, 0, 1, 1]),
    **sort("scores", scores=[0.1, 0.9, 0.5, 1.0, 0.02]),
    **sort("matrix", E=[[1.0, 0.0], [0.0, 1.0]]),
    **sort("optional sources", source=[0, 0, 1, 1, 0]),
    **sort("count", n_items=N, n_sources=2, n_clusters=3, size=2, min_size=1, n_neighbors=3),
    **sort("count", n_folds=2, num_prior_draws=20),
    **sort("count", n_runs=2, num_draws=20, num_chains=2, num_samples=6),
    **sort("count", thinning=1, n_init=1, max_iter=50, n_trees=5, truncation=3, max_draws=20),
    **sort("count", within_truncation=3, n=20, d=3, k=2),
    **sort("optional noise", noise=None),
    **sort("indices", items=[0, 1, 2, 5]),
    **sort("(0, 1]", fraction=0.2),
    **sort("[0, 1]", error_rate=0.1, anchors=0.5, super_instances=1.0),
    **sort("[0, 1]", min_satisfied=1.0),
    **sort("prior", p=(4.0, 1.0), q=(4.0, 1.0), eps=(1.0, 9.0)),
    **sort("optional prior", hard=(1.0, 9.0)),
    **sort("optional flags", flipped=FLAGS),
    **sort("query", query=Query("pair", (2, 7))),
    **sort("choice", answer="same", measure="vi", kind="pair", score="quality"),
    **sort("choice", sampler="collapsed", cluster_model="single", divergence="euclidean"),
    **sort("choice", metric="diagonal", metric_step="exact"),
    **sort("choice", inference="variational_em"),
    **sort("natural", max_listed=3, n_pairs=5, max_clusters=0, num_warmup=6, growth=5),
    **sort("natural", new_clusters=0),
    **sort("cluster numbers", K=[2, 3]),
    **sort("(0, 1)", level=0.9, prob=0.9),
    **sort("(0, inf)", strength=0.5, a=1.0, alpha=1.0, temperature=2.0),
    **sort("[0, inf)", tau=1.0, min_gain=0.0, prior_items=1.0, separation=4.0),
    **sort("optional (0, inf)", penalty=200.0, within_penalty=None, xi0=None, gamma=None),
    **sort("optional (0, inf)", precision=None, time_limit=None),
    **sort("[1, inf)", xi_rate=2.0),
    **sort("optional (0, 1]", power=None),
    **sort("optional [0, inf)", new_cluster_distance=None, max_diameter=None),
    **sort("loss", loss="vi"),
    **sort("target", target="vi"),
    **sort("optional choice", partition_prior=None, priors=None, reference=None),
    **sort("optional choice", names=["n_clusters"]),
    **sort("family", family="gaussian"),
    **sort("optional name", name="links"),
    **sort("seed", seed=0, random_state=0),
    **sort("optional count", n_jobs=1, max_size=N),
    **sort("query strategy", query_strategy="random"),
    **sort("estimator", estimator=lambda: world.fitted("TVClust")),
    **sort("optional object", modification=None, moves=None, limit=None),
    **sort("path table", path=world.path),
    **sort("optional axes", ax=None, axes=None),
}
"""The sort of an argument and a good value, by its name."""
OWN: dict[str, tuple[str, Any]] = {
    "*.fit.constraints": ("optional constraints", LINKS),
    **dict.fromkeys(("*.predict*.X", "*.score*.X", "*.transform.X"), ("new items", NEW)),
    "TVClust.extend.X": ("new items", NEW),
    "leave_view_out.constraints": ("constraints", LINKS),  # those of the fit
    **dict.fromkeys(
        ("TVClust.fit.X", "cross_validate.X", "leave_view_out.X"), ("optional items", X)
    ),
    "TVClust.extend.num_samples": ("optional count", 6),
    **dict.fromkeys(("*Constraints.sample.labels", "metrics.*.labels"), ("labels", TRUTH)),
    "*Constraints.name": ("optional name", "mine"),
    "models.tvclust*.power": ("(0, 1]", 0.5),
    "RelativeConstraints.answers": ("answers", np.asarray(TRIPLETS.answers)),
    "RelativeConstraints.source": ("optional sources", [0, 1, 0]),
    "*LabelConstraints.rows": ("rows", [(0, 1), (3, 0)]),
    "*LabelConstraints.source": ("optional sources", [0, 1]),
    "*RuleNoise.hard": ("optional prior", None),
    "*LabelNoise.accuracy": ("prior", (4.0, 1.0)),
    "*LabelNoise.alike": ("(0, inf)", 10.0),
    "*LabelNoise.none": ("[0, 1)", 0.1),
    "*LabelNoise.n_classes": ("count", 2),
    "*SpanConstraints.rows": ("rows", [([0, 1], [0, 2])]),
    "*SpreadConstraints.rows": ("rows", [([0, 1, 2], 2)]),
    "*SpreadConstraints.source": ("optional sources", [0]),
    "*SpreadConstraints.answers": ("optional answers", [1]),
    "*ImplicationConstraints.source": ("optional sources", [0]),
    "*ImplicationConstraints.answers": ("optional answers", [1]),
    "*ImplicationConstraints.rows": ("rows", [([(0, 1, True)], [(2, 3, True)])]),
    "*ConfusionNoise.prior": ("optional weights", np.ones((3, 3))),
    "constraints.Constraints.with_noise.noise": ("noise", bc.LinkNoise(0.9, 0.9)),
    "constraints.Rules.satisfied.labels": ("integer labels", TRUTH),
    "losses.Loss.*.truth": ("integer labels", TRUTH),
    "posterior.CredibleBall.distance.labels": ("integer labels", TRUTH),
    **dict.fromkeys(("*.objective.labels", "*.log_joint.labels"), ("integer labels", TRUTH)),
    "*describe_columns.X": ("items with gaps", X),
    **dict.fromkeys(("diagnose.posterior", "write_report.posterior"), ("tree", world.tree)),
    "constraint_*.posterior": ("answered", world.tree),
    "source_reliability.posterior": ("answered", world.tree),
    "view_conflict.posterior": ("answered", world.tree),
    "plots.[cr]*.posterior": ("answered", world.tree),
    **dict.fromkeys(("plots.ranks.posterior", "plots.traces.posterior"), ("tree", world.tree)),
    "plots.*.X": ("optional points", X),
    "plots.similarity.order": ("choice", "clusters"),
    "plots.*.max_listed": ("count", 3),
    "plots.batch_weights.estimator": ("estimator", world.in_batches),
    "plots.calibration.n_bins": ("count", 3),
    "plots.constraint_graph.below": ("optional (0, 1]", 1.0),
    "TVClust.num_samples": ("optional count", 6),
    "write_report.path": ("path", "report.html"),
    "agreement.methods": ("methods", lambda: {"a": TRUTH, "b": np.roll(TRUTH, 1)}),
    "posterior.to_datatree.z": ("draws array", np.tile(TRUTH, (2, 3, 1))),
    "posterior.to_datatree.X": ("points", X),
    "models.*.constraints": ("optional constraints", SEVERAL),
    "datasets.load.name": ("choice", "iris"),
    "datasets.make_shape.kind": ("choice", "moons"),
    "datasets.make_shape.noise": ("[0, inf)", 0.05),
    "active.NPU.seed": ("natural", 0),
    "active.PosteriorQueries.estimator": ("optional object", None),
    "InteractiveSession.add.constraints": ("constraints", SEVERAL),
    "InteractiveSession.save.path": ("path", "s.npz"),
    "InteractiveSession.load.path": ("file", "session.npz"),
    "InteractiveSession.load.query_strategy": ("optional query strategy", None),
    "limit_path.limit": ("object", bc.DPMeans(penalty=200.0)),
    "limit_path.sampler": ("optional choice", "collapsed"),
    "*.from_posterior.posterior": ("tree", world.linked),
    "MPCKMeans.max_iter": ("natural", 50),
    "M*.min_size": ("optional count", 1),
    "DCRC.penalty": ("optional [0, inf)", None),
    **dict.fromkeys(("DCRC.n_init", "*DPMeans.n_clusters"), ("optional count", None)),
    "DCRC.temperature": ("[0, inf)", 1.0),
    "DCRC.loss": ("optional loss", "vi"),
    "SpectralRDPMeans.max_clusters": ("count", 20),
}
"""The same by the name of the entry too; the last pattern that fits counts."""

WITHOUT_DATA = {
    "Moves": "switches of the samplers' moves, read by the estimators that take them",
    "*Warning": "public to be filtered by",
    "VariationalSettings": "numbers that TVClust checks when it is fitted",
    "PartitionGibbs": "a kernel that NumPyro calls; see tests/inference/test_numpyro_kernel.py",
    "constraint_sites": "called inside NumPyro programs; the programs are in the table",
    "constraints.DirichletNoise": "abstract; its subclasses are in the table",
    "constraints.GradedConstraints": "made by PairwiseConstraints.from_scores, in the table",
    "constraints.NoiseModel": "abstract; its subclasses are in the table",
    "constraints.Rules": "abstract; its subclasses are in the table",
    "constraints.Constraints": "abstract; its subclasses are in the table",
    "datasets.SHAPES": "a tuple of names",
    "estimators.restored": "takes a saved posterior; see tests/estimators/test_numbering.py",
    "datasets.Dataset": "what load returns",
    "datasets.names": "takes a switch",
    "partition_priors.PartitionPrior": "abstract; its subclasses are in the table",
    "families.[A-Z]*": "settings of families, checked in their own tests",
    "partition_priors.[A-Z]*": "settings of priors, checked in their own tests",
    "losses.Loss": "abstract; its methods are in the table",
    "posterior.[CDP]*": "what credible_ball, diagnose and posterior_distance return",
    "active.QUERY_STRATEGIES": "a mapping of names",
    "active.Query*": "made of what is checked where it is used",
}
"""Public names that are not in the table, and why."""
UNCHECKED = {
    **dict.fromkeys(("progress", "title"), "switches and words"),
    **dict.fromkeys(("xi", "init", "cost", "tol", "balance"), "of several kinds"),
    **dict.fromkeys(
        ("per_cluster", "constant_cost", "closure", "standardize", "pooled"), "switches"
    ),
    **dict.fromkeys(("kernel", "kernel_params", "prior", "observe"), "of several kinds"),
    "costs": "a mapping of names, with tests of its own",
    **dict.fromkeys(("classes", "per_item"), "of labels, with tests of their own"),
    **dict.fromkeys(("dnk", "what", "partitions", "named"), "of several kinds"),
    "DCRC.noise": "of several kinds",
    **dict.fromkeys([f"{name}.score.y" for name in ESTIMATORS], "ignored"),
    "checkpoint": "of methods",
    **dict.fromkeys(("log_fixed", "n_components", "among"), "of priors over partitions"),
    **dict.fromkeys(("hyper", "beta", "within"), "of samplers"),
    **dict.fromkeys(("sample_stats", "dims", "attrs"), "mappings of checked arrays"),
}
"""Parameters that take several kinds of things and have tests of their own."""
ONLY = {
    "PairwiseConstraints.sample": ("labels", "fraction", "error_rate", "n_sources", "seed", "name"),
    "RelativeConstraints.sample": ("labels", "size", "error_rate", "n_sources", "seed", "name"),
    "LabelConstraints.sample": ("labels", "fraction", "error_rate", "n_sources", "seed", "name"),
    "*.objective": ("labels",),
    "TVClust.extend": ("X", "num_samples"),
    "posterior.to_datatree": ("z", "X", "constraints"),
    "models.log_joint": ("z", "components"),
    "ConfusionNoise": ("prior",),
    "models.dcrc": ("X", "n_clusters", "constraints"),
    "limit_path": ("X", "gammas", "limit", "sampler", "num_samples", "n_jobs"),
}
"""Entries of which some arguments are in the table, the others being parts of one."""
SLOW = ["DCRC.fit", "TVClust.fit", "[A-Z]*Means", "DCRC", "TVClust", "MinimalModification"]
SLOW += ["models.*", "plots.*", "write_report", "leave_view_out", "limit_path", "cluster_profiles"]
SLOW += ["cross_validate"]
"""Patterns of entries of which a good call takes more than a tenth of a second or so."""
UNCONSTRAINED = ("DPMeans",)
METHODS = ["predict", "predict_proba", "predict_novelty", "predict_similarity", "score_samples"]
METHODS += ["objective", "log_joint", "from_posterior", "transform", "score", "to_arviz"]


class Argument(NamedTuple):
    """An argument of a public entry: what sort of thing it is, and a good value."""

    sort: str
    good: Any


class Entry(NamedTuple):
    """How to call a public entry."""

    call: Any
    arguments: dict[str, Argument]
    slow: bool = False

    def good(self):
        return {
            name: argument.good() if callable(argument.good) else argument.good
            for name, argument in self.arguments.items()
        }


def public():
    """What is reached from `bayesclust`, each thing by its shortest name."""
    names = [(name, getattr(bc, name)) for name in bc.__all__ if name != "__version__"]
    modules = [(name, value) for name, value in names if inspect.ismodule(value)]
    for module, value in modules:
        names += [(f"{module}.{n}", getattr(value, n)) for n in getattr(value, "__all__", ())]
    shortest = {}
    for name, value in sorted(names, key=lambda pair: (pair[0].count("."), pair[0])):
        if not inspect.ismodule(value):
            shortest.setdefault(id(value), (name, value))
    return dict(shortest.values())


def matches(name, patterns):
    return [pattern for pattern in patterns if fnmatch(name, pattern)]


def sort_of(entry, parameter):
    """The sort and good value of an argument; None where it has tests of its own."""
    name = f"{entry}.{parameter}"
    own = matches(name, OWN)
    if own:
        return OWN[own[-1]]
    if parameter in UNCHECKED or name in UNCHECKED:
        return None
    if parameter not in PARAMETERS:
        raise KeyError(f"{name}: give it a sort in PARAMETERS or OWN, or name it in UNCHECKED")
    return PARAMETERS[parameter]


def parameters(function):
    """The parameters of an entry that take a value."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(function).parameters.values()
    return [p.name for p in found if p.kind not in kinds and p.name not in ("self", "cls")]


def make(entry, function, call=None, names=None):
    only = [ONLY[pattern] for pattern in matches(entry, ONLY)]
    names = names or (only[0] if only else parameters(function))
    known = {name: sort_of(entry, name) for name in names}
    arguments = {name: Argument(*found) for name, found in known.items() if found is not None}
    return Entry(call or function, arguments, bool(matches(entry, SLOW)))


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


def load_session(path, **arguments):
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "session.npz"
        world.session().save(own)
        where = own if path == "session.npz" else path
        return bc.InteractiveSession.load(where, **arguments).labels


def answer_query(query, answer):
    session = world.session()
    session.answer(query, answer)
    return session.n_pending


def estimator_entries(name, cls):
    """An estimator by its settings, its data, and each of its methods."""
    constraints = None if name in UNCONSTRAINED else LINKS

    def settle(**settings):
        short = {"progress": False} if name == "TVClust" else {}
        more = PARTITION.get(name, {})
        return cls(**short | settings).fit(X, constraints=constraints, **more)

    def fit(X, constraints=None, **more):
        return ESTIMATORS[name]().fit(X, constraints=constraints, **more)

    yield name, make(name, cls, settle)
    names = ["X", *([] if constraints is None else ["constraints"]), *PARTITION.get(name, {})]
    yield f"{name}.fit", make(f"{name}.fit", cls.fit, fit, names)
    for method in METHODS:
        if hasattr(ESTIMATORS[name](), method):
            call = getattr(cls, method) if method == "from_posterior" else None
            yield (
                f"{name}.{method}",
                make(f"{name}.{method}", getattr(cls, method), call or bound(name, method)),
            )


def bound(name, method):
    return lambda *args, **values: getattr(world.fitted(name), method)(*args, **values)


CALLS = {
    "models.tvclust": traced(bc.models.tvclust),
    "models.tvclust_marginal": traced(bc.models.tvclust_marginal),
    "models.tvclust_mixture": traced(bc.models.tvclust_mixture),
    "models.dcrc": traced(bc.models.dcrc),
    "models.log_joint": lambda z, components=None: bc.models.log_joint(
        z, world.bound(), components
    ),
    "posterior.to_datatree": lambda z, **more: bc.posterior.to_datatree({"z": z}, **more),
    "write_report": to_file(bc.write_report, "report.html"),
    "limit_path": lambda **values: bc.limit_path(**{**world.SHORT, **values}),
    "InteractiveSession": lambda **values: bc.InteractiveSession(**values).labels,
}
OF_OBJECTS = {
    "PairwiseConstraints.sample": bc.PairwiseConstraints.sample,
    "PairwiseConstraints.from_lists": bc.PairwiseConstraints.from_lists,
    "PairwiseConstraints.from_matrix": bc.PairwiseConstraints.from_matrix,
    "RelativeConstraints.sample": bc.RelativeConstraints.sample,
    **{
        f"constraints.Constraints.{name}": getattr(LINKS, name)
        for name in ("restrict", "with_answers", "with_noise", "patterns", "truths", "counts")
    },
    "constraints.Rules.satisfied": RULES.satisfied,
    **{f"information.{name}": getattr(bc.information, name) for name in ("pair", "triplet")},
    "posterior.CredibleBall.distance": lambda labels: bc.credible_ball(world.tree()).distance(
        labels
    ),
    "losses.Loss.loss": bc.losses.VI().loss,
    "losses.Loss.expected": bc.losses.VI().expected,
    "TVClust.extend": lambda **new: deepcopy(world.fitted("TVClust")).extend(**new),
    "InteractiveSession.ask": lambda size: world.session().ask(size),
    "InteractiveSession.answer": answer_query,
    "InteractiveSession.add": lambda constraints: world.session().add(constraints),
    "InteractiveSession.area_under_budget_curve": (
        lambda score: world.scored().area_under_budget_curve(score)
    ),
    "InteractiveSession.save": to_file(lambda path: world.session().save(path), "s.npz"),
    "InteractiveSession.load": lambda path, X, query_strategy: load_session(
        path, X=X, query_strategy=query_strategy
    ),
}
"""Methods of things that are not estimators, or change these, bound to good ones."""


def table():
    found = {}
    for name, value in public().items():
        if hasattr(value, "fit") and name in ESTIMATORS:
            found.update(estimator_entries(name, value))
        elif not matches(name, WITHOUT_DATA):
            found[name] = make(name, value, CALLS.get(name))
    return found | {name: make(name, method) for name, method in OF_OBJECTS.items()}


TABLE = table()
