"""How far the recorder is behind with thousands of pods, beside a bare `kubectl --watch`.

The lag of a change is the time from the API server's answer to whoever made it, to its receipt by
the watcher; a watcher may well know first, so it can be negative.
"""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from lightkube import AsyncClient
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, Pod, ServiceAccount

from lockstep import judge
from lockstep.judge import Expectation, Workload
from lockstep.kube import client as kube
from lockstep.local.embedded_cluster import EmbeddedCluster
from lockstep.recording import client as recorder_process
from lockstep.recording import model as recordings
from lockstep.recording.client import Live, Subject
from tests.bench.by_hand import kubectl_program

PODS = 2000
AT_ONCE = 16
NAMESPACE = "bench-recorder"

Told = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Lag:
    """Seconds behind, over all changes."""

    p50: float
    p99: float
    longest: float

    @classmethod
    def of(cls, lags: list[float]) -> Lag:
        """Sort and pick."""
        known = sorted(lags)
        at = [known[len(known) // 2], known[int(len(known) * 0.99)], known[-1]]
        return cls(*(round(value, 3) for value in at))


@dataclass(frozen=True)
class Figures:
    """What one run measured."""

    pods: int
    pods_per_second: float
    recorder: Lag
    kubectl: Lag
    memory_mib: tuple[float, float, float]
    """Before, with half of the pods, and with all: the two steps are alike if it is linear."""
    cpu_milliseconds_per_observation: float
    judge_milliseconds: float
    """One look at the whole recording."""


async def measure(cluster: EmbeddedCluster, pods: int = PODS) -> Figures:
    """Create pods, as fast as they can be made, under the eyes of both watchers."""
    config = str(cluster.kubeconfig)
    client = AsyncClient(config=kube.load(config))
    await client.create(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    async for _ in client.watch(ServiceAccount, namespace=NAMESPACE):
        break  # a namespace takes no pods before it has its account
    path = cluster.folder / "recordings" / "bench.jsonl"
    recorder_process.start(Subject(path, "bench", NAMESPACE, "bench", config))
    with path.open("rb") as file:
        recorder = psutil.Process(recordings.read_header(file).pid)
    told: Told = {}
    memory = [_memory(recorder)]
    with _kubectl(config) as seen_by_kubectl:
        before = time.monotonic()
        for half in (range(pods // 2), range(pods // 2, pods)):
            await _create(client, half, told)
            memory.append(_memory(recorder))
        seconds = time.monotonic() - before
        live = _all_seen(path, pods)
        deadline = time.monotonic() + 60
        while len(seen_by_kubectl) < pods and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
    used = recorder.cpu_times()
    live.end()
    await client.close()
    clock = live.recording.header.clock
    made = [seen for seen in live.recording.of("pod") if (seen.uid, seen.version) in told]
    answered = {seen.name: told[seen.uid, seen.version] for seen in made}
    return Figures(
        pods=pods,
        pods_per_second=round(pods / seconds, 1),
        recorder=Lag.of([clock + seen.at - answered[seen.name] for seen in made]),
        kubectl=Lag.of([at - answered[name] for name, at in seen_by_kubectl.items()]),
        memory_mib=(memory[0], memory[1], memory[2]),
        cpu_milliseconds_per_observation=round(
            1000 * (used.user + used.system) / len(live.recording.observations), 2
        ),
        judge_milliseconds=_look(live),
    )


def _memory(process: psutil.Process) -> float:
    return float(round(process.memory_info().rss / 2**20, 1))


async def _create(client: AsyncClient, numbers: range, told: Told) -> None:
    """Make pods that no scheduler looks at, and note when the API server had answered."""
    free = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        container = Container(name="main", image="pause")
        pod = Pod(
            metadata=ObjectMeta(name=f"pod-{number}", namespace=NAMESPACE),
            spec=PodSpec(schedulerName="none", containers=[container]),
        )
        async with free:
            made = await client.create(pod)
        assert made.metadata
        told[str(made.metadata.uid), str(made.metadata.resourceVersion)] = time.monotonic()

    await asyncio.gather(*(one(number) for number in numbers))


def _all_seen(path: Path, pods: int) -> Live:
    live = recorder_process.connect(path)
    assert live is not None
    deadline = live.now() + 60
    while len({seen.uid for seen in live.recording.of("pod")}) < pods:
        assert live.now() < deadline, "the recorder fell behind for a minute"
        live.wait(deadline, gather=0.2)
    return live


def _look(live: Live) -> float:
    workload = Workload("LeaderWorkerSet", "bench")
    expectation = Expectation("bench", "placed", NAMESPACE, workload, size=4)
    before = time.monotonic()
    judge.assess(live.recording, expectation)
    return round(1000 * (time.monotonic() - before), 1)


@contextmanager
def _kubectl(kubeconfig: str) -> Iterator[dict[str, float]]:
    """Watch with kubectl; gives when it first printed each pod."""
    seen: dict[str, float] = {}
    words = ["get", "pods", "--namespace", NAMESPACE, "--watch", "--output", "name"]
    with subprocess.Popen(
        [kubectl_program(), "--kubeconfig", kubeconfig, *words],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        reader = threading.Thread(target=_read, args=(process, seen))
        reader.start()
        try:
            yield seen
        finally:
            process.terminate()
            reader.join()


def _read(process: subprocess.Popen[str], seen: dict[str, float]) -> None:
    assert process.stdout
    for line in process.stdout:
        seen.setdefault(line.strip().removeprefix("pod/"), time.monotonic())
