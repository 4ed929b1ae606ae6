"""The runtime for machines that withhold a capability, with a script in place of runc."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lockstep.errors import LockstepError
from toolchain.kind_image.programs import program

KEPT = "CAP_NET_ADMIN"
WITHHELD = "CAP_SYS_RESOURCE"
PROCESS = {
    "capabilities": {"bounding": [KEPT, WITHHELD], "ambient": [WITHHELD], "effective": [KEPT]},
    "oomScoreAdj": -500,
    "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 18446744073709551615, "soft": 1024}],
}


def restricted(process: dict[str, Any]) -> None:
    """What must be left of PROCESS."""
    assert process["capabilities"] == {"bounding": [KEPT], "ambient": [], "effective": [KEPT]}
    assert process["oomScoreAdj"] == 0
    assert process["rlimits"] == PROCESS["rlimits"]  # a number that a float would not hold


def run(folder: Path, *words: str) -> list[str]:
    """Run the runtime and return what it called runc with."""
    try:
        runtime = program("kind-runtime")
    except LockstepError as absent:
        pytest.skip(str(absent))
    (folder / "runc").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{folder}/called"\n')
    (folder / "runc").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    subprocess.run([runtime, *words], env={"PATH": path}, cwd=folder, check=True)
    return (folder / "called").read_text().splitlines()


@pytest.mark.parametrize("option", [["--bundle", "{0}"], ["--bundle={0}"], ["-b", "{0}"], []])
def test_create_drops_the_capability(tmp_path: Path, option: list[str]) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"ociVersion": "1.0.2", "process": PROCESS}))
    words = ["--root", "/run/x", "create", *(part.format(tmp_path) for part in option), "id"]
    assert run(tmp_path, *words) == words
    config = json.loads(file.read_text())
    restricted(config["process"])
    assert config["ociVersion"] == "1.0.2"


def test_exec_drops_the_capability(tmp_path: Path) -> None:
    file = tmp_path / "process.json"
    file.write_text(json.dumps(PROCESS))
    words = ["exec", "--process", str(file), "--detach", "id"]
    assert run(tmp_path, *words) == words
    restricted(json.loads(file.read_text()))


def test_other_commands_go_straight_through(tmp_path: Path) -> None:
    assert run(tmp_path, "--root", "/run/x", "kill", "id", "9") == [
        *("--root", "/run/x", "kill", "id", "9")
    ]
