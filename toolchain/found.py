"""The user's own tools: on PATH, or among their Pulumi plugins, and of a version that will do."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from lockstep import versions
from toolchain import cache
from toolchain.group import Group

VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")

Version = tuple[int, int, int]
Rule = Callable[[Version, Version], bool]


def exactly(found: Version, pinned: Version) -> bool:
    """For parts of the cluster: outcomes must not depend on the machine."""
    return found == pinned


def at_least(found: Version, pinned: Version) -> bool:
    """For command lines that keep their promises within a major version."""
    return found[0] == pinned[0] and found >= pinned


def near(found: Version, pinned: Version) -> bool:
    """For kubectl: Kubernetes supports one minor version of difference."""
    return found[0] == pinned[0] and abs(found[1] - pinned[1]) <= 1


KNOWN: dict[str, tuple[tuple[str, ...], str, Rule]] = {
    "pulumi": (("version",), versions.PULUMI, at_least),
    "kubectl": (("version", "--client"), versions.KUBERNETES, near),
    "kind": (("--version",), versions.KIND, at_least),
    "etcd": (("--version",), versions.ETCD, exactly),
    "kwok": (("--version",), versions.KWOK, exactly),
    "kwokctl": (("--version",), versions.KWOK, exactly),
    "kube-apiserver": (("--version",), versions.KUBERNETES, exactly),
    "kube-controller-manager": (("--version",), versions.KUBERNETES, exactly),
    "kube-scheduler": (("--version",), versions.KUBERNETES, exactly),
}
"""How to ask a tool for its version, the pinned one, and what makes another one good."""


def on_path(name: str) -> Path | None:
    """The user's own tool, if they have a good one."""
    return _on_path(name, os.environ.get("PATH", os.defpath))


@functools.lru_cache
def _on_path(name: str, path: str) -> Path | None:
    if name not in KNOWN:
        return None
    found = shutil.which(name, path=without_ours(path))
    if found is None:
        return None
    arguments, pinned, rule = KNOWN[name]
    version = _ask(found, arguments)
    if version is None or not rule(version, _parse(pinned) or version):
        return None
    if name == "pulumi" and not _has_language_host(found, path):
        return None
    return Path(found)


def without_ours(path: str) -> str:
    """PATH without what the toolchain itself put there."""
    ours = str(cache.root()) + os.sep
    return os.pathsep.join(part for part in path.split(os.pathsep) if not part.startswith(ours))


def _ask(program: str, arguments: tuple[str, ...]) -> Version | None:
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return _parse(done.stdout)


def _parse(text: str) -> Version | None:
    found = VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def _has_language_host(pulumi: str, path: str) -> bool:
    host = "pulumi-language-python"
    return (Path(pulumi).resolve().parent / host).is_file() or bool(shutil.which(host, path=path))


PLUGINS = {
    "pulumi-command": ("command", versions.PULUMI_COMMAND),
    "pulumi-kubernetes": ("kubernetes", versions.PULUMI_KUBERNETES),
}
"""The groups that are Pulumi plugins: their name and version there."""


def plugin_path(home: Path, group: str) -> Path:
    """Where Pulumi looks for a plugin in its home."""
    name, version = PLUGINS[group]
    return home / "plugins" / f"resource-{name}-v{version}" / f"pulumi-resource-{name}"


def has_plugins(home: Path) -> bool:
    """Whether a Pulumi home has every plugin that the program asks for."""
    return all(plugin_path(home, group).is_file() for group in PLUGINS)


def has_group(group: Group, home: Path) -> bool:
    """Whether the user's own tools make the group unnecessary."""
    if group.name in PLUGINS:
        return has_plugins(home)
    if group.copies and group.name != "pulumi":  # charts come with the group only
        return False
    return all(
        on_path(program.name)
        for program in group.programs
        if program.name != "pulumi-language-python"
    )
