"""The page: well-formed, complete by itself, and saying what was found."""

import base64
import re
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread

import bayesclust as bc
from bayesclust.posterior.tree import to_datatree
from bayesclust.report import figures as drawing
from bayesclust.report import report_page
from bayesclust.report.findings import findings
from bayesclust.report.text import sections

VOID = {"meta", "link", "img"}


class Reader(HTMLParser):
    """Tags, attributes and words of a page; complains where tags are not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.words = [], [], {}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.setdefault(self.open[-1] if self.open else "", []).append(data)


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    reader = Reader(page)
    assert page.startswith("<!DOCTYPE html>\n")
    assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r'"data:[^"]*"', "", page))
    kinds = {tag for tag, _ in reader.tags}
    assert not {"script", "iframe", "object", "embed"} & kinds
    for tag, attrs in reader.tags:
        for name in ("src", "href"):
            assert attrs.get(name, "data:").startswith("data:"), (tag, attrs)
        assert not any(name.startswith("on") for name in attrs)
    viewport = {"name": "viewport", "content": "width=device-width, initial-scale=1"}
    assert ("meta", viewport) in reader.tags
    assert "prefers-color-scheme: dark" in page


def test_every_figure_is_a_picture_that_says_what_it_shows(page):
    reader = Reader(page)
    found = [attrs for tag, attrs in reader.tags if tag == "img"]
    assert len(found) == 11 == sum(tag == "figcaption" for tag, _ in reader.tags)
    for attrs in found:
        kind, data = attrs["src"].split(",", 1)
        assert kind == "data:image/png;base64"
        pixels = imread(BytesIO(base64.b64decode(data, validate=True)), format="png")
        assert pixels.shape[:2] == (int(attrs["height"]), int(attrs["width"]))
        assert len(np.unique(pixels[::9, ::9, :3].reshape(-1, 3), axis=0)) > 10
        assert len(attrs["alt"]) > 10
    # bounds of the ball may be one partition
    assert len({attrs["src"] for attrs in found}) >= len(found) - 2


def test_names_are_escaped_wherever_they_stand(page):
    words = Reader(page).words
    cells = words["td"]
    assert any('<b>bold</b> & "co"' in cell for cell in cells)
    assert any("</script>" in cell for cell in cells)
    assert "<b>bold" not in page
    assert "</script>" not in page
    assert "a<b>.csv" in words["dd"]


def test_tables_hold_what_was_found(found, page):
    words = Reader(page).words
    cells = iter(words["td"])
    assert all(
        cell == next(cells) for part in sections(found) for row in part.rows for cell in row if cell
    )
    assert next(cells, None) is None
    (clusters, *_) = sections(found)
    assert [int(row[1]) for row in clusters.rows] == found.clusters["items"].tolist()
    parts = {part.name: part for part in sections(found)}
    credibility = [float(row[1]) for row in parts["answers"].rows]
    np.testing.assert_allclose(credibility, found.listed["credibility"], atol=5e-4)
    loo = [float(row[2]) for row in parts["answers"].rows]
    np.testing.assert_allclose(loo, found.listed["credibility_loo"], atol=5e-4)
    means = [float(row[2]) for row in parts["sources"].rows]
    np.testing.assert_allclose(means, found.sources["mean"], atol=5e-3)


@pytest.fixture
def coarse(monkeypatch):
    """Figures of few pixels, for what does not depend on them."""
    monkeypatch.setattr(drawing, "DPI", 20)


BARE = {"X": False, "constraints": False}


@pytest.mark.parametrize(
    ("made", "figures", "look", "verdict"),
    [
        ({}, 11, ["good"], "This run will do for means;"),
        ({"shape": (1, 30), "X": False}, 5, ["bad"], "This run cannot be judged"),
        (
            {"settings": {"sampler": "variational"}, **BARE},
            2,
            [],
            "These draws come from a mean-field approximation:",
        ),
        ({"shape": (1, 1), "constraints": False}, 1, [], "This is one partition and no posterior:"),
    ],
)
def test_pages_show_what_there_is_under_their_verdict(
    make, page, coarse, made, figures, look, verdict
):
    shown = report_page(make(**made)) if made else page
    assert shown.count("<img ") == figures
    classes = (attrs.get("class", "").split() for _, attrs in Reader(shown).tags)
    assert next(found[1:] for found in classes if found[:1] == ["verdict"]) == look
    assert re.search(r'class="verdict[^>]*>([^<]*)<', shown)[1].startswith(verdict)


def test_the_same_posterior_gives_the_same_page_whatever_the_style(tree, page):
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 20, "axes.facecolor": "black", "savefig.dpi": 30}):
        assert report_page(tree) == page
        assert mpl.rcParams["font.size"] == 20


def test_a_page_is_written_with_its_title(make, coarse, tmp_path):
    tree = make(shape=(1, 20), **BARE)
    title = "<i>title</i> & more"
    assert bc.write_report(tree, tmp_path / "out.html", title=title) == tmp_path / "out.html"
    written = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert written == report_page(tree, title=title)
    words = Reader(written).words
    assert words["h1"] == [title] == words["title"]
    with pytest.raises(ValueError, match="level"):
        report_page(tree, level=2)


def test_clusters_of_a_few_items_are_counted_apart():
    labels = np.r_[np.repeat([0, 1], 30), 2, 3, 3]
    (clusters, *_) = sections(findings(to_datatree({"z": np.tile(labels, (2, 5, 1))})))
    assert "4 clusters, 2 of them too small to list (3 items in all)" in clusters.sentence
    assert [int(row[1]) for row in clusters.rows] == [30, 30]
