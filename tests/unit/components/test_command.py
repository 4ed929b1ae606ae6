"""The text of commands: run as Pulumi runs it, with a program in place of `lockstep`."""

import os
import subprocess
from pathlib import Path

import pulumi
import pytest

from components.command import lockstep_command
from tests.unit.components.graph import Record, deploy

PROGRAM = """#!/bin/sh
echo "$@"
echo "$LOCKSTEP_CLUSTER_DIR"
echo "$LOCKSTEP_KUBECONFIG"
"""


def command(*, uses_local_kubeconfig: bool = False) -> Record:
    def build() -> None:
        lockstep_command(
            "crds",
            cluster_name="c1",
            create="crds apply",
            delete="crds remove",
            environment={},
            uses_local_kubeconfig=uses_local_kubeconfig,
            opts=pulumi.ResourceOptions(),
        )

    return deploy(build)["crds"]


def run(made: Record, event: str, folder: Path, **environment: str) -> list[str]:
    """The lines that a command prints that Pulumi runs in a folder."""
    done = subprocess.run(
        [*made.inputs["interpreter"], made.inputs[event]],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **made.environment, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.fixture(params=[".venv", "venv"])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    program = tmp_path / request.param / "bin" / "lockstep"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o700)
    return tmp_path


def test_text_is_short_because_pulumi_prints_it_before_the_reason() -> None:
    inputs = command().inputs
    assert (inputs["create"], inputs["delete"]) == (
        "lockstep step crds apply",
        "lockstep step crds remove",
    )


@pytest.mark.parametrize(("event", "words"), [("create", "crds apply"), ("delete", "crds remove")])
def test_command_runs_the_step_of_the_projects_environment(
    project: Path, event: str, words: str
) -> None:
    said = run(command(), event, project)
    assert said == [f"step {words}", f"{project}/.lockstep/clusters/c1", ""]


def test_command_knows_the_clusters_folder_in_a_state_of_its_own(project: Path) -> None:
    made = command(uses_local_kubeconfig=True)
    said = run(made, "create", project, LOCKSTEP_STATE="/a state")
    assert said[1:] == ["/a state/clusters/c1", "/a state/clusters/c1/kubeconfig"]
