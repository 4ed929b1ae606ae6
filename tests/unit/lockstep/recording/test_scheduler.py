"""What Volcano's metrics say about the actions and plugins that really ran."""

import asyncio
import base64
import gzip
import json
from pathlib import Path
from typing import Any

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


def test_configuration_that_helm_installed_is_found_in_its_record() -> None:
    config_map = {
        "kind": "ConfigMap",
        "metadata": {"name": scheduler.CONFIG_MAP},
        "data": {scheduler.CONFIG_KEY: "actions: allocate"},
    }
    manifest = f"---\n{json.dumps({'kind': 'Service'})}\n---\n{json.dumps(config_map)}\n"
    packed = gzip.compress(json.dumps({"manifest": manifest}).encode())
    record = base64.b64encode(base64.b64encode(packed)).decode()
    assert scheduler._installed(record) == "actions: allocate"


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
