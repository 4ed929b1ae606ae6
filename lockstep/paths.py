"""The folders that Lockstep uses: a cache per user, state and reports per Pulumi project."""

import os
from pathlib import Path

from lockstep.errors import LockstepError

PROJECT_FILE = "Pulumi.yaml"


def checkout_dir() -> Path:
    """Lockstep's own checkout, with its Pulumi.yaml and stacks/."""
    folder = _checkout()
    if folder is None:
        raise LockstepError(
            "this command needs a checkout of Lockstep, but Lockstep is installed as a package; "
            "run it in a checkout"
        )
    return folder


def project_dir() -> Path:
    """The Pulumi project in use: the nearest folder with a Pulumi.yaml, from the current one up.

    Outside of any project it is Lockstep's own checkout.
    """
    current = Path.cwd()
    for folder in (current, *current.parents):
        if (folder / PROJECT_FILE).is_file():
            return folder
    checkout = _checkout()
    if checkout is None:
        raise LockstepError(
            f"no {PROJECT_FILE} in {current} or above it; change to the folder of your Pulumi "
            "project, or set LOCKSTEP_STATE to a folder for Lockstep's state"
        )
    return checkout


def cache_dir() -> Path:
    """The toolchain's cache, shared by all projects of this user."""
    if own := os.environ.get("LOCKSTEP_CACHE"):
        return Path(own)
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "lockstep"


def state_dir() -> Path:
    """Clusters, recordings, the local Pulumi backend and its passphrase; private to the user."""
    own = os.environ.get("LOCKSTEP_STATE")
    folder = Path(own) if own else project_dir() / ".lockstep"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder.resolve()


def cluster_dir(name: str) -> Path:
    """The folder of one cluster, which is removed with the cluster."""
    return state_dir() / "clusters" / name


def programs_dir(cluster: Path) -> Path:
    """The folder of what runs in an embedded cluster, and of the logs, in the cluster's folder."""
    return cluster / "programs"


def program_log(cluster: Path, program: str) -> Path:
    """The file with all that a program of an embedded cluster has printed."""
    return programs_dir(cluster) / f"{program}.log"


def out_dir() -> Path:
    """The folder for receipts, reports and logs."""
    return project_dir() / "out"


def private_file(path: Path) -> Path:
    """Create a file that only this user can read, and its folder, unless they exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.chmod(0o600)
    return path


def shown(path: Path) -> str:
    """Return a path as it is printed: relative if it is below the current folder."""
    current = Path.cwd()
    return str(path.relative_to(current) if path.is_relative_to(current) else path)


def _checkout() -> Path | None:
    folder = Path(__file__).resolve().parent.parent
    is_checkout = (folder / PROJECT_FILE).is_file() and (folder / "stacks").is_dir()
    return folder if is_checkout else None
