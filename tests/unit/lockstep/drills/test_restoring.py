"""Drills restore what they changed, also when they fail; tests/e2e/test_drills.py runs them."""

import signal
from collections.abc import Callable
from typing import Any

import pytest

from lockstep import drills
from lockstep.drills import (
    DrillTimeout,
    leader_ready,
    missing_rbac,
    recovery,
    rolling_update,
    scale,
)
from lockstep.drills.missing_rbac import LwsLog
from lockstep.errors import LockstepError
from lockstep.judge import Expectation
from lockstep.judge.drill_marks import Topic
from lockstep.kube import client as kube
from lockstep.kube import taints
from lockstep.lws import rights
from tests.unit.lockstep.drill_story import DrillStory
from tests.unit.lockstep.drills.stage import Stage, context_of, marks
from tests.unit.lockstep.story import expect

WORKERS = ["w1", "w2", "w3"]


class Cluster(Stage):
    """A set with complete groups, on three workers."""

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

    def create(self, orphan: Any) -> None:
        """A PodGroup without an owner, which a working garbage collector deletes."""
        self.orphans.append(orphan)
        name = orphan.metadata.name
        self.later(self.time, lambda at: self.told.pod_group(at, name=name))
        if self.collects:
            self.later(self.time + 9.0, lambda at: self.told.tell(at, "podgroup", "DELETED", name))

    def recreate(self, at: float, group: int = 0) -> None:
        """The group is deleted and recreated, soon."""
        self.later(at + 0.1, lambda now: self.told.gone(now, group))
        self.later(at + 1.0, lambda now: self.told.whole(now, group))


@pytest.fixture
def tainted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What was done to the workers' taints."""
    done: list[tuple[str, Any]] = []

    def note(verb: str) -> Callable[..., None]:
        return lambda _client, nodes, *_more: done.append((verb, nodes))

    for verb in ("lose", "remove", "block"):
        monkeypatch.setattr(taints, verb, note(verb))
    monkeypatch.setattr(
        taints,
        "apply",
        lambda _client, nodes, count, _reason: done.append(("apply", nodes[:count])),
    )
    return done


