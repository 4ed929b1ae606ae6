"""The recorder and the judge against a real API server, whose connections break."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import yaml
from lightkube import Client, KubeConfig
from lightkube.models.core_v1 import Container, PodSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, Pod, ServiceAccount

from lockstep import processes
from lockstep.kube import client as kube
from lockstep.local import control_plane
from lockstep.local.embedded_cluster import EmbeddedCluster
from lockstep.recording import client as recorder_process
from lockstep.recording.client import Live, Subject

PATIENCE = 60.0


class Wire:
    """A TCP relay to the API server that can be cut, and refuses while it is."""

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._whole = True
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._whole = False
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._ends.clear()

    def mend(self) -> None:
        self._whole = True

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                near, _ = self._listener.accept()
                self._connect(near)

    def _connect(self, near: socket.socket) -> None:
        try:
            if not self._whole:
                raise ConnectionRefusedError
            far = socket.create_connection(self._target)
        except OSError:
            near.close()
            return
        self._ends += [near, far]
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=_relay, args=(one, other), daemon=True).start()


def _relay(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
    source.close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    """A control plane without operators: enough to list and to watch."""
    made = control_plane.create("e2e-recorder", "e2e", "run")
    yield made
    control_plane.delete("e2e-recorder")


@pytest.fixture
def client(cluster: EmbeddedCluster) -> Iterator[Client]:
    with Client(config=KubeConfig.from_file(str(cluster.kubeconfig))) as made:
        yield made


@pytest.fixture
def wire(cluster: EmbeddedCluster) -> Iterator[Wire]:
    server = _server(cluster.kubeconfig)
    relay = Wire((server[0], server[1]))
    yield relay
    relay.close()


def _server(kubeconfig: Path) -> tuple[str, int]:
    content = yaml.safe_load(kubeconfig.read_text())
    url = urlsplit(content["clusters"][0]["cluster"]["server"])
    assert url.hostname
    assert url.port
    return url.hostname, url.port


@pytest.fixture
def live(
    cluster: EmbeddedCluster, client: Client, wire: Wire, request: pytest.FixtureRequest
) -> Iterator[Live]:
    """A recording of a fresh namespace, made through the wire."""
    namespace = request.node.name.replace("_", "-")[:60]
    client.create(Namespace(metadata=ObjectMeta(name=namespace)))
    _await_account(client, namespace)
    content = yaml.safe_load(cluster.kubeconfig.read_text())
    content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{wire.port}"
    config = cluster.folder / "wire-kubeconfig"
    config.write_text(yaml.safe_dump(content))
    config.chmod(0o600)
    path = cluster.folder / "recordings" / f"{namespace}.jsonl"
    recorder_process.start(Subject(path, "wire", namespace, "none", str(config)))
    followed = recorder_process.connect(path)
    assert followed is not None
    yield followed
    followed.end()
    recorder_process.stop(path)


def _await_account(client: Client, namespace: str) -> None:
    """Wait for what a namespace has only after a moment: until then it takes no pods."""
    accounts = client.watch(ServiceAccount, namespace=namespace, server_timeout=int(PATIENCE))
    assert any(found.metadata and found.metadata.name == "default" for _, found in accounts)


def until(live: Live, seen: Callable[[], bool]) -> None:
    deadline = live.now() + PATIENCE
    while not seen():
        assert live.now() < deadline, [entry.state for entry in live.recording.watch_log]
        assert not live.ended
        live.wait(deadline)


def pods(live: Live) -> list[tuple[str, str, bool]]:
    return [
        (seen.change, seen.name, seen.listed)
        for seen in live.recording.of("pod")
        if seen.change != "MODIFIED"
    ]


def marks(live: Live) -> list[str]:
    return [entry.state for entry in live.recording.watch_log if entry.kind == "pod"]


def create(client: Client, live: Live, name: str) -> None:
    """A pod that no scheduler looks at."""
    container = Container(name="main", image="pause")
    client.create(
        Pod(
            metadata=ObjectMeta(name=name, namespace=live.recording.header.namespaces[0]),
            spec=PodSpec(schedulerName="none", containers=[container]),
        )
    )


def delete(client: Client, live: Live, name: str) -> None:
    client.delete(Pod, name, namespace=live.recording.header.namespaces[0], grace_period=0)


def test_a_cluster_without_volcano_is_recorded_without_podgroups(live: Live) -> None:
    assert live.recording.header.missing["podgroup"] == "Volcano is not installed"
    assert "pod" in live.recording.header.watched


def test_a_cut_connection_loses_and_doubles_nothing(live: Live, client: Client, wire: Wire) -> None:
    create(client, live, "before")
    until(live, lambda: len(pods(live)) == 1)
    wire.cut()
    until(live, lambda: "cut" in marks(live))
    create(client, live, "during")
    delete(client, live, "before")
    create(client, live, "before")
    wire.mend()
    until(live, lambda: len(pods(live)) == 4)
    create(client, live, "after")
    until(live, lambda: len(pods(live)) == 5)
    assert pods(live) == [
        ("ADDED", "before", False),
        ("ADDED", "during", True),
        ("DELETED", "before", True),
        ("ADDED", "before", True),
        ("ADDED", "after", False),
    ]
    assert "relisted" not in marks(live)


def test_an_api_server_that_forgot_the_version_is_listed_again(
    live: Live, client: Client, wire: Wire, cluster: EmbeddedCluster
) -> None:
    """Compacted and restarted, it has no history: it answers 410 Gone to the old version."""
    for name in ("kept", "deleted"):
        create(client, live, name)
    until(live, lambda: len(pods(live)) == 2)
    wire.cut()
    until(live, lambda: "cut" in marks(live))
    delete(client, live, "deleted")
    create(client, live, "new")
    _compact(cluster.folder)
    _restart_api_server(cluster)
    _await(lambda: client.get(Namespace, "default"), live)
    wire.mend()
    until(live, lambda: "relisted" in marks(live))
    _await(lambda: create(client, live, "after"), live)
    until(live, lambda: pods(live)[-1] == ("ADDED", "after", False))
    told = sorted((change, name) for change, name, _ in pods(live)[2:])
    assert told == [("ADDED", "after"), ("ADDED", "new"), ("DELETED", "deleted")]


def _compact(folder: Path) -> None:
    """Make etcd forget everything but the present."""
    descriptor = os.open(folder, os.O_PATH)  # the path of a socket may be too long
    try:
        transport = httpx2.HTTPTransport(uds=f"/proc/self/fd/{descriptor}/etcd:1")
        with httpx2.Client(transport=transport, base_url="http://localhost/v3/kv/") as etcd:
            now = etcd.post("range", json={"key": "YQ=="}).json()["header"]["revision"]
            body = {"revision": now, "physical": True}
            etcd.post("compaction", json=body).raise_for_status()
    finally:
        os.close(descriptor)


def _restart_api_server(cluster: EmbeddedCluster) -> None:
    """Kill the API server; the supervisor starts it again."""
    processes.end(processes.named(cluster.folder, "kube-apiserver"), "kube-apiserver")


def _await(act: Callable[[], object], live: Live) -> None:
    """Act as soon as the API server serves again; meanwhile follow the recording."""
    deadline = live.now() + PATIENCE
    while True:
        try:
            act()
            return
        except kube.FAILURES:
            assert live.now() < deadline
            live.wait(live.now() + 0.2)
