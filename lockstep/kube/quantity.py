"""Kubernetes quantities such as `500m` and `8Gi`, as exact numbers: floats would lose bytes."""

import math
import re
from fractions import Fraction

_BINARY = {"Ei": 2**60, "Pi": 2**50, "Ti": 2**40, "Gi": 2**30, "Mi": 2**20, "Ki": 2**10}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SCALE: dict[str, int | Fraction] = _BINARY | {
    suffix: Fraction(10) ** power for suffix, power in _DECIMAL.items()
}

# Kubernetes caps quantities at 2^63-1: the bounded digits lose nothing that it could hold.
_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30}))"
    r"(?:[eE](?P<exponent>[+-]?[0-9]{1,2})|(?P<suffix>[KMGTPE]i|[numkMGTPE]?))"
)


class QuantityError(ValueError):
    """The text is not a Kubernetes quantity."""


def parse(text: str) -> Fraction:
    """Read a quantity in its base unit: cores for CPU, bytes for memory."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise QuantityError(f"{text!r} is not a Kubernetes quantity such as 500m, 2 or 8Gi")
    number = Fraction(match["number"])
    if match["exponent"] is not None:
        return number * Fraction(10) ** int(match["exponent"])
    return number * _SCALE[match["suffix"]]


def format_cpu(cores: Fraction) -> str:
    """Write cores as Kubernetes itself would, rounded down to a millicore so that a share fits."""
    millicores = math.floor(cores * 1000)
    return f"{millicores}m" if millicores % 1000 else str(millicores // 1000)


def format_memory(size: Fraction) -> str:
    """Write bytes with the largest binary suffix that loses nothing, rounded down to a byte."""
    count = math.floor(size)
    for suffix, scale in _BINARY.items():
        if count and count % scale == 0:
            return f"{count // scale}{suffix}"
    return str(count)
