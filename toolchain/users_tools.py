"""The user's own Pulumi, kubectl, kind and Pulumi plugins; they are used if they are new enough."""

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path

from lockstep import versions
from toolchain import cache, catalogue
from toolchain.catalogue import Group

VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
LANGUAGE_HOST = "pulumi-language-python"
PINNED = {
    "pulumi": (["version"], versions.PULUMI),
    "kubectl": (["version", "--client"], versions.KUBERNETES),
    "kind": (["--version"], versions.KIND),
}
"""How to ask a tool for its version, and the pinned version."""

PLUGINS = ("pulumi-command", "pulumi-kubernetes")  # the groups that are Pulumi plugins

SET_BY_LOCKSTEP = "LOCKSTEP_SET"
"""Variable that names the variables of an activated shell that are Lockstep's, not the user's."""


def variable(name: str) -> str | None:
    """An environment variable that the user has set, not an earlier `activate`."""
    ours = os.environ.get(SET_BY_LOCKSTEP, "").split()
    return None if name in ours else os.environ.get(name)


def pulumi_home() -> Path:
    """The folder that Pulumi would use as its home without Lockstep."""
    own = variable("PULUMI_HOME")
    return Path(own) if own else Path.home() / ".pulumi"


def plugin_path(home: Path, group: str) -> Path:
    """Where Pulumi looks for a plugin in its home."""
    name, version = group.removeprefix("pulumi-"), catalogue.groups()[group].version
    return home / "plugins" / f"resource-{name}-v{version}" / f"pulumi-resource-{name}"


def has_plugins(home: Path) -> bool:
    """Whether a Pulumi home has every plugin that the Pulumi program asks for."""
    return all(plugin_path(home, group).is_file() for group in PLUGINS)


def has_group(group: Group) -> bool:
    """Whether the user's own tools replace the group."""
    if group.name in PLUGINS:
        return has_plugins(pulumi_home())
    return group.name in ("pulumi", "kind") and on_path(group.name) is not None


def on_path(name: str) -> Path | None:
    """The user's own tool, if it is on PATH and its version is good."""
    return _on_path(name, path_without_cache()) if name in PINNED else None


def path_without_cache() -> str:
    """PATH without the cache's folders, which an earlier `activate` may have put there."""
    cached = str(cache.root()) + os.sep
    parts = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(part for part in parts if not part.startswith(cached))


@functools.cache
def _on_path(name: str, path: str) -> Path | None:
    tool = shutil.which(name, path=path)
    if tool is None:
        return None
    arguments, pinned = PINNED[name]
    try:
        asked = subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    is_usable = _is_good(name, _numbers(asked.stdout), _numbers(pinned))
    return Path(tool) if is_usable and _is_complete(Path(tool), path) else None


def _numbers(text: str) -> list[int]:
    version = VERSION.search(text)
    return [int(part) for part in version.groups()] if version else [0, 0, 0]


def _is_good(name: str, version: list[int], pinned: list[int]) -> bool:
    if name == "kubectl":  # Kubernetes supports one minor version of difference
        return version[0] == pinned[0] and abs(version[1] - pinned[1]) <= 1
    return version[0] == pinned[0] and version >= pinned


def _is_complete(tool: Path, path: str) -> bool:
    """Whether the tool has what it needs: some packages of Pulumi lack its Python language host."""
    return tool.name != "pulumi" or bool(
        (tool.resolve().parent / LANGUAGE_HOST).is_file() or shutil.which(LANGUAGE_HOST, path=path)
    )
