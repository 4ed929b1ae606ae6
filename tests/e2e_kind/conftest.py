"""Real kind: node containers, kubelets, operators as pods. Needs root and `make kind-image`.

`engine start` starts Docker on a machine where none runs; the tests do so themselves.
"""

import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lightkube import Client

import toolchain
from lockstep import paths, versions
from lockstep.kube import client as kube
from tests.e2e.conftest import LiveStack
from toolchain.kind_image import build

ENGINE = Path(__file__).with_name("engine")
CAP_SYS_RESOURCE = 24
STARTED: list[bool] = []
"""Not empty if the tests started Docker and must stop it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep", help="a folder for the state: the cluster stays, and is used again")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests, visibly and with the reason, on a machine that cannot run them."""
    if items and (reason := _why_not()):
        for item in items:
            item.add_marker(pytest.mark.skip(reason=f"the tests on kind did not run: {reason}"))


def pytest_unconfigure() -> None:
    if STARTED:
        subprocess.run([ENGINE, "stop"], check=True)


def _why_not() -> str:
    """The reason why this machine cannot run the tests; "" if it can.

    The public node image would do, but these tests run where no image registry can be reached.
    """
    if os.geteuid() != 0:
        return "they need root"
    if not _engine_answers():
        if shutil.which("dockerd") is None:
            return "they need Docker, which is not installed"
        if subprocess.run([ENGINE, "start"], check=False).returncode:
            return "Docker does not start"
        STARTED.append(True)
    if not build.is_built(build.image_name()):
        return "they need the node image; run `make kind-image`"
    return ""


def _engine_answers() -> bool:
    return (
        bool(shutil.which("docker"))
        and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    )


@pytest.fixture(scope="session")
def node_image() -> str:
    """The node image, adapted to a machine that withholds CAP_SYS_RESOURCE.

    Without this capability containerd cannot give a container a negative OOM score.
    """
    image = build.image_name()
    status = Path("/proc/self/status").read_text()
    (bounding,) = re.findall(r"^CapBnd:\s*([0-9a-f]+)$", status, re.MULTILINE)
    if int(bounding, 16) >> CAP_SYS_RESOURCE & 1:
        return image
    edit = "s/restrict_oom_score_adj = false/restrict_oom_score_adj = true/"
    recipe = f"FROM {image}\nRUN sed -i '{edit}' /etc/containerd/config.toml\n"
    adapted = f"{build.REPOSITORY}:v{versions.KUBERNETES}-e2e"
    docker("build", "--tag", adapted, "-", stdin=recipe)
    return adapted


@pytest.fixture(scope="session")
def _own_state(request: pytest.FixtureRequest) -> Iterator[Path]:
    """State of its own, so that the tests never touch a stack of the checkout."""
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
    """A stack on kind, and its containers in Docker."""

    @functools.cached_property
    def api(self) -> Client:
        """One client of the cluster for all tests."""
        return kube.client(str(paths.cluster_dir(self.cluster_name()) / "kubeconfig"))

    def disconnect(self) -> None:
        """Close the client; the next use opens a new one."""
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
        """The running containers of a namespace by node, as the container runtime lists them."""
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


def docker(*words: str, stdin: str = "") -> str:
    """Run docker and return what it printed."""
    done = subprocess.run(
        ["docker", *words], input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"docker {' '.join(words)}: {done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def stack(node_image: str, _own_state: Path, request: pytest.FixtureRequest) -> Iterator[KindStack]:
    """One stack, and one cluster of four nodes, for all tests: they walk it step by step."""
    stack = KindStack("e2e-kind")
    if not stack.path.exists():
        stack.write_config("kind")
    stack.configure(kindNodeImage=node_image)
    stack.select()
    yield stack
    stack.disconnect()
    if not request.config.getoption("--keep") and stack.exists():
        stack.down()
