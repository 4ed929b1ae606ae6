"""Our small checker agrees with the reference implementation on the receipt's schema."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.report import json_schema, receipt
from tests import samples

CHECKED = {
    "$ref", "type", "const", "enum", "pattern", "maxLength", "minimum",
    "required", "properties", "additionalProperties", "items",
}  # fmt: skip
SILENT = {"$schema", "$id", "$defs", "title", "description"}
GOOD = samples.released()
VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, -1, 0, 1.5, 2.0, "", "x", "UPPER", [], {}, ["x"]]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document at which something can be changed."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield from places(inner, (*path, key))


PLACES = sorted((place for place in places(GOOD) if place), key=str)


def changed(place: tuple[Any, ...], value: Any, how: str) -> Any:
    document = copy.deepcopy(GOOD)
    parent: Any = document
    for key in place[:-1]:
        parent = parent[key]
    if how == "replace":
        parent[place[-1]] = value
    elif how == "remove":
        del parent[place[-1]]
    elif isinstance(parent, dict):
        parent["unheard-of"] = value
    return document


@given(
    place=st.sampled_from(PLACES), value=VALUES, how=st.sampled_from(["replace", "remove", "add"])
)
def test_checker_agrees_with_jsonschema(place: tuple[Any, ...], value: Any, how: str) -> None:
    document = changed(place, value, how)
    reference = jsonschema.Draft202012Validator(receipt.schema())
    assert (not list(json_schema.faults(document, receipt.schema()))) == reference.is_valid(
        document
    )


def test_schema_is_a_schema_and_uses_only_what_is_checked() -> None:
    jsonschema.Draft202012Validator.check_schema(receipt.schema())

    def keywords(schema: dict[str, Any]) -> set[str]:
        found = set(schema)
        inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
        inner += [schema[key] for key in ("items", "additionalProperties") if key in schema]
        return found.union(*(keywords(one) for one in inner if isinstance(one, dict)))

    assert keywords(receipt.schema()) <= CHECKED | SILENT


@pytest.mark.parametrize(
    ("place", "value", "fault"),
    [
        (("timeline", "pods", 0, "marks", 0, "at"), -1, "timeline.pods[0].marks[0].at"),
        (("schema",), "other", "schema must be 'lockstep.dev/receipt/v1'"),
        (("verdict", "ok"), "yes", "verdict.ok must be boolean"),
        (("step",), "../up", "step must match"),
        (("step",), "x" * 64, "step must have at most 63 characters"),
        (("timeline", "taints", 0, "change"), "cut", "must be one of set, removed"),
    ],
)
def test_fault_names_the_place(place: tuple[Any, ...], value: Any, fault: str) -> None:
    faults = list(json_schema.faults(changed(place, value, "replace"), receipt.schema()))
    assert len(faults) == 1
    assert fault in faults[0]
