"""Pages as readers see them: Chromium at 360 and 1200 pixels, with and without scripts, checked by rules.

``browser_rules.js`` finds what leaves the screen, its box or its figure, texts on one another and axes of numbers
without a title. One report is checked always, all kinds of pages with FLOATGATE_PAGES=all (``make extra``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
RULES = Path(__file__).with_name("browser_rules.js").read_text("utf-8")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WIDTHS = (360, 1200)
NO_SCRIPTS = "delete window.DecompressionStream"
"""Charts stay pictures, as where scripts do not run; the rules themselves are a script."""
SMALL = "--set workload.requests=20000 --set drive.geometry.blocks_per_plane=128"
UPDATES = "traces/postgres-updates.parquet"
THROTTLE = "--set lifetime.throttle.policy=ready-pessimistic --set workload.rate_per_s=2000"
CHIPS = "--channels 4 --chips 1 --dies 1 --planes 2 --page-bytes 4096 --multi-page 1 --host-bytes 18583552"
UNIFORM = f"configs/experiments/uniform-greedy.toml {SMALL}"
PRICES = "--drives boot-480g,client-tlc-1t --prices client-tlc-1t=80,boot-480g=90 --set lifetime.forecast.waf=1.01"
PAGES = {
    "timed": "run configs/experiments/timed.toml --out OUT",
    "disturb": "run configs/experiments/read-disturb.toml --out OUT",
    "separated": f"run configs/experiments/hot-cold-separated.toml {SMALL} --out OUT",
    "throttled": f"run {UNIFORM} {THROTTLE} --out OUT",
    "lifetime": f"lifetime --trace {UPDATES} --drive ufs-256g --target 5 --out OUT",
    "plan": f"plan --trace {UPDATES} {PRICES} --target 5 --title Databases --note Offers --out OUT",
    "compare": f"compare {UNIFORM} --vary ftl.separate.policy=none,host-gc,sepbit --repeat 3 --out OUT",
    "sweep": f"sweep {UNIFORM} --vary ftl.spare_factor=0.1..0.3:3 --vary ftl.collect.policy=greedy,fifo --out OUT",
    "tune": f"tune {UNIFORM} --vary ftl.spare_factor=0.1..0.3 --vary ftl.collect.policy=greedy,fifo --trials 6"
    " --minimise waf_bytes --out OUT",
    "leaderboard": "leaderboard reporting cscope-rounds --repeat 1 --out OUT",
    "trace-info": f"trace info {UPDATES} --report OUT.html",
    "patterns": f"trace patterns {UPDATES} --report OUT.html",
    "pin": f"rb measure captures/random.csv.gz {CHIPS} --report OUT.html",
    "counters": "counters captures/counters/2025-03-01.smart.json captures/counters/2025-03-31.smart.json --out OUT",
    "reproduction": "reproduce ready --quick --out OUT",
}
ALWAYS = ("timed",)
PRINTED = ("timed", "plan")
PAPER_PX = 718
"""Width of A4 between the margins of ``style.css``, at 96 pixels per inch."""
CUT = """() => [...document.querySelectorAll('main *')]
  .filter((one) => !one.closest('script, .defs') && one.checkVisibility() && !one.closest('svg svg, g'))
  .filter((one) => one.getBoundingClientRect().right > window.innerWidth + 1)
  .map((one) => `<${one.localName}> ${one.textContent.slice(0, 60)}`)"""
"""What lies beyond the right edge of the paper, where no scroll bar helps."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="without Chromium (Debian package chromium)")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def made(name: str, folder: Path) -> Path:
    """Return the page of a command, which runs once."""
    out = folder / name
    page = out.with_suffix(".html") if "OUT.html" in PAGES[name] else out / "report.html"
    if not page.exists():
        command = PAGES[name].replace("OUT", str(out)).split()
        subprocess.run([sys.executable, "-m", "floatgate", *command, "-q"], cwd=ROOT, check=True, capture_output=True)
    return page


