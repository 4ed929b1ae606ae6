"""What Volcano's metrics say about the actions and plugins that really ran."""

import asyncio
import base64
import contextlib
import gzip
import json
import os
import socket
import socketserver
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from lockstep.kube import client as kube
from lockstep.recording import scheduler
from lockstep.recording.client import LocalScheduler
from lockstep.recording.model import UNREACHABLE, Entry, Observation
from lockstep.recording.scheduler import Counters, SchedulerProbe, configured, effective, parse
from tests.unit.lockstep.fake_api import METRICS, FakeApi, serving

TEXT = """
# TYPE volcano_plugin_scheduling_latency_milliseconds histogram
volcano_plugin_scheduling_latency_milliseconds_bucket{OnSession="OnSessionOpen",plugin="gang"} 9
volcano_plugin_scheduling_latency_milliseconds_count{OnSession="OnSessionClose",plugin="gang"} 3
volcano_plugin_scheduling_latency_milliseconds_count{OnSession="OnSessionOpen",plugin="gang"} 4
volcano_plugin_scheduling_latency_milliseconds_count{OnSession="OnSessionOpen",plugin="drf"} 1e+01
volcano_action_scheduling_latency_milliseconds_count{action="allocate"} 3
volcano_e2e_scheduling_latency_milliseconds_count 9
process_start_time_seconds 1.7950336578e+09
"""


def test_counters_are_read_from_the_text() -> None:
    assert parse(TEXT) == Counters("1.7950336578e+09", {"gang": 4, "drf": 10}, {"allocate": 3}, 9)


def counters(opened: int, gang: int) -> Counters:
    return Counters("1", {"gang": gang, "drf": opened}, {"allocate": opened}, opened)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (None, counters(0, 0), None),
        (None, counters(5, 5), (["allocate"], ["drf", "gang"])),
        # The configuration was changed once; since when is not known.
        (None, counters(9, 3), None),
        (counters(9, 3), counters(9, 3), None),
        (counters(9, 3), counters(12, 6), (["allocate"], ["drf", "gang"])),
        (counters(9, 9), counters(12, 9), (["allocate"], ["drf"])),
    ],
)
def test_what_ran_in_every_session_since_the_last_look(
    before: Counters | None, now: Counters, expected: tuple[list[str], list[str]] | None
) -> None:
    assert effective(before, now) == expected


def test_configuration_tells_what_is_disabled() -> None:
    text = """
    actions: "enqueue, allocate"
    tiers:
    - plugins: [{name: priority}, {name: gang, enableJobReady: false, enablePreemptable: false}]
    - plugins: [{name: drf, enableJobReady: false}]
    """
    assert configured(text) == {
        "actions": ["allocate", "enqueue"],
        "plugins": ["drf", "gang", "priority"],
        "disabled": ["enableJobReady"],
    }


@pytest.mark.parametrize("text", ["", "[]", "actions: [", "tiers: []", "tiers: [{plugins: [x]}]"])
def test_configuration_that_volcano_could_not_read(text: str) -> None:
    assert configured(text) is None


def probe(tmp_path: Path, served: tuple[FakeApi, Path], looks: int, **local: Any) -> list[Any]:
    """Let a probe look a few times, and return what it emitted."""
    _, config = served
    found: list[Observation] = []

    async def play() -> None:
        enough = asyncio.Event()

        def emit(entry: Entry) -> None:
            assert isinstance(entry, Observation)
            found.append(entry)
            if len(found) >= looks:
                enough.set()

        client = kube.async_client(str(config))
        where = LocalScheduler(**local) if local else None
        task = asyncio.create_task(SchedulerProbe(client, where, emit, lambda: 1.0).follow())
        async with asyncio.timeout(10):
            await enough.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()

    asyncio.run(play())
    return found


def test_process_of_this_machine_is_asked_directly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "PAUSE", 0.0)
    conf = tmp_path / "conf"
    conf.write_text("actions: allocate\ntiers: [{plugins: [{name: gang, enableJobReady: false}]}]")
    with serving(tmp_path) as served:
        address = kube.load(str(served[1])).cluster.server
        found = probe(tmp_path, served, 2, metrics=address + METRICS, conf=conf)
    assert found[1].uid == "1"
    assert found[1].facts == {
        "source": "metrics",
        "sessions": 2,
        "withoutGang": 0,
        "actions": ["allocate"],
        "plugins": ["gang"],
        "asked": {"actions": ["allocate"], "plugins": ["gang"], "disabled": ["enableJobReady"]},
    }


