"""Making what is absent: from official releases where they can be reached, else from Go modules."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from lockstep import paths
from lockstep.errors import LockstepError
from toolchain import build_log, cache, catalogue, found, golang, homes, network
from toolchain.group import Group
from toolchain.progress import Progress, duration
from toolchain.release import Releases
from toolchain.workshop import Workshop

GIGABYTE = 10**9


def default_groups() -> tuple[str, ...]:
    """What the default stack needs."""
    return tuple(name for name, group in catalogue.groups().items() if group.is_default)


def is_there(group: Group) -> bool:
    """Whether the group need not be made."""
    return cache.is_present(group) or found.has_group(group, homes.users_own())


def ensure(
    groups: Sequence[str] | None = None,
    progress: Progress | None = None,
    *,
    keep_build_cache: bool = False,
) -> None:
    """Make present what is absent of these groups; the default set when none are named.

    Runs at the same time cooperate: each group is made by one of them, the others wait for it.
    """
    known = catalogue.groups()
    wanted = [known[name] for name in (default_groups() if groups is None else groups)]
    missing = [group for group in wanted if not is_there(group)]
    if not missing:
        return
    shown = progress or Progress()
    try:
        _Run(shown).make(missing)
        if not keep_build_cache:
            cache.remove_build_dir()
    except (LockstepError, KeyboardInterrupt):
        shown.stop()
        raise
    except OSError as error:
        shown.stop()
        raise LockstepError(
            f"cannot make the toolchain in {cache.root()}: {error}; "
            "free some space there, or set LOCKSTEP_CACHE to another folder"
        ) from error


class _Run:
    """One run that fetches or builds something."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._began = time.monotonic()
        cache.root().mkdir(parents=True, exist_ok=True)

    def make(self, missing: Sequence[Group]) -> None:
        self._progress.expect(sum(len(group.programs) for group in missing))
        releases = Releases(self._progress.tick)
        unreleased = [group for group in missing if not self._fetch(releases, group)]
        if unreleased:
            with cache.use_of_build_dir():
                self._build(unreleased)
        self._progress.note(f"tools ready after {duration(time.monotonic() - self._began)}")

    def _fetch(self, releases: Releases, group: Group) -> bool:
        """Download one group; False when its release cannot be had here."""
        checksums = releases.checksums(group)
        if checksums is None:
            return False
        with self._alone(group):
            if self._made_meanwhile(group):
                return True
            self._progress.start(group.name, "downloading the official release")
            try:
                cache.publish(group, lambda into: releases.download(group, checksums, into))
            except network.NoAnswerError as error:
                self._progress.note(f"the download of {group.name} failed ({error})")
                return False
            self._progress.finish("downloaded", steps=len(group.programs))
            return True

    def _build(self, groups: Sequence[Group]) -> None:
        go = golang.find(golang.needed_version(groups))
        check_space(groups)
        log = build_log.fresh("tools")
        minutes = sum(group.minutes for group in groups)
        self._progress.note(
            f"building from Go modules, about {minutes:g} min on 2 cores; log: {log}"
        )
        for group in groups:
            with self._alone(group):
                if not self._made_meanwhile(group):
                    self._build_group(Workshop(go, log, self._progress.tick), group)

    def _build_group(self, workshop: Workshop, group: Group) -> None:
        def fill(folder: Path) -> str:
            with tempfile.TemporaryDirectory(dir=cache.build_dir()) as scratch:
                sources = Path(scratch)
                workshop.copy_sources(group, sources)
                for program in group.programs:
                    self._progress.start(program.name, "building from Go modules")
                    workshop.build(program, sources, folder / "bin" / program.name)
                    self._progress.finish("built")
                for piece in group.copies:
                    workshop.copy(piece, sources, folder)
            return "built"

        cache.publish(group, fill)

    def _alone(self, group: Group) -> AbstractContextManager[None]:
        """Keep other runs from making the same group."""
        note = f"another run is making {group.name}; waiting for it"
        return cache.lock(group.name, lambda: self._progress.note(note))

    def _made_meanwhile(self, group: Group) -> bool:
        if not cache.is_present(group):
            return False
        self._progress.skip(group.name, "made by another run", steps=len(group.programs))
        return True


def check_space(groups: Sequence[Group]) -> None:
    """Raise when the disk is too small for building these groups."""
    needed = sum(group.gigabytes for group in groups)
    free = shutil.disk_usage(cache.root()).free / GIGABYTE
    if free < needed:
        raise LockstepError(
            f"building the toolchain needs about {needed:g} GB of disk in {paths.cache_dir()} "
            f"while it runs (1 GB after), and {free:.1f} GB are free: free some space, "
            "or set LOCKSTEP_CACHE to a folder on a larger disk"
        )
