"""HTML and SVG that cannot be injected into: whatever is not markup already gets escaped.

Receipts carry text from the cluster, such as event messages, which anyone who may create a pod
can write. Building elements through one function makes escaping the rule and not a habit.
"""

from __future__ import annotations

import html
import re

_VOID = frozenset({"br", "link", "meta"})
# Controls that a browser drops or obeys: NUL and its like, and those that reverse text direction.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Markup(str):
    """Text that is safe to put into a page as it is."""

    __slots__ = ()


Content = str | int | None
"""What an element may hold: markup as it is, other text escaped, None for nothing."""


def visible(text: str) -> str:
    """Replace control characters by a sign that one can see."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def escape(content: Content) -> Markup:
    """Make anything safe; markup is already."""
    if isinstance(content, Markup):
        return content
    return Markup("" if content is None else html.escape(visible(str(content))))


def join(*contents: Content) -> Markup:
    """Put pieces one after another."""
    return Markup("".join(map(escape, contents)))


def element(name: str, /, *contents: Content, **attributes: str | float | bool | None) -> Markup:
    """Make one element; `class_` and `data_step` become `class` and `data-step`."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(*contents)}</{name}>")


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