@contextlib.contextmanager
def on_socket(path: Path, port: int) -> Iterator[None]:
    """Pass what comes to a unix-domain socket on to a port."""

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", port)) as target:
                target.sendall(self.request.recv(4096))
                while content := target.recv(65536):
                    self.request.sendall(content)

    descriptor = os.open(path.parent, os.O_PATH)
    address = f"/proc/self/fd/{descriptor}/{path.name}"
    with socketserver.ThreadingUnixStreamServer(address, Relay) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield
        server.shutdown()
        thread.join()
    os.close(descriptor)


def test_process_of_this_machine_is_asked_over_its_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "PAUSE", 0.0)
    folder = tmp_path / ("a" * 90)  # the whole path is too long for the address of a socket
    folder.mkdir()
    with serving(tmp_path) as served:
        port = urlsplit(str(kube.load(str(served[1])).cluster.server)).port or 0
        with on_socket(folder / "metrics", port):
            found = probe(tmp_path, served, 2, metrics=f"unix:{folder / 'metrics'}", conf=None)
    assert found[1].facts["source"] == "metrics"
    assert found[1].facts["plugins"] == ["gang"]


def test_look_in_the_middle_of_a_session_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not all actions of the session have run yet."""
    monkeypatch.setattr(scheduler, "PAUSE", 0.0)
    conf = tmp_path / "conf"
    conf.write_text("actions: allocate\ntiers: [{plugins: [{name: gang}]}]")
    with serving(tmp_path) as served:
        served[0].done = lambda: served[0].sessions - (served[0].sessions < 5)
        address = kube.load(str(served[1])).cluster.server
        (found, *_) = probe(tmp_path, served, 1, metrics=address + METRICS, conf=conf)
    assert found.facts["sessions"] == 5


def test_scheduler_that_does_not_answer_is_reported_with_the_reason(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        (found, *_) = probe(tmp_path, served, 1)
    assert (found.uid, found.facts) == (UNREACHABLE, {"reason": "status 404"})


CONF = "actions: allocate\ntiers: [{plugins: [{name: gang}]}]"
DISABLED = "actions: allocate\ntiers: [{plugins: [{name: gang, enableJobReady: false}]}]"


class Pods:
    """A client of a cluster where Volcano's scheduler runs in pods."""

    conf: str | None = CONF
    release = ""

    async def list(self, kind: Any, **_: Any) -> AsyncIterator[dict[str, Any]]:
        if kind is kube.Secret:
            yield {"data": {"release": self.release}}
            return
        for name in ("s-1", "s-2"):
            metadata = {"name": name, "namespace": scheduler.NAMESPACE, "uid": f"uid-{name}"}
            yield {"metadata": metadata, "status": {"phase": "Running"}}

    async def get(self, *_: Any, **__: Any) -> dict[str, Any]:
        return {"data": {scheduler.CONFIG_KEY: self.conf} if self.conf else {}}


def record(manifest: str) -> str:
    """Helm's record of a release."""
    packed = gzip.compress(json.dumps({"manifest": manifest}).encode())
    return base64.b64encode(base64.b64encode(packed)).decode()


def look(
    monkeypatch: pytest.MonkeyPatch, pods: Any, looks: Sequence[tuple[str | None, str]]
) -> list[Observation]:
    """Look at the pods a few times: with a ConfigMap, and a pod whose metrics do not answer."""
    found: list[Observation] = []
    sessions = 0
    silent = ""

    def emit(entry: Entry) -> None:
        assert isinstance(entry, Observation)
        found.append(entry)

    async def get_text(_: Any, path: str) -> str:
        if silent and silent in path:
            raise httpx2.RequestError("status 503")
        counter = 'volcano_{0}_scheduling_latency_milliseconds_count{{{0}="{1}"}} {2}\n'
        return (
            counter.format("plugin", "gang", sessions)
            + counter.format("action", "allocate", sessions)
            + f"volcano_e2e_scheduling_latency_milliseconds_count {sessions}\n"
            + "process_start_time_seconds 1\n"
        )

    async def play() -> None:
        nonlocal sessions, silent
        probe = SchedulerProbe(pods, None, emit, lambda: 1.0)
        for conf, missed in looks:
            sessions, pods.conf, silent = sessions + 1, conf, missed
            with contextlib.suppress(httpx2.RequestError):
                await probe._ask_pods()

    monkeypatch.setattr(kube, "get_text", get_text)
    asyncio.run(play())
    return found


