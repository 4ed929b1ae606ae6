"""Drills that strike, update and scale a set: what they do, in which order, and what they leave."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from lockstep import drills
from lockstep.drills import InVain, leader_ready, missing_rbac, recovery, rolling_update, scale
from lockstep.drills.lws_log import LwsLog
from lockstep.judge import Expectation
from lockstep.kube import client as kube
from lockstep.kube import taints
from lockstep.lws import rights
from tests.unit.lockstep.drill_story import DrillStory, names
from tests.unit.lockstep.drills.stage import Stage, ground, notes
from tests.unit.lockstep.story import expect

WORKERS = ["w1", "w2", "w3"]


class Cluster(Stage):
    """A set with whole groups, on three workers."""

    def __init__(self, groups: int = 1) -> None:
        self.told = DrillStory()
        self.orphans: list[Any] = []
        self.collects = True
        super().__init__(self.told)
        for name in WORKERS:
            self.told.node(0.0, name)
        for group in range(groups):
            self.told.whole(1.0, group)
        self.time = 3.0

    def create(self, thing: Any) -> None:
        """Notes, and the orphan that shows that the garbage collector is at work."""
        if thing._api_info.resource.kind != "PodGroup":
            return super().create(thing)
        self.orphans.append(thing)
        name = thing.metadata.name
        self.later(self.time, lambda at: _nothing(self.told.pod_group(at, name=name)))
        if self.collects:
            self.later(
                self.time + 9.0,
                lambda at: _nothing(self.told.tell(at, "podgroup", "DELETED", name)),
            )
        return None

    def renew(self, at: float, group: int = 0, old: str = "r1", new: str = "r1") -> None:
        """The group goes and comes back, soon."""
        self.later(at + 0.1, lambda now: _nothing(self.told.gone(now, group, old)))
        self.later(at + 1.0, lambda now: _nothing(self.told.whole(now, group, new)))


def _nothing(_: Any) -> None:
    """A deed returns nothing."""


@pytest.fixture
def tainted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What was done to the workers' taints."""
    done: list[tuple[str, Any]] = []

    def note(verb: str) -> Callable[..., None]:
        return lambda _client, nodes, *_reason: done.append((verb, nodes))

    for verb in ("lose", "remove", "block"):
        monkeypatch.setattr(taints, verb, note(verb))
    return done


def run(drill: Any, stage: Stage, expectation: Expectation, patience: float = 30.0) -> None:
    drill.run(ground(stage, expectation, patience))


