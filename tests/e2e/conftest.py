"""Real stacks: the Pulumi engine, an embedded cluster, Volcano and LWS; nothing is mocked."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from lightkube import Client, KubeConfig

import toolchain
from lockstep import paths, processes
from lockstep.kube import client as kube
from lockstep.walk.stack import Stack, ensure_tools

PROJECT_DIR = Path(__file__).resolve().parents[2]
COLLECTED_WITHIN = 90.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--keep", action="store_true", help="leave stacks up, to look into them")


@pytest.fixture(scope="session", autouse=True)
def _own_state(request: pytest.FixtureRequest) -> Iterator[None]:
    """State of its own, so that the tests never meet a stack of the checkout."""
    folder = Path(tempfile.mkdtemp(prefix="lockstep-e2e-"))
    saved = dict(os.environ)
    os.environ["LOCKSTEP_STATE"] = str(folder / "state")
    os.environ["LOCKSTEP_RECEIPTS"] = str(folder / "receipts")
    for name in ("PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE"):
        os.environ.pop(name, None)
    ensure_tools()
    yield
    os.environ.clear()
    os.environ.update(saved)
    if not request.config.getoption("--keep"):
        shutil.rmtree(folder)


class LiveStack(Stack):
    """A stack for a test, mostly driven by the plain Pulumi CLI, as a user would."""

    def configure(self, **changes: Any) -> None:
        """Change config keys, as `pulumi config set` would."""
        document = yaml.safe_load(self.path.read_text())
        document["config"] |= {f"lockstep:{key}": value for key, value in changes.items()}
        self.path.write_text(yaml.safe_dump(document))

    def select(self) -> None:
        """Create the stack in the backend, if it does not have it."""
        if not self.exists():
            self.create()

    def exists(self) -> bool:
        """Whether the backend has the stack."""
        return self.name in {stack.name.rsplit("/", 1)[-1] for stack in self._home.list_stacks()}

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs, secrets included."""
        values: dict[str, Any] = json.loads(
            self._cli("stack", "output", "--json", "--show-secrets").stdout
        )
        return values

    def pulumi(self, *words: str, ok: bool = True) -> str:
        """Run pulumi and return what it printed; `ok` says which way it must end."""
        done = self._cli(*words)
        output = done.stdout + done.stderr
        assert (done.returncode == 0) == ok, f"pulumi {' '.join(words)}:\n{output}"
        return output

    def deploy(self, *options: str, ok: bool = True) -> str:
        """`pulumi up`."""
        return self.pulumi("up", "--yes", "--skip-preview", *options, ok=ok)

    def judge_again(self, scenario: str, *, ok: bool) -> str:
        """Replace the verdict of a scenario, and nothing else: its drill is done once more."""
        kind = "".join(word.title() for word in scenario.split("-"))
        parents = f"lockstep:scenario:{kind}$lockstep:verdict:Judgement$command:local:Command"
        urn = f"urn:pulumi:{self.name}::lockstep::{parents}::{scenario}-verdict-judge"
        return self.deploy("--target", urn, "--replace", urn, ok=ok)

    def spawn(self, *words: str) -> subprocess.Popen[str]:
        """Start pulumi and leave it running, to be killed; it prints into `spawn_log`."""
        with self.spawn_log.open("w") as log:
            return subprocess.Popen(
                self._command(*words),
                cwd=PROJECT_DIR,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )

    def _cli(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._command(*words),
            cwd=PROJECT_DIR,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def _command(self, *words: str) -> list[str]:
        config = ["--config-file", str(self.path)]
        return [
            str(toolchain.tool("pulumi")),
            *words,
            *("--non-interactive", "--stack", self.name),
            *(config if words[0] in ("up", "preview", "destroy", "refresh") else ()),
        ]

    @property
    def spawn_log(self) -> Path:
        """What a spawned pulumi printed."""
        return self.path.with_suffix(".log")

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client of the stack's cluster."""
        folder = paths.cluster_dir(self.cluster_name())
        with Client(config=KubeConfig.from_file(str(folder / "kubeconfig"))) as client:
            yield client

    def await_collected(self, namespace: str) -> None:
        """Wait until no PodGroup is left of a pod that is gone.

        In a young cluster that takes half a minute, and a group that comes back with the template
        that it had before would take the old PodGroup for its own (lws#1054).
        """
        deadline = time.monotonic() + COLLECTED_WITHIN
        with self.client() as client:
            while left := _left_over(client, namespace):
                assert time.monotonic() < deadline, f"not collected: {left}"
                time.sleep(0.2)

    def processes(self, name: str = "") -> list[psutil.Process]:
        """What runs for the stack's cluster, under a name that starts so."""
        return processes.named(paths.cluster_dir(self.cluster_name()), name)

    def assert_nothing_left(self) -> None:
        """No process, folder or marker of the cluster."""
        folder = paths.cluster_dir(self.cluster_name())
        assert self.processes() == []
        assert not folder.exists()
        assert not folder.with_suffix(".id").exists()


def changes(output: str) -> list[str]:
    """The counts at the end of what Pulumi printed, such as "~ 1 updated"; empty for no change."""
    counts = output.rpartition("\nResources:\n")[2].partition("\n\n")[0]
    assert "unchanged" in counts, output
    return [line.strip() for line in counts.splitlines() if "unchanged" not in line]


def _left_over(client: Client, namespace: str) -> list[str]:
    pods = {pod.metadata.uid for pod in client.list(kube.Pod, namespace=namespace) if pod.metadata}
    groups = [group.metadata for group in client.list(kube.PodGroup, namespace=namespace)]
    return [
        str(group.name)
        for group in groups
        if group
        for owner in group.ownerReferences or ()
        if owner.kind == "Pod" and owner.uid not in pods
    ]


class MakeStack:
    """Makes stacks from the files in stacks/, each under a name of its own."""

    def __init__(self) -> None:
        self.made: list[LiveStack] = []

    def __call__(self, base: str, /, name: str | None = None, **changes: Any) -> LiveStack:
        """A fresh stack with the config of stacks/Pulumi.<base>.yaml and some changes."""
        stack = LiveStack(name or f"e2e-{base}")
        self.made.append(stack)
        stack.write_config(base, changes)
        stack.select()
        return stack

    def clean(self) -> None:
        """Remove all of them, whatever a test left."""
        for stack in self.made:
            stack.down()


@pytest.fixture(scope="module")
def make_stack(request: pytest.FixtureRequest) -> Iterator[MakeStack]:
    """A maker of stacks that cleans up after the module."""
    maker = MakeStack()
    yield maker
    if not request.config.getoption("--keep"):
        maker.clean()
