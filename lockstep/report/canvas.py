"""Drawing on a time axis, as SVG inside the page.

Horizontal places are percentages and text has the page's size, so that a picture fits a phone as
well as a desk without becoming small print. Colours and patterns come from the page's style.
"""

from __future__ import annotations

from lockstep.report import figures
from lockstep.report.markup import Markup, element, join
from lockstep.report.scale import Break, Scale

_AXIS = 28
_HAIR = 0.002
"""The least width of a bar: a bind burst may be a hair's breadth, but it must be there."""


class Canvas:
    """Shapes from top to bottom; `y` is where the next one goes."""

    def __init__(self, scale: Scale, origin: float = 0.0) -> None:
        self.scale = scale
        self.origin = origin
        self.y = 0.0
        self._shapes: list[Markup] = []
        self._guides: set[float] = set()

    def share(self, time: float) -> float:
        """Tell where a time of the recording is, from 0 to 1."""
        return self.scale.at(time - self.origin)

    def bar(self, start: float, end: float, height: float, kind: str, title: str) -> None:
        """Draw something that lasts."""
        left, right = self.share(start), self.share(end)
        rect = element(
            "rect",
            element("title", title),
            class_=kind,
            x=percent(left),
            y=number(self.y),
            width=percent(max(right - left, _HAIR)),
            height=number(height),
        )
        self._shapes.append(rect)

    def pin(self, time: float, height: float, kind: str = "pin") -> None:
        """Draw something that happened, a little taller than the bars of its lane."""
        x = percent(self.share(time))
        y1, y2 = number(self.y - 3), number(self.y + height + 3)
        self._shapes.append(element("line", class_=kind, x1=x, x2=x, y1=y1, y2=y2))

    def guide(self, time: float) -> None:
        """Mark a time through all lanes."""
        self._guides.add(time)

    def heading(self, left: str, right: str, kind: str = "name") -> None:
        """Write the line above a lane, and go below it."""
        self.text(0.0, left, kind, dy=10)
        self._text("100%", right, "note", "end", 10)
        self.y += 15

    def text(self, share: float, text: str, kind: str, dy: float) -> None:
        """Write something beside a place."""
        self._text(percent(share), text, kind, "start", dy)

    def _text(self, x: str, text: str, kind: str, anchor: str, dy: float) -> None:
        y = number(self.y + dy)
        self._shapes.append(element("text", text, class_=kind, x=x, y=y, text_anchor=anchor))

    def finish(self, title: str, description: str, identity: str) -> Markup:
        """Put the axis behind the shapes and the breaks before them, and name the whole."""
        return element(
            "svg",
            element("title", title, id=f"{identity}-title"),
            element("desc", description, id=f"{identity}-desc"),
            *(self._tick(time) for time in self.scale.ticks()),
            *self._shapes,
            *(self._vertical("guide", self.share(time)) for time in sorted(self._guides)),
            *map(self._break, self.scale.breaks),
            class_="timeline",
            role="img",
            aria_labelledby=f"{identity}-title {identity}-desc",
            width="100%",
            height=number(self.y + _AXIS),
        )

    def _tick(self, time: float) -> Markup:
        place = self.scale.at(time)
        return join(self._vertical("grid", place), self._below(place, f"{time:g} s"))

    def _break(self, gap: Break) -> Markup:
        left, right = self.scale.at(gap.start), self.scale.at(gap.end)
        blank = element(
            "rect",
            class_="break",
            x=percent(left),
            y="0",
            width=percent(right - left),
            height=number(self.y + 4),
        )
        return join(blank, self._below((left + right) / 2, figures.duration(gap.end - gap.start)))

    def _below(self, place: float, text: str) -> Markup:
        anchor = "start" if place < 0.04 else "end" if place > 0.96 else "middle"
        y = number(self.y + 20)
        return element("text", text, class_="tick", x=percent(place), y=y, text_anchor=anchor)

    def _vertical(self, kind: str, place: float) -> Markup:
        x = percent(place)
        return element("line", class_=kind, x1=x, x2=x, y1="0", y2=number(self.y + 4))


def percent(share: float) -> str:
    """Write a share of the width."""
    return f"{share * 100:.3f}".rstrip("0").rstrip(".") + "%"


def number(value: float) -> str:
    """Write pixels."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
