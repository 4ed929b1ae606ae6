"""Find a process, kill it, and tell when it works again."""

import contextlib
import os
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from lockstep import paths, processes
from lockstep.errors import LockstepError
from lockstep.local import embedded_cluster, ports, supervise, supervisor
from tests.faults.plan import PROGRAMS
from tests.sabotage.api import FAILURES, Api, Refused

MARK = "LOCKSTEP_FAULTS"
"""Environment variable of an update of the campaign and of all that the update starts."""

_SERVES = {
    "vc-scheduler": ("volcanoSchedulerHealth",),
    "vc-controller-manager": ("volcanoControllerHealth",),
    "lws-manager": ("lwsHealth", "lwsWebhook"),
}
"""The ports at which an operator answers. The other programs serve nothing."""


@dataclass(frozen=True)
class Victims:
    """The processes of a cluster and of the update that works on it."""

    cluster: str
    folder: Path
    mark: str

    def find(self, fault: str, rng: random.Random | None = None) -> list[int]:
        """Return what has to be killed; empty as long as it does not run."""
        if fault in (*PROGRAMS, supervise.STANDBY):
            pid = self.program(fault)
            return [pid] if pid else []
        if fault == "supervisor":
            pid = supervisor.holder(self.folder)
            return [pid] if pid else []
        if fault == "recorder":
            return [one.pid for one in processes.of_cluster(self.folder) if "--serve" in words(one)]
        if fault == "reboot":
            mine = {one.pid for one in processes.of_cluster(self.folder)}
            return sorted(mine | set(self.marked())) if mine else []
        if fault == "plugin":
            found = self.marked("pulumi-resource-") + self.marked("pulumi-language-")
            return [(rng or random).choice(sorted(found))] if found else []
        return self.steps() if fault == "step" else self._update()

    def program(self, name: str) -> int | None:
        """The process of a program, as long as it runs."""
        try:
            text = (paths.programs_dir(self.folder) / f"{name}.pid").read_text()
            pid = int(text.split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pid if psutil.pid_exists(pid) else None

    def marked(self, name: str = "") -> list[int]:
        """What an update has started, under a name that starts so."""
        found = []
        for pid in psutil.pids():
            with contextlib.suppress(OSError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                names = [one.rpartition(b"/")[2] for one in command[:2]]
                if not any(one.startswith(name.encode()) for one in names):
                    continue
                environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                if f"{MARK}={self.mark}".encode() in environment and command != [b""]:
                    found.append(pid)
        return found

    def steps(self, step: str = "step") -> list[int]:
        """The commands of Lockstep that an update runs."""
        found = []
        for pid in self.marked("python") + self.marked("lockstep"):
            with contextlib.suppress(psutil.Error):
                own = words(psutil.Process(pid))
                if "step" in own and step in own and "--serve" not in own:
                    found.append(pid)
        return found[:1]

    def _update(self) -> list[int]:
        """The process groups of `lockstep up` and `pulumi`; plugins and commands have their own."""
        leaders = [pid for pid in self.marked("python") if "tests.faults.update" in words_of(pid)]
        leaders += [pid for pid in self.marked("pulumi") if name_of(pid) == "pulumi"]
        return sorted(
            pid for pid in self.marked() if _group(pid) in {_group(leader) for leader in leaders}
        )

    def is_back(self, fault: str, before: list[int], api: Api | None) -> bool:
        """Whether a new process does the work of the killed one."""
        if fault == "supervisor":
            pid = supervisor.holder(self.folder)
            standby = self.program(supervise.STANDBY)
            return bool(pid and pid not in before and standby not in (None, pid))
        pid = self.program(fault)
        if pid is None or pid in before:
            return False
        if fault in ("etcd", "kube-apiserver"):
            return api is not None and _reads(api)
        return all(self._listens(port) for port in _SERVES.get(fault, ()))

    def is_all_back(self, api: Api | None) -> bool:
        """Whether the programs that serve something do so."""
        names = [port for ports_of in _SERVES.values() for port in ports_of]
        return api is not None and api.is_ready() and all(map(self._listens, names))

    def _listens(self, port: str) -> bool:
        with contextlib.suppress(LockstepError):
            return bool(ports.listens(embedded_cluster.load(self.cluster).ports[port]))
        return False


def _reads(api: Api) -> bool:
    """Whether the API server reads from etcd; it may say that it is ready when it cannot yet."""
    with contextlib.suppress(*FAILURES, Refused):
        return bool(api.is_ready() and api.get("Namespace", "kube-system"))
    return False


def kill(pids: list[int]) -> None:
    """Kill processes, one right after the other."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def words(process: psutil.Process) -> list[str]:
    """A process's command line; empty if it has ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def words_of(pid: int) -> list[str]:
    """The command line of a process id."""
    with contextlib.suppress(psutil.Error):
        return words(psutil.Process(pid))
    return []


def name_of(pid: int) -> str:
    """The name of a process; empty if it has ended."""
    with contextlib.suppress(psutil.Error):
        return str(psutil.Process(pid).name())
    return ""


def _group(pid: int) -> int:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(pid)
    return -1


def alive(pids: list[int]) -> Iterator[str]:
    """Describe those of some processes that still run."""
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                yield f"{process.name()} {pid} ({' '.join(process.cmdline())[-80:]})"
