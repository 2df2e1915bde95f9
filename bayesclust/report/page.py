"""The summary as one HTML page that needs no other file; the layout is in page.html."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayesclust._io import check_path, check_target, replaced
from bayesclust.report.figures import pictures
from bayesclust.report.findings import CHAINS, PARTITION, Findings, findings
from bayesclust.report.text import ball_in_words

HEADS = {
    True: ("good", "This run can be used."),
    False: ("bad", "Do not rely on this run yet."),
    None: ("", "Nothing to diagnose."),
}


def write_report(
    posterior: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    max_listed: int = 20,
    level: float = 0.95,
) -> Path:
    """Write a summary of a posterior as one HTML page that needs no other file.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    path : str or path
        File to write; an existing one is replaced.
    title : str, optional
        By default the name of the data, if the posterior knows it.
    max_listed : int, default 20
        How many answers that are probably wrong are listed, at most.
    level : float in (0, 1), default 0.95
        Probability of the credible ball.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ValueError, TypeError
        If the posterior holds no partitions, a setting is out of range, or the path is no file that
        can be written.
    OSError
        If the disk is full; an existing file is then left as it was.

    See Also
    --------
    report_page : the same as a string.

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
    """Return a summary of a posterior as one HTML page, the same for the same posterior.

    Parameters
    ----------
    posterior : DataTree or fitted estimator
    title : str, optional
    max_listed : int, default 20
    level : float in (0, 1), default 0.95
        As for `write_report`.

    Returns
    -------
    str

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
    from jinja2 import Environment, PackageLoader

    found = findings(posterior, max_listed=max_listed, level=level)
    drawn = pictures(posterior, found)
    environment = Environment(
        loader=PackageLoader("bayesclust.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    look, head = HEADS[found.ok]
    is_partition = found.kind == PARTITION
    page = environment.get_template("page.html").render(
        title=title or found.facts.get("data", "") or "Posterior summary",
        found=found,
        look=look,
        head="One partition, not a posterior." if is_partition else head,
        is_partition=is_partition,
        has_chains=any(picture.section == CHAINS for picture in drawn),
        has_loo="credibility_loo" in found.listed,
        n_clusters=int(found.labels.max()) + 1,
        ball=ball_in_words(found),
        pictures=drawn,
        version=version("bayesclust"),
        **_rows(found),
    )
    return page.lstrip()


def _rows(found: Findings) -> dict[str, list[list[str]]]:
    """The cells of the tables."""
    loo = "credibility_loo" in found.listed
    return {
        "cluster_rows": [
            [
                str(row["cluster"]),
                f"{row['items']:,}",
                f"{row['confidence']:.3f}",
                ", ".join(row["typical"]),
            ]
            for row in found.clusters.to_dict("records")
        ],
        "unsure_rows": [
            [row["item"], str(row["cluster"]), f"{row['confidence']:.3f}"]
            for row in found.least_sure.to_dict("records")
        ],
        "answer_rows": [
            [
                f"{', '.join(row['items'])}: {row['answer']} "
                f"({row['source']}; likely {row['likely']})",
                f"{row['credibility']:.3f}",
                *([f"{row['credibility_loo']:.3f}"] if loo else []),
            ]
            for row in found.listed.to_dict("records")
        ],
        "source_rows": [
            [
                f"{row['source']}, {row['view']}",
                row["parameter"],
                f"{row['mean']:.2f}",
                f"{row['lower']:.2f} to {row['upper']:.2f}",
                f"{row['wrong']:.1f} of {row['answers']:,}",
            ]
            for row in found.sources.to_dict("records")
        ],
    }
