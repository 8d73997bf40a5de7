"""The report in a browser: complete, without a complaint, without a request, and readable on anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from model.commands.report import store
from tests import reported
from tests.browser import NAMES, Browser, Page, browser, program

pytestmark = pytest.mark.skipif(program() is None, reason=f"no browser here: none of {', '.join(NAMES)} is installed")

SECTIONS = (
    "holds",
    "against",
    "waivers",
    "trusted",
    "properties",
    "requirements",
    "scheduler",
    "autoscale",
    "worker",
    "liveness",
    "assumptions",
    "decisions",
    "matrix",
    "originals",
    "deviations",
    "not-claimed",
    "simulation",
    "steps",
)
PHONE, TABLET, DESK = 320, 768, 1280

CUT_OFF = """(() => {
  const width = document.documentElement.clientWidth, found = [];
  const scrolls = (each) =>
    each && (/auto|scroll/.test(getComputedStyle(each).overflowX) || scrolls(each.parentElement));
  for (const each of document.body.querySelectorAll("*")) {
    const at = each.getBoundingClientRect();
    const hidden = at.right <= 0 || !at.width || !at.height;  // for the eyes alone: a screen reader has it
    const wide = at.right > width + 1 || at.left < -1;
    if (!hidden && wide && !scrolls(each.parentElement)) found.push(`${each.tagName} ${each.textContent.slice(0, 60)}`);
  }
  return found;
})()"""
"""What reaches beyond the screen and is in no box that scrolls."""
OPEN = "for (const each of document.querySelectorAll('details')) each.open = true"
FOLDED = "[...document.querySelectorAll('details > :not(summary)')].filter((each) => !each.checkVisibility())"
"""What nobody sees until it is opened."""
OVERLAPS = """(() => {
  const found = [];
  for (const row of document.querySelectorAll("tr")) {
    for (const cell of row.cells) {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const text = range.getBoundingClientRect(), at = cell.getBoundingClientRect();
      if (at.right > 0 && text.width && text.right > at.right + 1) found.push(cell.textContent.slice(0, 60));
    }
  }
  return found;
})()"""
"""Cells of tables with words that run into the next cell."""
CONTRAST = """(() => {
  const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const paper = (each) => {
    for (; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = {};
  for (const each of document.body.querySelectorAll("h1, h2, h3, h4, p, a, th, td, dd, dt, code, pre, .word, .faint")) {
    const ink = getComputedStyle(each).color, [one, other] = [light(ink), light(paper(each))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) found[`${ink} on ${paper(each)}`] = ratio;
  }
  return found;
})()"""
"""Pairs of colours that are hard to tell apart: below the 4.5 that WCAG 2 asks for."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a bit of everything: something refuted, something stale, something not run."""
    folder = tmp_path_factory.mktemp("evidence")
    out = tmp_path_factory.mktemp("report")
    reported.fill(folder, *(set(reported.ANSWERS) - {"explore-worker"}))
    reported.keep(folder, "explore", reported.refuted(), 1)
    reported.keep(folder, "tests", {"tests": 3, "failures": 0, "errors": 0, "skipped": []}, sources={"spec": "old"})
    store(out, reported.told(folder, junit=True))
    (out / "junit.xml").write_text("<testsuites/>")
    return out / "index.html"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def shown(chromium: Browser, report: Path) -> Page:
    return Page(chromium, report)


def test_the_console_is_empty_and_nothing_else_is_asked_for(shown: Page, report: Path) -> None:
    assert shown.complaints() == []
    assert [each for each in shown.requests() if not each.startswith("data:")] == [report.as_uri()]


def test_a_complaint_and_a_request_would_be_seen(chromium: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text("<!DOCTYPE html><img src='absent.png'><script>console.error('seen'); undefined_function()</script>")
    page = Page(chromium, bad)
    told = json.dumps(page.complaints())
    assert "seen" in told
    assert "undefined_function" in told
    assert any(each.endswith("absent.png") for each in page.requests())


def test_every_section_is_there_in_its_order(shown: Page) -> None:
    assert shown.ask("[...document.querySelectorAll('main > section > h2')].map((each) => each.id)") == list(SECTIONS)
    assert shown.ask("[...document.querySelectorAll('nav a')].map((each) => each.getAttribute('href').slice(1))") == [
        *SECTIONS
    ]
    empty = "[...document.querySelectorAll('main > section')].filter((each) => each.innerText.length < 40).length"
    assert shown.ask(empty) == 0


def test_every_link_leads_somewhere(shown: Page, report: Path) -> None:
    anchors = set(shown.ask("[...document.querySelectorAll('[id]')].map((each) => each.id)"))
    links = shown.ask("[...document.querySelectorAll('a')].map((each) => each.getAttribute('href'))")
    assert len(links) > 100
    assert list(missing(links, anchors, report.parent)) == []
    wrong = ["#nowhere", "absent.json", "https://example.org/", None]
    assert list(missing(wrong, anchors, report.parent)) == wrong


def missing(links: list[Any], anchors: set[str], folder: Path) -> Iterator[Any]:
    """Links to an anchor or a file that is not there, or to another place."""
    for link in links:
        found = urlsplit(link or "absent:")
        there = unquote(found.fragment) in anchors if not found.path else (folder / unquote(found.path)).is_file()
        if found.scheme or found.netloc or not there:
            yield link


def test_no_name_is_given_twice_and_headings_leave_out_no_level(shown: Page) -> None:
    names = shown.ask("[...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert [each for each in set(names) if names.count(each) > 1] == []
    levels = shown.ask("[...document.querySelectorAll('h1, h2, h3, h4')].map((each) => Number(each.tagName[1]))")
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_drawing_is_told_in_words(shown: Page) -> None:
    told = shown.ask(
        """[...document.querySelectorAll("svg")].map((each) => each.getAttribute("role") === "img"
          && each.getAttribute("aria-labelledby").split(" ").every((name) => document.getElementById(name).textContent)
          && each.closest("figure").querySelector("details pre").textContent.length > 0)"""
    )
    assert len(told) > 15
    assert all(told)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, TABLET, DESK])
def test_nothing_is_cut_off_and_all_can_be_read(chromium: Browser, report: Path, width: int, dark: bool) -> None:
    page = Page(chromium, report, width=width, dark=dark)
    page.ask(OPEN)
    assert page.ask("matchMedia('(prefers-color-scheme: dark)').matches") == dark
    assert page.ask("document.documentElement.scrollWidth") <= width
    assert page.ask(CUT_OFF) == []
    assert page.ask(OVERLAPS) == []
    assert page.ask(CONTRAST) == {}
    assert page.complaints() == []


def test_what_is_cut_off_or_faint_would_be_seen(chromium: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><meta name='viewport' content='width=device-width'><body style='background: #fff'>"
        "<p style='width: 400px'>too wide</p><div style='overflow-x: auto'><p style='width: 400px'>it scrolls</p></div>"
        "<table style='table-layout: fixed; width: 100px'><tr><td>a_word_without_a_break</td><td>next</td></tr></table>"
        "<p style='color: #ccc'>faint</p>"
    )
    page = Page(chromium, bad, width=PHONE)
    assert page.ask("document.documentElement.scrollWidth") > PHONE
    assert page.ask(CUT_OFF) == ["P too wide"]
    assert page.ask(OVERLAPS) == ["a_word_without_a_break"]
    assert list(page.ask(CONTRAST)) == ["rgb(204, 204, 204) on rgb(255, 255, 255)"]


def test_a_phone_is_spared_the_details_and_can_open_them(chromium: Browser, report: Path) -> None:
    page = Page(chromium, report, width=PHONE)
    height = "document.documentElement.scrollHeight"
    closed = page.ask(height)
    assert page.ask(f"{FOLDED}.length") > 100
    page.ask(OPEN)
    assert page.ask(f"{FOLDED}.length") == 0
    assert page.ask(height) > 2 * closed


def test_a_link_to_what_is_folded_away_opens_it(chromium: Browser, report: Path) -> None:
    page = Page(chromium, report, width=PHONE)
    bug = page.ask("document.querySelector('[id^=\"bug.\"]').id")
    can_be_seen = f"document.getElementById('{bug}').checkVisibility()"
    assert not page.ask(can_be_seen)
    page.ask(f"location.hash = '{bug}'")
    assert page.ask(can_be_seen)


def test_it_is_the_same_without_scripts(chromium: Browser, report: Path, shown: Page) -> None:
    without = Page(chromium, report, scripts=False)
    assert without.ask("document.body.innerText") == shown.ask("document.body.innerText")
    assert without.ask("document.scripts.length") == 0


def test_it_prints(shown: Page) -> None:
    printed = shown.pdf()
    assert printed.startswith(b"%PDF-")
    assert printed.rstrip().endswith(b"%%EOF")
    assert printed.count(b"/Type /Page\n") > 10


def test_what_is_folded_away_on_a_screen_is_on_paper(shown: Page) -> None:
    shown.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert shown.ask(f"{FOLDED}.length") == 0
        assert shown.ask("document.querySelectorAll('details[open]').length") == 0
    finally:
        shown.call("Emulation.setEmulatedMedia", media="")
