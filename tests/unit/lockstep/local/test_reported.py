"""Versions are told where they can be had; a program that is gone is no error."""

from pathlib import Path

import psutil
import pytest
from lightkube import Client

from lockstep import paths, processes
from lockstep.kube import client as kube
from lockstep.local import reported
from tests.unit.lockstep.fake_api import serving


class Process:
    """A scheduler whose program is at a path."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def exe(self) -> str:
        if self._path is None:
            raise psutil.NoSuchProcess(1)
        return str(self._path)


def told(folder: Path, monkeypatch: pytest.MonkeyPatch, program: Path | None) -> object:
    monkeypatch.setattr(processes, "named", lambda *_: [Process(program)])
    client = Client.__new__(Client)
    log = paths.program_log(folder, "lws-manager")
    log.parent.mkdir()
    log.write_text('"gitVersion": "v0.9.0"\n')
    return reported.platform(client, folder, {"scheduler": {"source": "metrics"}})


@pytest.mark.parametrize(
    ("script", "version"), [("echo Version: v1.2.3", {"version": "1.2.3"}), ("echo no", {})]
)
def test_version_that_the_program_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, version: dict[str, str]
) -> None:
    program = tmp_path / "vc-scheduler"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    assert told(tmp_path, monkeypatch, program) == {
        "scheduler": {"source": "metrics", **version},
        "lws": {"version": "0.9.0", "provider": None},
    }


@pytest.mark.parametrize("program", [None, Path("/none (deleted)")])
def test_program_that_is_gone_has_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Path | None
) -> None:
    found = told(tmp_path, monkeypatch, program)
    assert isinstance(found, dict)
    assert found["scheduler"] == {"source": "metrics"}


def test_log_of_lws_that_is_gone_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "exists", lambda _: True)
    client = Client.__new__(Client)
    assert reported.lws(reported._lws_log(client, tmp_path)) == {"version": None, "provider": None}


def test_cluster_that_does_not_answer_tells_no_versions(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, config), kube.client(str(config)) as client:
        found = reported.platform(client, tmp_path / "none", None)
    assert found == {"scheduler": {}, "lws": {"version": None, "provider": None}}
