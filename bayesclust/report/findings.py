"""What a posterior says: verdict, number of clusters, partition, doubted answers and sources."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesclust.checks import check_int
from bayesclust.posterior.credibility import constraint_credibility, source_reliability
from bayesclust.posterior.credible_ball import CredibleBall, credible_ball
from bayesclust.posterior.diagnosis import diagnose
from bayesclust.posterior.n_clusters import n_clusters_posterior
from bayesclust.posterior.point_estimate import point_estimate
from bayesclust.posterior.similarity import cluster_confidence
from bayesclust.posterior.tree import group, item_names, source_names, stacked_partitions
from bayesclust.report.surprises import surprises
from bayesclust.typing import IntArray

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Findings", "findings"]

TYPICAL = 5
"""Items that are named of each cluster."""
LEAST_SURE, SURE = 10, 0.95
"""Most items that are listed as unsure, and how surely others belong to their clusters."""
PARTITION, MEAN_FIELD, CHAINS = "partition", "mean field", "chains"
VERDICTS = {
    PARTITION: (
        "This is one partition and no posterior: it says nothing of how sure it is. An answer counts as doubted where the "
        "partition contradicts it."
    ),
    MEAN_FIELD: (
        "These draws come from a mean-field approximation: they are independent by construction, so there is nothing to "
        "diagnose, and they are surer than the posterior is. Compare with a sampler where much depends on it."
    ),
}


@dataclass(frozen=True, eq=False)
class Findings:
    """What a posterior says.

    Parameters
    ----------
    kind : {"chains", "mean field", "partition"}
        What the draws are.
    facts : dict of str to str
        About the data and the fit, in words.
    ok : bool or None
        Whether the run can be trusted; None where there is nothing to diagnose.
    verdict : str
        Of `bayesclust.diagnose`.
    names : list of str
        Of the items.
    labels : (n,) array of int
        The point estimate.
    numbers : dict of int to float
        Posterior probability of each number of clusters.
    clusters : pandas.DataFrame
        One row for each cluster, the largest first: cluster, items, confidence (mean posterior
        probability that an item of it is with a random other member) and typical (the items that
        belong to it most surely).
    ball : CredibleBall
        Around the point estimate.
    least_sure : pandas.DataFrame
        The items that belong to their clusters least surely, at most ten and only those below 0.95:
        item, cluster, confidence.
    answers : int
        How many there are.
    doubted : int
        How many of them are more likely wrong than right.
    suspects : pandas.DataFrame
        The least believed of the doubted: items, answer, view, source, credibility, mcse, likely
        and, where the noise was kept, without.
    sources : pandas.DataFrame
        `bayesclust.source_reliability`, the sources by name; empty where the noise was not kept.
    surprises : list of str
        What is not expected of the answers: by `bayesclust.diagnose` where the fit dismisses them,
        and by the noise model.
    """

    kind: str
    facts: dict[str, str]
    ok: bool | None
    verdict: str
    names: list[str]
    labels: IntArray
    numbers: dict[int, float]
    clusters: pd.DataFrame
    ball: CredibleBall
    least_sure: pd.DataFrame
    answers: int
    doubted: int
    suspects: pd.DataFrame
    sources: pd.DataFrame
    surprises: list[str]


def findings(posterior: Any, *, max_listed: int = 20, level: float = 0.95) -> Findings:
    """Gather what a posterior says.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    max_listed : int, default 20
        Most doubted answers that are listed.
    level : float in (0, 1), default 0.95
        Of the credible ball.

    Returns
    -------
    Findings

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, or a setting is out of range.

    Examples
    --------
    >>> from bayesclust.posterior.tree import to_datatree
    >>> found = findings(to_datatree({"z": [[[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 1]]]}))
    >>> found.labels, found.numbers
    (array([0, 0, 1]), {2: 1.0})
    """
    check_int(max_listed, "max_listed", least=0)
    draws = stacked_partitions(posterior)
    shares = n_clusters_posterior(posterior)["probability"]
    names, labels = item_names(posterior), point_estimate(draws)
    kind = _kind(posterior)
    ok, verdict, dismissed = None, VERDICTS.get(kind, ""), ""
    if kind == CHAINS:
        judged = diagnose(posterior)
        ok, verdict, dismissed = judged.ok, judged.verdict, judged.conflict
    clusters, least_sure = _clusters(labels, cluster_confidence(draws, labels), names)
    table = _answers(posterior, names)
    doubted = table[table["credibility"] < 0.5] if len(table) else table
    sources = _sources(posterior)
    return Findings(
        kind=kind,
        facts=_facts(posterior, len(table)),
        ok=ok,
        verdict=verdict,
        names=names,
        labels=labels,
        numbers={
            int(k): float(share)
            for k, share in zip(shares.index.to_numpy(), shares, strict=True)
            if share > 0
        },
        clusters=clusters,
        ball=credible_ball(draws, labels, level=level),
        least_sure=least_sure,
        answers=len(table),
        doubted=len(doubted),
        suspects=_least_believed(doubted, max_listed),
        sources=sources,
        surprises=[*filter(None, [dismissed]), *([] if sources.empty else surprises(posterior))],
    )


def _settings(posterior: Any) -> dict[str, Any]:
    tree = getattr(posterior, "posterior_", posterior)
    settings = json.loads(tree.attrs.get("settings", "{}"))
    return settings if isinstance(settings, dict) else {}


def _kind(posterior: Any) -> str:
    sizes, settings = group(posterior, "posterior").sizes, _settings(posterior)
    if sizes["chain"] * sizes["draw"] == 1:
        return PARTITION
    mean_field = (
        settings.get("sampler") == "variational" or settings.get("inference") == "variational_em"
    )
    return MEAN_FIELD if mean_field else CHAINS


def _model(settings: dict[str, Any]) -> str:
    if "sampler" in settings:
        return f"TVClust, {settings['sampler']}, {settings.get('family', '')}".removesuffix(", ")
    if "inference" in settings:
        return f"DCRC, {settings['inference']}, {settings.get('n_clusters')} clusters asked for"
    return f"RDP-means, {settings.get('divergence')}" if "xi_rate" in settings else ""


def _facts(posterior: Any, answers: int) -> dict[str, str]:
    tree = getattr(posterior, "posterior_", posterior)
    sizes = tree["posterior"].sizes
    facts = {"data": str(tree.attrs.get("data", "")), "items": f"{sizes['item']:,}"}
    if "observed_data" in tree.children and "feature" in tree["observed_data"].sizes:
        facts["features"] = f"{tree['observed_data'].sizes['feature']:,}"
    facts |= {"answers": f"{answers:,}", "model": _model(_settings(posterior))}
    if sizes["chain"] * sizes["draw"] > 1:
        facts["draws"] = f"{sizes['chain']} × {sizes['draw']:,}"
    if int(tree.attrs.get("interrupted", 0)):
        facts["draws"] += ", interrupted"
    if "fit_seconds" in tree.attrs:
        facts["seconds"] = f"{float(tree.attrs['fit_seconds']):,.1f}"
    for name in ("seed", "version"):
        facts[name] = str(tree.attrs.get(name, ""))
    return {name: value for name, value in facts.items() if value not in ("", "null")}


def _clusters(labels: IntArray, sure: Any, names: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    import pandas as pd

    rows = []
    for k, size in enumerate(np.bincount(labels).tolist()):
        members = np.flatnonzero(labels == k)
        best = members[np.argsort(-sure[members], kind="stable")[:TYPICAL]]
        row = {"cluster": k, "items": size, "confidence": float(sure[members].mean())}
        rows.append(row | {"typical": [names[i] for i in best]})
    least = np.argsort(sure, kind="stable")[:LEAST_SURE]
    least = least[sure[least] < SURE]
    unsure = {
        "item": [names[i] for i in least],
        "cluster": labels[least],
        "confidence": sure[least],
    }
    table = pd.DataFrame(rows).sort_values(
        "items", ascending=False, kind="stable", ignore_index=True
    )
    return table, pd.DataFrame(unsure)


def _answers(posterior: Any, names: list[str]) -> pd.DataFrame:
    """Every answer, its items and its source by name."""
    import pandas as pd

    tree = getattr(posterior, "posterior_", posterior)
    if "constant_data" not in tree.children:
        return pd.DataFrame()
    table = constraint_credibility(posterior)
    members = [name for name in "ijk" if name in table]
    asked = table[members].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    table["items"] = [[names[int(i)] for i in row if not np.isnan(i)] for row in asked]
    table["source"] = _by_name(posterior, table)
    return table


def _least_believed(doubted: pd.DataFrame, number: int) -> pd.DataFrame:
    """The first ones in order of credibility; of equals those that the rest speaks against most."""
    by = [name for name in ("credibility", "credibility_loo") if name in doubted]
    return doubted.sort_values(by, kind="stable").head(number) if by else doubted


def _by_name(posterior: Any, table: pd.DataFrame) -> list[str]:
    """What the sources of a table's rows are called; names noted by a fit count where it kept no noise."""
    tree = getattr(posterior, "posterior_", posterior)
    noted = json.loads(tree.attrs.get("sources", "{}"))
    own = {
        str(view): noted.get(str(view))
        or source_names(posterior, str(view), int(rows["source"].max()) + 1)
        for view, rows in table.groupby("view", sort=False)
    }
    words = [own[view][source] for view, source in zip(table["view"], table["source"], strict=True)]
    return [f"source {word}" if word.isdecimal() else word for word in words]


def _sources(posterior: Any) -> pd.DataFrame:
    import pandas as pd

    tree = getattr(posterior, "posterior_", posterior)
    if "constant_data" not in tree.children:
        return pd.DataFrame()
    try:
        table = source_reliability(posterior)
    except ValueError:  # fits without noise parameters, such as limits
        return pd.DataFrame()
    table["source"] = _by_name(posterior, table)
    return table
