"""The real toolchain: its programs work; a build survives kills and concurrent runs."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import toolchain
from lockstep import paths, versions
from toolchain import cache, catalogue

SMALL = "kind"
"""A real group that builds in about a minute from nothing."""


def start(*options: str, **environment: str) -> subprocess.Popen[str]:
    """Run `lockstep tools` as a user would."""
    return subprocess.Popen(
        [sys.executable, "-m", "lockstep", "tools", *options],
        cwd=paths.project_dir(),
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*options: str, **environment: str) -> tuple[int, str, str]:
    process = start(*options, **environment)
    out, err = process.communicate(timeout=1200)
    return process.returncode, out, err


@pytest.mark.parametrize(
    ("name", "arguments", "version"),
    [
        ("pulumi", ["version"], versions.PULUMI),
        ("kube-apiserver", ["--version"], versions.KUBERNETES),
        ("kube-controller-manager", ["--version"], versions.KUBERNETES),
        ("kube-scheduler", ["--version"], versions.KUBERNETES),
        ("etcd", ["--version"], versions.ETCD),
        ("kwok", ["--version"], versions.KWOK),
        (f"vc-scheduler-{versions.VOLCANO_DEFAULT}", ["--version"], versions.VOLCANO_DEFAULT),
        (
            f"vc-controller-manager-{versions.VOLCANO_DEFAULT}",
            ["--version"],
            versions.VOLCANO_DEFAULT,
        ),
    ],
)
def test_tool_answers_with_the_pinned_version(
    name: str, arguments: list[str], version: str
) -> None:
    done = subprocess.run(
        [toolchain.tool(name), *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert f"v{version}" in f"v{done.stdout.replace('v', '')}" or version in done.stdout


def test_lws_manager_starts() -> None:
    manager = toolchain.tool(f"lws-manager-{versions.LWS_DEFAULT}")
    done = subprocess.run([manager, "--help"], capture_output=True, text=True, timeout=60)
    assert "-config" in done.stdout + done.stderr


@pytest.mark.parametrize("group", ["pulumi-command", "pulumi-kubernetes"])
def test_plugin_is_what_pulumi_finds(group: str) -> None:
    environment = {**os.environ, **toolchain.environment()}
    done = subprocess.run(
        [toolchain.tool("pulumi"), "plugin", "ls", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    plugins = {plugin["name"]: plugin["version"] for plugin in json.loads(done.stdout)}
    assert plugins[group.removeprefix("pulumi-")] == catalogue.groups()[group].version


def test_charts_are_in_the_cache() -> None:
    volcano = toolchain.charts()[f"volcano-{versions.VOLCANO_DEFAULT}"]
    lws = toolchain.charts()[f"lws-{versions.LWS_DEFAULT}"]
    assert (volcano / "Chart.yaml").is_file()
    assert f"v{versions.LWS_DEFAULT}" in (lws / "Chart.yaml").read_text()


def test_list_has_nothing_absent_of_the_default_set() -> None:
    code, out, _ = run("--list", "--json")
    assert code == 0
    absent = [item["name"] for item in json.loads(out) if item["path"] == "make tools"]
    assert absent == []


def test_second_run_is_instant_and_needs_neither_compiler_nor_network() -> None:
    began = time.monotonic()
    code, out, err = run(PATH="/usr/bin:/bin", GOPROXY="http://127.0.0.1:9")
    assert (code, err) == (0, "")
    assert out.startswith("The toolchain is complete")
    assert time.monotonic() - began < 10


def test_killed_run_leaves_no_group_and_concurrent_runs_build_once(tmp_path: Path) -> None:
    environment = {"LOCKSTEP_CACHE": str(tmp_path)}
    group = catalogue.groups()[SMALL]

    killed = start("--group", SMALL, **environment)
    compiler = wait_for_compiler(killed)
    killed.send_signal(signal.SIGKILL)
    compiler.terminate()
    killed.communicate()
    assert not (tmp_path / "toolchain" / cache.key(group)).exists()

    runs = [start("--group", SMALL, **environment) for _ in range(2)]
    printed = [process.communicate(timeout=1200)[1] for process in runs]
    assert [process.returncode for process in runs] == [0, 0], printed
    assert sum("built after" in text for text in printed) == 1
    assert sum("another run makes the toolchain" in text for text in printed) == 1
    assert [path.name for path in (tmp_path / "toolchain").iterdir()] == [cache.key(group)]
    assert not (tmp_path / "build").exists()

    out = run("--list", "--json", **environment)[1]
    path = next(item["path"] for item in json.loads(out) if item["name"] == "kind")
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    assert versions.KIND in done.stdout

    assert run("--clean", **environment)[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def wait_for_compiler(process: subprocess.Popen[str]) -> psutil.Process:
    """The `go build` process of a run."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        for child in psutil.Process(process.pid).children():
            with contextlib.suppress(psutil.Error):  # a child may end while it is looked at
                if "build" in child.cmdline():
                    return child
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("no compiler was started")


def test_proxy_that_refuses_is_a_one_line_error(tmp_path: Path) -> None:
    code, _, err = run("--group", SMALL, LOCKSTEP_CACHE=str(tmp_path), GOPROXY="http://127.0.0.1:9")
    assert code == 2
    last = err.splitlines()[-1]
    assert last.startswith("lockstep: the Go module proxy is unreachable")
    assert "GOPROXY" in last


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_activate_gives_a_plain_shell_a_working_pulumi(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = (
        'set -eu; . "$0/activate"; . "$0/activate"; pulumi whoami; pulumi version; '
        'echo "$PULUMI_BACKEND_URL"'
    )
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(tmp_path),
        "LOCKSTEP_CACHE": str(paths.cache_dir()),
        "LOCKSTEP_STATE": str(tmp_path / "state"),
    }
    done = subprocess.run(
        [program, "-c", script, str(paths.project_dir())],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert f"v{versions.PULUMI}" in done.stdout
    assert f"file://{tmp_path}/state/backend" in done.stdout
    assert (tmp_path / "state" / "passphrase").stat().st_mode & 0o777 == 0o600
