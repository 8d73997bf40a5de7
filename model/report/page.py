"""evidence.json as a page: one file that asks for nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from model.draw import html as drawn
from model.report.figures import of_finding, of_simulation, of_violation

TEMPLATES = Path(__file__).parent / "templates"


def page(told: Mapping[str, Any]) -> str:
    """The HTML. Every number on it is one of evidence.json, or stands in a text of it."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"number": number, "prose": prose, "word": word, "broken": broken, "plural": plural}
    environment.globals |= {"of_finding": of_finding, "of_simulation": of_simulation, "of_violation": of_violation}
    style = Markup((TEMPLATES / "page.css").read_text(encoding="utf-8") + drawn.STYLE)
    of = {each["id"]: each for each in told["properties"]}
    return environment.get_template("page.html").render(told=told, of=of, style=style)


def number(value: float | None) -> Markup:
    """With commas between thousands; a dash for none."""
    if value is None:
        return Markup("\N{EN DASH}")
    return Markup("<data value='{}'>{:,}</data>").format(value, value)


def plural(value: float, one: str, more: str = "") -> Markup:
    """The number with its noun."""
    return number(value) + " " + (one if value == 1 else more or f"{one}s")


def prose(text: str) -> Markup:
    """Plain text with the code spans and emphasis of Markdown."""
    told = escape(str(text), quote=False)
    told = re.sub(r"`([^`]+)`", lambda found: f"<code>{broken(Markup(found[1]))}</code>", told)
    return Markup(re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", told))


def broken(text: str) -> Markup:
    """A long name that may be broken after its underscores, dots and slashes."""
    told = str(text) if isinstance(text, Markup) else escape(text, quote=False)
    return Markup(re.sub(r"([_./])(?=\w)", r"\1<wbr>", told))


def word(strength: str) -> Markup:
    """A verdict or strength, in its colour and in words."""
    return Markup("<span class='word {}'>{}</span>").format(strength.partition(" ")[0], strength)
