"""The environment variables with which plain `pulumi` commands work: the exports of `activate`."""

import contextlib
import json
import os
import secrets
import sys
import tempfile
from pathlib import Path

from lockstep import paths
from toolchain import cache, catalogue, users_tools

ON_PATH = {"pulumi": "pulumi", "kubectl": "kubectl", "kind": "kind"}
"""The groups that go on PATH, each with the tool that people use of it."""


def environment() -> dict[str, str]:
    """The variables to set on top of the user's own; a variable that the user set is kept."""
    # Pulumi runs `pip list` at the start of every update, which would look for a newer pip.
    checks = {"PULUMI_SKIP_UPDATE_CHECK": "true", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    ours = {"PATH": _path()} | checks | _pulumi()
    names = sorted(name for name in ours if name != "PATH")
    return ours | {users_tools.SET_BY_LOCKSTEP: " ".join(names)}


def _path() -> str:
    """PATH with the cached tools first, except those of which the user has a good version."""
    tools = [
        str(cache.folder(group) / "bin")
        for group in catalogue.groups().values()
        if group.name in ON_PATH
        and cache.is_present(group)
        and not users_tools.on_path(ON_PATH[group.name])
    ]
    own = users_tools.path_without_cache().split(os.pathsep)
    python = [str(Path(sys.prefix) / "bin")] if sys.prefix != sys.base_prefix else []
    return os.pathsep.join([*python, *tools, *(part for part in own if part not in python)])


def _pulumi() -> dict[str, str]:
    own_home = users_tools.pulumi_home()
    has_backend = _has_backend(own_home)
    settings = {} if has_backend else _local_backend()
    if users_tools.has_plugins(own_home):
        return settings
    settings["PULUMI_HOME"] = str(_home_with_plugins())
    if has_backend and not users_tools.variable("PULUMI_CREDENTIALS_PATH"):
        # The plugins are in Lockstep's home, the login is in the user's.
        settings["PULUMI_CREDENTIALS_PATH"] = str(own_home)
    # Pulumi would try to download plugins that it has not, and wait where no release is reachable.
    settings["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true"
    return settings


def _home_with_plugins() -> Path:
    """A Pulumi home of this project, with links to the cached plugins."""
    home = paths.state_dir() / "pulumi"
    for name in users_tools.PLUGINS:
        plugin = users_tools.plugin_path(home, name)
        target = cache.program(catalogue.groups()[name], plugin.name)
        if target.is_file():
            cache.link(plugin, target)
    return home


def _has_backend(home: Path) -> bool:
    """Whether the user has set a backend or is logged in to one."""
    if users_tools.variable("PULUMI_BACKEND_URL") or users_tools.variable("PULUMI_ACCESS_TOKEN"):
        return True
    credentials = Path(users_tools.variable("PULUMI_CREDENTIALS_PATH") or home) / "credentials.json"
    try:
        return bool(json.loads(credentials.read_text()).get("current"))
    except (OSError, ValueError, AttributeError):
        return False


def _local_backend() -> dict[str, str]:
    """A backend in this project's state folder, with its own passphrase for secrets."""
    backend = paths.state_dir() / "backend"
    backend.mkdir(mode=0o700, exist_ok=True)
    settings = {"PULUMI_BACKEND_URL": backend.resolve().as_uri()}
    own = map(users_tools.variable, ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"))
    if all(passphrase is None for passphrase in own):  # an empty passphrase is the user's, too
        settings["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(_passphrase_file())
    return settings


def _passphrase_file() -> Path:
    """A file with a random passphrase, readable by the user only; created once by several runs."""
    file = paths.state_dir().resolve() / "passphrase"
    if not file.exists():
        descriptor, fresh = tempfile.mkstemp(prefix=".passphrase.", dir=file.parent)  # mode 0600
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(32))
        with contextlib.suppress(FileExistsError):
            os.link(fresh, file)  # unlike a rename, this never replaces another run's passphrase
        Path(fresh).unlink()
    return file
