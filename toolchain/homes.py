"""Pulumi's home folder: the user's own, and the one of this checkout."""

from __future__ import annotations

import json
import os
from pathlib import Path

from lockstep import paths
from toolchain import cache, catalogue, found

SET_BY_US = "LOCKSTEP_SET"
"""Names the variables that an activated shell has from us, so that they are not taken for the
user's own wishes."""


def users_own() -> Path:
    """The home that Pulumi would use without us."""
    own = users_variable("PULUMI_HOME")
    return Path(own) if own else Path.home() / ".pulumi"


def users_variable(name: str) -> str | None:
    """A variable that the user set, and not we."""
    ours = os.environ.get(SET_BY_US, "").split()
    return None if name in ours else os.environ.get(name)


def logged_in_at(home: Path) -> str | None:
    """The backend that a `pulumi login` in this home chose."""
    credentials = Path(users_variable("PULUMI_CREDENTIALS_PATH") or home) / "credentials.json"
    try:
        return json.loads(credentials.read_text()).get("current") or None
    except (OSError, ValueError, AttributeError):
        return None


def prepare() -> Path:
    """The checkout's own home, with the toolchain's plugins in it."""
    home = paths.state_dir() / "pulumi"
    home.mkdir(exist_ok=True)
    for name in found.PLUGINS:
        plugin = found.plugin_path(home, name)
        target = cache.program(catalogue.groups()[name], plugin.name)
        if target.is_file():
            cache.link(plugin, target)
    return home