def test_recovery_strikes_when_the_group_is_whole_again(
    tainted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Cluster()
    stage.answers["delete"] = lambda at, _name, _how: stage.renew(at)
    lost: list[str] = []

    def lose(_client: Any, node: str, _reason: str) -> None:
        lost.append(node)
        stage.renew(stage.time)

    monkeypatch.setattr(taints, "lose", lose)
    run(recovery, stage, expect("recreated"))
    assert [deed[:2] for deed in stage.deeds] == [("delete", "gang-0"), ("delete", "gang-0-1")]
    assert notes(stage) == [
        "leader killed: gang-0",
        "worker killed: gang-0-1",
        "node lost: w1",
    ]
    assert lost == ["w1"]
    assert tainted == [("remove", WORKERS), ("remove", WORKERS)]


def test_recovery_gives_the_node_back_when_the_group_does_not_return(
    tainted: list[tuple[str, Any]],
) -> None:
    stage = Cluster()
    stage.answers["delete"] = lambda at, _name, _how: stage.renew(at)
    with pytest.raises(InVain, match="a group that is whole"):
        run(recovery, stage, expect("recreated"))
    assert [verb for verb, _ in tainted] == ["remove", "lose", "remove"]


@pytest.mark.usefixtures("tainted")
def test_recovery_does_not_strike_a_group_that_is_made_twice_before_it_stays() -> None:
    stage = Cluster()

    def renew_twice(at: float, _name: str, _how: Any) -> None:
        stage.renew(at)
        stage.renew(at + 1.6)

    stage.answers["delete"] = renew_twice
    with pytest.raises(InVain):  # at the lost node, for which this cluster has no answer
        run(recovery, stage, expect("recreated"), patience=10.0)
    times = [seen.at for seen in stage.recording.of("event")]
    assert times[1] - times[0] > 4.5  # two returns and two quiet seconds


def test_scale_asks_for_two_six_and_one_and_waits_for_each() -> None:
    stage = Cluster()
    there = [1]

    def scaled(at: float, _name: str, body: Any) -> None:
        before, there[0] = there[0], body["spec"]["replicas"]
        for group in range(before, there[0]):
            stage.later(at + 1.0, lambda now, g=group: _nothing(stage.told.whole(now, g)))  # type: ignore[misc]
        for group in range(there[0], before):
            stage.later(at + 1.0, lambda now, g=group: _nothing(stage.told.gone(now, g)))  # type: ignore[misc]

    stage.answers["patch"] = scaled
    run(scale, stage, expect("scaled"))
    asked = [deed[2]["spec"]["replicas"] for deed in stage.deeds]
    assert asked == [1, 2, 6, 1, 1]
    assert notes(stage) == [f"scale to groups: {groups}" for groups in (2, 6, 1)]


def test_scale_ends_where_pulumi_began_also_when_it_fails() -> None:
    stage = Cluster()
    with pytest.raises(InVain, match="2 whole groups"):
        run(scale, stage, expect("scaled"))
    assert stage.deeds[-1][2] == {"spec": {"replicas": 1}}


def _template(deed: tuple[str, str, Any]) -> tuple[Any, int]:
    spec = deed[2]["spec"]
    metadata = spec["leaderWorkerTemplate"]["workerTemplate"]["metadata"]
    surge = spec["rolloutStrategy"]["rollingUpdateConfiguration"]["maxSurge"]
    return metadata["annotations"][rolling_update.ANNOTATION], surge


def _blocked(stage: Cluster) -> None:
    for name in ("w2", "w3"):
        stage.told.node(0.5, name, taints.BLOCKED.key)


def test_rolling_update_changes_the_template_and_back(tainted: list[tuple[str, Any]]) -> None:
    stage = Cluster()
    _blocked(stage)
    revision = ["r1"]

    def updated(at: float, name: str, body: Any) -> None:
        changed, _ = _template(("patch", name, body))
        old, revision[0] = revision[0], "r2" if changed else "r1"
        if old != revision[0]:
            stage.renew(at, old=old, new=revision[0])

    stage.answers["patch"] = updated
    run(rolling_update, stage, expect("rolled"))
    assert [_template(deed) for deed in stage.deeds] == [
        (None, 0),
        ("updated", 0),
        (None, 1),
        (None, 0),
    ]
    assert tainted == [("remove", ["w2", "w3"]), ("block", ["w2", "w3"])]
    assert [note.partition(":")[0] for note in notes(stage)] == [
        "update without surge",
        "update with surge",
    ]


def test_rolling_update_puts_template_and_taints_back_when_it_fails(
    tainted: list[tuple[str, Any]],
) -> None:
    stage = Cluster()
    _blocked(stage)
    with pytest.raises(InVain):
        run(rolling_update, stage, expect("rolled"))
    assert _template(stage.deeds[-1]) == (None, 0)
    assert tainted == [("block", ["w2", "w3"])]


def test_leader_ready_blocks_all_workers_but_one_and_frees_them(
    tainted: list[tuple[str, Any]],
) -> None:
    stage = Cluster()

    def renewed(at: float, _name: str, _how: Any) -> None:
        stage.later(at + 0.1, lambda now: _nothing(stage.told.gone(now)))
        stage.later(at + 1.0, split)

    def split(at: float) -> None:
        stage.told.leader(at).own_pod_group(at, minMember=1)
        stage.told.workers(at)
        for name in names()[:2]:
            stage.told.bind(at, name).run(at, name)
        for name in names()[2:]:
            stage.told.refuse_pod(at, name)
        stage.later(at + 10.0, complete)

    def complete(at: float) -> None:
        for name in names()[2:]:
            stage.told.bind(at, name).run(at, name)

    stage.answers["delete"] = renewed
    run(leader_ready, stage, expect("leader-first", min_member=1))
    assert tainted == [
        ("remove", WORKERS),
        ("block", ["w2", "w3"]),
        ("remove", WORKERS),
    ]
    assert notes(stage) == ["room for a part: 2 of 4 pods", "room for all: 4 pods"]


def test_leader_ready_frees_the_workers_when_nothing_is_bound(
    tainted: list[tuple[str, Any]],
) -> None:
    with pytest.raises(InVain, match="a part of the group"):
        run(leader_ready, Cluster(), expect("leader-first", min_member=1))
    assert tainted[-1] == ("remove", WORKERS)


@pytest.fixture
def right(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done to LWS's right; the API server knows at once."""
    done: list[str] = []
    monkeypatch.setattr(rights, "take", lambda *_: done.append("taken"))
    monkeypatch.setattr(rights, "give", lambda *_: done.append("given"))
    monkeypatch.setattr(rights, "are_given", lambda *_: done[-1] == "given")
    return done


def test_missing_rbac_gives_the_right_back_after_the_error_was_read(
    right: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Cluster()

    def renewed(at: float, _name: str, _how: Any) -> None:
        stage.later(at + 0.1, lambda now: _nothing(stage.told.gone(now)))
        stage.later(at + 1.0, lambda now: _nothing(stage.told.leader(now)))
        stage.later(at + 8.0, come)

    def come(at: float) -> None:
        stage.told.own_pod_group(at)
        stage.told.workers(at)
        for name in names():
            stage.told.bind(at, name).run(at, name)

    stage.answers["delete"] = renewed
    monkeypatch.setattr(LwsLog, "refusal", lambda *_: "forbidden, says LWS")
    run(missing_rbac, stage, expect("refused"))
    assert right == ["given", "taken", "given"]
    assert [note.partition(":")[0] for note in notes(stage)] == [
        "rights taken",
        "LWS said",
        "rights back",
    ]
    assert "forbidden, says LWS" in notes(stage)[1]


def test_missing_rbac_gives_the_right_back_when_lws_says_nothing(
    right: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LwsLog, "refusal", lambda *_: None)
    with pytest.raises(InVain, match="LWS's error in its log"):
        run(missing_rbac, Cluster(), expect("refused"))
    assert right == ["given", "taken", "given"]


def test_missing_rbac_tells_a_right_that_comes_from_elsewhere(
    right: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "are_given", lambda *_: True)
    with pytest.raises(InVain, match="by another role"):
        run(missing_rbac, Cluster(), expect("refused"))
    assert right[-1] == "given"


class Deed:
    """A drill of a test's own."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def run(self, ground: drills.Ground) -> None:
        ground.note("deed: done")
        if self.error:
            raise self.error


def test_performance_ends_with_a_note() -> None:
    stage = Cluster()
    assert drills.perform(Deed(), ground(stage, expect("recreated"))) == ""
    assert notes(stage) == ["deed: done", "drill over"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (InVain("the drill waited in vain"), "the drill waited in vain"),
        (kube.FAILURES[0]("connection refused"), "the drill failed: connection refused"),
    ],
)
def test_performance_that_fails_says_so_in_the_recording(error: Exception, told: str) -> None:
    stage = Cluster()
    assert drills.perform(Deed(error), ground(stage, expect("recreated"))) == told
    assert notes(stage)[-1] == f"drill gave up: {told}"


def test_performance_that_is_told_to_end_puts_things_back(
    tainted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Cluster()
    stage.answers["delete"] = lambda at, _name, _how: stage.renew(at)
    monkeypatch.setattr(taints, "lose", lambda *_: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        drills.perform(drills.drill("recovery"), ground(stage, expect("recreated")))
    assert tainted[-1] == ("remove", WORKERS)
    assert signal.getsignal(signal.SIGTERM) is before


def test_recovery_waits_for_the_other_groups_of_a_lost_node(
    tainted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Cluster(groups=2)
    stage.answers["delete"] = lambda at, _name, _how: stage.renew(at)

    def lose(*_: Any) -> None:
        stage.renew(stage.time)
        stage.later(stage.time + 0.1, lambda now: _nothing(stage.told.gone(now, 1)))
        stage.later(stage.time + 7.0, lambda now: _nothing(stage.told.whole(now, 1)))

    monkeypatch.setattr(taints, "lose", lose)
    started = []
    monkeypatch.setattr(taints, "remove", lambda *_: started.append(stage.time))
    run(recovery, stage, expect("recreated", groups=2))
    lost = [seen.at for seen in stage.recording.of("event")][-1]
    assert started[-1] - lost > 7.0
    assert tainted == []


@pytest.mark.parametrize("drill", [recovery, scale, rolling_update, leader_ready, missing_rbac])
@pytest.mark.usefixtures("tainted", "right")
def test_drill_waits_for_a_garbage_collector_that_knows_pod_groups(drill: Any) -> None:
    stage = Cluster()
    stage.collects = False
    with pytest.raises(InVain, match="garbage collector"):
        run(drill, stage, expect("recreated"))
    (orphan,) = stage.orphans
    (owner,) = orphan.metadata.ownerReferences
    assert (orphan.metadata.namespace, owner.kind) == ("lockstep-gang", "ConfigMap")
    assert notes(stage) == []
