"""How far the recorder is behind `kubectl get pods --watch`, with thousands of pods."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import yaml

from lockstep import recorder_process, toolchain
from lockstep.recorder_process import Subject
from tests.bench.by_hand import kubectl

NAMESPACE = "bench"
OUTPUT = 'jsonpath={.object.metadata.uid} {.object.metadata.resourceVersion}{"\\n"}'


def objects(pods: int) -> str:
    """A namespace, nodes of one pool, and a Deployment that fills them."""
    room = {"cpu": "1000", "memory": "1Ti", "pods": "500"}
    nodes: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"bench-{index}",
                "labels": {"lockstep.dev/pool": "bench"},
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
            "status": {"allocatable": room, "capacity": room},
        }
        for index in range(max(1, pods // 250))
    ]
    labels = {"app": "bench"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "bench", "namespace": NAMESPACE},
        "spec": {
            "replicas": pods,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "pause", "image": "pause"}]},
            },
        },
    }
    return yaml.safe_dump_all([*nodes, deployment])


def lags(kubeconfig: Path, folder: Path, pods: int) -> tuple[list[float], float]:
    """Seconds by which the recorder told each change later than kubectl; and its memory in MiB."""
    kubectl(kubeconfig, "create", "namespace", NAMESPACE)
    recording = folder / "recordings" / "bench.jsonl"
    subject = Subject(recording, "bench", NAMESPACE, "bench", str(kubeconfig))
    recorder_process.start(subject)
    live = recorder_process.connect(recording)
    assert live is not None
    told: dict[tuple[str, str], float] = {}
    with subprocess.Popen(
        [
            *(str(toolchain.tool("kubectl")), f"--kubeconfig={kubeconfig}", "get", "pods"),
            *("-n", NAMESPACE, "--watch", "--output-watch-events", "-o", OUTPUT),
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as yardstick:
        reader = threading.Thread(target=_read, args=(yardstick, told), daemon=True)
        reader.start()
        kubectl(kubeconfig, "apply", "--server-side", "-f", "-", text=objects(pods))
        _await_running(live, pods)
        memory = _memory(recording)
        yardstick.terminate()
        reader.join()
    live.end()
    origin = live.recording.header.clock
    seen = {
        (one.uid, one.version): origin + one.at
        for one in live.recording.of("pod")
        if not one.listed
    }
    return sorted(seen[key] - told[key] for key in seen.keys() & told.keys()), memory


def _read(process: subprocess.Popen[str], told: dict[tuple[str, str], float]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        uid, _, version = line.strip().partition(" ")
        told[(uid, version)] = time.monotonic()


def _await_running(live: recorder_process.Live, pods: int) -> None:
    deadline = time.monotonic() + 300
    running: set[str] = set()
    told = 0
    while len(running) < pods:
        assert time.monotonic() < deadline, f"only {len(running)} of {pods} pods run"
        live.wait(live.now() + 1.0)
        for one in live.recording.observations[told:]:
            if one.kind == "pod" and one.facts.get("phase") == "Running":
                running.add(one.uid)
        told = len(live.recording.observations)


def _memory(recording: Path) -> float:
    pid = int(recorder_process.pid_file(recording).read_text())
    return float(psutil.Process(pid).memory_info().rss) / 2**20
