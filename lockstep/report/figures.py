"""Numbers and text as people read them, the same in every format of the report."""

import re

from lockstep.report.timeline import Moment

NOTHING = "\N{EN DASH}"
# Control characters that a browser drops or obeys: NUL, escapes, changes of text direction.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Replace control characters by a visible sign: text from the cluster may have any."""
    return _INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", text)


def duration(seconds: float | None) -> str:
    """Format a measured time: milliseconds below a second, then seconds, then minutes."""
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


def time(seconds: float) -> str:
    """Format a point in time to the recorder's precision, a millisecond."""
    return f"{seconds:.3f} s"


def moment(mark: Moment | None) -> str:
    """Format the time of a change; `by` where only the latest possible time is known."""
    if mark is None:
        return NOTHING
    return f"by {time(mark.at)}" if mark.before or mark.listed else time(mark.at)


def share(part: int, total: int) -> str:
    """Format a count out of a total."""
    return f"{part} of {total}"


def count(number: int, thing: str) -> str:
    """Format a count with its noun."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def measure(name: str, value: float) -> str:
    """Format one of the figures that a verdict has besides; the unit is in the name."""
    return duration(value) if "Seconds" in name else f"{value:g}"


def words(name: str) -> str:
    """Format the name of a field as words, without the unit, which is with the number."""
    plain = re.sub(r"Seconds$", "", name).replace("podSeconds", "podTime")
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r" \1", plain).capitalize()


def day(instant: str) -> str:
    """Format the date and minute of an ISO instant."""
    return f"{instant[:10]} {instant[11:16]} UTC"
