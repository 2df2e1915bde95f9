"""The table of public entries, first part: estimators, by their settings, data and predictions."""

import inspect

import bayesclust as bc
from tests.robustness import world
from tests.robustness.world import ESTIMATORS, LINKS, NEW, PARTITION, SHORT, TRUTH, X, entry

SETTINGS = {
    "sampler": ("choice", "collapsed"),
    "family": ("family", "gaussian"),
    "cluster_model": ("choice", "single"),
    "power": ("optional (0, 1]", None),
    "concentration": ("amount", (1.0, 1.0)),
    "within_concentration": ("amount", (1.0, 10.0)),
    "num_chains": ("count", 2),
    "num_warmup": ("natural", 6),
    "num_samples": ("count", 6),
    "thinning": ("count", 1),
    "loss": ("loss", "vi"),
    "moves": ("optional anything else", None),
    "n_jobs": ("optional count", 1),
    "random_state": ("seed", 0),
    "n_clusters": ("count", 3),
    "penalty": ("optional (0, inf)", 200.0),
    "within_penalty": ("optional (0, inf)", None),
    "divergence": ("choice", "euclidean"),
    "xi0": ("optional (0, inf)", None),
    "xi_rate": ("[1, inf)", 2.0),
    "order": ("choice", "given"),
    "n_init": ("count", 1),
    "max_iter": ("count", 50),
    "max_clusters": ("count", 20),
    "metric": ("choice", "diagonal"),
    "temperature": ("(0, inf)", 2.0),
    "prior_items": ("[0, inf)", 1.0),
    "center_scale": ("(0, inf)", 3.0),
    "metric_step": ("choice", "exact"),
    "conditioning": ("[0, 1]", 0.001),
    "growth": ("natural", 5),
    "anchors": ("[0, 1]", 0.5),
    "super_instances": ("[0, 1]", 1.0),
    "satisfied": ("[0, 1]", 1.0),
    "new_clusters": ("natural", 0),
    "new_cluster_distance": ("optional [0, inf)", None),
    "dont_know": ("[0, inf)", 0.0),
    "precision": ("optional (0, inf)", None),
    "time_limit": ("optional (0, inf)", None),
    "inference": ("choice", "variational_em"),
}
"""Settings of estimators; those that take several kinds of things have tests of their own."""
OWN_SORTS = {
    ("DCRC", "penalty"): ("optional [0, inf)", None),
    ("DCRC", "n_init"): ("optional count", None),
    ("DCRC", "temperature"): ("[0, inf)", 1.0),
    ("DCRC", "loss"): ("optional loss", "vi"),
    ("DPMeans", "n_clusters"): ("optional count", None),
    ("RDPMeans", "n_clusters"): ("optional count", None),
    ("SpectralRDPMeans", "n_clusters"): ("optional count", None),
}


def settings_of(name):
    """The settings of an estimator that are in the table, as arguments."""
    known = inspect.signature(getattr(bc, name)).parameters
    return {key: OWN_SORTS.get((name, key), SETTINGS[key]) for key in known if key in SETTINGS}


def fit_of(name):
    own = {} if name == "DPMeans" else {"constraints": ("optional views", LINKS)}
    own |= {
        key: ("optional integer labels", value) for key, value in PARTITION.get(name, {}).items()
    }

    def fit(X, constraints=None, partition=None, **settings):
        more = {} if partition is None else {"partition": partition}
        return ESTIMATORS[name](**settings).fit(X, constraints=constraints, **more)

    return entry(fit, slow=name in ("DCRC", "TVClust"), X=("items", X), **own)


def settings_entry(name):
    """A fit with one setting wrong: refused before any work."""

    def fit(**settings):
        return getattr(bc, name)(**{**SHORT_OF.get(name, {}), **settings}).fit(
            X,
            constraints=None if name == "DPMeans" else LINKS,
            **PARTITION.get(name, {}),
        )

    return entry(fit, slow=True, **settings_of(name))


SHORT_OF = {"TVClust": {"progress": False}}


def predict_of(name, method):
    return entry(lambda X: getattr(world.fitted(name), method)(X), X=("new items", NEW))


def method_of(name, method, **arguments):
    return entry(lambda **values: getattr(world.fitted(name), method)(**values), **arguments)


PREDICTORS = [name for name, make in ESTIMATORS.items() if hasattr(make(), "predict")]
PROBABLE = ["DCRC", "TVClust"]
FITS = {
    **{f"{name}.fit": fit_of(name) for name in ESTIMATORS},
    **{f"{name}": settings_entry(name) for name in ESTIMATORS},
    **{f"{name}.predict": predict_of(name, "predict") for name in PREDICTORS},
    **{f"{name}.predict_proba": predict_of(name, "predict_proba") for name in PROBABLE},
    "estimators.AtGamma": entry(
        bc.estimators.AtGamma, gamma=("(0, inf)", 1.0), limit=("optional anything else", None)
    ),
    "TVClust.predict_novelty": predict_of("TVClust", "predict_novelty"),
    "TVClust.predict_similarity": predict_of("TVClust", "predict_similarity"),
    "TVClust.score_samples": predict_of("TVClust", "score_samples"),
    "TVClust.log_joint": method_of("TVClust", "log_joint", labels=("integer labels", TRUTH)),
    "RDPMeans.objective": method_of("RDPMeans", "objective", labels=("integer labels", TRUTH)),
    "DPMeans.objective": method_of("DPMeans", "objective", labels=("integer labels", TRUTH)),
    "RDPMeans.from_posterior": entry(
        bc.RDPMeans.from_posterior,
        posterior=("tree", world.linked),
        X=("items", X),
        loss=("loss", "vi"),
    ),
    "MPCKMeans.from_posterior": entry(
        bc.MPCKMeans.from_posterior,
        posterior=("tree", world.linked),
        X=("items", X),
        metric=("choice", "diagonal"),
        loss=("loss", "vi"),
    ),
    "limit_path": entry(
        lambda **values: bc.limit_path(**{"limit": bc.DPMeans(penalty=200.0), **SHORT, **values}),
        slow=True,
        X=("items", X),
        gammas=("differences", [0.1, 10.0]),
        limit=("anything else", bc.DPMeans(penalty=200.0)),
        sampler=("choice", "collapsed"),
        start=("choice", "previous"),
        num_chains=("count", 2),
        num_warmup=("natural", 6),
        num_samples=("count", 6),
        level=("(0, 1)", 0.9),
        n_jobs=("optional count", 1),
        random_state=("seed", 0),
    ),
}
