"""A kind cluster: made once, found again after a failed run, and never somebody else's."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml
from lightkube import Client
from lightkube.resources.core_v1 import Node

from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.kube import kubeconfig
from lockstep.local import kind_network

WORKER_LABEL = "lockstep.dev/worker"
READY_WITHIN = 180
ADOPT_WITHIN = 15
ANSWER_WITHIN = 20


def config(name: str, workers: int, image: str) -> str:
    """Write kind's own config: one control plane and the workers, all of one pinned image."""
    nodes: list[dict[str, object]] = [{"role": "control-plane", "image": image}]
    nodes += [
        {"role": "worker", "image": image, "labels": {WORKER_LABEL: "true"}} for _ in range(workers)
    ]
    head = {"kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4", "name": name}
    return yaml.safe_dump({**head, "nodes": nodes}, sort_keys=False)


def create(name: str, text: str) -> dict[str, str]:
    """Make the cluster of a config, or take the one that an interrupted run has made of it."""
    require_engine()
    if name in _clusters():
        if not _mark(name).exists():
            raise LockstepError(
                f"there is a kind cluster {name} that this stack did not make; set clusterName to "
                f"another name, or remove it with: kind delete cluster --name {name}"
            )
        if _mark(name).read_text() == text and _is_ready(name, text):
            return _description(name)
        delete(name)
    with _cleaned_up(name):
        _mark(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Written first: whatever is found under this name from here on is ours.
        _mark(name).write_text(text)
        if not kind_network.is_there():
            _network_mark(name).touch()
        _kind("create", name, "--config", str(_mark(name)), "--wait", "120s")
        _kubeconfig(name).chmod(0o600)
        await_ready(_client(name), len(yaml.safe_load(text)["nodes"]), READY_WITHIN)
    return _description(name)


def delete(name: str) -> None:
    """Remove the cluster and its folder; one that is not ours, or not there, is left alone."""
    if _mark(name).exists():
        require_engine()
        _kind("delete", name)
        if _network_mark(name).exists():
            kind_network.remove_if_unused()
        kubeconfig.remove_copies(_kubeconfig(name))
        shutil.rmtree(_mark(name).parent)


def require_engine() -> None:
    """Say clearly what is missing, before kind says it at length."""
    engine = os.environ.get("KIND_EXPERIMENTAL_PROVIDER", "docker")
    instead = "or set clusterProvider to kwok, which needs none"
    if shutil.which(engine) is None:
        raise LockstepError(f"kind needs {engine}, which is not installed; install it, {instead}")
    try:
        done = subprocess.run([engine, "info"], capture_output=True, timeout=ANSWER_WITHIN)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode != 0:
        raise LockstepError(f"{engine} is installed but does not answer; start it, {instead}")


def await_ready(client: Client, nodes: int, within: int) -> None:
    """Watch until all nodes are ready; kind itself waits for the control plane only."""
    ready: set[str] = set()
    for change, node in client.watch(Node, server_timeout=within):
        conditions = (node.status.conditions if node.status else None) or []
        name = (node.metadata.name if node.metadata else None) or ""
        if change != "DELETED" and any(
            c.type == "Ready" and c.status == "True" for c in conditions
        ):
            ready.add(name)
        else:
            ready.discard(name)
        if len(ready) == nodes:
            return
    raise LockstepError(
        f"{len(ready)} of {nodes} nodes of the kind cluster are ready after {within} s; "
        "is the machine short of memory or disk?"
    )


def _is_ready(name: str, text: str) -> bool:
    try:
        await_ready(_client(name), len(yaml.safe_load(text)["nodes"]), ADOPT_WITHIN)
    except Exception:  # whatever is wrong with it, a new one is the answer
        return False
    return True


@contextlib.contextmanager
def _cleaned_up(name: str) -> Iterator[None]:
    """Leave nothing of a cluster that could not be made, also when interrupted."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(LockstepError):
            delete(name)
        raise


def _clusters() -> list[str]:
    done = subprocess.run([_program(), "get", "clusters"], capture_output=True, text=True)
    if done.returncode != 0:
        raise LockstepError(f"kind cannot list its clusters: {_reason(done.stderr.splitlines())}")
    return done.stdout.split()


def _kind(verb: str, name: str, *options: str) -> None:
    """Run kind with our own kubeconfig file, and pass its progress on, line by line."""
    command = [_program(), verb, "cluster", "--name", name, "--kubeconfig", str(_kubeconfig(name))]
    lines: list[str] = []
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            lines.append(line.strip())
            print(line, end="", file=sys.stderr, flush=True)
    if process.returncode != 0:
        raise LockstepError(f"kind cannot {verb} the cluster {name}: {_reason(lines)}")


def _program() -> str:
    # Imported here: the Pulumi program needs `config` alone.
    import toolchain

    return str(toolchain.tool("kind"))


def _reason(lines: list[str]) -> str:
    """Pick the line in which kind says what is wrong."""
    if any("failed to pull image" in line for line in lines):
        return "the node image cannot be pulled; reach its registry, or run make kind-image once"
    errors = [line for line in lines if line.startswith("ERROR:")]
    said = errors or [line for line in lines if line]
    return said[-1].removeprefix("ERROR: ") if said else "it did not say why"


def _mark(name: str) -> Path:
    """The config that the cluster was made of: where it is, the cluster is ours."""
    return paths.cluster_dir(name) / "kind.yaml"


def _network_mark(name: str) -> Path:
    """Where it is, kind's network came with this cluster and goes with it."""
    return paths.cluster_dir(name) / "network"


def _kubeconfig(name: str) -> Path:
    return paths.cluster_dir(name) / "kubeconfig"


def _client(name: str) -> Client:
    return kube.client(str(_kubeconfig(name)))


def _description(name: str) -> dict[str, str]:
    path = _kubeconfig(name)
    return {"kubeconfig": path.read_text(), "kubeconfigPath": str(path)}
