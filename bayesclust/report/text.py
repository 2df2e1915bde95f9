"""The summary as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from bayesclust.report.findings import PARTITION, Findings

WIDTH = 100
LONGEST = 40
GLUE = "\xa0"


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
    writers = (_facts, _verdict, _numbers, _clusters, _ball, _unsure, _answers, _sources)
    texts = ("\n".join(write(found)) for write in (*writers, _surprises))
    return "\n\n".join(text for text in texts if text)


def _wrapped(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent=indent)


def _facts(found: Findings) -> Iterator[str]:
    facts = (f"{name} {value}".replace(" ", GLUE) for name, value in found.facts.items())
    yield from (line.replace(GLUE, " ") for line in textwrap.wrap("   ".join(facts), WIDTH))


def _verdict(found: Findings) -> Iterator[str]:
    yield "VERDICT"
    yield from _wrapped(found.verdict)


def _numbers(found: Findings) -> Iterator[str]:
    yield "NUMBER OF CLUSTERS"
    number = found.labels.max() + 1
    likely = [f"P(K = {k}) = {share:.2f}" for k, share in found.numbers.items() if share >= 0.005]
    is_one = found.kind == PARTITION
    yield from _wrapped(
        f"{number}." if is_one else f"{number} in the point estimate.   {'   '.join(likely)}"
    )


def _clusters(found: Findings) -> Iterator[str]:
    yield "CLUSTERS              items  confidence   most typical"
    for row in found.clusters.to_dict("records"):
        typical = textwrap.shorten(", ".join(row["typical"]), 2 * LONGEST - 20, placeholder=" ...")
        numbers = f"{row['items']:>7,}{row['confidence']:>12.3f}"
        yield f"  {row['cluster']:<18}{numbers}   {typical}".rstrip()
    yield "  confidence: probability of being with a random other member of the cluster, on average"


def _ball(found: Findings) -> Iterator[str]:
    if found.kind != PARTITION:
        yield f"CREDIBLE BALL OF {found.ball.level:.0%}"
        yield from _wrapped(ball_in_words(found))


def ball_in_words(found: Findings) -> str:
    """Say how far the posterior reaches around the point estimate, in one sentence."""
    ball = found.ball
    few, many = (int(bound[0].max()) + 1 for bound in (ball.upper, ball.lower))
    clusters = f"they have {few} to {many} clusters"
    if few == many:
        clusters = f"all of them have {few} clusters"
    return (
        f"{ball.probability:.0%} of the draws lie within {ball.radius:.2f} bits "
        f"(variation of information) of the point estimate; {clusters}."
    )


def _unsure(found: Findings) -> Iterator[str]:
    if len(found.least_sure):
        yield "LEAST SURE ITEMS    cluster  confidence"
    for row in found.least_sure.to_dict("records"):
        yield f"  {row['item']:<18}{row['cluster']:>7}{row['confidence']:>12.3f}"


def _answers(found: Findings) -> Iterator[str]:
    if not found.answers:
        return
    shown = len(found.listed)
    most = "" if shown == found.probably_wrong else f", THE {shown} LEAST CREDIBLE"
    head = f"ANSWERS: {found.probably_wrong:,} OF {found.answers:,} ARE PROBABLY WRONG{most}"
    yield head + (":" if shown else "")
    several = any(
        "source" in table and table["source"].nunique() > 1
        for table in (found.listed, found.sources)
    )
    for row in found.listed.to_dict("records"):
        text = f"{', '.join(row['items'])}: {row['answer']}"
        text += f", by {row['source']}" if several else ""
        loo = f", {row['credibility_loo']:.3f} leave-one-out" if "credibility_loo" in row else ""
        right = f"P(right) = {row['credibility']:.3f}{loo}; likely {row['likely']}"
        yield f"  {text:<{LONGEST}}  {right}"


def _sources(found: Findings) -> Iterator[str]:
    if found.sources.empty:
        return
    yield "SOURCES                                       mean    90% interval    answers   wrong"
    several = found.sources["source"].nunique() > 1
    for row in found.sources.to_dict("records"):
        by = f", {row['source']}" if several else ""
        name = f"{row['view']}{by}: {row['parameter']}"
        numbers = f"{row['mean']:>8.2f}{row['lower']:>9.2f} to {row['upper']:.2f}"
        yield f"  {name:<{LONGEST}}{numbers}{row['answers']:>11,}{row['wrong']:>8.1f}"
    yield '  p: a pair of one cluster is answered "same"; q: a pair of two clusters is answered'
    yield '  "different"; noise: an answer is wrong'


def _surprises(found: Findings) -> Iterator[str]:
    if found.surprises:
        yield "NOT AS THE NOISE MODEL EXPECTS"
    for sentence in found.surprises:
        yield from _wrapped(sentence, "    ")
