"""The page: what is on it, in which order, and that no number on it is from anywhere but evidence.json."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from model.report.page import page, prose
from tests.reported import asked, fill, fuzzed, keep, refuted, told

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
SECTIONS = ["holds", "against", "waivers", "trusted", "properties", "requirements", "scheduler", "autoscale", "worker"]
SECTIONS += [
    "liveness",
    "assumptions",
    "decisions",
    "matrix",
    "originals",
    "deviations",
    "not-claimed",
    "simulation",
    "steps",
]
PARTS = ["specification", "code", "guarantees", "does not guarantee", "assumptions", "again by", "would falsify it"]


class Reader(HTMLParser):
    """The words of a page, without those of drawings and styles; its ids, links, tags and terms."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.ids, self.links, self.tags = "", list[str](), list[str](), list[str]()
        self.attributes: list[tuple[str, str]] = []
        self._unread = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.tags.append(tag)
        self.attributes += given.items()
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self._unread += tag in ("svg", "style")
        self.words += "" if tag == "wbr" else " "

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in ("svg", "style")
        self.words += " "

    def handle_data(self, data: str) -> None:
        self.words += "" if self._unread else data


def numbers(text: str) -> set[str]:
    """All that is written in digits, as it is without commas."""
    return {found.replace(",", "") for found in NUMBER.findall(text)}


def is_known(number: str, known: set[str]) -> bool:
    """It is one of the known, or one of them rounded to as many decimals as it has."""
    decimals = len(number.partition(".")[2])
    return number in known or (decimals > 0 and any(round(float(each), decimals) == float(number) for each in known))


def values(told: Any) -> Iterator[Any]:
    """Every key, text and number in it."""
    if isinstance(told, dict):
        for key, value in told.items():
            yield key
            yield from values(value)
    elif isinstance(told, list):
        for value in told:
            yield from values(value)
    else:
        yield told


