"""Downloading or building the groups that are missing."""

import functools
import shutil
from collections.abc import Sequence
from pathlib import Path

from lockstep import paths, versions
from lockstep.errors import LockstepError
from toolchain import cache, catalogue, golang, release, users_tools
from toolchain.building import Builder
from toolchain.catalogue import Group
from toolchain.progress import Progress


def default_groups() -> tuple[str, ...]:
    """The names of the groups that the default stack needs."""
    groups = catalogue.groups().values()
    return tuple(group.name for group in groups if group.command == catalogue.DEFAULT_COMMAND)


def ensure(groups: Sequence[str] | None = None, *, keep_build_cache: bool = False) -> None:
    """Download or build what is missing of these groups, one run at a time; default: all needed."""
    known = catalogue.groups()
    wanted = [known[name] for name in (default_groups() if groups is None else groups)]
    missing = _missing(wanted)
    if not missing:
        return
    progress = Progress(sum(len(group.programs) for group in missing))
    waiting = functools.partial(progress.note, "another run makes the toolchain; waiting for it")
    try:
        cache.root().mkdir(parents=True, exist_ok=True)
        with cache.lock(waiting):
            _make(_missing(missing), progress)
            if not keep_build_cache:
                shutil.rmtree(cache.build_dir(), ignore_errors=True)
    except OSError as error:
        raise LockstepError(
            f"cannot write the toolchain to {cache.root()}: {error}; "
            "free some space, or set LOCKSTEP_CACHE to another folder"
        ) from error


def _missing(groups: Sequence[Group]) -> list[Group]:
    return [each for each in groups if not (cache.is_present(each) or users_tools.has_group(each))]


def _make(groups: Sequence[Group], progress: Progress) -> None:
    to_build = [group for group in groups if not _download(group, progress)]
    if not to_build:
        return
    log = paths.cache_dir() / "logs" / "tools.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(b"")
    progress.note(f"building from Go modules (everything: 15 minutes on 2 cores); log: {log}")
    Builder(_compiler(progress), log, progress).build(to_build)


def _compiler(progress: Progress) -> Path:
    """The user's Go compiler if it is new enough, else a downloaded one."""
    if own := golang.find():
        return own
    if not golang.downloaded().is_file():
        with progress.step(f"Go {versions.GO_DOWNLOADED}", "downloading", "ready", steps=0):
            golang.download()
    return golang.downloaded()


def _download(group: Group, progress: Progress) -> bool:
    """Whether the group has a pinned release that could be downloaded."""
    if group.release is None:
        return False
    steps = len(group.programs)
    try:
        with progress.step(group.name, "downloading the release", "downloaded", steps=steps):
            cache.publish(
                group, "release", functools.partial(release.download, group, group.release)
            )
    except release.ReleaseError as error:
        progress.note(f"building {group.name} instead of downloading it ({error})")
        return False
    return True
