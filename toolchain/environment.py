"""What a shell needs for plain `pulumi` commands to work: the exports of `activate`."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import tempfile
from pathlib import Path

from lockstep import paths
from toolchain import cache, catalogue, found, homes

USED_BY_PEOPLE = {"pulumi": "pulumi", "kubernetes": "kubectl", "kwok": "kwokctl", "kind": "kind"}
"""The groups that go on PATH, and the tool for whose sake they do."""


def environment() -> dict[str, str]:
    """The variables to set on top of the user's own, whose wishes come first."""
    ours = {"PATH": _path(), "PULUMI_SKIP_UPDATE_CHECK": "true"} | _pulumi()
    names = sorted(name for name in ours if name != "PATH")
    return ours | {homes.SET_BY_US: " ".join(names)}


def _path() -> str:
    """PATH with our tools first, but only those of which the user has no good one."""
    tools = [
        str(cache.folder(group) / "bin")
        for group in catalogue.groups().values()
        if group.name in USED_BY_PEOPLE
        and cache.is_present(group)
        and not found.on_path(USED_BY_PEOPLE[group.name])
    ]
    own = found.without_ours(os.environ.get("PATH", os.defpath)).split(os.pathsep)
    python = [str(Path(sys.prefix) / "bin")] if sys.prefix != sys.base_prefix else []
    return os.pathsep.join([*python, *tools, *(part for part in own if part not in python)])


def _pulumi() -> dict[str, str]:
    own_home = homes.users_own()
    backend = _users_backend(own_home)
    settings = {} if backend else _local_backend()
    if found.has_plugins(own_home):
        return settings
    settings["PULUMI_HOME"] = str(homes.prepare())
    if backend and not homes.users_variable("PULUMI_CREDENTIALS_PATH"):
        # The plugins are in our home, the login is in the user's.
        settings["PULUMI_CREDENTIALS_PATH"] = str(own_home)
    plugins = [catalogue.groups()[name] for name in found.PLUGINS]
    if any(cache.is_present(group) and cache.source(group) == "built" for group in plugins):
        # Built where no release could be reached: Pulumi would try in vain, and wait for it.
        settings["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
    return settings


def _users_backend(own_home: Path) -> bool:
    """Whether the user keeps their stacks elsewhere."""
    return bool(
        homes.users_variable("PULUMI_BACKEND_URL")
        or homes.users_variable("PULUMI_ACCESS_TOKEN")
        or homes.logged_in_at(own_home)
    )


def _local_backend() -> dict[str, str]:
    """Stacks in a folder of this checkout, their secrets under a passphrase of its own."""
    backend = paths.state_dir() / "backend"
    backend.mkdir(mode=0o700, exist_ok=True)
    settings = {"PULUMI_BACKEND_URL": backend.resolve().as_uri()}
    if all(
        homes.users_variable(name) is None  # an empty passphrase is one, too
        for name in ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
    ):
        settings["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(_passphrase_file())
    return settings


def _passphrase_file() -> Path:
    """A random passphrase that only its owner can read; made once, even by several runs."""
    file = paths.state_dir().resolve() / "passphrase"
    if not file.exists():
        descriptor, fresh = tempfile.mkstemp(prefix=".passphrase.", dir=file.parent)  # mode 0600
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(32))
        with contextlib.suppress(FileExistsError):
            os.link(fresh, file)  # unlike a rename, it never replaces another run's passphrase
        Path(fresh).unlink()
    return file
