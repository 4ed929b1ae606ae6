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

_CLEAR = 0.14
"""How far a time on the axis keeps from the length of a break, as a share of the width."""
NARROW, WIDE = 26, 44
"""Characters that a lane's name may have on a phone, and elsewhere."""


class Canvas:
    """Shapes from top to bottom; `y` is where the next one goes."""

    def __init__(self, scale: Scale, origin: float = 0.0) -> None:
        self.scale = scale
        self.origin = origin
        self.y = 0.0
        self._shapes: list[Markup] = []
        self._texts: list[Markup] = []  # drawn last: nothing may hide what is written
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

    def sign(self, time: float, label: str, title: str) -> None:
        """Draw a round sign, with a number if there is room for one."""
        place = percent(self.share(time))
        disc = element("circle", element("title", title), cx=place, cy=number(self.y + 4), r="8")
        self._shapes.append(element("g", disc, class_="sign"))
        if label:
            self._text(place, label, "sign", "middle", 8)

    def guide(self, time: float) -> None:
        """Mark a time through all lanes."""
        self._guides.add(time)

    def heading(self, left: str, right: str, extra: str = "") -> None:
        """Write the line above a lane, and go below it; a long name is cut on a phone."""
        short, long = (cut(left, most - len(extra)) for most in (NARROW, WIDE))
        if short == long:
            self.text(0.0, long + extra, "name", dy=10)
        else:
            self.text(0.0, short + extra, "name narrow", dy=10)
            self.text(0.0, long + extra, "name roomy", dy=10)
        self._text("100%", right, "note", "end", 10)
        self.y += 15

    def text(self, share: float, text: str, kind: str, dy: float) -> None:
        """Write something beside a place."""
        self._text(percent(share), text, kind, "start", dy)

    def _text(self, x: str, text: str, kind: str, anchor: str, dy: float) -> None:
        y = number(self.y + dy)
        self._texts.append(element("text", text, class_=kind, x=x, y=y, text_anchor=anchor))

    def finish(self, title: str, description: str, identity: str, end: float) -> Markup:
        """Put the axis behind the shapes and the breaks before them, and name the whole."""
        return element(
            "svg",
            element("title", title, id=f"{identity}-title"),
            element("desc", description, id=f"{identity}-desc"),
            self._beyond(end),
            *(self._tick(time) for time in self.scale.ticks()),
            *self._shapes,
            *(self._vertical("guide", self.share(time)) for time in sorted(self._guides)),
            *map(self._break, self.scale.breaks),
            *self._texts,
            class_="timeline",
            role="img",
            aria_labelledby=f"{identity}-title {identity}-desc",
            width="100%",
            height=number(self.y + _AXIS),
        )

    def _tick(self, time: float) -> Markup:
        place = self.scale.at(time)
        near = any(abs(place - self._middle(gap)) < _CLEAR for gap in self.scale.breaks)
        label = None if near else self._below(place, f"{time:g} s")
        return join(self._vertical("grid", place), label)

    def _break(self, gap: Break) -> Markup:
        blank = self._area("break", self.scale.at(gap.start), self.scale.at(gap.end))
        return join(blank, self._below(self._middle(gap), figures.duration(gap.end - gap.start)))

    def _middle(self, gap: Break) -> float:
        return (self.scale.at(gap.start) + self.scale.at(gap.end)) / 2

    def _beyond(self, end: float) -> Markup | None:
        """Shade the time after the recording, which another picture on this scale may have."""
        place = self.share(end)
        return self._area("beyond", place, 1.0) if place < 1.0 else None

    def _area(self, kind: str, left: float, right: float) -> Markup:
        x, width, height = percent(left), percent(right - left), number(self.y + 4)
        return element("rect", class_=kind, x=x, y="0", width=width, height=height)

    def _below(self, place: float, text: str) -> Markup:
        anchor = "start" if place < 0.04 else "end" if place > 0.96 else "middle"
        y = number(self.y + 20)
        return element("text", text, class_="tick", x=percent(place), y=y, text_anchor=anchor)

    def _vertical(self, kind: str, place: float) -> Markup:
        x = percent(place)
        return element("line", class_=kind, x1=x, x2=x, y1="0", y2=number(self.y + 4))


def cut(name: str, longest: int) -> str:
    """Shorten a name in the middle: its end tells it from its siblings."""
    if len(name) <= longest:
        return name
    tail = longest * 2 // 3
    return f"{name[: longest - tail - 1]}\N{HORIZONTAL ELLIPSIS}{name[-tail:]}"


def percent(share: float) -> str:
    """Write a share of the width."""
    return f"{share * 100:.3f}".rstrip("0").rstrip(".") + "%"


def number(value: float) -> str:
    """Write pixels."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