@contextmanager
def shown(browser: Browser, file: Path, width: int, *, scripts: bool = True, dark: bool = False) -> Iterator[Page]:
    """Open a page and scroll through it, until all its charts are drawn; nothing may go wrong or be fetched."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light")
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda line: wrong.append(line.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda one: None if one.url.startswith(("file:", "data:")) else wrong.append(one.url))
    if not scripts:
        page.add_init_script(NO_SCRIPTS)
    page.goto(file.as_uri())
    charts = page.locator("figure:has(script.spec)")
    if scripts:
        for place in range(charts.count()):
            charts.nth(place).scroll_into_view_if_needed()
        page.wait_for_function("() => document.querySelectorAll('figure.is-live').length === " + str(charts.count()))
    yield page
    context.close()
    assert wrong == []


@pytest.mark.parametrize(
    "name", [name for name in PAGES if name in ALWAYS or os.environ.get("FLOATGATE_PAGES") == "all"]
)
def test_pages_fit_narrow_and_wide_screens(name: str, browser: Browser, folder: Path) -> None:
    file = made(name, folder)
    for width in WIDTHS:
        for scripts in (False, True):
            with shown(browser, file, width, scripts=scripts) as page:
                live = page.locator("figure.is-live").count()
                assert (live > 0) == (scripts and page.locator("script.spec").count() > 0)
                assert page.evaluate(RULES) == [], f"{width} pixels, scripts: {scripts}"


@pytest.mark.parametrize(
    "name", [name for name in PAGES if name in PRINTED or os.environ.get("FLOATGATE_PAGES") == "all"]
)
def test_nothing_is_cut_on_paper(name: str, browser: Browser, folder: Path) -> None:
    with shown(browser, made(name, folder), PAPER_PX) as page:
        page.emulate_media(media="print")
        assert page.evaluate(CUT) == []


def test_paper_is_white_and_repeats_heads(browser: Browser, folder: Path) -> None:
    """Readers with dark screens print, too."""
    with shown(browser, made("plan", folder), PAPER_PX, dark=True) as page:
        page.emulate_media(media="print", color_scheme="dark")
        looks = "(place) => [getComputedStyle(document.querySelector(place)).backgroundColor, "
        looks += "getComputedStyle(document.querySelector(place)).display]"
        assert page.evaluate(looks, "body")[0] == "rgb(255, 255, 255)"
        assert page.evaluate(looks, "thead")[1] == "table-header-group"
        assert page.evaluate(looks, ".tools")[1] == "none"


def test_the_rules_find_what_is_wrong(browser: Browser, tmp_path: Path) -> None:
    axis = '<g class="role-axis"><g class="role-axis-label"><text y="50">10</text><text y="50" x="90">20</text></g></g>'
    texts = '<text y="20" x="10">one text</text><text y="22" x="14">another</text><text y="80" x="280">far out</text>'
    chart = f'<figure><figcaption><b>Dots</b></figcaption><svg width="300" height="100">{axis}{texts}</svg></figure>'
    cell = '<table><td style="max-width: 20px; overflow: hidden">unbreakable</td></table>'
    wide = f'<p style="width: 500px">too wide</p>{cell}'
    file = tmp_path / "wrong.html"
    style = "<style>figure { margin: 0; width: 300px } svg { overflow: visible }</style>"
    file.write_text(f"<!doctype html>{style}<main>{chart}{wide}</main>")
    with shown(browser, file, 360) as page:
        wrong = page.evaluate(RULES)
    for text in (
        "page: 5",
        "beyond the screen: <p> too wide",
        "beyond its box: <td> unbreakable",
        "Dots: 'far out' leaves the figure",
        "Dots: 'one text' lies on 'another'",
        "Dots: an axis of numbers has no title (10, 20)",
    ):
        assert any(one.startswith(text) for one in wrong), (text, wrong)
    assert len(wrong) == 6


@pytest.fixture(scope="module")
def timed(folder: Path) -> Path:
    return made("timed", folder)


def test_axes_zoom_by_buttons_and_wheel_and_come_back(browser: Browser, timed: Path) -> None:
    with shown(browser, timed, 1200) as page:
        chart = page.locator("figure.is-live:has(button:text-is('+'))").first
        chart.scroll_into_view_if_needed()

        def labels() -> list[str]:
            return sorted(chart.locator(".live .role-axis-label text").all_text_contents())

        whole = labels()
        chart.locator("button:text-is('+')").click()
        page.wait_for_timeout(100)
        near = labels()
        assert near != whole
        chart.locator("button:text-is('\u2212')").click()
        page.wait_for_timeout(100)
        assert labels() != near
        chart.locator("button:text-is('Reset')").click()
        page.wait_for_timeout(100)
        assert labels() == whole
        box = chart.locator(".live svg").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.wheel(0, 0)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        page.keyboard.up("Control")
        page.wait_for_timeout(200)
        assert labels() != whole
        chart.locator("button:text-is('Reset')").click()
        page.wait_for_timeout(100)
        assert labels() == whole


def test_a_click_in_the_legend_shows_a_series_alone(browser: Browser, timed: Path) -> None:
    with shown(browser, timed, 1200) as page:
        chart = page.locator("figure.is-live:has(.live .role-legend):has(.live .mark-rect.role-mark)").first
        chart.scroll_into_view_if_needed()
        marks = chart.locator(".live .mark-rect.role-mark path")
        all_of_them = marks.count()
        chart.locator(".live .role-legend-label text").first.click()
        page.wait_for_timeout(200)
        alone = marks.count()
        assert 0 < alone < all_of_them
        chart.locator("button:text-is('Reset')").click()
        page.wait_for_timeout(200)
        assert marks.count() == all_of_them


def test_marks_show_their_values_under_the_pointer(browser: Browser, timed: Path) -> None:
    with shown(browser, timed, 1200, dark=True) as page:
        chart = page.locator("figure.is-live:has(.live .mark-rect.role-mark)").first
        chart.scroll_into_view_if_needed()
        chart.locator(".live .mark-rect.role-mark path").first.hover()
        page.wait_for_timeout(300)
        tooltip = page.locator("#vg-tooltip-element.visible")
        rows = [row.split("\t") for row in tooltip.inner_text().splitlines()]
        title = chart.locator(".live .role-axis-title text").all_text_contents()
        assert title == [name for name, value in rows if value.endswith("%")]
        ink = "one => getComputedStyle(one)"
        assert tooltip.evaluate(f"{ink}.color") == page.locator("body").evaluate(f"{ink}.color")
        fills = chart.locator(".live text").evaluate_all("all => all.map(one => getComputedStyle(one).fill)")
        assert set(fills) == {page.locator("body").evaluate(f"{ink}.color")}


def test_a_page_prints_without_its_buttons(browser: Browser, timed: Path) -> None:
    with shown(browser, timed, 1200) as page:
        assert page.locator(".tools button").first.is_visible()
        page.emulate_media(media="print")
        assert not page.locator(".tools button").first.is_visible()
        assert page.locator(".live svg").first.is_visible()


def test_a_narrower_window_gets_the_narrow_layout(browser: Browser, timed: Path) -> None:
    with shown(browser, timed, 1200) as page:
        page.set_viewport_size({"width": 360, "height": 900})
        page.wait_for_function("() => [...document.querySelectorAll('.live svg')].every(one => one.clientWidth <= 360)")
        page.wait_for_timeout(300)
        assert page.evaluate(RULES) == []


def test_the_table_of_waits_needs_no_scroll_bar(browser: Browser, timed: Path) -> None:
    tables = "Array.from(document.querySelectorAll('.charts .scroll')).map(box => [box.scrollWidth, box.clientWidth])"
    with shown(browser, timed, 1200) as page:
        widths = page.evaluate(tables)
        assert widths
        assert all(needed <= there for needed, there in widths)


def test_the_table_of_a_comparison_with_many_columns_needs_no_scroll_bar(browser: Browser, tmp_path: Path) -> None:
    """A drive of the catalogue has columns of its rating, of collection, of wear and of read reclaim."""
    varied = ["--vary", "drive.buffer.capacity=0 B,64 KiB,1 MiB", "--set", "workload.requests=20000"]
    varied += ["--set", "workload.read_share=0.5", "--set", "workload.rate_per_s=100"]
    drive = ["--drive", "boot-480g", "--capacity", "1GiB", "--out", str(tmp_path / "o"), "-q"]
    subprocess.run([sys.executable, "-m", "floatgate", "compare", *drive, *varied], check=True, capture_output=True)
    with shown(browser, tmp_path / "o" / "report.html", 1200) as page:
        assert page.evaluate("document.querySelectorAll('.dense th').length") > 12
        assert page.evaluate("(box => box.scrollWidth - box.clientWidth)(document.querySelector('.dense'))") <= 0