@pytest.fixture(params=["everything", "nothing", "refuted"])
def found(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Reports with evidence of much, of nothing, and of faults."""
    if request.param != "nothing":
        fill(tmp_path)
    if request.param == "refuted":
        keep(tmp_path, "explore", refuted(), code=1)
        keep(tmp_path, "fuzz-scheduler", fuzzed() | {"never_seen": ["preempt"], "verdict": "undetermined"}, code=3)
    return told(tmp_path)


def test_every_number_on_the_page_is_in_evidence(found: dict[str, Any]) -> None:
    shown = numbers(Reader(page(found)).words)
    known = {number for value in values(found) for number in numbers(str(value))}
    assert shown
    assert [number for number in shown if not is_known(number, known)] == []


def test_no_number_on_the_page_is_from_anywhere_else(found: dict[str, Any]) -> None:
    """With each number of evidence.json exchanged for one that stands nowhere else, the page has no other."""
    next_one = count(1_000_003)
    used = set()

    def exchanged(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: exchanged(each) for key, each in value.items()}
        if isinstance(value, list):
            return [exchanged(each) for each in value]
        if isinstance(value, str):
            return exchanged_text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            used.add(str(number := next(next_one)))
            return number
        return value

    def exchanged_text(text: str) -> str:
        return re.sub(r"\d", lambda digit: "abcdefghij"[int(digit[0])], text)

    undrawn = found | {"simulations": [each | {"result": None} for each in found["simulations"]]}
    undrawn["findings"] = [each | {"rows": None} for each in found["findings"]]
    undrawn["violations"] = [each | {"rows": None} for each in found["violations"]]
    shown = numbers(Reader(page(exchanged(undrawn))).words)
    assert shown
    assert shown - used == set()


def test_the_walk_over_numbers_sees_one_that_is_not_in_evidence(found: dict[str, Any]) -> None:
    text = page(found).replace("</main>", "<p>and 987,654 more</p></main>")
    assert "987654" in numbers(Reader(text).words)
    known = {number for value in values(found) for number in numbers(str(value))}
    assert not is_known("987654", known)
    assert not is_known("987654.5", known)


def test_it_asks_for_nothing_and_runs_nothing(found: dict[str, Any]) -> None:
    text = page(found)
    read = Reader(text)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(read.tags) - {"link"}
    outside = [value for name, value in read.attributes if name in ("src", "href", "data") and "//" in value]
    assert outside == []
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert "url(" not in text
    assert "@import" not in text


def test_every_section_is_there_in_its_order(found: dict[str, Any]) -> None:
    read = Reader(page(found))
    assert [each for each in read.ids if each in SECTIONS] == SECTIONS
    assert {f"#{each}" for each in SECTIONS} <= set(read.links)


def test_every_link_leads_somewhere_and_no_id_is_used_twice(found: dict[str, Any]) -> None:
    read = Reader(page(found))
    files = {"evidence.json", "evidence.schema.json", "results.sarif"}
    assert {link for link in read.links if link.startswith("#")} <= {f"#{each}" for each in read.ids}
    assert {link for link in read.links if not link.startswith("#")} == files
    assert len(read.ids) == len(set(read.ids))


def test_each_property_is_told_in_one_order(found: dict[str, Any]) -> None:
    text = page(found)
    for each in found["properties"]:
        article = text.partition(f'<article id="{each["id"]}">')[2].partition("</article>")[0]
        assert article, each["id"]
        terms = re.findall(r"<dt>(.*?)</dt>", article)
        assert terms[: len(PARTS)] == PARTS
        begin = article.partition("<dl>")[0]
        words = Reader(begin).words
        assert each["claim"] in words
        assert each["formula"]["text"] in words
        assert f"{each['formula']['file']}:{each['formula']['line']}" in words
        assert words.index(each["claim"]) < words.index(each["formula"]["text"])


def test_what_does_not_hold_is_on_the_page_and_drawn(tmp_path: Path) -> None:
    keep(tmp_path, "explore", refuted(), code=1)
    text = page(told(tmp_path))
    against = text.partition('<h2 id="against">')[2].partition("</section>")[0]
    assert "chat_<wbr>never_<wbr>waits_<wbr>behind_<wbr>an_<wbr>image" in against
    assert "<svg" in against
    assert "impl/" in against


def test_a_simulation_and_the_findings_are_drawn(tmp_path: Path) -> None:
    fill(tmp_path, "simulate")
    text = page(told(tmp_path))
    simulation = text.partition('<h2 id="simulation">')[2].partition("</section>")[0]
    assert simulation.count("<svg") == 3
    originals = text.partition('<h2 id="originals">')[2].partition("</section>")[0]
    assert originals.count("<svg") >= 10


def test_a_violation_of_a_simulation_is_shown(tmp_path: Path) -> None:
    result = asked("simulate") | {"shipped": None, "first_come_first_served": None, "drawn": None}
    of = {"event": 1, "property": "no_work_is_lost", "sentence": "None is.", "detail": "Some was.", "minimal": True}
    keep(tmp_path, "simulate", result | {"violation": of | {"steps": ["admit(A)", "complete(A)"]}}, code=1)
    found = told(tmp_path)
    assert found["violations"][0]["code"]["file"] == "impl/core.py"
    assert "<code>complete(A)</code>" in page(found)


def test_what_evidence_says_is_text_and_no_markup(tmp_path: Path) -> None:
    result = refuted()
    for of in result["violations"].values():
        of["sentence"] = "<script>alert('caught')</script> & `more`"
    keep(tmp_path, "explore", result, code=1)
    text = page(told(tmp_path))
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_prose_has_code_and_emphasis_and_nothing_else() -> None:
    assert prose("`a_b` is *not* <b> 2 * 3 * 4") == "<code>a_<wbr>b</code> is <em>not</em> &lt;b&gt; 2 * 3 * 4"


def test_the_word_verified_never_stands_alone(found: dict[str, Any]) -> None:
    assert "verified" not in Reader(page(found)).words.lower()
