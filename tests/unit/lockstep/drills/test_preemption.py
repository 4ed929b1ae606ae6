from typing import Any

import pytest

from lockstep.drills import DrillTimeout, preemption
from lockstep.errors import LockstepError
from lockstep.judge import Workload
from tests.unit.lockstep.drills.stage import Stage, context_of
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed

RIVALRY = expect("preempted-whole", rival=Workload("LeaderWorkerSet", "high"))
HIGH = ("high-0", "high-0-1", "high-0-2", "high-0-3")


def cluster(*, let_in: bool = False, classes: tuple[str, ...] = ("high",) * 4) -> Stage:
    """A full pool, or one where the rival is in already, and an LWS that scales."""
    story = gang_created(Story())
    stage = Stage(story)
    stage.time = 3.0

    def come(at: float) -> None:
        for index, (name, priority) in enumerate(zip(HIGH, classes, strict=True)):
            role = "worker" if index else "leader"
            story.pod(at, name, lws="high", role=role, priorityClass=priority)
        story.pod_group(at + 0.1, lws="high")

    def go(at: float) -> None:
        story.delete(at, *HIGH)
        story.tell(at, "podgroup", "DELETED", "high-0-r1")
        gang_placed(story, at + 0.5)

    def scaled(at: float, name: str, body: Any) -> None:
        if name != "high":
            return
        if body["spec"]["replicas"]:
            stage.later(at + 0.2, come)
        elif let_in:
            stage.later(at + 0.2, go)

    stage.answers["patch"] = scaled
    if let_in:
        come(0.0)
    else:
        gang_placed(story, 2.0)
    return stage


def test_rival_of_an_earlier_drill_goes_first() -> None:
    stage = cluster(let_in=True)
    preemption.run(context_of(stage, RIVALRY))
    assert [body for verb, name, body in stage.actions if name == "high"] == [
        {"spec": {"replicas": 0}},
        {"spec": {"replicas": 1}},
    ]


def test_waiting_for_a_full_pool_times_out() -> None:
    stage = Stage(gang_created(Story()))
    with pytest.raises(DrillTimeout, match="a pool full of low priority"):
        preemption.run(context_of(stage, RIVALRY))
    assert len(stage.actions) == 1


def test_pods_of_several_classes_have_no_common_priority() -> None:
    stage = cluster(classes=("high", "high", "low", "high"))
    with pytest.raises(LockstepError, match="not of one priority class: \\['high', 'low'\\]"):
        preemption.run(context_of(stage, RIVALRY))
