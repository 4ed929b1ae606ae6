"""Running the tests on mutants: each in a fork of one process that has collected the tests.

In the fork the functions of the mutated module get their new code; what runs when a module is
imported is imported again, through a hook. No file is ever changed.
"""

import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.mutation.mutants import Mutant

_OURS = ("lockstep", "tests")
_PLUGINS = ("cacheprovider", "cov", "xdist", "unraisableexception")
_WORDS = ("-q", "-s", "--tb=no", "--assert=plain", *(f"-pno:{name}" for name in _PLUGINS))
_CPU_SECONDS = 30
_SECONDS = 600.0
"""How long a mutant may wait; one that computes for longer than the other has timed out too."""


@dataclass(frozen=True)
class Coverage:
    """What each test runs of the mutated files, and how long it takes."""

    seconds: dict[str, float]
    lines: dict[str, set[tuple[str, int]]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that run a mutant, the quickest first; all, if it runs when it is imported."""
        wanted = {(str(mutant.path), line) for line in mutant.lines}
        names = [name for name, seen in self.lines.items() if not wanted or wanted & seen]
        return sorted(names, key=self.seconds.__getitem__)


class Tests:
    """The collected tests, with which mutants are run in forks."""

    def __init__(self, session: pytest.Session, files: Iterable[Path]) -> None:
        self.session = session
        self.items = {item.nodeid: item for item in session.items}
        self.names = {str(file.resolve()): str(file) for file in files}
        self.functions: dict[str, list[FunctionType]] = {name: [] for name in self.names}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in self.functions:
                self.functions[one.__code__.co_filename].append(one)
        gc.freeze()
        self.coverage = self._measure()

    def _measure(self) -> Coverage:
        """Run all tests once, unchanged."""
        reader, writer = os.pipe()

        def job() -> int:
            found = [(name, *self._trace(name)) for name in self.items]
            with os.fdopen(writer, "w") as pipe:
                json.dump(found, pipe)
            return self.session.testsfailed

        _fork(job)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            found = json.load(pipe)
        if os.wait()[1]:
            pytest.exit("the tests fail without any mutant; run them first", returncode=2)
        return Coverage(
            {name: seconds for name, seconds, _ in found},
            {name: {(file, line) for file, line in seen} for name, _, seen in found},
        )

    def _trace(self, name: str) -> tuple[float, list[tuple[str, int]]]:
        """Run a test: its time, and the lines that it ran."""
        seen: set[tuple[str, int]] = set()

        def lines(frame: FrameType, _event: str, _arg: Any) -> Any:
            seen.add((self.names[frame.f_code.co_filename], frame.f_lineno))
            return lines

        def calls(frame: FrameType, _event: str, _arg: Any) -> Any:
            return lines if frame.f_code.co_filename in self.names else None

        started = time.process_time()
        sys.settrace(calls)
        self._run([name])
        sys.settrace(None)
        return time.process_time() - started, sorted(seen)

    def _run(self, names: list[str]) -> int:
        """Run tests until one fails."""
        for name in names:
            item = self.items[name]
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if self.session.testsfailed:
                return 1
        return 0

    def run(
        self, mutants: Iterable[Mutant], jobs: int, deadline: float
    ) -> Iterator[tuple[Mutant, str]]:
        """Run mutants until the deadline; each is killed, survived, untested or timed out."""
        todo = iter(mutants)
        running: dict[int, tuple[Mutant, float]] = {}
        more = True
        while running or more:
            while more and len(running) < jobs:
                mutant = next(todo, None) if time.monotonic() < deadline else None
                if mutant is None:
                    more = False
                elif tests := self.coverage.tests_of(mutant):
                    running[_fork(self._job(mutant, tests))] = (mutant, time.monotonic())
                else:
                    yield mutant, "untested"
            yield from _ended(running)

    def _job(self, mutant: Mutant, tests: list[str]) -> Callable[[], int]:
        def job() -> int:
            resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
            tree = compile(mutant.apply(), str(mutant.path.resolve()), "exec")
            if mutant.lines and self._replace_code(tree):
                return self._run(tests)
            return _import_again(mutant, tree, tests)

        return job

    def _replace_code(self, module: CodeType) -> bool:
        """Give the functions of a module the code of another; whether they fit each other."""
        codes = {(code.co_qualname, code.co_firstlineno): code for code in _codes(module)}
        try:
            for one in self.functions[module.co_filename]:
                one.__code__ = codes[one.__code__.co_qualname, one.__code__.co_firstlineno]
        except ValueError:
            return False  # it uses other variables of the function around it
        return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


class _Import(MetaPathFinder):
    """Import hook that serves one module from other code."""

    def __init__(self, mutant: Mutant, code: CodeType) -> None:
        path = mutant.path.with_suffix("")
        self.name = ".".join(path.parent.parts if path.name == "__init__" else path.parts)
        self.loader = _Loader(self.name, code.co_filename)
        self.loader.code = code

    def find_spec(self, fullname: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        """Find only that module."""
        if fullname != self.name:
            return None
        return spec_from_file_location(fullname, self.loader.path, loader=self.loader)


class _Loader(SourceFileLoader):
    code: CodeType

    def get_code(self, _fullname: str) -> CodeType:
        """The code that takes the place of the file's."""
        return self.code


class _Selection:
    """Plugin: runs the named tests."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def pytest_sessionstart(self) -> None:
        """Do not make examples smaller that fail."""
        _hurry()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the others out."""
        items[:] = [item for item in items if item.nodeid in self.names]


def _import_again(mutant: Mutant, code: CodeType, tests: list[str]) -> int:
    for name in list(sys.modules):
        if name.split(".")[0] in _OURS and not name.startswith("tests.mutation"):
            del sys.modules[name]
    sys.meta_path.insert(0, _Import(mutant, code))
    files = sorted({name.split("::")[0] for name in tests})
    return int(pytest.main([*_WORDS, "-x", *files], plugins=[_Selection(tests)]))


def _hurry() -> None:
    phases = (Phase.explicit, Phase.generate)
    checks = list(HealthCheck)
    settings.register_profile(
        "mutation", settings.default, phases=phases, database=None, suppress_health_check=checks
    )
    settings.load_profile("mutation")


class _Loop:
    """Plugin: does something with the collected tests instead of running them."""

    def __init__(self, work: Callable[[pytest.Session], None]) -> None:
        self.work = work

    def pytest_sessionstart(self) -> None:
        """Do not make examples smaller that fail."""
        _hurry()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do it."""
        self.work(session)
        return True


def collect(path: str, work: Callable[[pytest.Session], None]) -> None:
    """Do something with the tests of a folder."""
    pytest.main([*_WORDS, path], plugins=[_Loop(work)])


def _ended(running: dict[int, tuple[Mutant, float]]) -> Iterator[tuple[Mutant, str]]:
    pid, status = os.waitpid(-1, os.WNOHANG) if running else (0, 0)
    if pid:
        mutant, _ = running.pop(pid)
        timed_out = os.WIFSIGNALED(status)
        yield mutant, "timeout" if timed_out else "killed" if status else "survived"
        return
    for other, (_, started) in running.items():
        if time.monotonic() - started > _SECONDS:
            os.kill(other, signal.SIGKILL)
    time.sleep(0.005)


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
        code = min(job(), 1)
    finally:
        os._exit(code)
