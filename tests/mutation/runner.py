"""Running the tests on a mutant: in a fork of one process, so that Python starts only once.

The mutant is compiled in the fork, where an import hook serves it: no file is ever changed.
"""

import contextlib
import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.mutation.mutants import Mutant

OURS = ("lockstep", "tests", "components", "settings", "toolchain", "__main__")
_QUIET = (
    "-q",
    "-x",
    "--tb=no",
    "--assert=plain",
    "-pno:cacheprovider",
    "-pno:cov",
    "-pno:xdist",
    "-pno:unraisableexception",
)
_SLOWEST = 30.0
"""Seconds after which a mutant has timed out, which counts as killed."""


@dataclass
class Coverage:
    """What each test runs of the mutated code, and how long it takes."""

    seconds: dict[str, float]
    lines: dict[str, set[tuple[str, int]]]
    modules: list[str]
    """What the tests import, so that it is imported before the forks."""

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant, the quickest first; all, if it runs when it is imported."""
        wanted = {(str(mutant.path), line) for line in mutant.lines}
        names = [name for name, seen in self.lines.items() if not wanted or wanted & seen]
        return sorted(names, key=self.seconds.__getitem__)


class _Tracing:
    """Plugin: notes the lines of some files that each test runs."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self.coverage = Coverage({}, {}, [])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        seen = self.coverage.lines.setdefault(item.nodeid, set())

        def lines(frame: FrameType, event: str, _arg: Any) -> Any:
            seen.add((self.files[frame.f_code.co_filename], frame.f_lineno))
            return lines

        def calls(frame: FrameType, event: str, _arg: Any) -> Any:
            return lines if frame.f_code.co_filename in self.files else None

        started = time.monotonic()
        sys.settrace(calls)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.coverage.seconds[item.nodeid] = time.monotonic() - started


class _Selection:
    """Plugin: runs the named tests, in their order; examples that fail are not made smaller."""

    def __init__(self, names: list[str]) -> None:
        self.order = {name: index for index, name in enumerate(names)}

    def pytest_sessionstart(self) -> None:
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutation",
            settings.default,
            phases=phases,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutation")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.order:
            items[:] = sorted(
                (item for item in items if item.nodeid in self.order),
                key=lambda item: self.order[item.nodeid],
            )


class _Import(MetaPathFinder):
    """Import hook that serves one module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        path = mutant.path.with_suffix("")
        self.name = ".".join(path.parent.parts if path.name == "__init__" else path.parts)
        self.loader = _Loader(self.name, str(mutant.path.resolve()))
        self.loader.mutant = mutant

    def find_spec(self, fullname: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        """Find only the changed module."""
        if fullname != self.name:
            return None
        return spec_from_file_location(fullname, self.loader.path, loader=self.loader)


class _Loader(SourceFileLoader):
    mutant: Mutant

    def get_code(self, _fullname: str) -> CodeType:
        """Compile the mutant."""
        return compile(self.mutant.apply(), self.path, "exec")


def _pytest(words: Iterable[str], *plugins: object) -> int:
    return int(pytest.main([*_QUIET, *words], plugins=list(plugins)))


def measure(tests: str, files: Iterable[Path]) -> Coverage:
    """Run the tests once, unchanged, and import what they import."""
    reader, writer = os.pipe()
    tracing = _Tracing({str(file.resolve()): str(file) for file in files})

    def job() -> int:
        code = _pytest([tests], tracing, _Selection([]))
        found = tracing.coverage
        lines = {name: sorted(seen) for name, seen in found.lines.items()}
        with os.fdopen(writer, "w") as pipe:
            json.dump([code, found.seconds, lines, list(sys.modules)], pipe)
        return code

    _fork(job)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        code, seconds, lines, modules = json.load(pipe)
    os.wait()
    if code:
        raise SystemExit("the tests fail without any mutant; run them first")
    known = {name: {(file, line) for file, line in seen} for name, seen in lines.items()}
    coverage = Coverage(seconds, known, [m for m in modules if m.split(".")[0] not in OURS])
    for name in coverage.modules:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()
    return coverage


def run(
    mutants: Iterable[Mutant], coverage: Coverage, jobs: int, deadline: float
) -> Iterator[tuple[Mutant, str]]:
    """Run each mutant: `killed`, `survived`, `untested`, or `timeout`; stops at the deadline."""
    todo = iter(mutants)
    running: dict[int, tuple[Mutant, float]] = {}
    more = True
    while running or more:
        while more and len(running) < jobs:
            mutant = next(todo, None) if time.monotonic() < deadline else None
            if mutant is None:
                more = False
            elif tests := coverage.tests_of(mutant):
                running[_fork(_job(mutant, tests))] = (mutant, time.monotonic())
            else:
                yield mutant, "untested"
        yield from _ended(running)


def _ended(running: dict[int, tuple[Mutant, float]]) -> Iterator[tuple[Mutant, str]]:
    pid, status = os.waitpid(-1, os.WNOHANG) if running else (0, 0)
    if pid:
        mutant, _ = running.pop(pid)
        yield mutant, "killed" if status else "survived"
        return
    for other, (mutant, started) in list(running.items()):
        if time.monotonic() - started > _SLOWEST:
            os.kill(other, 9)
            os.waitpid(other, 0)
            del running[other]
            yield mutant, "timeout"
    time.sleep(0.01)


def _job(mutant: Mutant, tests: list[str]) -> Callable[[], int]:
    def job() -> int:
        sys.meta_path.insert(0, _Import(mutant))
        return _pytest({name.split("::")[0] for name in tests}, _Selection(tests))

    return job


def _fork(job: Callable[[], int]) -> int:
    """Do a job in another process, without its output; its number."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        code = job()
    finally:
        os._exit(code)
