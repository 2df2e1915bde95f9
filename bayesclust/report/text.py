"""The sections of a summary, and these as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayesclust.checks import counted
from bayesclust.report.findings import PARTITION, Findings

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
TELLING = 3
"""Features by which a cluster is described."""
STRAY, MANY_ITEMS = 3, 50
"""Largest size of a cluster that counts as outlying items, among at least so many items."""
GRADED = "together"
"""Parameter of graded answers, which have a row for each grade."""
NOISE = {
    "p": 'p: a pair of one cluster is answered "same"',
    "q": 'q: a pair of two clusters is answered "different"',
    "noise": "noise: an answer is wrong",
    "accuracy": "accuracy: a label is right, whatever the class",
    "confusion": "confusion: which answers are given for each true answer",
    GRADED: "together: a pair of this grade is of one cluster",
}
"""Noise parameters in words."""
WRONG = "Wrong: how many of the answers are wrong, on average over the posterior."


@dataclass(frozen=True)
class Section:
    """A part of a summary: sentences, and a table with a note below it."""

    name: str  # by which figures find it
    title: str
    sentence: str = ""
    columns: dict[str, str] = field(default_factory=dict)  # by name: "word" or "number"
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""
    points: list[str] = field(default_factory=list)


def _tabulated(frame: pd.DataFrame, columns: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """The table of a section: by heading a column and its format, which is empty for words."""
    kinds = {heading: "number" if form else "word" for heading, (_, form) in columns.items()}
    rows = frame.to_dict("records")
    cells = [[format(row[name], form) for name, form in columns.values()] for row in rows]
    return {"columns": kinds, "rows": cells}


def sections(found: Findings) -> Iterator[Section]:
    """Everything that a summary says after the verdict, in its order."""
    yield _clusters(found)
    if not found.profiles.empty:
        yield _profiles(found)
    if found.kind != PARTITION:
        columns = {"least sure items": ("item", ""), "cluster": ("cluster", "d")}
        table = _tabulated(found.least_sure, columns | {"confidence": ("confidence", ".3f")})
        yield Section("uncertainty", "How sure it is", _ball(found), **table)
    if found.answers:
        yield _answers(found)
    if not found.sources.empty:
        yield _sources(found)
    if found.surprises:
        yield Section("surprises", "Not as the noise model expects", points=found.surprises)


def _sources(found: Findings) -> Section:
    own = found.sources.copy()
    kind = own["parameter"].str.partition("[")[0]
    own["interval"] = own["lower"].map("{:.2f}".format) + own["upper"].map(" to {:.2f}".format)
    own["wrong"] = own["wrong"].map("{:.1f}".format) + own["answers"].map(" of {:,}".format)
    own.loc[own.duplicated(["view", "source"]) & (kind != GRADED), "wrong"] = ""
    own["source"] = [", ".join(filter(None, row)) for row in own[["view", "source"]].to_numpy()]
    columns = {"source": ("source", ""), "noise": ("parameter", ""), "mean": ("mean", ".2f")}
    columns |= {"90% interval": ("interval", ">"), "wrong": ("wrong", ">")}
    words = "; ".join(NOISE[name] for name in kind.unique() if name in NOISE)
    note = f"{words}. {WRONG}".removeprefix(". ")
    return Section("sources", "Sources", note=note, **_tabulated(own, columns))


def _clusters(found: Findings) -> Section:
    number = counted(int(found.labels.max()) + 1, "cluster")
    own = found.clusters.assign(typical=found.clusters["typical"].map(", ".join))
    strays = own[(own["items"] <= STRAY) & (len(found.labels) >= MANY_ITEMS)]
    if len(strays):
        own_items = counted(int(strays["items"].sum()), "item")
        number += f", {len(strays)} of them too small to list ({own_items} in all)"
    likely = [f"P(K = {k}) = {share:.2f}" for k, share in found.numbers.items() if share >= 0.005]
    how_many = f"Posterior probability of their number: {', '.join(likely)}"
    if not likely:
        how_many = "Their number was fixed before sampling: the draws do not tell how sure it is"
    columns = {"cluster": ("cluster", "d"), "items": ("items", ",d")}
    if found.kind == PARTITION:
        table = _tabulated(own.drop(strays.index), columns)
        return Section("clusters", "Clusters", f"{number}.", **table)
    columns |= {"confidence": ("confidence", ".3f"), "most typical items": ("typical", "")}
    return Section(
        "clusters",
        "Clusters",
        f"In the point estimate: {number}. {how_many}.",
        note="Confidence: probability that an item shares a cluster with a random other member of "
        "its own, on average.",
        **_tabulated(own.drop(strays.index), columns),
    )


def _profiles(found: Findings) -> Section:
    own = found.profiles.reset_index()
    own = own[(own["size"] > STRAY) | (len(found.labels) < MANY_ITEMS)]
    far = own["difference"].abs().sort_values(ascending=False, kind="stable").index
    own = own.loc[far].groupby("cluster").head(TELLING).sort_values("cluster", kind="stable")
    ends = own[["mean_low", "mean_high"]].to_numpy()
    own["interval"] = [f"{low:.3g} to {high:.3g}" for low, high in ends]
    columns = {"cluster": ("cluster", "d"), "feature": ("feature", ""), "mean": ("mean", ".3g")}
    columns |= {"90% interval": ("interval", ">"), "sd": ("sd", ".3g")}
    return Section(
        "profiles",
        "What tells the clusters apart",
        note="Posterior means of each feature's mean and standard deviation within a cluster. "
        "Difference: how far the mean lies above that of all other items, in standard deviations.",
        **_tabulated(own, columns | {"difference": ("difference", "+.2f")}),
    )


def _ball(found: Findings) -> str:
    """How far the posterior reaches around the point estimate, in one sentence."""
    ball = found.ball
    few, many = (int(bound[0].max()) + 1 for bound in (ball.upper, ball.lower))
    clusters = f"they have {few} to {many} clusters"
    if few == many:
        clusters = f"all of them have {few} clusters"
    return (
        f"{ball.probability:.0%} of the draws lie within {ball.radius:.2f} bits "
        f"(variation of information) of the point estimate; {clusters}."
    )


def _answers(found: Findings) -> Section:
    listed = found.listed
    texts = [
        f"{', '.join(row['about'])}: {row['answer']} "
        f"({'; '.join(filter(None, [row['source'], 'likely ' + row['likely']]))})"
        for row in listed.to_dict("records")
    ]
    number, cut = f"{found.probably_wrong:,} of {found.answers:,} answers", ""
    if found.kind == PARTITION:
        if len(listed) < found.probably_wrong:
            cut = f"; {len(listed)} of them are listed (max_listed)"
        table = _tabulated(listed.assign(text=texts), {"answer": ("text", "")})
        sentence = f"{number} do not agree with the partition{cut}."
        return Section("answers", "Answers that are probably wrong", sentence, **table)
    columns = {"answer": ("text", ""), "P(right)": ("credibility", ".3f")}
    note = "P(right): posterior probability that the answer is right"
    if "credibility_loo" in listed:
        columns["leave-one-out"] = ("credibility_loo", ".3f")
        note += "; leave-one-out: the same given the data and all other answers"
    if len(listed) < found.probably_wrong:
        cut = f"; the {len(listed)} least credible are listed (max_listed)"
    sentence = f"{number} are more likely wrong than right{cut}."
    if found.ok is False:
        sentence += " Many may be right all the same: see the verdict."
    table = _tabulated(listed.assign(text=texts), columns)
    title = "Answers that are probably wrong"
    return Section("answers", title, sentence, note=f"{note}." if texts else "", **table)


def as_text(found: Findings) -> str:
    """Return findings as lines of at most 100 characters, except for long names.

    >>> from bayesclust.posterior.tree import to_datatree
    >>> from bayesclust.report import findings
    >>> print(as_text(findings(to_datatree({"z": [[[0, 0, 1]]]}))).splitlines()[0])
    items 3   answers 0
    """
    # a fact is not broken over lines
    facts = "   ".join(f"{name} {value}".replace(" ", "\0") for name, value in found.facts.items())
    parts = [line.replace("\0", " ") for line in textwrap.wrap(facts, WIDTH)]
    parts += ["", "VERDICT", *_wrapped(found.verdict)]
    for section in sections(found):
        parts += ["", section.title.upper(), *_wrapped(section.sentence)]
        parts += _table(section) if section.rows else []
        parts += _wrapped(section.note)
        parts += [line for point in section.points for line in _wrapped(point, "    ")]
    return "\n".join(parts)


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent=indent)


def _table(section: Section) -> Iterator[str]:
    """A table in columns, words to the left and numbers to the right."""
    sides = ["<" if kind == "word" else ">" for kind in section.columns.values()]
    cells = [list(section.columns), *section.rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = zip(row, sides, widths, strict=True)
        yield "  " + "  ".join(f"{cell:{side}{width}}" for cell, side, width in padded).rstrip()
