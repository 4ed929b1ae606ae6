"""Readers from config text to typed values: each returns the value, or says what is allowed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from lockstep.kube import quantity

T = TypeVar("T")
Reader = Callable[[str], T]

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


class NotAllowed(ValueError):  # noqa: N818 - reads as what it says: "not allowed: must be …"
    """The text is no value of the key; the message completes "must be …"."""


def text(value: str) -> str:
    """Take any text."""
    return value


def boolean(value: str) -> bool:
    """Take only what YAML writes for a boolean: `yes` and `1` are more often slips than meant."""
    if value not in ("true", "false"):
        raise NotAllowed("true or false")
    return value == "true"


def integer(*, minimum: int) -> Reader[int]:
    """Read a whole number in plain digits, not below the minimum."""

    def read(value: str) -> int:
        if not re.fullmatch(r"-?[0-9]{1,9}", value) or int(value) < minimum:
            raise NotAllowed(f"a whole number of at least {minimum}")
        return int(value)

    return read


def one_of(choices: Sequence[str]) -> Reader[str]:
    """Read one of a few names."""

    def read(value: str) -> str:
        if value not in choices:
            raise NotAllowed(f"one of: {', '.join(choices)}")
        return value

    return read


def some_of(choices: Sequence[str]) -> Reader[tuple[str, ...]]:
    """Read a list of different names out of a few, in the order given; it may be empty."""

    def read(value: str) -> tuple[str, ...]:
        allowed = NotAllowed(f"a list without repetition, any of: {', '.join(choices)}")
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


def amount(*, minimum: str, example: str) -> Reader[str]:
    """Check a Kubernetes quantity, kept as written, not below the minimum."""

    def read(value: str) -> str:
        if _parsed(value) < quantity.parse(minimum):
            raise NotAllowed(f"a Kubernetes quantity of at least {minimum}, such as {example}")
        return value

    return read


def _parsed(value: str) -> Fraction:
    """Return the quantity, or less than any minimum when it is none."""
    try:
        return quantity.parse(value)
    except quantity.QuantityError:
        return Fraction(-1)


def label(*, longest: int) -> Reader[str]:
    """Check a DNS label (RFC 1123), short enough for the suffixes that node names add."""

    def read(value: str) -> str:
        if len(value) > longest or not _LABEL.fullmatch(value):
            raise NotAllowed(
                f"at most {longest} lower-case letters, digits and hyphens, "
                "beginning and ending with a letter or digit"
            )
        return value

    return read
