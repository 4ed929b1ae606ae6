"""Readers of config text: each returns the typed value, or raises with what is allowed."""

import json
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from lockstep.kube import quantity

T = TypeVar("T")
Reader = Callable[[str], T]

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


class InvalidValue(ValueError):  # noqa: N818 - the message completes "must be …"
    """The text is not a valid value of its key; the message says what is, after "must be"."""


def text(value: str) -> str:
    """Accept any text."""
    return value


def boolean(value: str) -> bool:
    """Accept `true` and `false` only; `yes` and `1` are more often slips than meant."""
    if value not in ("true", "false"):
        raise InvalidValue("true or false")
    return value == "true"


def integer(*, minimum: int, maximum: int) -> Reader[int]:
    """Read a whole number in plain digits, within the limits."""

    def read(value: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,9}", value) or not minimum <= int(value) <= maximum:
            raise InvalidValue(f"a whole number from {minimum} to {maximum}")
        return int(value)

    return read


def one_of(choices: Sequence[str]) -> Reader[str]:
    """Read one of the names in `choices`."""

    def read(value: str) -> str:
        if value not in choices:
            raise InvalidValue(f"one of: {', '.join(choices)}")
        return value

    return read


def some_of(choices: Sequence[str]) -> Reader[tuple[str, ...]]:
    """Read a list of different names in `choices`, in the order given; it may be empty."""

    def read(value: str) -> tuple[str, ...]:
        allowed = InvalidValue(f"a list without repetition, any of: {', '.join(choices)}")
        try:
            names = json.loads(value)
        except ValueError:
            raise allowed from None
        if not isinstance(names, list) or any(name not in choices for name in names):
            raise allowed
        if len(set(names)) < len(names):
            raise allowed
        return tuple(names)

    return read


def amount(*, minimum: str, maximum: str, example: str) -> Reader[str]:
    """Check a Kubernetes quantity, kept as written, within the limits."""
    least, most = quantity.parse(minimum), quantity.parse(maximum)

    def read(value: str) -> str:
        if not least <= _parsed(value) <= most:
            raise InvalidValue(
                f"a Kubernetes quantity from {minimum} to {maximum}, such as {example}"
            )
        return value

    return read


def _parsed(value: str) -> Fraction:
    """Return the quantity; for invalid text a value below any minimum."""
    try:
        return quantity.parse(value)
    except quantity.QuantityError:
        return Fraction(-1)


def label(*, longest: int) -> Reader[str]:
    """Check a DNS label (RFC 1123), short enough for the suffixes that node names add."""

    def read(value: str) -> str:
        if len(value) > longest or not _LABEL.fullmatch(value):
            raise InvalidValue(
                f"at most {longest} lower-case letters, digits and hyphens, "
                "beginning and ending with a letter or digit"
            )
        return value

    return read
