"""The recorder against an API that is cut, compacted, refused and garbled."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from lockstep.kube import client as kube
from lockstep.recording import facts, watch
from lockstep.recording.model import Entry, Observation, Tick, WatchStatus
from lockstep.recording.watch import Recorder, targets
from tests.unit.lockstep.fake_api import NODES, PODS, FakeApi, serving


class Listener:
    """Collects what a recorder tells, and waits for it."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._news = asyncio.Event()

    def __call__(self, entry: Entry) -> None:
        self.entries.append(entry)
        self._news.set()

    @property
    def pods(self) -> list[Observation]:
        return [e for e in self.entries if isinstance(e, Observation) and e.kind == "pod"]

    def told(self) -> list[tuple[str, str, bool]]:
        return [(seen.change, seen.name, seen.listed) for seen in self.pods]

    def marks(self) -> list[str]:
        return [e.state for e in self.entries if isinstance(e, WatchStatus) and e.kind == "pod"]

    async def until(self, seen: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not seen():
                await self._news.wait()
                self._news.clear()


Script = Callable[[FakeApi, Listener], Awaitable[None]]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[tuple[FakeApi, Path]]:
    with serving(tmp_path) as served:
        yield served


def record(served: tuple[FakeApi, Path], script: Script) -> Listener:
    """Establish a recorder, let the script act on the API, and return what was told."""
    levers, config = served

    async def play() -> Listener:
        listener = Listener()
        client = kube.async_client(str(config))
        recorder = Recorder(client, targets("test", None), listener)
        await recorder.establish()
        following = asyncio.create_task(recorder.follow())
        try:
            await script(levers, listener)
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
            await client.close()
        return listener

    return asyncio.run(play())


def test_lists_then_watches_and_tells_each_change_once(api: tuple[FakeApi, Path]) -> None:
    api[0].put("old")

    async def script(levers: FakeApi, listener: Listener) -> None:
        levers.put("new")
        levers.bind("new")
        levers.delete("old")
        await listener.until(lambda: len(listener.pods) == 4)

    listener = record(api, script)
    assert listener.told() == [
        ("ADDED", "old", True),
        ("ADDED", "new", False),
        ("MODIFIED", "new", False),
        ("DELETED", "old", False),
    ]
    assert listener.pods[2].facts["node"] == "w1"
    times = [seen.at for seen in listener.pods]
    assert times == sorted(times)
    assert listener.marks() == []


def test_lists_in_pages_as_of_one_time(api: tuple[FakeApi, Path]) -> None:
    for index in range(1203):
        api[0].put(f"pod-{index}")

    async def script(_: FakeApi, listener: Listener) -> None:
        assert len(listener.pods) == 1203

    listener = record(api, script)
    assert len({seen.uid for seen in listener.pods}) == 1203
    assert len({seen.at for seen in listener.pods}) == 1


def test_a_cut_watch_resumes_without_loss_or_repetition(api: tuple[FakeApi, Path]) -> None:
    api[0].put("a")

    async def script(levers: FakeApi, listener: Listener) -> None:
        levers.bind("a")
        await listener.until(lambda: len(listener.pods) == 2)
        levers.cut(down=True)
        await listener.until(lambda: "cut" in listener.marks())
        levers.put("b")
        levers.delete("a")
        levers.up()
        await listener.until(lambda: len(listener.pods) == 4)
        levers.bind("b")
        await listener.until(lambda: len(listener.pods) == 5)

    listener = record(api, script)
    assert listener.told() == [
        ("ADDED", "a", True),
        ("MODIFIED", "a", False),
        ("ADDED", "b", True),  # told late: nobody knows when it happened
        ("DELETED", "a", True),
        ("MODIFIED", "b", False),
    ]
    assert listener.marks() == ["cut", "resumed"]


@pytest.mark.parametrize("as_event", [True, False])
def test_gone_is_answered_by_a_new_list(api: tuple[FakeApi, Path], as_event: bool) -> None:
    for name in ("kept", "changed", "deleted"):
        api[0].put(name)
    api[0].gone_as_event = as_event

    async def script(levers: FakeApi, listener: Listener) -> None:
        levers.cut(down=True)
        await listener.until(lambda: "cut" in listener.marks())
        levers.bind("changed")
        levers.delete("deleted")
        levers.put("new")
        levers.compact()
        levers.up()
        await listener.until(lambda: "relisted" in listener.marks())
        levers.put("after")
        await listener.until(lambda: len(listener.pods) == 7)

    listener = record(api, script)
    assert sorted(listener.told()[3:6]) == [
        ("ADDED", "new", True),
        ("DELETED", "deleted", True),
        ("MODIFIED", "changed", True),
    ]
    assert listener.told()[6] == ("ADDED", "after", False)


def test_pod_recreated_while_the_watch_was_cut(api: tuple[FakeApi, Path]) -> None:
    api[0].put("a")

    async def script(levers: FakeApi, listener: Listener) -> None:
        levers.cut(down=True)
        await listener.until(lambda: "cut" in listener.marks())
        levers.delete("a")
        levers.put("a")
        levers.compact()
        levers.up()
        await listener.until(lambda: "relisted" in listener.marks())

    listener = record(api, script)
    first, *rest = listener.pods
    assert {(seen.change, seen.uid == first.uid) for seen in rest} == {
        ("ADDED", False),
        ("DELETED", True),
    }


def test_an_unreadable_line_is_answered_by_a_new_list(api: tuple[FakeApi, Path]) -> None:
    async def script(levers: FakeApi, listener: Listener) -> None:
        levers.noise.append(b'{"type": "ADD\n')
        levers.put("a")
        await listener.until(lambda: "relisted" in listener.marks())
        levers.put("b")
        await listener.until(lambda: any(seen.name == "b" for seen in listener.pods))

    listener = record(api, script)
    assert [name for _, name, _ in listener.told()] == ["a", "b"]


@pytest.mark.parametrize("seed", range(6))
def test_random_interruptions_lose_and_repeat_nothing(api: tuple[FakeApi, Path], seed: int) -> None:
    """Random changes, cuts and compactions: versions only rise, and the end is the truth."""
    chance = random.Random(seed)  # noqa: S311 - a repeatable choice, not a secret

    async def script(levers: FakeApi, listener: Listener) -> None:
        for _ in range(60):
            name = f"pod-{chance.randrange(5)}"
            roll = chance.random()
            if roll < 0.1:
                levers.cut()
            elif roll < 0.15:
                levers.cut()
                levers.compact()
            elif roll < 0.3 and name in levers.objects[PODS]:
                levers.delete(name)
            else:
                levers.put(name, spec={"nodeName": chance.choice(["", "w1"])})
            await asyncio.sleep(chance.choice([0, 0, 0.002]))
        levers.put("last")
        await listener.until(lambda: _state(listener) == _truth(levers))

    listener = record(api, script)
    stories: dict[str, list[Observation]] = {}
    for seen in listener.pods:
        stories.setdefault(seen.uid, []).append(seen)
    for story in stories.values():
        versions = [int(seen.version) for seen in story if seen.change != "DELETED"]
        assert versions == sorted(set(versions))
        assert [seen.change == "DELETED" for seen in story[:-1]] == [False] * (len(story) - 1)


def _state(listener: Listener) -> dict[str, str]:
    state: dict[str, str] = {}
    for seen in listener.pods:
        if seen.change == "DELETED":
            state.pop(seen.uid, None)
        else:
            state[seen.uid] = seen.version
    return state


def _truth(levers: FakeApi) -> dict[str, str]:
    metadata = [thing["metadata"] for thing in levers.objects[PODS].values()]
    return {data["uid"]: data["resourceVersion"] for data in metadata}


def test_error_in_the_extraction_of_facts_ends_the_recorder(
    api: tuple[FakeApi, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must not be taken for an unreadable answer and repeated for ever."""

    def broken(kind: str, thing: object) -> dict[str, object]:
        raise ValueError("a bug")

    async def play() -> None:
        client = kube.async_client(str(api[1]))
        recorder = Recorder(client, targets("test", None), lambda _: None)
        await recorder.establish()
        monkeypatch.setattr(facts, "of", broken)
        api[0].put("a")
        try:
            async with asyncio.timeout(5):
                await recorder.follow()
        finally:
            await client.close()

    with pytest.raises(ValueError, match="a bug"):
        asyncio.run(play())


def ticks(listener: Listener) -> list[float]:
    return [entry.at for entry in listener.entries if isinstance(entry, Tick)]


def test_ticks_come_only_when_the_watch_has_delivered_what_a_list_has(
    api: tuple[FakeApi, Path],
) -> None:
    async def script(levers: FakeApi, listener: Listener) -> None:
        await listener.until(lambda: len(ticks(listener)) > 1)
        levers.mute = True
        levers.put("a")
        before = len(ticks(listener))
        await asyncio.sleep(0.5)
        assert len(ticks(listener)) <= before + 1  # one may have been on its way
        levers.unmute()
        await listener.until(lambda: len(ticks(listener)) > before + 1)

    listener = record(api, script)
    (seen,) = listener.pods
    assert seen.late is not None
    assert seen.late > 0.4
    assert not seen.listed


def test_a_watch_that_delivers_nothing_is_opened_again(
    api: tuple[FakeApi, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "STALLED", 0.3)

    async def script(levers: FakeApi, listener: Listener) -> None:
        await listener.until(lambda: bool(ticks(listener)))
        levers.mute = True
        levers.put("a")
        await listener.until(lambda: "cut" in listener.marks())
        levers.mute = False
        await listener.until(lambda: len(listener.pods) == 1)

    listener = record(api, script)
    assert listener.marks()[:2] == ["cut", "resumed"]
    assert listener.pods[0].listed


def test_no_tick_before_the_watch_has_shown_a_node_whose_label_came_back(
    api: tuple[FakeApi, Path],
) -> None:
    api[0].put("w1", NODES)

    async def script(levers: FakeApi, listener: Listener) -> None:
        uid = levers.objects[NODES]["w1"]["metadata"]["uid"]
        levers.delete("w1", NODES)
        await listener.until(lambda: len(nodes(listener)) == 2)
        levers.mute = True
        levers.put("w1", NODES, extra={"uid": uid, "resourceVersion": str(levers.version + 1)})
        before = len(ticks(listener))
        await asyncio.sleep(0.5)
        assert len(ticks(listener)) <= before + 1  # one may have been on its way
        levers.unmute()
        await listener.until(lambda: len(ticks(listener)) > before + 1)

    assert nodes(record(api, script)) == ["ADDED", "DELETED", "ADDED"]


def nodes(listener: Listener) -> list[str]:
    seen = (entry for entry in listener.entries if isinstance(entry, Observation))
    return [entry.change for entry in seen if entry.kind == "node"]


def pod_watch(emit: watch.Emit) -> watch.KindWatch:
    client = kube.AsyncClient.__new__(kube.AsyncClient)
    return watch.KindWatch(client, targets("test", None)[-1], emit, lambda: 1.0, watch.Lists())


THING = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}


def test_version_that_comes_twice_is_told_once() -> None:
    told: list[Entry] = []
    pods = pod_watch(told.append)
    pods._receive("ADDED", THING)
    pods._receive("MODIFIED", THING)
    assert len(told) == 1


def test_change_that_was_not_written_is_not_known() -> None:
    """So no tick confirms it."""

    def fail(_: Entry) -> None:
        raise OSError("no space")

    pods = pod_watch(fail)
    with pytest.raises(OSError, match="no space"):
        pods._receive("ADDED", THING)
    assert pods._is_behind({"u": 7}, 7)


def test_the_first_list_is_older_than_the_recording_and_changes_are_hardly_late(
    api: tuple[FakeApi, Path],
) -> None:
    api[0].put("old")

    async def script(levers: FakeApi, listener: Listener) -> None:
        await listener.until(lambda: bool(ticks(listener)))
        levers.put("new")
        await listener.until(lambda: len(listener.pods) == 2)

    old, new = record(api, script).pods
    assert (old.late, old.earliest) == (None, -math.inf)
    assert new.late is not None
    assert 0 <= new.late < 5


def test_a_change_is_newer_than_every_list_that_does_not_have_it() -> None:
    lists = watch.Lists()
    assert lists.before(7) == 0.0
    lists.add(5, 1.0)
    lists.add(6, 2.0)
    lists.add(7, 3.0)  # of another kind, asked for at the time of the change
    assert (lists.before(8), lists.before(7), lists.before(6)) == (3.0, 2.0, 1.0)
