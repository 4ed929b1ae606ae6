"""The switch for gang scheduling in the LWS manager's config file, as exact edits of its text.

Turning it off must give back what LWS, or its administrator, had written, comments included. So
nothing is parsed and dumped again: lines that we add carry a mark, lines that we must displace stay
as marked comments, and `without_scheduler_provider` undoes both.
"""

from __future__ import annotations

import json
from typing import Any

import yaml

from lockstep.errors import LockstepError

# LWS's objects: its chart derives the names from the release's, its plain manifests use the same.
LWS_NAMESPACE = "lws-system"
LWS_MANAGER = "lws-controller-manager"
LWS_CONFIG_MAP = "lws-manager-config"
LWS_CONFIG_KEY = "controller_manager_config.yaml"
RIGHTS_SUFFIX = "-lws-podgroups"
"""Ends the names of the role that lets LWS make PodGroups, and of its binding."""

PROVIDER = "volcano"
SECTION = "gangSchedulingManagement"
KEY = "schedulerProvider"

CONFIG_ANNOTATION = "lockstep.dev/config"
REVISION_ANNOTATION = "lockstep.dev/release-revision"

ADDED = "  # added by lockstep"
DISPLACED = "# displaced by lockstep: "


def with_scheduler_provider(text: str) -> str:
    """Add the provider to a config, keeping all else; a config that has it stays as it is."""
    upstream = without_scheduler_provider(text)
    wanted = _wanted(upstream)
    if wanted == _parsed(upstream):
        return upstream
    result = _edited(upstream)
    if _says(result, wanted):
        return result
    raise LockstepError(
        "cannot add the scheduler provider to the LWS config without changing more of it; "
        f"set {SECTION}.{KEY} to {PROVIDER} there by hand"
    )


def without_scheduler_provider(text: str) -> str:
    """Undo `with_scheduler_provider`, to the byte; a text that it has not seen stays as it is."""
    return "".join(
        line.removeprefix(DISPLACED)
        for line in text.splitlines(keepends=True)
        if not line.rstrip("\n").endswith(ADDED)
    )


def _says(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return _parsed(text) == wanted
    except LockstepError:
        return False


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise LockstepError(
            f"the LWS config is not YAML: {' '.join(str(error).split())}"
        ) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise LockstepError("the LWS config is not a mapping; look at its ConfigMap")
    return data


def _wanted(text: str) -> dict[str, Any]:
    """What the config must say: the section as it was, with our provider."""
    data = _parsed(text)
    section = data.get(SECTION)
    return {**data, SECTION: {**(section if isinstance(section, dict) else {}), KEY: PROVIDER}}


def _edited(text: str) -> str:
    """Add or displace as few lines as possible."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        return _added(0, f"{SECTION}: {{{KEY}: {PROVIDER}}}") + text
    if root.flow_style:
        return _displace(text, root, _added(0, json.dumps(_wanted(text))))
    entry = _entry(root, SECTION)
    first = root.value[0][0].start_mark
    if entry is None:
        section = _added(first.column, f"{SECTION}:")
        return _insert(text, first.line, section + _added(first.column + 2, f"{KEY}: {PROVIDER}"))
    return _edited_section(text, *entry)


def _edited_section(text: str, name: yaml.Node, section: yaml.Node) -> str:
    if not isinstance(section, yaml.MappingNode) or section.flow_style:
        line = f"{SECTION}: {json.dumps(_wanted(text)[SECTION])}"
        return _displace(text, name, _added(name.start_mark.column, line), until=section)
    first = section.value[0][0].start_mark
    ours = _added(first.column, f"{KEY}: {PROVIDER}")
    entry = _entry(section, KEY)
    if entry is None:
        return _insert(text, first.line, ours)
    return _displace(text, entry[0], ours, until=entry[1])


def _entry(mapping: yaml.MappingNode, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    return next(((name, value) for name, value in mapping.value if name.value == key), None)


def _added(indent: int, line: str) -> str:
    return f"{' ' * indent}{line}{ADDED}\n"


def _insert(text: str, at: int, added: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:at], added, *lines[at:]])


def _displace(text: str, node: yaml.Node, added: str, until: yaml.Node | None = None) -> str:
    """Put lines before the node's and make those comments; before, as the last may lack its end."""
    lines = text.splitlines(keepends=True)
    start, stop = node.start_mark.line, _last_line(until or node) + 1
    kept = [DISPLACED + line for line in lines[start:stop]]
    return "".join([*lines[:start], added, *kept, *lines[stop:]])


def _last_line(node: yaml.Node) -> int:
    """A block's own end is where the next thing starts, so look at its last part."""
    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    end = node.end_mark
    # A scalar of several lines ends at the very start of the line after it.
    past = end.column == 0 and end.line > node.start_mark.line
    return int(end.line) - past
