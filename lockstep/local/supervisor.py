"""Start programs in the background, each under a process that restarts it (`restart_loop`).

supervisord would do that as well, but it starts a program only a second after its own start, and
needs three seconds for a restart.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from lockstep import processes
from lockstep.local import restart_loop

Commands = Mapping[str, Sequence[str]]
"""Commands that must keep running, by the name of the program; `<name>.log` has the output."""


def run(folder: Path, cluster_folder: Path, commands: Commands) -> None:
    """Start the programs of a folder; those of an earlier call are killed first."""
    for pid_file in folder.glob("*.pid"):
        _kill(pid_file)
    for name, command in commands.items():
        path = folder / f"{name}.log"
        path.touch(mode=0o600)
        with path.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-I", restart_loop.__file__, log.name, *command],
                env=processes.marked_environment(cluster_folder),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Signals to this command, such as Ctrl-C, are not for the program.
                start_new_session=True,
            )
        (folder / f"{name}.pid").write_text(str(process.pid))
        process.returncode = 0  # it is meant to outlive this command: no ResourceWarning


def _kill(pid_file: Path) -> None:
    """Kill a restart loop together with its program, so that it cannot start one more."""
    with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
        loop = psutil.Process(int(pid_file.read_text()))
        if restart_loop.__file__ in loop.cmdline():
            family = [loop, *loop.children(recursive=True)]
            os.killpg(loop.pid, signal.SIGKILL)
            processes.end(family, pid_file.stem)
    pid_file.unlink(missing_ok=True)
