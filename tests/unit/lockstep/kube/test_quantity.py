"""Quantities: the grammar of Kubernetes, exact values, and formats that never round up."""

import contextlib
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.kube.quantity import QuantityError, format_cpu, format_memory, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", Fraction(0)),
        ("4", Fraction(4)),
        ("+4", Fraction(4)),
        ("-1", Fraction(-1)),
        ("500m", Fraction(1, 2)),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1500u", Fraction(3, 2000)),
        ("7n", Fraction(7, 10**9)),
        ("1k", Fraction(1000)),
        ("1Ki", Fraction(1024)),
        ("8Gi", Fraction(8 * 2**30)),
        ("1.5Mi", Fraction(3 * 2**19)),
        ("1e3", Fraction(1000)),
        ("12E2", Fraction(1200)),
        ("5e-3", Fraction(1, 200)),
    ],
)
def test_quantity_is_read_exactly(text: str, value: Fraction) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", "4 ", " 4", "4\n", "four", "Gi", "m", ".", "-", "1.2.3", "4 Gi", "4gi", "4GI"],
        *["4g", "4K", "4ki", "4GB", "4Gib", "1e", "1e+", "1e3Gi", "1e3.5", "0x10", "1_000", "٤"],
        *["NaN", "inf", "1/2", "1e999999999", "9" * 31],
    ],
)
def test_quantity_of_another_grammar_is_refused(text: str) -> None:
    with pytest.raises(QuantityError) as raised:
        parse(text)
    assert str(raised.value) == (f"{text!r} is not a Kubernetes quantity such as 500m, 2 or 8Gi")


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (format_cpu, Fraction(2), "2"),
        (format_cpu, Fraction(3, 2), "1500m"),
        (format_cpu, Fraction(4, 3), "1333m"),
        (format_cpu, Fraction(1, 3000), "0"),
        (format_memory, Fraction(3 * 2**29), "1536Mi"),
        (format_memory, Fraction(1025), "1025"),
        (format_memory, Fraction(2**61), "2Ei"),
        (format_memory, Fraction(0), "0"),
        (format_memory, Fraction(2049, 2), "1Ki"),
    ],
)
def test_quantity_is_written_canonically_and_rounded_down(
    write: Callable[[Fraction], str], value: Fraction, text: str
) -> None:
    assert write(value) == text


@given(st.fractions(min_value=0, max_value=2**63 - 1))
def test_formats_lose_less_than_one_unit_and_never_round_up(value: Fraction) -> None:
    assert 0 <= value - parse(format_memory(value)) < 1
    assert 0 <= value - parse(format_cpu(value)) < Fraction(1, 1000)


@given(st.text(alphabet="0123456789.+-eEnumkKMGTPi "))
def test_any_text_is_read_exactly_or_refused(text: str) -> None:
    with contextlib.suppress(QuantityError):  # any other exception fails the test
        assert isinstance(parse(text), Fraction)
