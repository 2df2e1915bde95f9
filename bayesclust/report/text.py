"""The sections of a summary, and these as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from bayesclust.report.findings import PARTITION, Findings

WIDTH = 100
STRAY, MANY_ITEMS = 3, 50
"""Items of a cluster that is rather a few outlying items, among so many items or more."""
LONGEST = 60
"""Characters of a list of items in a terminal."""
NOISE = (
    'p: a pair of one cluster is answered "same"; q: a pair of two clusters is answered '
    '"different"; noise: an answer is wrong; confusion: how a truth is answered. Wrong: how many '
    "answers are, on average over the posterior."
)


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


def sections(found: Findings) -> Iterator[Section]:
    """Everything that a summary says after the verdict, in its order."""
    yield _clusters(found)
    if found.kind != PARTITION:
        unsure = [
            [row["item"], str(row["cluster"]), f"{row['confidence']:.3f}"]
            for row in found.least_sure.to_dict("records")
        ]
        columns = {"least sure items": "word", "cluster": "number", "confidence": "number"}
        yield Section("uncertainty", "How sure it is", _ball(found), columns, unsure)
    if found.answers:
        yield _answers(found)
    if not found.sources.empty:
        yield _sources(found)
    if found.surprises:
        title = "Not as the noise model expects"
        yield Section("surprises", title, points=found.surprises)


def _clusters(found: Findings) -> Section:
    number = f"{int(found.labels.max()) + 1}"
    own = found.clusters
    strays = own[(own["items"] <= STRAY) & (len(found.labels) >= MANY_ITEMS)]
    if len(strays):
        number += (
            f", {len(strays)} of them of {STRAY} items or fewer ({strays['items'].sum()} in all)"
        )
    likely = [f"P(K = {k}) = {share:.2f}" for k, share in found.numbers.items() if share >= 0.005]
    rows = [
        [
            str(row["cluster"]),
            f"{row['items']:,}",
            f"{row['confidence']:.3f}",
            ", ".join(row["typical"]),
        ]
        for row in own.drop(strays.index).to_dict("records")
    ]
    return Section(
        "clusters",
        "Clusters",
        f"{number}."
        if found.kind == PARTITION
        else f"In the point estimate: {number}. "
        f"Posterior probability of their number: {', '.join(likely)}.",
        dict.fromkeys(("cluster", "items", "confidence"), "number")
        | {"most typical items": "word"},
        rows,
        "Confidence: probability that an item shares a cluster with a random other member of its "
        "own, on average.",
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
    has_loo = "credibility_loo" in found.listed
    numbers = ("credibility", "credibility_loo") if has_loo else ("credibility",)
    rows = []
    for row in found.listed.to_dict("records"):
        answer = f"{', '.join(row['items'])}: {row['answer']}"
        answer += f" ({row['source']}; likely {row['likely']})"
        rows.append([answer, *(f"{row[name]:.3f}" for name in numbers)])
    shown = len(rows)
    listed = "" if shown == found.probably_wrong else f"; the {shown} least credible are listed"
    caution = "" if found.ok is not False else " Many may be right all the same: see the verdict."
    loo = "; leave-one-out: the same given the data and all other answers" if has_loo else ""
    return Section(
        "answers",
        "Answers that are probably wrong",
        f"{found.probably_wrong:,} of {found.answers:,} answers are more likely wrong than right"
        f"{listed}.{caution}",
        {"answer": "word", "P(right)": "number"} | ({"leave-one-out": "number"} if has_loo else {}),
        rows,
        f"P(right): posterior probability that the answer is right{loo}." if rows else "",
    )


def _sources(found: Findings) -> Section:
    numbers = dict.fromkeys(("mean", "90% interval", "wrong"), "number")
    rows = [
        [
            f"{row['view']}, {row['source']}",
            row["parameter"],
            f"{row['mean']:.2f}",
            f"{row['lower']:.2f} to {row['upper']:.2f}",
            f"{row['wrong']:.1f} of {row['answers']:,}",
        ]
        for row in found.sources.to_dict("records")
    ]
    columns = {"source": "word", "noise": "word"} | numbers
    return Section("sources", "Sources", "", columns, rows, NOISE)


def as_text(found: Findings) -> str:
    """Return findings as lines of at most 100 characters, except for long names.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    str

    Examples
    --------
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
    cells = [list(section.columns), *(list(row) for row in section.rows)]
    for row in cells:
        if sides[-1] == "<" and len(row[-1]) > LONGEST:
            row[-1] = f"{row[-1][: LONGEST - 4]} ..."
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = zip(row, sides, widths, strict=True)
        yield "  " + "  ".join(f"{cell:{side}{width}}" for cell, side, width in padded).rstrip()
