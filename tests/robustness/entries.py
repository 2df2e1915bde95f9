"""Every public entry that takes data or settings, found by discovery: how to call it, with what.

The arguments are those of the signature; each has a sort (see `bad_values`) and a good value by its
name in `PARAMETERS`, or by the name of the entry too in `OWN`. A new parameter whose name is in neither
has to be given one, or to be named in `UNCHECKED`.
"""

import inspect
import tempfile
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
KNOWN = bc.RelativeConstraints(TRIPLETS.items, TRIPLETS.answers, N, noise=bc.UniformNoise(eps=0.1))
OPTIONAL_COUNT, OPTIONAL_POSITIVE = ("optional count", None), ("optional (0, inf)", None)
UNIT, POSITIVE, NOT_NEGATIVE, AT_LEAST_1 = "[0, 1]", "(0, inf)", "[0, inf)", "[1, inf)"
PARAMETERS: dict[str, tuple[str, Any]] = {
    # data, partitions, draws
    "X": ("items", X),
    "y": ("optional labels", TRUTH),
    "z": ("item labels", TRUTH),
    "labels": ("optional integer labels", TRUTH),
    "truth": ("labels", np.roll(TRUTH, 1)),
    "partition": ("optional integer labels", TRUTH),
    "posterior": ("draws", world.tree),
    "first": ("draws", world.tree),
    "second": ("draws", world.tree),
    "draws": ("label rows", np.tile(TRUTH, (3, 1))),
    "estimate": ("integer labels", TRUTH[::-1]),
    "estimates": ("label rows", TRUTH[None]),
    "components": ("item labels", TRUTH),
    "methods": ("methods", lambda: {"sampler": world.tree(), "truth": TRUTH}),
    "differences": ("differences", [0.1, 0.2, -0.1]),
    "matrix": ("table", lambda: bc.agreement({"a": TRUTH, "b": TRUTH[::-1]})),
    "W": ("weights", [[0.1, 0.2, 0.0], [0.0, 0.1, 0.3]]),
    # constraints
    "constraints": ("constraints", SEVERAL),
    "pairs": ("tuples", LINKS.items),
    "triplets": ("tuples", TRIPLETS.items),
    "must_link": ("tuples", LINKS.items[:2]),
    "cannot_link": ("tuples", LINKS.items[2:4]),
    "same": ("answers", [1, 1, 0, 0, 1]),
    "answers": ("answers", [0, 1, 0, 1, 1]),
    "E": ("matrix", [[1.0, 0.0], [0.0, 1.0]]),
    "source": ("optional sources", [0, 0, 1, 1, 0]),
    "n_items": ("count", N),
    "noise": ("optional noise", None),
    "items": ("indices", [0, 1, 2, 5]),
    "ds": ("stored dataset", lambda: bc.constraints.to_dataset(SEVERAL)),
    "fraction": ("(0, 1]", 0.2),
    "error_rate": (UNIT, 0.1),
    "n_sources": ("count", 2),
    "p": ("prior", (4.0, 1.0)),
    "q": ("prior", (4.0, 1.0)),
    "eps": ("prior", (1.0, 9.0)),
    "flipped": ("optional flags", FLAGS),
    "queries": ("queries", [(0, 1), (2, 3)]),
    "query": ("query", Query("pair", (2, 7))),
    "answer": ("choice", "same"),
    # numbers
    "n_clusters": ("count", 3),
    "size": ("count", 2),
    "min_size": ("count", 1),
    "n_neighbors": ("count", 3),
    "max_listed": ("natural", 3),
    "n_runs": ("count", 2),
    "n_pairs": ("natural", 5),
    "max_clusters": ("natural", 0),
    "num_draws": ("count", 20),
    "num_candidates": ("count", 20),
    "num_chains": ("count", 2),
    "num_warmup": ("natural", 6),
    "num_samples": ("count", 6),
    "thinning": ("count", 1),
    "n_init": ("count", 1),
    "max_iter": ("count", 50),
    "n_trees": ("count", 5),
    "growth": ("natural", 5),
    "new_clusters": ("natural", 0),
    "truncation": ("count", 3),
    "within_truncation": ("count", 3),
    "n": ("count", 20),
    "d": ("count", 3),
    "k": ("count", 2),
    "K": ("cluster numbers", [2, 3]),
    "level": ("(0, 1)", 0.9),
    "below": ("(0, 1]", 1.0),
    "max_rhat": ("(1, inf)", 1.05),
    "min_ess": (POSITIVE, 10.0),
    "rope": (NOT_NEGATIVE, 0.01),
    "strength": (POSITIVE, 0.5),
    "a": (POSITIVE, 1.0),
    "base": ("(1, inf)", 2.0),
    "alpha": (POSITIVE, 1.0),
    "tau": (NOT_NEGATIVE, 1.0),
    "penalty": ("optional (0, inf)", 200.0),
    "temperature": (POSITIVE, 2.0),
    "within_penalty": OPTIONAL_POSITIVE,
    "xi0": OPTIONAL_POSITIVE,
    "xi_rate": (AT_LEAST_1, 2.0),
    "power": ("optional (0, 1]", None),
    "gamma": OPTIONAL_POSITIVE,
    "precision": OPTIONAL_POSITIVE,
    "time_limit": OPTIONAL_POSITIVE,
    "prior_items": (NOT_NEGATIVE, 1.0),
    "conditioning": (UNIT, 0.001),
    "anchors": (UNIT, 0.5),
    "super_instances": (UNIT, 1.0),
    "min_satisfied": (UNIT, 1.0),
    "new_cluster_distance": ("optional [0, inf)", None),
    "dnk_weight": (NOT_NEGATIVE, 0.0),
    "min_gain": ("optional [0, inf)", None),
    "separation": (NOT_NEGATIVE, 4.0),
    "elongation": (AT_LEAST_1, 2.0),
    "length": (AT_LEAST_1, 50.0),
    "concentration": ("amount", (1.0, 1.0)),
    "gammas": ("differences", [0.1, 10.0]),
    # words, seeds, objects
    "loss": ("loss", "vi"),
    "measure": ("choice", "vi"),
    "kind": ("choice", "pair"),
    "target": ("target", "vi"),
    "score": ("choice", "quality"),
    "covariance": ("choice", "full"),
    "sampler": ("choice", "collapsed"),
    "cluster_model": ("choice", "single"),
    "partition_prior": ("optional choice", None),
    "divergence": ("choice", "euclidean"),
    "metric": ("choice", "diagonal"),
    "metric_step": ("choice", "exact"),
    "order": ("choice", "given"),
    "start": ("choice", "previous"),
    "inference": ("choice", "variational_em"),
    "reference": ("optional choice", None),
    "var_names": ("optional choice", ["n_clusters"]),
    "names": ("optional choice", ["n_clusters"]),
    "family": ("family", "gaussian"),
    "name": ("name", "links"),
    "seed": ("seed", 0),
    "random_state": ("seed", 0),
    "n_jobs": ("optional count", 1),
    "query_strategy": ("query strategy", "random"),
    "estimator": ("estimator", lambda: world.fitted("TVClust")),
    "modification": ("optional object", None),
    "moves": ("optional object", None),
    "limit": ("optional object", None),
    "path": ("path table", world.path),
    "ax": ("optional axes", None),
    "axes": ("optional axes", None),
}
"""The sort of an argument and a good value, by its name."""
OWN: dict[str, tuple[str, Any]] = {
    "*.fit.constraints": ("optional constraints", LINKS),
    "*.predict*.X": ("new items", NEW),
    "*.score_samples.X": ("new items", NEW),
    "*Constraints.sample.labels": ("labels", TRUTH),
    "*Constraints.name": ("optional name", "mine"),
    "PairwiseConstraints.name": ("name", "links"),
    "RelativeConstraints.name": ("name", "triplets"),
    "RelativeConstraints.answers": ("answers", np.asarray(TRIPLETS.answers)),
    "RelativeConstraints.source": ("optional sources", [0, 1, 0]),
    "*LabelConstraints.rows": ("rows", [(0, 1), (3, 0)]),
    "*SpanConstraints.rows": ("rows", [([0, 1], [0, 2])]),
    "*SpreadConstraints.rows": ("rows", [([0, 1, 2], 2)]),
    "*ImplicationConstraints.rows": ("rows", [([(0, 1, True)], [(2, 3, True)])]),
    "*ConfusionNoise.prior": ("optional weights", np.ones((3, 3))),
    "constraints.Constraints.with_noise.noise": ("noise", bc.LinkNoise(0.9, 0.9)),
    "constraints.Rules.satisfied.labels": ("integer labels", TRUTH),
    "constraints.equality_patterns.labels": ("label tuples", [[0, 0, 1]]),
    "constraints.to_dataset.constraints": ("stored", SEVERAL),
    "*describe_columns.X": ("items with gaps", X),
    "*dequantize.X": ("items with gaps", X),
    "families.mixed_family.X": ("items with gaps", X),
    "diagnose.posterior": ("tree", world.tree),
    "constraint_*.posterior": ("answered", world.tree),
    "source_reliability.posterior": ("answered", world.tree),
    "view_conflict.posterior": ("answered", world.tree),
    "plots.[cr]*.posterior": ("answered", world.tree),
    "plots.ranks.posterior": ("tree", world.tree),
    "plots.traces.posterior": ("tree", world.tree),
    "plots.*.X": ("optional points", X),
    "plots.similarity.order": ("choice", "clusters"),
    "plots.credibility_ranking.max_listed": ("optional count", 3),
    "write_report.posterior": ("tree", world.tree),
    "write_report.path": ("path", "report.html"),
    "metrics.*.labels": ("labels", TRUTH),
    "losses.*_losses.loss": ("loss object", bc.losses.VI()),
    "losses.Loss.*.truth": ("integer labels", TRUTH),
    "compare.limit": ("optional choice", None),
    "agreement.methods": ("methods", lambda: {"a": TRUTH, "b": np.roll(TRUTH, 1)}),
    "*bayesian_signed_rank.num_samples": ("count", 100),
    "posterior.canonical.z": ("integer array", TRUTH),
    "posterior.to_datatree.z": ("draws array", np.tile(TRUTH, (2, 3, 1))),
    "posterior.to_datatree.X": ("points", X),
    "posterior.CredibleBall.distance.labels": ("integer labels", TRUTH),
    "models.*.constraints": ("optional constraints", SEVERAL),
    "models.dcrc_log_joint.X": ("new items", X),
    "models.dcrc_log_joint.z": ("class labels", TRUTH % 2),
    "models.WeightPrior.precision": ("amount", (1.0, 1.0)),
    "datasets.load.name": ("choice", "iris"),
    "datasets.make_shape.kind": ("choice", "moons"),
    "datasets.make_shape.noise": (NOT_NEGATIVE, 0.05),
    "datasets.*.concentration": (POSITIVE, 0.5),
    "active.NPU.seed": ("natural", 0),
    "active.ExploreConsolidate.n_clusters": ("optional count", 3),
    "active.PosteriorQueries.estimator": ("optional object", None),
    "InteractiveSession.add.constraints": ("constraints", SEVERAL),
    "InteractiveSession.save.path": ("path", "s.npz"),
    "InteractiveSession.load.path": ("file", "session.npz"),
    "InteractiveSession.load.query_strategy": ("optional query strategy", None),
    "partition_priors.*.gamma": ("amount", 1.0),
    "partition_priors.*.discount": ("prior", (1.0, 3.0)),
    "estimators.AtGamma.gamma": (POSITIVE, 1.0),
    "limit_path.limit": ("object", bc.DPMeans(penalty=200.0)),
    "*.objective.labels": ("integer labels", TRUTH),
    "*.log_joint.labels": ("integer labels", TRUTH),
    "*.from_posterior.posterior": ("tree", world.linked),
    "MPCKMeans.max_iter": ("natural", 50),
    "DCRC.penalty": ("optional [0, inf)", None),
    "DCRC.n_init": OPTIONAL_COUNT,
    "DCRC.temperature": (NOT_NEGATIVE, 1.0),
    "DCRC.loss": ("optional loss", "vi"),
    "*DPMeans.n_clusters": OPTIONAL_COUNT,
    "RDPMeans.n_clusters": OPTIONAL_COUNT,
    "SpectralRDPMeans.max_clusters": ("count", 20),
}
"""The same by the name of the entry too; the last pattern that fits counts."""

