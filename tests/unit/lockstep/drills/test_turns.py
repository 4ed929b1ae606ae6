from typing import Any

import httpx2
import pytest
from lightkube import ApiError

from lockstep import judge
from lockstep.drills import DrillTimeout, endurance, turns
from tests.unit.lockstep.crowds import crowd, ended
from tests.unit.lockstep.drills.stage import Stage, context_of, marks
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed, pods

GROUPS = 3
TURNS = expect("serialized", groups=GROUPS, at_once=1)


def fair_cluster(groups: int = GROUPS, order: list[int] | None = None) -> Stage:
    """Room for one gang: as one ends it is recreated, and the next in line is placed."""
    stage = Stage(crowd(groups))
    line = list(order or range(groups))

    def place(at: float) -> None:
        if line:
            gang_placed(stage.story, at, line.pop(0))

    def end(at: float, leader: str, _how: Any) -> None:
        if leader.endswith("-r1"):
            return  # its PodGroup goes with it here
        group = int(leader.rpartition("-")[2])
        stage.later(at + 0.1, lambda now: ended(stage.story, now, group))
        stage.later(at + 0.6, lambda now: gang_created(stage.story, now, group))
        stage.later(at + 1.5, place)
        if order is None:
            line.append(group)

    stage.answers["delete"] = end
    stage.later(2.0, place)
    return stage


def leaders(stage: Stage) -> list[str]:
    return [name for _, name, _ in stage.actions if not name.endswith("-r1")]


def missing() -> ApiError:
    status = {"code": 404, "message": "podgroups not found", "reason": "NotFound"}
    request = httpx2.Request("DELETE", "https://cluster")
    response = httpx2.Response(404, json=status, request=request)
    return ApiError(request, response)


def test_every_gang_ends_once_and_one_more_runs() -> None:
    stage = fair_cluster()
    turns.run(context_of(stage, TURNS))
    assert leaders(stage) == ["gang-0", "gang-1", "gang-2"]
    verdict = judge.judge(stage.recording, TURNS)
    assert verdict is not None
    assert verdict.ok
    assert verdict.measures["gangsCompleted"] == 3


def test_a_gang_that_never_comes_is_not_awaited_for_ever() -> None:
    stage = fair_cluster(order=[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1])
    turns.run(context_of(stage, TURNS))
    assert len(leaders(stage)) == turns.ROUNDS * GROUPS
    verdict = judge.conclude(stage.recording, TURNS)
    assert verdict.observed == "starved"


def test_pod_groups_are_deleted_with_their_leaders_also_when_they_are_gone_already() -> None:
    stage = fair_cluster()
    end = stage.answers["delete"]

    def refuse(at: float, name: str, how: Any) -> None:
        end(at, name, how)
        if name == "gang-1-r1":
            raise missing()

    stage.answers["delete"] = refuse
    turns.run(context_of(stage, TURNS))
    assert [name for _, name, _ in stage.actions] == [
        name for group in range(GROUPS) for name in (f"gang-{group}", f"gang-{group}-r1")
    ]


def test_waiting_for_a_complete_gang_times_out() -> None:
    stage = Stage(crowd(GROUPS))
    with pytest.raises(DrillTimeout, match="timed out after 30 s waiting for a complete gang"):
        turns.run(context_of(stage, TURNS))


def test_a_failed_verdict_ends_the_drill() -> None:
    stage = Stage(crowd(GROUPS))
    stage.later(2.0, lambda at: stage.story.bind(at, "gang-1"))
    stage.later(5.0, lambda at: stage.story.tell(at, "pod", "MODIFIED", "gang-2"))
    turns.run(context_of(stage, TURNS))
    assert stage.actions == []
    assert stage.now() == 5.0


def test_endurance_waits_for_a_full_pool_and_then_some() -> None:
    story = Story()
    for group in (0, 1):
        for name in pods(group):
            story.pod(1.0, name, group)
        story.bind(2.0, pods(group)[0])
    stage = Stage(story)

    def refuse(at: float) -> None:
        for group in (0, 1):
            story.refuse_pod(at, *pods(group)[1:])

    stage.later(4.0, refuse)
    endurance.run(context_of(stage, expect("deadlocked", groups=2, gang=False)))
    assert stage.now() == pytest.approx(4.0 + endurance.SECONDS, abs=0.1)
    assert marks(stage) == ["waiting: 10 s for any gang to become complete"]
    assert stage.actions == []


def test_endurance_ends_when_a_gang_is_complete() -> None:
    stage = Stage(gang_placed(crowd(2), 2.0, 0))
    endurance.run(context_of(stage, expect("deadlocked", groups=2, gang=False)))
    assert stage.now() == 0.0
    assert marks(stage) == []
