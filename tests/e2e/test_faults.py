"""Faults: killed updates, lost clusters, ended processes, a full disk, two stacks at once."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from lockstep import paths, processes
from lockstep.local import control_plane, embedded_cluster, ports
from lockstep.wait import wait_until
from tests.e2e.conftest import LiveStack, MakeStack

PATIENCE = 120.0


def kill_when(stack: LiveStack, process: subprocess.Popen[str], name: str) -> None:
    """Kill pulumi once a process of the cluster with this name runs."""
    deadline = time.monotonic() + PATIENCE
    while not stack.processes(name):
        assert process.poll() is None, f"pulumi ended too soon: {stack.spawn_log.read_text()}"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def assert_no_trace(stack: LiveStack) -> None:
    """Check that neither the cluster nor the stack's state is left."""
    stack.assert_nothing_left()
    assert not stack.exists()
    assert pulumi_processes() == []


def pulumi_processes() -> list[list[str]]:
    """The commands of Pulumi, its plugins and the program that run in the checkout."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = process.cmdline()
            if "pulumi-" in " ".join(words[:2]) and Path(process.cwd()) == paths.checkout_dir():
                found.append(words)
    return found


@pytest.mark.parametrize("at", ["etcd", "vc-scheduler", "lws-manager"])
def test_killed_up_leaves_nothing_after_down_and_the_next_up_works(
    make_stack: MakeStack, at: str
) -> None:
    stack = make_stack("gang", name=f"e2e-kill-{at}")
    kill_when(stack, stack.spawn("up", "--yes", "--skip-preview"), at)
    stack.down()
    assert_no_trace(stack)
    if at == "lws-manager":
        stack.select()
        stack.deploy()
        assert stack.outputs()["verdicts"]["gang"]["ok"]
        stack.down()
        stack.assert_nothing_left()


def test_killed_destroy_leaves_nothing_after_down(make_stack: MakeStack) -> None:
    stack = make_stack("gang", name="e2e-kill-destroy", scenarios=[])
    stack.deploy()
    destroy = stack.spawn("destroy", "--yes", "--skip-preview")
    deadline = time.monotonic() + PATIENCE
    while stack.processes() and destroy.poll() is None:
        assert time.monotonic() < deadline
    os.killpg(destroy.pid, signal.SIGKILL)
    destroy.wait()
    stack.down()
    assert_no_trace(stack)


def test_down_of_a_stack_whose_state_was_cut_off_by_a_kill(make_stack: MakeStack) -> None:
    stack = make_stack("gang", name="e2e-cut-off", scenarios=[])
    for path in (paths.state_dir() / "backend").glob(f".pulumi/stacks/*/{stack.name}.json*.attrs"):
        path.write_text("")
    stack.down()
    assert_no_trace(stack)


@pytest.fixture(scope="module")
def lost(make_stack: MakeStack) -> LiveStack:
    """A stack whose cluster the tests destroy repeatedly."""
    stack = make_stack("gang", name="e2e-lost")
    stack.deploy()
    return stack


def lose(stack: LiveStack, *, folder: bool) -> None:
    """End all processes, as a reboot does, and remove the folder if asked to."""
    place = paths.cluster_dir(stack.cluster_name())
    processes.end_all(place)
    if folder:
        shutil.rmtree(place)


def test_up_recreates_a_cluster_whose_folder_was_removed(lost: LiveStack) -> None:
    lose(lost, folder=True)
    output = lost.deploy()
    assert f"the embedded cluster {lost.cluster_name()} will be recreated: " in output
    assert lost.outputs()["verdicts"]["gang"]["ok"]
    assert len(lost.processes()) >= 8


def test_processes_of_a_removed_folder_end(lost: LiveStack) -> None:
    shutil.rmtree(paths.cluster_dir(lost.cluster_name()))
    wait_until("the end of all processes", lambda: not lost.processes(), 20)
    lost.deploy()
    assert lost.outputs()["verdicts"]["gang"]["ok"]


def test_second_create_keeps_the_cluster(lost: LiveStack) -> None:
    name = lost.cluster_name()
    before = {process.pid for process in lost.processes()}
    plan = embedded_cluster.plan(name)
    assert plan.warning == ""
    control_plane.create(name, plan.incarnation, plan.run)
    assert {process.pid for process in lost.processes()} == before


def test_refresh_of_a_lost_cluster_ends_well(lost: LiveStack) -> None:
    lose(lost, folder=True)
    lost.pulumi("refresh", "--yes", "--skip-preview")
    lost.deploy()
    assert lost.outputs()["verdicts"]["gang"]["ok"]


def test_destroy_of_a_lost_cluster_ends_well(lost: LiveStack) -> None:
    lose(lost, folder=True)
    lost.pulumi("destroy", "--yes", "--skip-preview")
    lost.assert_nothing_left()


def test_two_stacks_at_once(make_stack: MakeStack) -> None:
    stacks = [make_stack("gang", name=f"e2e-twin-{number}") for number in (1, 2)]
    outputs: dict[str, str] = {}

    def deploy(stack: LiveStack) -> None:
        outputs[stack.name] = stack.deploy()

    threads = [threading.Thread(target=deploy, args=(stack,)) for stack in stacks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outputs) == 2
    assert all(stack.outputs()["verdicts"]["gang"]["ok"] for stack in stacks)
    numbers = [set(embedded_cluster.load(stack.cluster_name()).ports.values()) for stack in stacks]
    assert not numbers[0] & numbers[1]
    stacks[0].down()
    assert len(stacks[1].processes()) >= 8
    stacks[1].down()
    for stack in stacks:
        stack.assert_nothing_left()


def lockstep(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lockstep", *words],
        env={**os.environ, **environment},
        cwd=paths.project_dir(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_port_taken_at_the_last_moment_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    real = ports.free_ports
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        draws = iter([{"apiserver": port}, {}])
        monkeypatch.setattr(ports, "free_ports", lambda names: real(names) | next(draws))
        made = control_plane.create("e2e-port", "test", "run")
        try:
            assert made.ports["apiserver"] != port
        finally:
            control_plane.delete("e2e-port")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_full_disk_is_a_one_line_error_and_leaves_nothing(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("this machine does not let a small disk be mounted")
    try:
        done = lockstep(
            "step", "cluster", "create", LOCKSTEP_CLUSTER="e2e-full", LOCKSTEP_STATE=str(tmp_path)
        )
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert "MiB are free" in done.stderr
        assert not (tmp_path / "clusters" / "e2e-full").exists()
        assert processes.of_cluster(tmp_path / "clusters" / "e2e-full") == []
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
