"""Drawings as inline SVG: plain strings that need no script and no font, in the colours of the page, with a title and a
description for whoever cannot see them, and the same told in text below."""

from __future__ import annotations

from html import escape

STYLE = """
.drawn { --drawn-ink: #1c1e21; --drawn-faint: #6a7078; --drawn-line: #d5d9de; --drawn-chat: #9cc9f5;
  --drawn-image: #e6e0c8; --drawn-bad: #b3261e; --drawn-wash: #fbe6e4; --drawn-up: #9bd3ae; --drawn-half: #f0d79a;
  margin: 1rem 0; color: var(--drawn-ink); }
@media (prefers-color-scheme: dark) { .drawn { --drawn-ink: #e4e6ea; --drawn-faint: #9aa1ab; --drawn-line: #3b4048;
  --drawn-chat: #1f4f80; --drawn-image: #4a4530; --drawn-bad: #ff8a80; --drawn-wash: #40201f; --drawn-up: #1f5c38;
  --drawn-half: #6b5218; } }
@media print { .drawn { --drawn-ink: #000; --drawn-faint: #444; --drawn-line: #bbb; --drawn-chat: #b9d8f5;
  --drawn-image: #eee9d8; --drawn-bad: #b3261e; --drawn-wash: #fbe6e4; --drawn-up: #b5dfc3; --drawn-half: #f3e0b4; }
  .drawn .canvas { overflow: visible; } .drawn svg { min-width: 0 !important; print-color-adjust: exact; } }
.drawn .canvas { overflow-x: auto; }
.drawn svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif; }
.drawn svg text { fill: var(--drawn-ink); stroke: none; } .drawn svg .faint { fill: var(--drawn-faint); }
.drawn svg .bad { fill: var(--drawn-bad); } .drawn svg .strong { font-weight: 600; }
.drawn svg .end { text-anchor: end; } .drawn svg .middle { text-anchor: middle; }
.drawn svg .rule { stroke: var(--drawn-line); } .drawn svg .wash { fill: var(--drawn-wash); stroke: none; }
.drawn svg .box { stroke: var(--drawn-ink); stroke-width: .8; fill: none; }
.drawn svg .chat { fill: var(--drawn-chat); } .drawn svg .image { fill: var(--drawn-image); }
.drawn svg .up { fill: var(--drawn-up); } .drawn svg .half { fill: var(--drawn-half); }
.drawn svg .lost { stroke: var(--drawn-bad); stroke-dasharray: 3 2; fill: none; }
.drawn svg .move { stroke: var(--drawn-ink); fill: none; } .drawn svg .head { fill: var(--drawn-ink); stroke: none; }
.drawn svg .end-cut { fill: var(--drawn-bad); }
.drawn svg .curve { stroke: var(--drawn-ink); fill: none; stroke-width: 1.6; }
.drawn svg .other { stroke: var(--drawn-faint); stroke-dasharray: 5 3; }
.drawn figcaption { font-size: .9rem; } .drawn details { font-size: .85rem; }
.drawn pre { white-space: pre-wrap; overflow-wrap: anywhere; }
""".lstrip()
"""For the page, once. Whatever draws uses these classes alone."""


class Html(str):
    """Text that is HTML already: no template need escape it."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def element(tag: str, *inside: str, **attributes: object) -> Html:
    """An element of SVG or HTML. What is inside and is not Html is escaped. A trailing or inner underscore of an
    attribute stands for what Python has no name for: `class_`, `aria_label`."""
    told = "".join(f' {name.strip("_").replace("_", "-")}="{escape(short(of))}"' for name, of in attributes.items())
    parts = "".join(part if isinstance(part, Html) else escape(part, quote=False) for part in inside)
    return Html(f"<{tag}{told}>{parts}</{tag}>")


def short(value: object) -> str:
    """Numbers with at most one decimal: a tenth of a pixel is enough."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def label(x: float, y: float, words: str, kind: str = "") -> Html:
    """Words that begin at that point, or end or are centred there, as `kind` says."""
    return element("text", words, x=x, y=y, **({"class_": kind} if kind else {}))


def box(x: float, y: float, width: float, height: float, kind: str) -> Html:
    """A rectangle."""
    return element("rect", x=x, y=y, width=width, height=height, rx=3, class_=kind)


def rule(x: float, y: float, to_x: float, to_y: float) -> Html:
    """A thin line that separates or measures."""
    return element("line", x1=x, y1=y, x2=to_x, y2=to_y, class_="rule")


def drawing(name: str, width: float, height: float, title: str, description: str, *parts: str) -> Html:
    """The SVG itself, which shrinks with the page to four fifths and grows by a quarter. `name` is unique there."""
    inside = (element("title", title, id=f"{name}-title"), element("desc", description, id=f"{name}-desc"), *parts)
    return element(
        "svg",
        *inside,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        viewBox=f"0 0 {short(width)} {short(height)}",
        style=f"min-width:{round(width * 0.8)}px;max-width:{round(width * 1.25)}px",
    )


def figure(svg: Html, caption: str, text: str) -> Html:
    """The drawing in a box that scrolls where it is too wide, with its caption, in which long names may be broken, and
    in text."""
    return element(
        "figure",
        element("div", svg, class_="canvas", tabindex=0, role="region", aria_label=caption.partition(".")[0]),
        element("figcaption", Html(escape(caption, quote=False).replace("_", "_<wbr/>"))),
        element("details", element("summary", "In text"), element("pre", text)),
        class_="drawn",
    )


def clipped(words: str, most: int) -> str:
    """So many characters of it, from both ends."""
    half = (most - 1) // 2
    return words if len(words) <= most else f"{words[: most - 1 - half]}\N{HORIZONTAL ELLIPSIS}{words[-half:]}"
