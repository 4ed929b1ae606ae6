"""Check a document against a JSON Schema, with the few keywords that the receipt's schema uses.

The schema stays the one description of a receipt: no second one in code that could drift from it,
and no validation library at run time. The tests hold this against the `jsonschema` package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def faults(value: Any, schema: Schema) -> Iterator[str]:
    """Say what is wrong with a document, each fault with the path to it."""
    yield from _faults(value, schema, schema, "")


def _faults(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[str]:
    if reference := schema.get("$ref"):
        name = str(reference).removeprefix("#/$defs/")
        yield from _faults(value, root["$defs"][name], root, path)
        return
    fault = _own_fault(value, schema)
    if fault:
        yield f"{path or 'the document'} {fault}"
    elif isinstance(value, dict):
        yield from _object_faults(value, schema, root, path)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _faults(item, schema["items"], root, f"{path}[{index}]")


def _own_fault(value: Any, schema: Schema) -> str | None:
    """Check what concerns the value itself, not its members."""
    if "type" in schema and not _is_type(value, schema["type"]):
        wanted = schema["type"]
        return f"must be {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
    if "const" in schema and value != schema["const"]:
        return f"must be {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str):
        return _text_fault(value, schema)
    if isinstance(value, int | float) and value < schema.get("minimum", value):
        return f"must be at least {schema['minimum']}"
    return None


def _text_fault(value: str, schema: Schema) -> str | None:
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return f"must match {schema['pattern']}"
    if len(value) > schema.get("maxLength", len(value)):
        return f"must have at most {schema['maxLength']} characters"
    return None


def _object_faults(
    value: Mapping[str, Any], schema: Schema, root: Schema, path: str
) -> Iterator[str]:
    prefix = f"{path}." if path else ""
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{prefix}{name} is missing"
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", {})
    for name, member in value.items():
        if name in known:
            yield from _faults(member, known[name], root, f"{prefix}{name}")
        elif others is False:
            yield f"{prefix}{name} is not known here"
        else:
            yield from _faults(member, others, root, f"{prefix}{name}")


def _is_type(value: Any, wanted: str | list[str]) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):  # Python counts booleans as integers, JSON does not
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _TYPES[name]) for name in names)
