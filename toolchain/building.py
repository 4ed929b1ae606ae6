"""Building groups from Go modules."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from lockstep.errors import LockstepError
from toolchain import cache, golang
from toolchain.catalogue import Copy, Group, Program
from toolchain.progress import Progress

REQUIREMENT = re.compile(r"^\t?(?:require )?(\S+) (v\S+)", re.MULTILINE)
LINK = 2_000_000
"""Linking a program takes about as long as compiling this many bytes of source."""
POLL = 0.2  # seconds


def built_from(group: Group, program: Program) -> str:
    """The Go module and the version of a program's code, as its go.mod pins them."""
    package = program.package
    if package.startswith("."):  # a main of Lockstep's, around the module that it embeds files of
        own = f"{program.module}/{program.executable}/"
        package = next((e.go_module for e in group.embeds if e.target.startswith(own)), package)
    required = REQUIREMENT.findall((cache.sources() / program.module / "go.mod").read_text())
    owners = [(path, version) for path, version in required if f"{package}/".startswith(f"{path}/")]
    return "@".join(max(owners)) if owners else f"toolchain/modules/{program.module}"


@dataclass
class Builder:
    """Builds groups with one Go compiler, and writes what Go prints to one log file."""

    go: Path
    log: Path
    progress: Progress

    def build(self, groups: Sequence[Group]) -> None:
        """Build groups whose programs are in the same modules, and put them into the cache.

        One command builds the programs of a module, so that no core waits while one of them is
        linked.
        """
        (cache.build_dir() / "tmp").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.build_dir()) as scratch:
            sources = Path(scratch)
            for module in dict.fromkeys(each for group in groups for each in group.modules):
                shutil.copytree(cache.sources() / module, sources / module)
            for embed in dict.fromkeys(each for group in groups for each in group.embeds):
                self._copy(embed, sources, sources / embed.target)
            for module in groups[0].built_modules:
                programs = [each for group in groups for each in group.programs]
                self._compile(
                    sources / module, [each for each in programs if each.module == module]
                )
            for group in groups:
                cache.publish(group, "built", partial(self._fill, group, sources))

    def _compile(self, module: Path, programs: Sequence[Program]) -> None:
        """Build the module's programs into its folder `built`."""
        packages = [program.package for program in programs]
        with self.progress.step("Go modules", "downloading", "ready", steps=0):
            sizes = self._sizes(module, packages)
        flags = [word for each in programs for word in ("-ldflags", _linker_flags(each))]
        built = module / "built"
        built.mkdir()
        command = ["build", "-v", *flags, "-o", f"{built}{os.sep}", *packages]
        waiting = {program.executable: program.name for program in programs}
        total = sum(sizes.values()) + LINK * len(programs)
        started = self.log.stat().st_size
        with (
            self.progress.together() as shown,
            self.log.open("ab") as log,
            self.log.open("rb") as printed,
            self._start(module, command, log) as process,
        ):
            printed.seek(started)
            lines: list[str] = []
            running = True
            while running:
                time.sleep(POLL)
                running = process.poll() is None
                lines += printed.read().decode().splitlines()
                for executable in [each for each in waiting if (built / each).is_file()]:
                    shown.finished(waiting.pop(executable))
                linked = LINK * (len(programs) - len(waiting))
                shown.so_far((linked + sum(sizes.get(line, 0) for line in lines)) / total)
        if process.returncode:
            name, *_ = waiting.values()
            errors = "\n".join(line for line in lines if line not in sizes)
            raise LockstepError(golang.explain(name, errors, self.log))

    @contextmanager
    def _start(
        self, module: Path, command: Sequence[str], log: IO[bytes]
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run Go in the background; it is stopped when the block fails."""
        log.write(f"$ cd {module.name} && go {' '.join(command)}\n".encode())
        log.flush()
        with subprocess.Popen(
            [self.go, *command], cwd=module, env=golang.environment(), stdout=log, stderr=log
        ) as process:
            try:
                yield process
            except BaseException:
                process.send_signal(signal.SIGINT)  # it ends its compilers, too
                raise

    def _sizes(self, module: Path, packages: Sequence[str]) -> dict[str, int]:
        """Download what the packages need; return how much source there is of each to compile."""
        form = '{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles "\t"}}'
        listed = self._run("Go modules", module, ["list", "-deps", "-f", form, *packages])
        sizes = {}
        for line in listed.splitlines():
            package, folder, *files = line.split("\t")
            sizes[package] = sum(os.path.getsize(os.path.join(folder, name)) for name in files)
        return sizes

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
