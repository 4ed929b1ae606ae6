"""Numbers as people read them; every format of the report writes them the same way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

NOTHING = "\N{EN DASH}"


def duration(seconds: float | None) -> str:
    """Write a measured time: milliseconds below a second, then seconds, then minutes."""
    if seconds is None:
        return NOTHING
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.995:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def moment(seconds: float | None) -> str:
    """Write a point in time as the recorder took it, to the millisecond."""
    return NOTHING if seconds is None else f"{seconds:.3f} s"


def told(mark: Mapping[str, Any]) -> str:
    """Write a mark's time, and that it is only the latest possible where that is so."""
    late = mark.get("before") or mark.get("listed")
    return f"by {moment(mark['at'])}" if late else moment(mark["at"])


def share(part: int, whole: int) -> str:
    """Write a count out of a whole."""
    return f"{part} of {whole}"


def count(number: int, thing: str) -> str:
    """Write a count with its noun."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def words(name: str) -> str:
    """Write a field's name as words: the unit is with the number."""
    plain = re.sub(r"Seconds$", "", name).replace("podSeconds", "podTime")
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r" \1", plain).capitalize()


def day(instant: str) -> str:
    """Write the date and minute of an ISO instant."""
    return f"{instant[:10]} {instant[11:16]} UTC"
