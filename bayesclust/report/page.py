"""The summary as one HTML page that needs no other file; the layout is in page.html."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayesclust._io import check_path, check_target, replaced
from bayesclust.report.figures import pictures
from bayesclust.report.findings import CHAINS, Findings, findings
from bayesclust.report.text import Section, sections

LOOKS = {True: "good", False: "bad", None: ""}


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
        File to write; an existing one is replaced, or left as it was if the disk is full.
    title : str, optional
        By default the name of the data, if the posterior knows it.
    max_listed : int, default 20
        How many answers that are probably wrong are listed, at most.
    level : float in (0, 1), default 0.95
        Probability of the credible ball.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> import tempfile
    >>> import bayesclust as bc
    >>> draws = bc.posterior.to_datatree({"z": [[[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]] * 2})
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
    """Return the page that `write_report` writes.

    >>> from bayesclust.posterior import to_datatree
    >>> page = report_page(to_datatree({"z": [[[0, 0, 1]]]}), title="Ants & bees")
    >>> "<title>Ants &amp; bees</title>" in page
    True
    """
    found = findings(posterior, max_listed=max_listed, level=level)
    return page_of(posterior, found, title)


def page_of(posterior: Any, found: Findings, title: str | None = None) -> str:
    """Return the page of findings, whose sentences may be worded otherwise."""
    from jinja2 import Environment, PackageLoader

    drawn = pictures(posterior, found)
    parts = list(sections(found))
    if any(picture.section == CHAINS for picture in drawn):
        parts.append(Section(CHAINS, "How the chains ran"))
    loader = PackageLoader("bayesclust.report", ".")
    environment = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = environment.get_template("page.html").render(
        title=title or found.facts.get("data", "") or "Posterior summary",
        found=found,
        look=LOOKS[found.ok],
        sections=parts,
        pictures=drawn,
        version=version("bayesclust"),
    )
    return page.lstrip()
