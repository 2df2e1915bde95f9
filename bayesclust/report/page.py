"""One page that says what a posterior says, with nothing outside itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayesclust._io import check_path, check_target, replaced
from bayesclust.report import markup
from bayesclust.report.figures import pictures
from bayesclust.report.findings import CHAINS, PARTITION, Findings, findings
from bayesclust.report.markup import Picture
from bayesclust.report.text import ball_in_words

__all__ = ["report_page", "write_report"]

HEADS = {
    True: ("good", "This run can be used."),
    False: ("bad", "Do not rely on this run yet."),
    None: ("", ""),
}
UNDIAGNOSED = {PARTITION: "One partition, not a posterior.", CHAINS: ""}


def write_report(
    posterior: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    max_listed: int = 20,
    level: float = 0.95,
) -> Path:
    """Write what a posterior says as one HTML page that needs nothing but itself.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    path : str or path
        File to write; one that is there is replaced.
    title : str, optional
        By default the name of the data, where the posterior knows it.
    max_listed : int, default 20
        Most doubted answers that are listed.
    level : float in (0, 1), default 0.95
        Of the credible ball.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, a setting is out of range, or the path is no file that
        can be written.
    OSError
        If the disk is full; what stood there is then left as it was.

    See Also
    --------
    report_page : the same as a word.

    Examples
    --------
    >>> import tempfile
    >>> import bayesclust as bc
    >>> from bayesclust.posterior.tree import to_datatree
    >>> draws = to_datatree({"z": [[[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]] * 2})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = bc.write_report(draws, folder + "/report.html")
    ...     page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    target = check_path(path)
    check_target(target)  # before the figures are drawn
    page = report_page(posterior, title=title, max_listed=max_listed, level=level)
    with replaced(target) as draft:
        draft.write_text(page, encoding="utf-8")
    return target


def report_page(
    posterior: Any, *, title: str | None = None, max_listed: int = 20, level: float = 0.95
) -> str:
    """Return what a posterior says as one HTML page that needs nothing but itself.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    title : str, optional
        By default the name of the data, where the posterior knows it.
    max_listed : int, default 20
        Most doubted answers that are listed.
    level : float in (0, 1), default 0.95
        Of the credible ball.

    Returns
    -------
    str
        HTML; the same for the same posterior. Figures are in it, as PNG.

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, or a setting is out of range.

    Examples
    --------
    >>> from bayesclust.posterior.tree import to_datatree
    >>> page = report_page(to_datatree({"z": [[[0, 0, 1]]]}), title="Ants & bees")
    >>> "<title>Ants &amp; bees</title>" in page
    True
    """
    found = findings(posterior, max_listed=max_listed, level=level)
    drawn = pictures(posterior, found)
    name = title or found.facts.get("data", "") or "What the posterior says"
    body = "\n".join(
        [
            f"<h1>{escape(name)}</h1>",
            _verdict(found),
            markup.definitions(found.facts),
            *_clusters(found, drawn),
            *_doubts(found, drawn),
            *_answers(found, drawn),
            *_sources(found, drawn),
            *markup.section("How the chains ran", [], drawn, "chains"),
            f"<footer>bayesclust {escape(version('bayesclust'))}</footer>",
        ]
    )
    return markup.whole_page(name, body)


def _verdict(found: Findings) -> str:
    look, head = HEADS[found.ok]
    head = head or UNDIAGNOSED.get(found.kind, "Nothing to diagnose.")
    return f'<p class="verdict {look}"><b>{head}</b> {escape(found.verdict)}</p>'


def _clusters(found: Findings, drawn: Sequence[Picture]) -> Iterator[str]:
    number = int(found.labels.max()) + 1
    text = (
        f"{number} clusters."
        if found.kind == PARTITION
        else f"{number} in the partition that stands best for all draws."
    )
    if found.kind != PARTITION:
        likely = [(k, share) for k, share in found.numbers.items() if share >= 0.005]
        text += (
            " Posterior probability: "
            + ", ".join(f"{k} clusters {share:.2f}" for k, share in likely)
            + "."
        )
    table = markup.table(
        {
            "cluster": "number",
            "items": "number",
            "confidence": "number",
            "most typical items": "word",
        },
        (
            (
                str(row["cluster"]),
                f"{row['items']:,}",
                f"{row['confidence']:.3f}",
                ", ".join(row["typical"]),
            )
            for row in found.clusters.to_dict("records")
        ),
    )
    note = "Belonging: how probable it is that an item shares a cluster with a random other member of its own, on average."
    yield from markup.section(
        "Clusters", [f"<p>{text}</p>", table, f"<p><small>{note}</small></p>"], drawn, "clusters"
    )


def _doubts(found: Findings, drawn: Sequence[Picture]) -> Iterator[str]:
    if found.kind == PARTITION:
        return
    parts = [f"<p>{escape(ball_in_words(found))}</p>"]
    if len(found.least_sure):
        rows = found.least_sure.to_dict("records")
        cells = ((row["item"], str(row["cluster"]), f"{row['confidence']:.3f}") for row in rows)
        parts.append(
            markup.table(
                {"least sure items": "word", "cluster": "number", "confidence": "number"}, cells
            )
        )
    yield from markup.section("How sure it is", parts, drawn, "doubts")


def _answers(found: Findings, drawn: Sequence[Picture]) -> Iterator[str]:
    if not found.answers:
        return
    shown = len(found.suspects)
    text = f"{found.doubted:,} of {found.answers:,} answers are more likely wrong than right"
    text += "." if shown == found.doubted else f"; the {shown} least believed are listed."
    parts = [f"<p>{text}</p>"]
    if shown:
        alone = "credibility_loo" in found.suspects
        columns = {"answer": "word", "P(right)": "number"} | (
            {"without it": "number"} if alone else {}
        )
        rows = (
            [
                _claim(row),
                f"{row['credibility']:.3f}",
                *([f"{row['credibility_loo']:.3f}"] if alone else []),
            ]
            for row in found.suspects.to_dict("records")
        )
        note = "P(right): posterior probability that the answer is right"
        note += "; without it: the same by the data and all other answers alone." if alone else "."
        parts += [markup.table(columns, rows), f"<p><small>{note}</small></p>"]
    yield from markup.section("Answers to be doubted", parts, drawn, "answers")


def _claim(row: Mapping[Any, Any]) -> str:
    return f"{', '.join(row['items'])}: {row['answer']} ({row['source']}; likely {row['likely']})"


def _sources(found: Findings, drawn: Sequence[Picture]) -> Iterator[str]:
    if found.sources.empty:
        return
    columns = {
        "source": "word",
        "noise": "word",
        "mean": "number",
        "90% interval": "number",
        "wrong": "number",
    }
    rows = (
        [
            f"{row['source']}, {row['view']}",
            row["parameter"],
            f"{row['mean']:.2f}",
            f"{row['lower']:.2f} to {row['upper']:.2f}",
            f"{row['wrong']:.1f} of {row['answers']:,}",
        ]
        for row in found.sources.to_dict("records")
    )
    table = markup.table(columns, rows)
    note = (
        'p: a pair of one cluster is answered "same"; q: a pair of two clusters is answered "different"; noise: an answer '
        "is wrong; confusion: what a truth is answered. Wrong: how many answers are, on average over the posterior."
    )
    parts = [table, f"<p><small>{escape(note)}</small></p>"]
    if found.surprises:
        told = "".join(f"<li>{escape(sentence)}</li>" for sentence in found.surprises)
        parts.append(f"<p>Not as the noise model expects:</p><ul>{told}</ul>")
    yield from markup.section("Who answered", parts, drawn, "sources")
