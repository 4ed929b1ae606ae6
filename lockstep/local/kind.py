"""Create and delete kind clusters, and leave clusters alone that Lockstep did not create.

A file with the cluster's config marks a cluster as created here. It is written before kind runs, so
a run that was interrupted can adopt or remove what it left.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml
from lightkube.resources.core_v1 import Node

import toolchain
from lockstep import paths
from lockstep.errors import LockstepError
from lockstep.kube import client, kubeconfig

# kind's own environment variables: the container engine, and the network of the nodes.
ENGINE = "KIND_EXPERIMENTAL_PROVIDER"
NETWORK = "KIND_EXPERIMENTAL_DOCKER_NETWORK"

# Seconds.
READY_WITHIN = 180
ADOPT_WITHIN = 15
ANSWER_WITHIN = 20
POLL_EVERY = 0.5


def create(name: str, text: str) -> dict[str, str]:
    """Create the cluster of a config, or adopt the cluster that an interrupted run created."""
    _require_engine()
    if name in _clusters():
        if not _mark(name).exists():
            raise LockstepError(
                f"the kind cluster {name} exists and this stack did not create it; set clusterName "
                f"to another name, or delete the cluster with: kind delete cluster --name {name}"
            )
        if _mark(name).read_text() == text and _is_ready(name, text):
            return _description(name)
        delete(name)
    try:
        _mark(name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _mark(name).write_text(text)
        if not _network("inspect"):
            _network_mark(name).touch()
        _kind("create", name, "--config", str(_mark(name)), "--wait", "120s")
        _kubeconfig(name).chmod(0o600)
        _await_ready(name, text, READY_WITHIN)
    except BaseException:  # also when the run is interrupted
        with contextlib.suppress(LockstepError):
            delete(name)
        raise
    return _description(name)


def delete(name: str) -> None:
    """Delete the cluster and its folder; a cluster without our mark is left alone."""
    if _mark(name).exists():
        _require_engine()
        _kind("delete", name)
        if _network_mark(name).exists():
            # The engine refuses while a container of another cluster uses the network.
            _network("rm")
        kubeconfig.remove_copies(_kubeconfig(name))
        shutil.rmtree(_mark(name).parent)


def _require_engine() -> None:
    """Raise a one-line error when the container engine is missing; kind's own error is long."""
    engine = _engine()
    instead = "or set clusterProvider to kwok, which needs none"
    if shutil.which(engine) is None:
        raise LockstepError(f"kind needs {engine}, which is not installed; install it, {instead}")
    try:
        done = subprocess.run([engine, "info"], capture_output=True, timeout=ANSWER_WITHIN)
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode != 0:
        raise LockstepError(f"{engine} is installed but does not answer; start it, {instead}")


def _await_ready(name: str, text: str, within: float) -> None:
    """Wait until all nodes are ready; kind itself waits for the control plane only.

    The nodes are listed again and again, because lightkube restarts a watch that the API server
    ends: a watch has no deadline, and a node that stays NotReady sends no event.
    """
    nodes = len(yaml.safe_load(text)["nodes"])
    deadline = time.monotonic() + within
    with client.client(str(_kubeconfig(name))) as api:
        while (ready := sum(map(_has_ready_condition, api.list(Node)))) < nodes:
            if time.monotonic() > deadline:
                raise LockstepError(
                    f"timed out after {within:.0f} s: {ready} of {nodes} nodes of the kind cluster "
                    "are ready; check the machine's free memory and disk"
                )
            time.sleep(POLL_EVERY)


def _has_ready_condition(node: Node) -> bool:
    conditions = (node.status.conditions if node.status else None) or []
    return any(one.type == "Ready" and one.status == "True" for one in conditions)


def _is_ready(name: str, text: str) -> bool:
    try:
        _await_ready(name, text, ADOPT_WITHIN)
    except Exception:  # whatever is wrong with the cluster, it is recreated
        return False
    return True


def _clusters() -> list[str]:
    done = subprocess.run([_program(), "get", "clusters"], capture_output=True, text=True)
    if done.returncode != 0:
        raise LockstepError(f"kind cannot list its clusters: {_reason(done.stderr.splitlines())}")
    return done.stdout.split()


def _kind(verb: str, name: str, *options: str) -> None:
    """Run kind with the cluster's own kubeconfig file, and print its progress line by line."""
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
    return str(toolchain.tool("kind"))


def _reason(lines: list[str]) -> str:
    """Return the line of kind's output that names the error."""
    if any("failed to pull image" in line for line in lines):
        return (
            "the node image cannot be pulled; check the connection to its registry, or build an "
            "image with `make kind-image`"
        )
    errors = [line for line in lines if line.startswith("ERROR:")]
    output = errors or [line for line in lines if line]
    return output[-1].removeprefix("ERROR: ") if output else "kind printed no reason"


def _mark(name: str) -> Path:
    """The file with the cluster's config; it marks the cluster as created by Lockstep."""
    return paths.cluster_dir(name) / "kind.yaml"


def _network_mark(name: str) -> Path:
    """The file that marks kind's network as created, and to be removed, with this cluster."""
    return paths.cluster_dir(name) / "network"


def _engine() -> str:
    return os.environ.get(ENGINE, "docker")


def _network(verb: str) -> bool:
    """Inspect or remove the network that kind creates for its first cluster and never removes."""
    name = os.environ.get(NETWORK, "kind")
    done = subprocess.run([_engine(), "network", verb, name], capture_output=True, check=False)
    return done.returncode == 0


def _kubeconfig(name: str) -> Path:
    return paths.cluster_dir(name) / "kubeconfig"


def _description(name: str) -> dict[str, str]:
    path = _kubeconfig(name)
    return {"kubeconfig": path.read_text(), "kubeconfigPath": str(path)}
