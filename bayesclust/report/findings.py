"""The contents of a summary: verdict, clusters, answers that are probably wrong, sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_int
from bayesclust.posterior.credibility import (
    answers_in_words,
    credibility_table,
    source_reliability,
    sources_in_words,
    view_conflict,
)
from bayesclust.posterior.credible_ball import CredibleBall, credible_ball
from bayesclust.posterior.diagnosis import diagnose
from bayesclust.posterior.n_clusters import n_clusters_posterior
from bayesclust.posterior.point_estimate import settled_labels
from bayesclust.posterior.posterior_predictive import constraint_ppc
from bayesclust.posterior.similarity import cluster_confidence
from bayesclust.posterior.tree import (
    MOVED_BY,
    WEIGHTS,
    constraints_if_any,
    group,
    item_names,
    settings_of,
    stacked_partitions,
    stored_constraints,
    tree_of,
)
from bayesclust.profiles import cluster_profiles
from bayesclust.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

TYPICAL = 5
"""Items that are named for each cluster."""
LEAST_SURE = 10
"""Most items that are listed as unsure."""
SURE = 0.95
"""Co-clustering probability from which an item is not listed as unsure."""
PARTITION = "partition"
MEAN_FIELD = "mean field"
CHAINS = "chains"
VERDICTS = {
    PARTITION: (
        "This is one partition and no posterior: it does not say how sure it is. An answer counts "
        "as probably wrong where the partition violates it."
    ),
    MEAN_FIELD: (
        "These draws come from a mean-field approximation: they are independent by construction, "
        "so there is nothing to diagnose, and they are less uncertain than the posterior. Compare "
        "with a sampler where much depends on it."
    ),
}


@dataclass(frozen=True, eq=False)
class Findings:
    """The contents of a summary."""

    kind: str  # of the draws: "chains", "mean field" or "partition"
    facts: dict[str, str]  # about the data and the fit
    ok: bool | None  # whether the chains can be used; None if there is nothing to diagnose
    verdict: str
    names: list[str]  # of the items
    labels: IntArray  # (n,) point estimate
    numbers: dict[int, float]  # of clusters, with their probability; none if it was not sampled
    clusters: pd.DataFrame  # the largest first: cluster, items, confidence (mean), typical
    profiles: pd.DataFrame  # `bayesclust.cluster_profiles` of it; empty if there are none
    ball: CredibleBall  # around the point estimate
    least_sure: pd.DataFrame  # item, cluster, confidence
    answers: int
    probably_wrong: int  # answers of credibility below one half
    listed: pd.DataFrame  # the least credible of these: about, answer, view, source, credibility...
    sources: pd.DataFrame  # `bayesclust.source_reliability` by name; empty if no noise was kept
    surprises: list[str]  # sentences on answers that the model does not expect


def findings(posterior: Any, *, max_listed: int = 20, level: float = 0.95) -> Findings:
    """Summarize a posterior; settings and errors are those of `write_report`.

    >>> from bayesclust.posterior.tree import to_datatree
    >>> found = findings(to_datatree({"z": [[[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 1]]]}))
    >>> found.labels, found.numbers
    (array([0, 0, 1]), {2: 1.0})
    """
    import pandas as pd

    check_int(max_listed, "max_listed", least=0)
    draws = stacked_partitions(posterior)
    shares = n_clusters_posterior(posterior)["probability"]
    names = item_names(posterior)
    labels = settled_labels(posterior)
    kind = _kind(posterior)
    fixed = tree_of(posterior).attrs.get(MOVED_BY) == WEIGHTS  # classes of a classifier
    ok: bool | None = None
    verdict = VERDICTS.get(kind, "")
    surprises = []
    if kind == CHAINS:
        diagnosis = diagnose(posterior)
        ok = diagnosis.ok
        verdict = diagnosis.verdict
        surprises += [diagnosis.conflict] if diagnosis.conflict else []
    clusters, least_sure = _clusters(labels, cluster_confidence(draws, labels), names)
    table = pd.DataFrame()
    sources = pd.DataFrame()
    if constraints_if_any(posterior):
        table = answers_in_words(posterior, credibility_table(posterior))
        sources = _sources(posterior)
    wrong = table[table["credibility"] < 0.5] if len(table) else table
    by = [name for name in ("credibility", "credibility_loo") if name in wrong]
    if len(table) and not sources.empty:
        surprises += _surprises(posterior)
    return Findings(
        kind=kind,
        facts=_facts(posterior, len(table)),
        ok=ok,
        verdict=verdict,
        names=names,
        labels=labels,
        numbers={} if fixed else {int(str(k)): float(p) for k, p in shares.items() if p > 0},
        clusters=clusters,
        profiles=profiles_of(posterior, labels),
        ball=credible_ball(draws, labels, level=level),
        least_sure=least_sure,
        answers=len(table),
        probably_wrong=len(wrong),
        listed=wrong.sort_values(by, kind="stable").head(max_listed) if by else wrong,
        sources=sources,
        surprises=surprises,
    )


def _kind(posterior: Any) -> str:
    """Whether these are chains, a mean-field approximation, or one partition."""
    draws = group(posterior, "posterior").sizes
    if draws["chain"] * draws["draw"] == 1:
        return PARTITION
    settings = settings_of(posterior)
    methods = {settings.get("sampler"), settings.get("inference")}
    return MEAN_FIELD if methods & {"variational", "variational_em"} else CHAINS


def _facts(posterior: Any, answers: int) -> dict[str, str]:
    """Facts about the data and the fit, by name."""
    tree = tree_of(posterior)
    sizes = tree["posterior"].sizes
    facts = {"data": str(tree.attrs.get("data", "")), "items": f"{sizes['item']:,}"}
    if "observed_data" in tree.children and "feature" in tree["observed_data"].sizes:
        facts["features"] = f"{tree['observed_data'].sizes['feature']:,}"
    facts["answers"] = f"{answers:,}"
    settings = settings_of(posterior)
    if "sampler" in settings:
        words = ("TVClust", settings["sampler"], settings.get("family", ""))
        facts["model"] = ", ".join(filter(None, words))
    elif "inference" in settings:
        number = settings.get("n_clusters")
        facts["model"] = f"DCRC, {settings['inference']}, n_clusters = {number}"
    elif "xi_rate" in settings:
        facts["model"] = f"RDP-means, {settings.get('divergence')}"
    stopped = bool(int(tree.attrs.get("interrupted", 0)))
    if stopped or sizes["chain"] * sizes["draw"] > 1:
        facts["draws"] = f"{sizes['chain']} × {sizes['draw']:,}" + ", interrupted" * stopped
    if "fit_seconds" in tree.attrs:
        facts["seconds"] = f"{float(tree.attrs['fit_seconds']):,.1f}"
    for name in ("seed", "version"):
        facts[name] = str(tree.attrs.get(name, ""))
    return {name: value for name, value in facts.items() if value not in ("", "null")}


def _clusters(
    labels: IntArray, sure: FloatArray, names: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The clusters with their most typical items, and the least sure items."""
    import pandas as pd

    rows = []
    for k, size in enumerate(np.bincount(labels).tolist()):
        members = np.flatnonzero(labels == k)
        best = members[np.argsort(-sure[members], kind="stable")[:TYPICAL]]
        row = {"cluster": k, "items": size, "confidence": float(sure[members].mean())}
        rows.append(row | {"typical": [names[i] for i in best]})
    least = np.argsort(sure, kind="stable")[:LEAST_SURE]
    least = least[sure[least] < SURE]
    item = [names[i] for i in least]
    unsure = {"item": item, "cluster": labels[least], "confidence": sure[least]}
    return pd.DataFrame(rows), pd.DataFrame(unsure)


