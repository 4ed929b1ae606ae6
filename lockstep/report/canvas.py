"""The SVG elements of a picture on a time axis; the template `picture.svg.j2` writes them.

Horizontal places are shares of the width and text has the page's size, so a picture fits a phone
as well as a desktop. Colours and patterns come from the page's style sheet.
"""

import math
from dataclasses import dataclass, field

_AXIS_HEIGHT = 28
_TICKS = 5
_LEAST_WIDTH = 0.002
"""The least width of a bar: a bind burst may be much shorter, but must be visible."""
_NARROW, _WIDE = 26, 44
"""Characters that the name of a lane may have on a phone, and elsewhere."""


class Scale:
    """Maps times between `start` and `end` to shares of the picture's width."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = max(end, start + 0.001)

    def at(self, time: float) -> float:
        """Return the place of a time, from 0 (left) to 1 (right); times outside are clamped."""
        time = min(max(time, self.start), self.end)
        return (time - self.start) / (self.end - self.start)

    def ticks(self) -> list[float]:
        """Choose round times for the axis."""
        step = round_step((self.end - self.start) / _TICKS)
        first = math.ceil(self.start / step - 1e-6)
        last = math.floor(self.end / step + 1e-6)
        return [round(number * step, 6) for number in range(first, last + 1)]


def round_step(rough: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten."""
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)


@dataclass(frozen=True)
class Element:
    """An element of the SVG picture."""

    tag: str
    attributes: dict[str, str]
    title: str = ""
    """What a browser shows when the pointer is on the element."""
    text: str = ""


@dataclass
class Canvas:
    """The elements of one picture from top to bottom; `y` is where the next one goes."""

    identity: str
    """The start of the picture's ids in the page."""
    title: str
    description: str
    """What the picture shows, in words for a screen reader."""
    scale: Scale
    end: float
    """The end of the recording; the time after it is shaded."""
    origin: float = 0.0
    """The time of the recording that the scale calls zero."""
    y: float = 0.0
    shapes: list[Element] = field(default_factory=list)
    guides: set[float] = field(default_factory=set)
    """Places of lines through all lanes."""
    texts: list[Element] = field(default_factory=list)
    """Drawn last, so that no shape hides them."""

    @property
    def height(self) -> float:
        """The height of the picture with its axis."""
        return self.y + _AXIS_HEIGHT

    @property
    def beyond(self) -> float | None:
        """The place of the recording's end if the scale goes on: another picture is longer."""
        place = self.share(self.end)
        return place if place < 1.0 else None

    def share(self, time: float) -> float:
        """Return the place of a time of the recording, from 0 to 1."""
        return self.scale.at(time - self.origin)

    def bar(self, start: float, end: float, height: float, kind: str, title: str) -> None:
        """Draw a rectangle for something that lasts."""
        left = self.share(start)
        place = {
            "class": kind,
            "x": percent(left),
            "y": pixels(self.y),
            "width": percent(max(self.share(end) - left, _LEAST_WIDTH)),
            "height": pixels(height),
        }
        self.shapes.append(Element("rect", place, title))

    def pin(self, time: float, height: float) -> None:
        """Draw a line for something that happened, a little taller than the bars of its lane."""
        x = percent(self.share(time))
        top, bottom = pixels(self.y - 3), pixels(self.y + height + 3)
        place = {"class": "pin", "x1": x, "x2": x, "y1": top, "y2": bottom}
        self.shapes.append(Element("line", place))

    def disc(self, time: float, label: str, title: str) -> None:
        """Draw a round sign, with a number if there is space for one."""
        x, y = percent(self.share(time)), pixels(self.y + 4)
        place = {"class": "sign", "cx": x, "cy": y, "r": "8"}
        self.shapes.append(Element("circle", place, title))
        if label:
            self.text(self.share(time), label, "sign", dy=8, anchor="middle")

    def guide(self, time: float) -> None:
        """Draw a line through all lanes."""
        self.guides.add(self.share(time))

    def axis(self) -> None:
        """Write the times below the last lane."""
        for time in self.scale.ticks():
            place = self.scale.at(time)
            anchor = "start" if place < 0.04 else "end" if place > 0.96 else "middle"
            self.text(place, f"{time:g} s", "tick", dy=20, anchor=anchor)

    def heading(self, name: str, note: str, role: str = "") -> None:
        """Write the line above a lane and go below it; a long name is shorter on a phone."""
        short, long = (shortened(name, most - len(role)) for most in (_NARROW, _WIDE))
        if short == long:
            self.text(0.0, long + role, "name", dy=10)
        else:
            self.text(0.0, short + role, "name narrow", dy=10)
            self.text(0.0, long + role, "name roomy", dy=10)
        self.text(1.0, note, "note", dy=10, anchor="end")
        self.y += 15

    def text(self, x: float, text: str, kind: str, dy: float, anchor: str = "start") -> None:
        """Write a text at a place."""
        place = {"class": kind, "x": percent(x), "y": pixels(self.y + dy), "text-anchor": anchor}
        self.texts.append(Element("text", place, text=text))


def shortened(name: str, longest: int) -> str:
    """Shorten a name in the middle: its end distinguishes it from its siblings."""
    if len(name) <= longest:
        return name
    tail = longest * 2 // 3
    return f"{name[: longest - tail - 1]}\N{HORIZONTAL ELLIPSIS}{name[-tail:]}"


def percent(share: float) -> str:
    """Format a share of the width."""
    return f"{share * 100:.3f}".rstrip("0").rstrip(".") + "%"


def pixels(value: float) -> str:
    """Format a number of pixels."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
