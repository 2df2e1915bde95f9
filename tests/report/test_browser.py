"""The page in a browser, where there is one: every figure, no complaint, as narrow as a phone."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import pytest

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
WRAPPER = """<!DOCTYPE html><body>
<iframe id="page" style="width: {width}px; height: 900px; border: 0" srcdoc="{page}"></iframe>
<p id="found"></p><script>
document.getElementById("page").onload = (event) => {{
  const inside = event.target.contentDocument;
  const images = [...inside.images].map((image) => image.complete ? image.naturalWidth : 0);
  const text = getComputedStyle(inside.querySelector("td")).fontSize;
  document.getElementById("found").textContent = JSON.stringify({{
    images, wide: inside.documentElement.scrollWidth, text: parseFloat(text),
    shown: Math.min(...[...inside.images].map((image) => image.getBoundingClientRect().width)) }});
}};
</script></body>"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium")


def opened(page, tmp_path, width):
    """What the browser makes of a page at this width, and what it says on its console."""
    (tmp_path / "wrapper.html").write_text(
        WRAPPER.format(width=width, page=escape(page)), encoding="utf-8"
    )
    run = subprocess.run(
        [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--virtual-time-budget=9000",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=1400,1000",
            "--dump-dom",
            f"file://{tmp_path}/wrapper.html",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found = re.search(r'<p id="found">(.*?)</p>', run.stdout)
    return json.loads(unescape(found[1])), [
        line for line in run.stderr.splitlines() if "CONSOLE" in line
    ]


@pytest.mark.parametrize("width", [360, 1280])
def test_every_figure_is_there_and_nothing_is_too_wide(page, tmp_path, width):
    found, console = opened(page, tmp_path, width)
    assert console == []
    assert len(found["images"]) == 13
    assert min(found["images"]) > 700
    assert found["wide"] <= width
    assert found["shown"] >= 300
    assert found["text"] >= 12


def test_the_test_above_can_fail(tmp_path):
    image = "<img src='data:image/png;base64,AAAA'>"
    broken = f"<body><table><td>x</td></table>{image}<div style='width: 900px'>x</div></body>"
    found, console = opened(broken + "<script>console.error('broken')</script>", tmp_path, 360)
    assert found["images"] == [0]
    assert found["wide"] > 360
    assert any("broken" in line for line in console)