def profiles_of(posterior: Any, labels: IntArray) -> pd.DataFrame:
    """The profiles of two or more clusters, as computed or as `bayesclust fit` kept them."""
    import pandas as pd

    kept = getattr(posterior, "children", {}).get("cluster_profiles")
    sizes = np.bincount(labels)
    if len(sizes) == 1:
        return pd.DataFrame()
    if kept is not None and np.array_equal(kept["size"].values[:, 0], sizes):
        return kept.to_dataset().to_dataframe()
    try:
        return cluster_profiles(posterior, labels)
    except (NotImplementedError, TypeError, ValueError):  # no densities of clusters
        return pd.DataFrame()


def _sources(posterior: Any) -> pd.DataFrame:
    """The reliability of the sources by name; empty if no noise was kept."""
    import pandas as pd

    try:
        table = source_reliability(posterior)
    except ValueError:  # fits without noise parameters, such as limits
        return pd.DataFrame()
    return table.assign(source=sources_in_words(posterior, table))


def _surprises(posterior: Any) -> Iterator[str]:
    """Sentences on the findings of `constraint_ppc` and `view_conflict` that are unexpected."""
    checks = constraint_ppc(posterior)
    for where, row in _by_source(posterior, checks[checks["finding"] != "as expected"]):
        numbers = f"{row['observed']:.3g}, where {row['expected']:.3g} is expected"
        yield f"{where}: {row['check']}: {numbers}."
    if MOVED_BY in tree_of(posterior).attrs:
        return
    conflict = view_conflict(posterior)
    for where, row in _by_source(posterior, conflict[conflict["finding"] != "agrees"]):
        numbers = f"{row['elpd_loo']:.2f} nats an answer, where {row['expected']:.2f} is expected"
        yield f"{where} {row['finding']}: {numbers}."


def _by_source(posterior: Any, table: pd.DataFrame) -> Iterator[tuple[str, dict[Any, Any]]]:
    """The rows of a table with their constraints and, where several gave answers, the source."""
    single = {own.name for own in stored_constraints(posterior) if own.n_sources == 1}
    rows = table.to_dict("records")
    for row, source in zip(rows, sources_in_words(posterior, table), strict=True):
        view = row["view"]
        yield view if view in single or not source else f"{view}, {source}", row