def test_parts_of_gang_that_are_disabled_later_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    found = look(monkeypatch, Pods(), [(CONF, ""), (DISABLED, ""), (None, "")])
    disabled = [seen.facts["asked"]["disabled"] for seen in found if seen.name == "s-1"]
    assert disabled == [[], ["enableJobReady"], ["enableJobReady"]]


def test_missed_look_at_the_metrics_is_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    found = look(monkeypatch, Pods(), [(CONF, ""), (CONF, "s-1"), (CONF, "")])
    assert [seen.uid for seen in found if seen.name == "s-1"] == ["uid-s-1 1"] * 2
    assert [seen.uid for seen in found if seen.name == "s-2"] == ["uid-s-2 1"] * 3


def test_pod_without_metrics_is_judged_by_its_config_map(monkeypatch: pytest.MonkeyPatch) -> None:
    found = look(monkeypatch, Pods(), [(None, "s-1"), (DISABLED, "s-1")])
    (first,) = [seen.facts for seen in found if seen.name == "s-1"]
    assert (first["source"], first["asked"]["disabled"]) == ("ConfigMap", ["enableJobReady"])


def test_configuration_that_helm_installed_is_found_in_its_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "actions: enqueue\ntiers: [{plugins: [{name: gang}]}]"
    config_map = {
        "kind": "ConfigMap",
        "metadata": {"name": scheduler.CONFIG_MAP},
        "data": {scheduler.CONFIG_KEY: text},
    }
    pods = Pods()
    pods.release = record(f"---\nkind: Service\n---\n{json.dumps(config_map)}\n")
    assert look(monkeypatch, pods, [(CONF, "")])[0].facts["asked"] == configured(text)


@pytest.mark.parametrize("manifest", ["kind: Service", "op: =", "- kind: x", "kind: ConfigMap"])
def test_record_of_helm_that_does_not_tell_is_answered_by_the_config_map(
    monkeypatch: pytest.MonkeyPatch, manifest: str
) -> None:
    pods = Pods()
    pods.release = record(manifest)
    assert look(monkeypatch, pods, [(CONF, "")])[0].facts["asked"] == configured(CONF)


def test_change_counts_when_it_shows_in_two_sessions() -> None:
    """The counters of one look are not of one moment: an action may be counted a session late."""
    found: list[Observation] = []

    def emit(entry: Entry) -> None:
        assert isinstance(entry, Observation)
        found.append(entry)

    probe = SchedulerProbe(kube.AsyncClient.__new__(kube.AsyncClient), None, emit, lambda: 1.0)
    probe._processes["1"] = scheduler._Process(None)
    for opened, allocated in ((5, 5), (6, 5), (7, 7), (8, 7), (9, 7)):
        now = Counters("1", {"gang": opened}, {"enqueue": opened, "allocate": allocated}, opened)
        probe._compare(1.0, "vc-scheduler", "1", now)
    shown = [(seen.facts["sessions"], seen.facts["actions"]) for seen in found]
    both = ["allocate", "enqueue"]
    assert shown == [(5, both), (7, both), (9, ["enqueue"])]


@pytest.mark.parametrize("tells", [True, False])
def test_first_look_is_taken_when_it_tells_something(
    monkeypatch: pytest.MonkeyPatch, tells: bool
) -> None:
    """The first look comes during a session; perhaps so does every other."""
    found: list[Entry] = []
    probed = SchedulerProbe(None, None, found.append, lambda: 1.0)  # type: ignore[arg-type]
    asked = []

    async def ask_pods() -> None:
        asked.append(1)
        if tells and len(asked) > 1:
            probed._tell(1.0, "pod", "1", {})

    monkeypatch.setattr(scheduler, "PAUSE", 0.0)
    monkeypatch.setattr(probed, "_ask_pods", ask_pods)
    asyncio.run(probed.establish())
    assert (len(asked), len(found)) == ((2, 1) if tells else (scheduler.FIRST_LOOKS, 0))
