import base64
import re
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread

import bayesclust as bc
from bayesclust.report import figures as drawing
from bayesclust.report import findings, report_page

VOID = {"meta", "link", "img"}


class Reader(HTMLParser):
    """Tags, attributes and words of a page; complains where tags are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.words = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.setdefault(self.open[-1] if self.open else "", []).append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def images(reader):
    return [attrs for tag, attrs in reader.tags if tag == "img"]


def test_the_page_is_well_formed_and_needs_nothing_else(page):
    reader = read(page)
    assert page.startswith("<!DOCTYPE html>\n")
    assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r'"data:[^"]*"', "", page))
    kinds = {tag for tag, _ in reader.tags}
    assert not {"script", "iframe", "object", "embed"} & kinds
    for tag, attrs in reader.tags:
        for name in ("src", "href"):
            assert attrs.get(name, "data:").startswith("data:"), (tag, attrs)
        assert not any(name.startswith("on") for name in attrs)
    assert (
        "meta",
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
    ) in reader.tags
    assert "prefers-color-scheme: dark" in page


def test_every_figure_is_a_picture_that_says_what_it_shows(page):
    found = images(read(page))
    assert len(found) == 13
    for attrs in found:
        kind, data = attrs["src"].split(",", 1)
        assert kind == "data:image/png;base64"
        pixels = imread(BytesIO(base64.b64decode(data, validate=True)), format="png")
        assert pixels.shape[:2] == (int(attrs["height"]), int(attrs["width"]))
        assert len(np.unique(pixels[::9, ::9, :3].reshape(-1, 3), axis=0)) > 10
        assert len(attrs["alt"]) > 10
    assert (
        len({attrs["src"] for attrs in found}) >= len(found) - 2
    )  # bounds of the ball may be one partition
    assert sum(tag == "figcaption" for tag, _ in read(page).tags) == len(found)


def test_names_are_escaped_wherever_they_stand(make, page):
    titled = read(report_page(make(X=False, constraints=False), title="<i>title</i> & more")).words
    assert titled["h1"] == ["<i>title</i> & more"] == titled["title"]
    words = read(page).words
    cells = words["td"]
    assert any('<b>bold</b> & "co"' in cell for cell in cells)
    assert any("</script>" in cell for cell in cells)
    assert "<b>bold" not in page
    assert "</script>" not in page
    assert "a<b>.csv" in words["dd"]


def test_tables_say_what_was_found(make, page):
    found = findings(make())
    cells = read(page).words["td"]
    for row in found.listed.to_dict("records"):
        claim = (
            f"{', '.join(row['items'])}: {row['answer']} ({row['source']}; likely {row['likely']})"
        )
        at = cells.index(claim)
        assert cells[at + 1 : at + 3] == [
            f"{row['credibility']:.3f}",
            f"{row['credibility_loo']:.3f}",
        ]
    for row in found.sources.to_dict("records"):
        at = next(
            at
            for at in range(len(cells))
            if cells[at : at + 2] == [f"{row['source']}, {row['view']}", row["parameter"]]
        )
        assert cells[at + 2] == f"{row['mean']:.2f}"
        assert cells[at + 4] == f"{row['wrong']:.1f} of {row['answers']}"
    for row in found.clusters.to_dict("records"):
        at = cells.index(", ".join(row["typical"]))
        assert cells[at - 3 : at] == [
            str(row["cluster"]),
            str(row["items"]),
            f"{row['confidence']:.3f}",
        ]


def test_the_verdict_is_marked_by_more_than_its_colour(make, page):
    def heads(page):
        attrs = next(
            attrs for tag, attrs in read(page).tags if attrs.get("class", "").startswith("verdict")
        )
        return attrs["class"].split()[1:], re.search(r'class="verdict[^>]*><b>([^<]*)</b>', page)[1]

    bare = {"X": False, "constraints": False}
    assert heads(page) == (["good"], "This run can be used.")
    assert heads(report_page(make(shape=(1, 30), **bare))) == (
        ["bad"],
        "Do not rely on this run yet.",
    )
    assert heads(report_page(make(settings={"sampler": "variational"}, **bare))) == (
        [],
        "Nothing to diagnose.",
    )
    assert heads(report_page(make(shape=(1, 1), **bare))) == ([], "One partition, not a posterior.")


def test_the_same_posterior_gives_the_same_page_whatever_the_style(make, page):
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 20, "axes.facecolor": "black", "savefig.dpi": 30}):
        assert report_page(make()) == page
        assert mpl.rcParams["font.size"] == 20


@pytest.mark.parametrize(
    ("what", "number"),
    [
        ({"X": False}, 7),
        ({"constraints": False}, 9),
        ({"shape": (1, 1)}, 5),
        ({"settings": {"sampler": "variational"}}, 11),
    ],
)
def test_what_there_is_nothing_for_is_left_out(make, what, number):
    assert len(images(read(report_page(make(**what))))) == number


def test_large_problems_do_without_similarities_of_all_pairs(make, monkeypatch):
    monkeypatch.setattr(drawing, "LARGEST", 10)
    titles = [picture.title for picture in drawing.pictures(make(), findings(make()))]
    assert not any("similarity" in title or "unsure" in title for title in titles)
    assert len(titles) == 11


def test_nothing_overflows_its_figure(make, monkeypatch):
    spilled, taken = [], drawing._taken

    def watch(figure, *arguments):
        picture = taken(figure, *arguments)
        box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        outside = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
        if outside > 0.02:
            spilled.append((picture.title, outside))
        return picture

    monkeypatch.setattr(drawing, "_taken", watch)
    report_page(make())
    assert spilled == []


def test_a_page_is_written(make, tmp_path):
    tree = make(X=False, constraints=False)
    assert bc.write_report(tree, tmp_path / "out.html") == tmp_path / "out.html"
    assert (tmp_path / "out.html").read_text(encoding="utf-8") == report_page(tree)
    with pytest.raises(ValueError, match="level"):
        report_page(tree, level=2)
