"""Pulumi's Automation API on the toolchain's Pulumi CLI.

Import this module only where Pulumi is run: importing the Automation API takes half a second.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

from pulumi import automation
from pulumi.automation import CommandResult, LocalWorkspace, OutputMap, UpdateSummary
from pulumi.automation.errors import create_command_error
from semver import VersionInfo

import toolchain
from lockstep import paths, versions

STOP_WITHIN = 20.0
"""Seconds that an interrupted Pulumi has to end before it is killed."""


class ToolchainPulumi(automation.PulumiCommand):
    """The toolchain's Pulumi CLI, which Ctrl-C does not reach directly.

    The CLI runs in a session of its own, so that Lockstep decides how it ends: it is interrupted
    once, and killed with all its plugins if it does not end in time.
    """

    def __init__(self, log: Path | None = None) -> None:
        """With a log, all that the CLI prints is appended to it, also when it is stopped."""
        # The constructor of PulumiCommand would run `pulumi version` to check the version; the
        # toolchain has checked it already.
        self.command = str(toolchain.tool("pulumi"))
        self.version = VersionInfo.parse(versions.PULUMI)
        self.log = log

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], Any] | None = None,  # noqa: ARG002
        on_error: Callable[[str], Any] | None = None,  # noqa: ARG002
    ) -> CommandResult:
        """Run a command of the CLI to its end, or stop it when this process is interrupted."""
        # Files and not pipes: what a stopped CLI printed can be read without waiting for others
        # that have the pipes, too.
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            process = subprocess.Popen(
                [self.command, "--non-interactive", *args],
                cwd=cwd,
                env={**os.environ, **additional_env, "PULUMI_AUTOMATION_API": "true"},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                process.wait()
            except BaseException:
                stop(process)
                raise
            finally:
                result = CommandResult(_text(stdout), _text(stderr), process.returncode)
                self._keep(args, result.stdout + result.stderr)
        if process.returncode != 0:
            raise create_command_error(result)
        return result

    def _keep(self, args: list[str], printed: str) -> None:
        if self.log:
            with paths.private_file(self.log).open("a", encoding="utf-8") as log:
                log.write(f"$ pulumi {' '.join(args)}\n{printed}\n")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the leader of a process group; kill the group if that does not end it in time."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_WITHIN)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class AutomationStack(automation.Stack):
    """A stack that is neither selected nor asked for its outputs and history after an update.

    Selecting it would change the current stack of the user's shell. Each question is one more run
    of the CLI, and the engine's events have the answers.
    """

    def __init__(self, name: str, workspace: LocalWorkspace) -> None:
        self.name = name
        self.workspace = workspace

    def outputs(self) -> OutputMap:
        """No outputs; `lockstep.walk.events` has them."""
        return {}

    def info(self, show_secrets: bool = True) -> UpdateSummary:  # noqa: ARG002
        """No summary; `lockstep.walk.events` has it."""
        return cast("UpdateSummary", object())


def workspace(
    folder: Path, environment: Mapping[str, str], log: Path | None = None
) -> LocalWorkspace:
    """Return the workspace of a folder with a Pulumi.yaml; the log is that of `ToolchainPulumi`."""
    return LocalWorkspace(
        work_dir=str(folder), env_vars=environment, pulumi_command=ToolchainPulumi(log)
    )