WITHOUT_DATA = {
    "Moves": "switches of the samplers' moves, read by the estimators that take them",
    "*Warning": "public to be filtered by",
    "VariationalSettings": "numbers that TVClust checks when it is fitted",
    "PartitionGibbs": "a kernel that NumPyro calls; see tests/inference/test_numpyro_scopes.py",
    "constraint_sites": "called inside NumPyro programs; the programs are in the table",
    "constraints.DirichletNoise": "abstract; its subclasses are in the table",
    "constraints.NoiseModel": "abstract; its subclasses are in the table",
    "constraints.Rules": "abstract; its subclasses are in the table",
    "constraints.Constraints": "abstract; its subclasses are in the table",
    "constraints.StoredConstraints": "made by constraints_from_dataset alone",
    "datasets.SHAPES": "a tuple of names",
    "datasets.Dataset": "what load returns",
    "datasets.names": "takes a switch",
    "partition_priors.PartitionPrior": "abstract; its subclasses are in the table",
    "families.[A-Z]*": "settings of families, checked in their own tests",
    "partition_priors.[A-Z]*": "settings of priors, checked in their own tests",
    "losses.AdditiveLoss": "abstract",
    "losses.Loss": "abstract; its methods are in the table",
    "losses.*[DI]": "takes nothing",
    "comparison.SignedRank": "what bayesian_signed_rank returns",
    "posterior.[CDP]*": "what credible_ball, diagnose and posterior_distance return",
    "active.QUERY_STRATEGIES": "a mapping of names",
    "active.QueryStrategy": "a protocol",
    "active.Neighbourhoods": "the state that query strategies share, made of checked constraints",
    "active.Query*": "made of what is checked where it is used",
    "active.MinMax": "takes nothing",
}
"""Public names that are not in the table, and why."""
UNCHECKED = {
    **dict.fromkeys(("progress", "title", "unit"), "switches and words"),
    **dict.fromkeys(("xi", "init", "cost", "weights", "tol", "balance"), "of several kinds"),
    **dict.fromkeys(("per_cluster", "closure", "strict", "standardize"), "switches"),
    **dict.fromkeys(("kernel", "patience", "prior", "observe"), "of several kinds"),
    **dict.fromkeys(("dnk", "steps", "what", "regions", "partitions", "named"), "of several kinds"),
    **dict.fromkeys(("max_draws", "checkpoint"), "of methods"),
    **dict.fromkeys(("log_fixed", "n_components", "among"), "of priors over partitions"),
    **dict.fromkeys(("bias_scale", "proportions", "hyper", "beta", "within"), "of samplers"),
    **dict.fromkeys(("sample_stats", "dims", "attrs"), "mappings of checked arrays"),
}
"""Parameters that take several kinds of things and have tests of their own."""
ONLY = {
    "PairwiseConstraints.sample": ("labels", "fraction", "error_rate", "n_sources", "seed", "name"),
    "RelativeConstraints.sample": ("labels", "size", "error_rate", "n_sources", "seed", "name"),
    "*.objective": ("labels",),
    "posterior.to_datatree": ("z", "X", "constraints"),
    "models.log_joint": ("z",),
    "ConfusionNoise": ("prior",),
    "models.mixture_log_joint": ("z", "components"),
    "models.dcrc_log_joint": ("W", "z", "X"),
    "models.WeightPrior": ("precision",),
    "models.dcrc": ("X", "n_clusters", "constraints"),
    "limit_path": ("X", "gammas", "limit", "sampler", "start", "level", "num_samples", "n_jobs"),
}
"""Entries of which some arguments are in the table, the others being parts of one."""
SLOW = ["DCRC.fit", "TVClust.fit", "[A-Z]*Means", "DCRC", "TVClust", "MinimalModification"]
SLOW += ["models.*", "plots.*", "write_report", "leave_view_out", "limit_path"]
"""Patterns of entries of which a good call takes more than a tenth of a second or so."""
UNCONSTRAINED = ("DPMeans",)
METHODS = ["predict", "predict_proba", "predict_novelty", "predict_similarity", "score_samples"]
METHODS += ["objective", "log_joint", "from_posterior"]


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
    """What is reached from the front door, each thing by its shortest name."""
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
    "models.tvclust_mixture": traced(bc.models.tvclust_mixture),
    "models.dcrc": traced(bc.models.dcrc),
    "models.log_joint": lambda z: bc.models.log_joint(z, world.bound()),
    "models.mixture_log_joint": lambda z, components: bc.models.mixture_log_joint(
        z, components, world.bound()
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
    "posterior.CredibleBall.distance": lambda labels: bc.credible_ball(world.tree()).distance(
        labels
    ),
    "losses.Loss.loss": bc.losses.VI().loss,
    "losses.Loss.expected": bc.losses.VI().expected,
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
"""Methods of things that are not estimators, bound to good ones."""


def table():
    found = {}
    for name, value in public().items():
        if hasattr(value, "fit") and name in ESTIMATORS:
            found.update(estimator_entries(name, value))
        elif not matches(name, WITHOUT_DATA):
            found[name] = make(name, value, CALLS.get(name))
    return found | {name: make(name, method) for name, method in OF_OBJECTS.items()}


TABLE = table()