@pytest.fixture
def right(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done to the permission of LWS; the API server applies it at once."""
    done: list[str] = []
    monkeypatch.setattr(rights, "take", lambda *_: done.append("taken"))
    monkeypatch.setattr(rights, "give", lambda *_: done.append("given"))
    monkeypatch.setattr(rights, "are_given", lambda *_: done[-1] == "given")
    return done


def run(drill: Any, stage: Stage, expectation: Expectation, patience: float = 30.0) -> None:
    drill.run(context_of(stage, expectation, patience))


def test_recovery_restores_the_node_when_the_group_is_not_recreated(
    tainted: list[tuple[str, Any]],
) -> None:
    stage = Cluster()
    stage.answers["delete"] = lambda at, _name, _how: stage.recreate(at)
    with pytest.raises(DrillTimeout, match="a group that is complete"):
        run(recovery, stage, expect("recreated"))
    assert [verb for verb, _ in tainted] == ["remove", "lose", "remove"]


@pytest.mark.usefixtures("tainted")
def test_recovery_waits_while_a_group_is_recreated_twice() -> None:
    stage = Cluster()

    def recreate_twice(at: float, _name: str, _how: Any) -> None:
        stage.recreate(at)
        stage.recreate(at + 1.6)

    stage.answers["delete"] = recreate_twice
    with pytest.raises(DrillTimeout):  # at the lost node, for which this cluster has no answer
        run(recovery, stage, expect("recreated"), patience=10.0)
    times = [mark.at for mark in stage.recording.marks]
    assert times[1] - times[0] > 4.5  # recreated twice, then complete for two seconds


def test_recovery_waits_for_the_other_groups_of_a_lost_node(
    tainted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Cluster(groups=2)
    stage.answers["delete"] = lambda at, _name, _how: stage.recreate(at)

    def lose(*_: Any) -> None:
        stage.recreate(stage.time)
        stage.later(stage.time + 0.1, lambda now: stage.told.gone(now, 1))
        stage.later(stage.time + 7.0, lambda now: stage.told.whole(now, 1))

    monkeypatch.setattr(taints, "lose", lose)
    removed = []
    monkeypatch.setattr(taints, "remove", lambda *_: removed.append(stage.time))
    run(recovery, stage, expect("recreated", groups=2))
    assert removed[-1] - stage.recording.marks[-1].at > 7.0
    assert tainted == []


def test_scale_restores_the_number_of_groups_when_it_fails() -> None:
    stage = Cluster()
    with pytest.raises(DrillTimeout, match="2 complete groups"):
        run(scale, stage, expect("scaled"))
    assert stage.actions[-1][2] == {"spec": {"replicas": 1}}


def test_rolling_update_restores_template_and_taints_when_it_fails(
    tainted: list[tuple[str, Any]],
) -> None:
    stage = Cluster()
    stage.told.node(0.5, "w3", taints.BLOCKED["key"])
    with pytest.raises(DrillTimeout):
        run(rolling_update, stage, expect("rolled"))
    spec = stage.actions[-1][2]["spec"]
    assert spec["rolloutStrategy"]["rollingUpdateConfiguration"]["maxSurge"] == 0
    metadata = spec["leaderWorkerTemplate"]["workerTemplate"]["metadata"]
    assert metadata["annotations"] == {rolling_update.ANNOTATION: None}
    assert tainted == [("apply", ["w3"]), ("apply", ["w3"])]


def test_rolling_update_blocks_first_what_an_interrupted_one_left_unblocked(
    tainted: list[tuple[str, Any]],
) -> None:
    stage = Cluster()
    stage.told.node(0.5, "w10").node(0.5, "w3", taints.BLOCKED["key"])

    def update(at: float, _name: str, _spec: Any) -> None:
        if marks(stage) and len(stage.actions) < 4:
            stage.recreate(at)

    stage.answers["patch"] = update
    run(rolling_update, stage, expect("rolled"))
    assert tainted == [("apply", ["w3", "w1"]), ("remove", ["w3", "w1"]), ("apply", ["w3", "w1"])]
    assert marks(stage)[0] == "update without surge: 1 groups of 4 pods, and room for no more"


def test_rolling_update_blocks_the_workers_although_the_template_cannot_be_restored(
    tainted: list[tuple[str, Any]],
) -> None:
    stage = Cluster()

    def refuse(_at: float, _name: str, _spec: Any) -> None:
        if marks(stage):
            raise OSError("connection refused")

    stage.answers["patch"] = refuse
    with pytest.raises(OSError, match="refused"):
        run(rolling_update, stage, expect("rolled"))
    assert tainted == [("apply", ["w1"])] * 2


def test_leader_ready_unblocks_the_workers_when_nothing_is_bound(
    tainted: list[tuple[str, Any]],
) -> None:
    with pytest.raises(DrillTimeout, match="a part of the group"):
        run(leader_ready, Cluster(), expect("leader-first", min_member=1))
    assert tainted == [("remove", WORKERS), ("block", ["w2", "w3"]), ("remove", WORKERS)]


def test_missing_rbac_restores_the_permission_when_lws_reports_no_error(
    right: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LwsLog, "refusal", lambda *_: None)
    with pytest.raises(DrillTimeout, match="LWS's error in its log"):
        run(missing_rbac, Cluster(), expect("refused"))
    assert right == ["given", "taken", "given"]


def test_missing_rbac_reports_a_permission_by_another_role(
    right: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "are_given", lambda *_: True)
    with pytest.raises(DrillTimeout, match="by another role"):
        run(missing_rbac, Cluster(), expect("refused"))
    assert right[-1] == "given"


def test_a_drill_that_gets_sigterm_restores_what_it_changed(
    tainted: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Cluster()
    stage.answers["delete"] = lambda at, _name, _how: stage.recreate(at)
    monkeypatch.setattr(taints, "lose", lambda *_: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit):
        drills.perform(drills.drill("recovery"), context_of(stage, expect("recreated")))
    assert tainted[-1] == ("remove", WORKERS)
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("drill", [recovery, scale, rolling_update, leader_ready, missing_rbac])
@pytest.mark.usefixtures("tainted", "right")
def test_drill_waits_for_a_garbage_collector_that_knows_pod_groups(drill: Any) -> None:
    stage = Cluster()
    stage.collects = False
    with pytest.raises(DrillTimeout, match="garbage collector"):
        run(drill, stage, expect("recreated"))
    (orphan,) = stage.orphans
    (owner,) = orphan.metadata.ownerReferences
    assert (orphan.metadata.namespace, owner.kind) == ("lockstep-gang", "ConfigMap")
    assert marks(stage) == []


def one_step(error: Exception | None = None) -> drills.Drill:
    """A drill of one step, which may fail."""

    def run(context: drills.DrillContext) -> None:
        context.mark(Topic.WAITING, "for nothing")
        if error:
            raise error

    return run


def test_perform_marks_the_end() -> None:
    stage = Cluster()
    assert drills.perform(one_step(), context_of(stage, expect("recreated"))) == ""
    assert marks(stage) == ["waiting: for nothing", "drill over"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DrillTimeout("the drill timed out"), "the drill timed out"),
        (kube.FAILURES[0]("connection refused"), "the drill failed: connection refused"),
        (LockstepError("node w1 is gone"), "the drill failed: node w1 is gone"),
    ],
)
def test_perform_returns_why_a_drill_failed(error: Exception, reason: str) -> None:
    stage = Cluster()
    assert drills.perform(one_step(error), context_of(stage, expect("recreated"))) == reason
    assert marks(stage)[-1] == f"drill gave up: {reason}"


def test_a_state_that_does_not_last_times_out() -> None:
    stage = Cluster()
    flips = [0]

    def flap(at: float) -> None:
        flips[0] += 1
        assert flips[0] < 500, "no deadline"
        stage.later(at + 0.5, flap)

    stage.later(3.5, flap)
    context = context_of(stage, expect("recreated"), patience=20.0)
    with pytest.raises(DrillTimeout, match="timed out after 20 s waiting for rest"):
        context.until("rest", lambda _: flips[0] % 2 == 0, lasting=2.0)
    assert stage.now() < 26.0
