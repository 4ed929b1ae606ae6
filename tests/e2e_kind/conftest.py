"""Real kind: node containers, kubelets, operators as pods. Needs root and `make kind-image`."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lightkube import Client

import toolchain
from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from tests.e2e.conftest import LiveStack
from toolchain import kind_image
from toolchain.kind_image import engine
from toolchain.kind_image.programs import program

STACK = Path(__file__).resolve().parents[2] / "stacks" / "Pulumi.kind.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep", help="a folder for the state: the cluster stays, and is used again")


REASON = pytest.StashKey[str]()
STARTED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the image where there is none, and say so once."""
    on_kind = [item for item in items if "stack" in getattr(item, "fixturenames", ())]
    if on_kind and (reason := _why_not(config)):
        config.stash[REASON] = reason
        config.hook.pytest_deselected(items=on_kind)
        items[:] = [item for item in items if item not in on_kind]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if reason := config.stash.get(REASON, ""):
        terminalreporter.write_line(f"lockstep: the walk on kind is skipped: {reason}")


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(STARTED, False):
        engine.stop()


def _why_not(config: pytest.Config) -> str:
    """Why there can be no cluster; an engine that once built the image is started for it."""
    if os.geteuid() != 0:
        return "it needs root"
    if not engine.is_running() and engine.is_installed() and engine.folder().is_dir():
        try:
            engine.start(program("kind-runtime"))
        except LockstepError as error:
            return str(error)
        config.stash[STARTED] = True
    return "" if kind_image.find() else "it needs Docker and the node image; run `make kind-image`"


@pytest.fixture(scope="session")
def node_image() -> str:
    """The node image that was built here."""
    name = kind_image.find()
    assert name
    return name


@pytest.fixture(scope="session")
def _own_state(request: pytest.FixtureRequest) -> Iterator[Path]:
    """State of its own, so that the tests never meet a stack of the checkout."""
    kept = request.config.getoption("--keep")
    folder = Path(kept or tempfile.mkdtemp(prefix="lockstep-e2e-kind-"))
    folder.mkdir(exist_ok=True)
    saved = dict(os.environ)
    os.environ["LOCKSTEP_STATE"] = str(folder / "state")
    os.environ["LOCKSTEP_RECEIPTS"] = str(folder / "receipts")
    for name in ("PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"):
        os.environ.pop(name, None)
    toolchain.ensure()
    toolchain.ensure(["kind"])
    yield folder
    os.environ.clear()
    os.environ.update(saved)
    if not kept:
        shutil.rmtree(folder)


class KindStack(LiveStack):
    """A stack on kind, and what Docker knows of it."""

    @functools.cached_property
    def api(self) -> Client:
        """One client for all looks into the cluster: each has a connection of its own."""
        return kube.client(str(paths.cluster_dir(self.cluster_name()) / "kubeconfig"))

    def disconnect(self) -> None:
        """Close the client; the next look has a new one."""
        if client := self.__dict__.pop("api", None):
            client.close()

    def node_containers(self) -> list[str]:
        """The names of the cluster's containers, stopped ones too."""
        label = f"label=io.x-k8s.kind.cluster={self.cluster_name()}"
        return sorted(docker("ps", "--all", "--filter", label, "--format", "{{.Names}}").split())

    def inside(self, node: str, *command: str) -> str:
        """Run a command on a node."""
        return docker("exec", node, *command)

    def running(self, namespace: str) -> dict[str, list[str]]:
        """The containers that really run, by node, as the container runtime says."""
        label = f"io.kubernetes.pod.namespace={namespace}"
        found = {}
        for node in self.node_containers():
            asked = ("crictl", "ps", "--quiet", "--state", "Running", "--label", label)
            found[node] = self.inside(node, *asked).split()
        return found

    def assert_nothing_left(self) -> None:
        """No container, volume, network or folder."""
        assert self.node_containers() == []
        assert docker("volume", "ls", "--quiet").split() == []
        assert "kind" not in docker("network", "ls", "--format", "{{.Name}}").split()
        assert not paths.cluster_dir(self.cluster_name()).exists()


def docker(*words: str) -> str:
    """Run docker and return what it printed."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"docker {' '.join(words)}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def stack(node_image: str, _own_state: Path, request: pytest.FixtureRequest) -> Iterator[KindStack]:
    """One stack, and one cluster of four nodes, for all tests: they walk it step by step."""
    assert node_image
    file = _own_state / "Pulumi.e2e-kind.yaml"
    if not file.exists():
        shutil.copyfile(STACK, file)
    stack = KindStack("e2e-kind", file)
    stack.select()
    yield stack
    stack.disconnect()
    if not request.config.getoption("--keep") and stack.exists():
        stack.down()
