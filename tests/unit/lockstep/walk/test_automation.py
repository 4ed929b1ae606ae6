"""The Pulumi CLI as a process: its result, and how it ends when Lockstep is interrupted."""

import os
import signal
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest
from pulumi.automation import CommandError, StackNotFoundError

import toolchain
from lockstep.walk import automation
from lockstep.walk.automation import ToolchainPulumi


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in place of the Pulumi CLI."""
    path = tmp_path / "pulumi"
    path.touch(mode=0o700)
    monkeypatch.setattr(toolchain, "tool", lambda _: path)
    return path


@pytest.mark.parametrize(
    ("said", "error"),
    [("error: no stack named 'x' found", StackNotFoundError), ("error: no", CommandError)],
)
def test_failure_is_the_error_of_the_automation_api(
    script: Path, tmp_path: Path, said: str, error: type[Exception]
) -> None:
    script.write_text(f'#!/bin/sh\necho "{said}" >&2; exit 1\n')
    with pytest.raises(error):
        ToolchainPulumi().run(["up"], str(tmp_path), {})


def test_log_has_all_that_the_cli_printed_and_only_this_user_can_read_it(
    script: Path, tmp_path: Path
) -> None:
    script.write_text("#!/bin/sh\necho out; echo err >&2; exit $2\n")
    log = tmp_path / "out" / "pulumi.log"
    assert ToolchainPulumi(log).run(["0"], str(tmp_path), {}).stdout == "out\n"
    with pytest.raises(CommandError):
        ToolchainPulumi(log).run(["1"], str(tmp_path), {})
    assert log.read_text() == "$ pulumi 0\nout\nerr\n\n$ pulumi 1\nout\nerr\n\n"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.parametrize("stubborn", [False, True])
def test_interrupt_stops_the_cli(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubborn: bool
) -> None:
    trap = "trap '' INT" if stubborn else "trap 'exit 1' INT"
    script.write_text(
        f"#!/bin/sh\n{trap}\necho started\necho $$ > pid\nwhile :; do sleep 0.1; done\n"
    )
    monkeypatch.setattr(automation, "STOP_WITHIN", 0.5)
    pid = tmp_path / "pid"

    def interrupt() -> None:
        deadline = time.monotonic() + 10
        while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)  # until the test waits for the program
        os.kill(os.getpid(), signal.SIGINT)

    # A background job of a shell ignores SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            ToolchainPulumi(tmp_path / "log").run(["up"], str(tmp_path), {})
    finally:
        signal.signal(signal.SIGINT, before)
    listed = subprocess.run(["ps", "-p", pid.read_text().strip()], capture_output=True, check=False)
    assert listed.returncode != 0
    assert (tmp_path / "log").read_text() == "$ pulumi up\nstarted\n\n"
