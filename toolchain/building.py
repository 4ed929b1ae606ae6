"""Building groups from Go modules."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lockstep.errors import LockstepError
from toolchain import cache, golang
from toolchain.catalogue import Copy, Group, Program
from toolchain.progress import Progress, Together

REQUIREMENT = re.compile(r"^\t?(?:require )?(\S+) (v\S+)", re.MULTILINE)
LINK = 2_000_000
"""Linking a program takes about as long as compiling this many bytes of source."""
POLL = 0.2  # seconds


def built_from(program: Program) -> str:
    """The Go module and the version of a program's code, as its go.mod pins them."""
    package = program.code or program.package
    required = REQUIREMENT.findall((cache.sources() / program.module / "go.mod").read_text())
    owners = [(path, version) for path, version in required if f"{package}/".startswith(f"{path}/")]
    return "@".join(max(owners)) if owners else f"toolchain/modules/{program.module}"


@dataclass
class Work:
    """What is to be done: bytes of source to compile by the package's folder, programs to link.

    A package that several modules use is in one folder, and is compiled once. `record` has the
    folders of all packages in Go's cache: what a stopped run has compiled is not to be done again.
    """

    record: Path
    compiled: dict[str, int] = field(default_factory=dict)
    links: int = 0
    done: set[str] = field(default_factory=set)
    linked: int = 0

    def __post_init__(self) -> None:
        """Read the record."""
        self.before = set(self.record.read_text().splitlines()) if self.record.exists() else set()

    def add(self, folder: str, size: int) -> None:
        """Add a package, unless an earlier run has compiled it."""
        if folder not in self.before:
            self.compiled[folder] = size

    def finish(self, folders: Iterable[str]) -> None:
        """Note that packages are compiled."""
        fresh = {folder for folder in folders if folder in self.compiled} - self.done
        self.done |= fresh
        with self.record.open("a") as file:
            file.writelines(f"{folder}\n" for folder in fresh)

    @property
    def share(self) -> float:
        """How much of it is done."""
        done = sum(self.compiled[folder] for folder in self.done) + LINK * self.linked
        return done / (sum(self.compiled.values()) + LINK * self.links)


@dataclass
class Builder:
    """Builds groups with one Go compiler, and writes what Go prints to one log file."""

    go: Path
    log: Path
    progress: Progress

    def build(self, groups: Sequence[Group]) -> None:
        """Build the groups; each is in the cache as soon as the modules of its programs are built.

        One command builds the programs of a module, so that no core waits while one of them is
        linked.
        """
        (cache.build_dir() / "tmp").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.build_dir()) as scratch:
            sources = Path(scratch)
            programs: dict[str, list[Program]] = {}
            for program in (each for group in groups for each in group.programs):
                programs.setdefault(program.module, []).append(program)
            work = Work(cache.build_dir() / "compiled", links=sum(map(len, programs.values())))
            with self.progress.step("Go modules", "downloading", "ready", steps=0):
                self._prepare(groups, sources)
                packages = {
                    module: self._packages(sources / module, programs[module], work)
                    for module in programs
                }
            with self.progress.together() as shown:
                waiting, built = list(groups), set[str]()
                for module in programs:
                    self._compile(sources / module, programs[module], packages[module], work, shown)
                    built.add(module)
                    for group in [each for each in waiting if built.issuperset(each.built_modules)]:
                        cache.publish(group, "built", partial(self._fill, group, sources))
                        waiting.remove(group)

    def _prepare(self, groups: Sequence[Group], sources: Path) -> None:
        for module in dict.fromkeys(each for group in groups for each in group.modules):
            shutil.copytree(cache.sources() / module, sources / module)
        for embed in dict.fromkeys(each for group in groups for each in group.embeds):
            self._copy(embed, sources, sources / embed.target)

    def _packages(self, module: Path, programs: Sequence[Program], work: Work) -> dict[str, str]:
        """Download what the programs need; return the folder of every package, by its path."""
        form = '{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles "\t"}}'
        roots = [program.package for program in programs]
        listed = self._run(module.name, module, ["list", "-deps", "-f", form, *roots])
        folders = {}
        for line in listed.splitlines():
            package, folder, *files = line.split("\t")
            folders[package] = folder
            work.add(folder, sum(os.path.getsize(os.path.join(folder, name)) for name in files))
        return folders

    def _compile(
        self,
        module: Path,
        programs: Sequence[Program],
        packages: dict[str, str],
        work: Work,
        shown: Together,
    ) -> None:
        """Build the module's programs into its folder `built`."""
        flags = [word for each in programs for word in ("-ldflags", _linker_flags(each))]
        built = module / "built"
        built.mkdir()
        roots = [program.package for program in programs]
        command = ["build", "-v", *flags, "-o", f"{built}{os.sep}", *roots]
        waiting = {program.executable: program.name for program in programs}
        lines: list[str] = []
        with self.log.open("a") as log:
            log.write(f"$ cd {module.name} && go {' '.join(command)}\n")
        started = self.log.stat().st_size
        with self.log.open() as printed, self._start(module, command) as process:
            printed.seek(started)
            running = True
            while running:
                time.sleep(POLL)
                running = process.poll() is None
                news = printed.read().splitlines()
                lines += news
                work.finish(packages[line] for line in news if line in packages)
                for executable in [each for each in waiting if (built / each).is_file()]:
                    shown.finished(waiting.pop(executable))
                    work.linked += 1
                shown.so_far(work.share)
        if process.returncode:
            name, *_ = waiting.values()
            errors = "\n".join(line for line in lines if line not in packages)
            raise LockstepError(golang.explain(name, errors, self.log))
        work.finish(packages.values())

    @contextmanager
    def _start(self, module: Path, command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
        """Run Go in the background, with its output in the log; stop it when the block fails."""
        with (
            self.log.open("ab") as log,
            subprocess.Popen(
                [self.go, *command],
                cwd=module,
                env=golang.environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            ) as process,
        ):
            try:
                yield process
            except BaseException:
                # Go and its compilers. A job in the background of a shell ignores SIGINT.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                raise

    def _fill(self, group: Group, sources: Path, folder: Path) -> None:
        for program in group.programs:
            built = sources / program.module / "built" / program.executable
            shutil.move(built, folder / "bin" / program.name)
        for piece in group.copies:
            self._copy(piece, sources, folder / piece.target)

    def _copy(self, piece: Copy, sources: Path, target: Path) -> None:
        command = ["mod", "download", "-json", piece.go_module]
        answer = self._run(piece.go_module, sources / piece.module, command)
        source = Path(json.loads(answer)["Dir"]) / piece.source
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
        # A module's files are read-only and its scripts are not executable.
        for path in (target, *target.rglob("*")):
            path.chmod(0o755 if path.is_dir() or target.parent.name == "bin" else 0o644)

    def _run(self, name: str, cwd: Path, command: list[str]) -> str:
        """Run Go, with its output in the log too, and return what it printed on stdout."""
        done = subprocess.run(
            [self.go, *command],
            cwd=cwd,
            env=golang.environment(),
            capture_output=True,
            text=True,
        )
        with self.log.open("a") as log:
            log.write(f"$ cd {cwd.name} && go {' '.join(command)}\n{done.stderr}\n")
        if done.returncode:
            raise LockstepError(golang.explain(name, done.stdout + done.stderr, self.log))
        return done.stdout


def _linker_flags(program: Program) -> str:
    """The linker's flags for this program alone: no symbols, and its variables."""
    variables = "".join(f" -X {each}" for each in program.variables)
    return f"{program.package}=-s -w{variables}"
