"""The page in a browser: it renders without a complaint or a request, and fits a narrow screen."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
from assay.validate.report.html import page
from assay.validate.score.assess import Report

from tests.conftest import ROOT

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome", "chrome")
     if (found := shutil.which(name))),
    None,
)  # fmt: skip
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed to render with")

QUIET = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--allow-file-access-from-files", "--enable-logging=stderr", "--v=0",
         "--host-resolver-rules=MAP * ~NOTFOUND")  # fmt: skip

LOOK = """<!DOCTYPE html><title>look</title>
<iframe src="{name}" width="{width}" height="800"></iframe><pre id="seen"></pre>
<script>
document.querySelector("iframe").addEventListener("load", event => {{
  const doc = event.target.contentDocument, count = what => doc.querySelectorAll(what).length;
  document.getElementById("seen").textContent = JSON.stringify({{
    needed: doc.documentElement.scrollWidth,
    room: doc.documentElement.clientWidth,
    sections: [...doc.querySelectorAll("section")].map(one => one.id),
    figures: count("figure svg"),
    titles: count("svg title"),
    high: [...doc.querySelectorAll("svg")].filter(one => one.getBoundingClientRect().height < 40)
      .length,
    ink: doc.defaultView.getComputedStyle(doc.querySelector("svg text")).fill,
    loaded: doc.defaultView.performance.getEntriesByType("resource").map(one => one.name),
  }});
}});
</script>
"""


class Seen(NamedTuple):
    """Page as a browser made it, and the complaints of the browser; `loaded` are requests."""

    page: dict[str, object]
    complaints: list[str]


def look(path: Path, width: int) -> Seen:
    """Render the page `width` pixels wide, inside another page that measures it."""
    frame = path.with_name(f"look_{width}.html")
    frame.write_text(LOOK.format(name=path.name, width=width))
    done = subprocess.run(
        [str(CHROMIUM), *QUIET, f"--user-data-dir={path.parent / f'profile_{width}'}",
         "--virtual-time-budget=3000", "--dump-dom", f"file://{frame}"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    (said,) = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return Seen(json.loads(unescape(said)), complaints)


@pytest.fixture(scope="module")
def written(small: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page.render(small))
    return path


def test_it_renders_on_a_narrow_screen(written: Path) -> None:
    seen = look(written, 360)
    assert not seen.complaints
    assert seen.page["loaded"] == []
    assert seen.page["needed"] == seen.page["room"], "the page itself does not scroll sideways"
    assert isinstance(seen.page["sections"], list)
    assert {"summary", "predicted", "findings", "again"} <= set(seen.page["sections"])
    assert seen.page["figures"] == written.read_text().count("<svg ")
    assert seen.page["high"] == 0, "every plot has a height"
    assert seen.page["ink"] == "rgb(26, 29, 33)", "colours of the style sheet reach the plots"


def test_what_would_load_or_run_is_stopped_and_seen(written: Path) -> None:
    """The control: the test above would notice, and the policy of the page holds."""
    path = written.with_name("changed.html")
    more = '<script>document.title = "ran"</script><img src="http://192.0.2.1/x.png" alt="">'
    path.write_text(written.read_text().replace("</main>", f"{more}</main>"))
    seen = look(path, 361)
    assert len(seen.complaints) == 2
    assert all("Content Security Policy" in line for line in seen.complaints)


@pytest.mark.slow
def test_the_report_of_the_fixtures_renders(tmp_path: Path) -> None:
    path = tmp_path / "fixtures.html"
    program = "from assay.validate.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", program, "report", "fixtures", "-o", str(path)],
        capture_output=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert path.stat().st_size <= 4e6
    for width in (360, 1400):
        seen = look(path, width)
        assert not seen.complaints
        assert seen.page["loaded"] == []
        assert seen.page["needed"] == seen.page["room"]
