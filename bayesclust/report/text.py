"""What a posterior says, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from bayesclust.report.findings import PARTITION, Findings

__all__ = ["as_text", "ball_in_words"]

WIDTH = 100
LONGEST = 40
GLUE = "\xa0"


def as_text(found: Findings) -> str:
    """Put findings into lines of at most 100 characters, long names aside.

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
    parts = [
        _facts(found),
        _verdict(found),
        _numbers(found),
        _clusters(found),
        _ball(found),
        _unsure(found),
    ]
    parts += [_suspects(found), _sources(found), _surprises(found)]
    return "\n\n".join(text for text in ("\n".join(lines) for lines in parts) if text)


def _facts(found: Findings) -> Iterator[str]:
    together = "   ".join(
        f"{name} {value}".replace(" ", GLUE) for name, value in found.facts.items()
    )
    yield from (line.replace(GLUE, " ") for line in textwrap.wrap(together, WIDTH))


def _verdict(found: Findings) -> Iterator[str]:
    yield "VERDICT"
    yield from textwrap.wrap(found.verdict, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _numbers(found: Findings) -> Iterator[str]:
    yield "NUMBER OF CLUSTERS"
    shares = "   ".join(
        f"P(K = {k}) = {share:.2f}" for k, share in found.numbers.items() if share >= 0.005
    )
    estimate = f"{found.labels.max() + 1} in the point estimate"
    text = f"{estimate}.   {shares}" if found.kind != PARTITION else f"{found.labels.max() + 1}."
    yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _clusters(found: Findings) -> Iterator[str]:
    yield "CLUSTERS              items  confidence   most typical"
    for row in found.clusters.to_dict("records"):
        typical = textwrap.shorten(", ".join(row["typical"]), 2 * LONGEST - 20, placeholder=" ...")
        yield f"  {row['cluster']:<18}{row['items']:>7,}{row['confidence']:>12.3f}   {typical}".rstrip()
    yield "  confidence: how probable it is that an item is with a random other member of its cluster, on average"


def _ball(found: Findings) -> Iterator[str]:
    if found.kind == PARTITION:
        return
    ball = found.ball
    yield f"CREDIBLE BALL OF {ball.level:.0%}"
    yield from textwrap.wrap(
        ball_in_words(found), WIDTH, initial_indent="  ", subsequent_indent="  "
    )


def ball_in_words(found: Findings) -> str:
    """Say how far the posterior reaches around the point estimate.

    Parameters
    ----------
    found : Findings

    Returns
    -------
    str
        One sentence.
    """
    ball = found.ball
    few, many = (int(bound[0].max()) + 1 for bound in (ball.upper, ball.lower))
    clusters = (
        f"all of them have {few} clusters" if few == many else f"they have {few} to {many} clusters"
    )
    return (
        f"{ball.probability:.0%} of the draws lie within {ball.radius:.2f} bits (variation of information) of the point "
        f"estimate; {clusters}."
    )


def _unsure(found: Findings) -> Iterator[str]:
    if found.least_sure.empty:
        return
    yield "LEAST SURE ITEMS    cluster  confidence"
    for row in found.least_sure.to_dict("records"):
        yield f"  {row['item']:<18}{row['cluster']:>7}{row['confidence']:>12.3f}"


def _suspects(found: Findings) -> Iterator[str]:
    if not found.answers:
        return
    shown = len(found.suspects)
    which = "" if shown == found.doubted else f", the {shown} least believed of which are"
    yield f"ANSWERS: {found.doubted:,} OF {found.answers:,} ARE DOUBTED{which.upper()}{':' if shown else ''}"
    several = any(
        "source" in table and table["source"].nunique() > 1
        for table in (found.suspects, found.sources)
    )
    for row in found.suspects.to_dict("records"):
        text = f"{', '.join(row['items'])}: {row['answer']}" + (
            f", says {row['source']}" if several else ""
        )
        alone = (
            f", {row['credibility_loo']:.3f} without its own say"
            if "credibility_loo" in row
            else ""
        )
        yield f"  {text:<{LONGEST}}  P(right) = {row['credibility']:.3f}{alone}; likely {row['likely']}"


def _sources(found: Findings) -> Iterator[str]:
    if found.sources.empty:
        return
    yield "SOURCES                                       mean    90% interval    answers   wrong"
    several = found.sources["source"].nunique() > 1
    for row in found.sources.to_dict("records"):
        name = (
            f"{row['view']}, {row['source']}: {row['parameter']}"
            if several
            else f"{row['view']}: {row['parameter']}"
        )
        numbers = f"{row['mean']:>8.2f}{row['lower']:>9.2f} to {row['upper']:.2f}"
        yield f"  {name:<{LONGEST}}{numbers}{row['answers']:>11,}{row['wrong']:>8.1f}"
    yield '  p: a pair of one cluster is answered "same"; q: a pair of two is answered "different"; noise: a wrong answer'


def _surprises(found: Findings) -> Iterator[str]:
    if not found.surprises:
        return
    yield "NOT AS THE NOISE MODEL EXPECTS"
    for sentence in found.surprises:
        yield from textwrap.wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")
