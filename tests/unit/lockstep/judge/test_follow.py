"""Judging while the recorder runs: a verdict is given when the API server has confirmed it."""

import math
from typing import Any, cast

import pytest

from lockstep import judge
from lockstep.judge import Verdict
from lockstep.judge.follow import follow
from lockstep.recording.client import GRACE, POLL
from tests.unit.lockstep.drills.stage import Event, Stage
from tests.unit.lockstep.story import Story, expect, gang_created, gang_placed, pods


class Watched(Stage):
    """A live recording that is confirmed `late` seconds afterwards, and not after `silent`."""

    def __init__(self, late: float = 0.0, silent: float = math.inf) -> None:
        super().__init__(Story())
        self.late, self.silent = late, silent
        self.gathers: list[float] = []

    def wait(self, until: float, gather: float = 0.0, grace: float | None = None) -> None:
        self.gathers.append(gather)
        assert len(self.gathers) < 50, "it polls"
        if self.recording.end >= until or self.ended:
            return
        longest = until + (GRACE if grace is None else grace)
        confirmed = until + self.late if until <= self.silent else math.inf
        super().wait(max(self.time + POLL, min(confirmed, longest)))
        self.recording.end = min(self.time - self.late, self.silent)

    def follow(self, patience: float = 60.0) -> Verdict:
        return follow(cast("Any", self), expect("placed"), patience)


def telling(stage: Watched, *told: tuple[float, Event]) -> Watched:
    for at, event in told:
        stage.later(at, event)
    return stage


def placed(stage: Watched, at: float = 3.0) -> Watched:
    """All pods run at a time."""

    def tell(now: float) -> None:
        gang_placed(gang_created(stage.story, now - 2.0), now - 0.5)

    return telling(stage, (at, tell))


def gone(stage: Watched, at: float) -> Watched:
    def tell(now: float) -> None:
        stage.story.change(now, *pods(), deleting=True).delete(now, *pods())
        stage.story.tell(now, "podgroup", "DELETED", "gang-0-r1")

    return telling(stage, (at, tell))


def without_gang(stage: Watched, at: float) -> Watched:
    """The scheduler turns out to have run without the plugin `gang`."""

    def tell(now: float) -> None:
        assert stage.story.scheduler is not None
        stage.story.scheduler["withoutGang"] = 3
        stage.story.look(now)

    return telling(stage, (at, tell))


def ended(stage: Watched, at: float) -> Watched:
    return telling(stage, (at, lambda _: setattr(stage, "ended", True)))


@pytest.mark.parametrize("late", [0.0, 2.0, 14.5])
def test_verdict_is_given_when_the_recording_is_complete_until_it_was_reached(late: float) -> None:
    stage = placed(Watched(late), at=20.0)
    assert stage.follow().ok
    assert stage.time == 20.0 + late


def test_verdict_that_changes_before_it_is_confirmed_is_confirmed_again() -> None:
    stage = without_gang(placed(Watched(2.0)), 4.0)
    verdict = stage.follow()
    assert (verdict.observed, stage.time) == ("unproven", 6.0)
    assert "the plugin gang did not run" in verdict.reason


def test_verdict_that_is_withdrawn_before_it_is_confirmed_is_confirmed_again() -> None:
    stage = placed(gone(placed(Watched(4.0)), 4.0), 6.5)
    assert stage.follow().ok
    assert stage.time == 10.5


@pytest.mark.parametrize("is_reached", [False, True])
def test_recorder_that_ended_proves_nothing(is_reached: bool) -> None:
    stage = ended(placed(Watched(2.0), 3.0 if is_reached else 90.0), 4.0)
    verdict = stage.follow()
    assert (verdict.observed, verdict.ok, stage.time) == ("unproven", False, 4.0)
    words = "the recorder ended before a verdict; what happened after 2.0 s is not known"
    assert verdict.reason.endswith(words)


def test_verdict_that_is_confirmed_as_the_recorder_ends_counts() -> None:
    assert ended(placed(Watched()), 3.0).follow().ok
    stage = Watched()
    telling(stage, (5.0, lambda _: setattr(stage, "ended", True)))
    assert stage.follow(patience=5.0).observed == "absent"


def test_verdict_that_is_not_confirmed_in_time_is_unproven() -> None:
    stage = placed(Watched(silent=2.5))
    telling(stage, (10.0, lambda at: stage.story.change(at, "gang-0", ready=True)))
    verdict = stage.follow()
    assert (verdict.observed, verdict.ok, stage.time) == ("unproven", False, 18.0)
    words = "did not answer for 15 s; what happened after 2.5 s is not known"
    assert verdict.reason.endswith(words)


def test_state_at_the_deadline_is_confirmed_too() -> None:
    stage = Watched(2.0)
    stage.time = 5.0
    verdict = stage.follow(patience=10.0)
    assert (verdict.observed, stage.time) == ("absent", 17.0)


def test_state_at_the_deadline_that_is_not_confirmed_in_time_is_unproven() -> None:
    stage = Watched(silent=9.0)
    verdict = stage.follow(patience=10.0)
    assert (verdict.observed, stage.time) == ("unproven", 25.0)
    assert "did not answer for 15 s" in verdict.reason


def test_what_is_told_while_the_deadline_is_confirmed_counts() -> None:
    stage = placed(Watched(2.0), at=11.0)
    assert stage.follow(patience=10.0).ok
    assert stage.time == 13.0


@pytest.mark.parametrize(("patience", "observed", "at"), [(60.0, "partial", 4.001), (3.0, "", 3.0)])
def test_next_look_is_when_a_rule_asks_for_it_or_at_the_deadline(
    patience: float, observed: str, at: float
) -> None:
    stage = Watched()
    telling(stage, (2.0, lambda _: gang_created(stage.story).bind(2.0, "gang-0")))
    verdict = stage.follow(patience)
    assert stage.time == pytest.approx(at)
    assert verdict.observed == "partial"
    assert ("for 2.0 s" in verdict.reason) == bool(observed)


@pytest.mark.parametrize(("took", "gathered"), [(0.0, 0.0), (0.02, 0.08), (0.05, 0.2), (3.0, 0.25)])
def test_judge_that_takes_long_judges_less_often(
    took: float, gathered: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = placed(Watched(), 20.0)
    stage.time = 5.0
    assess = judge.assess

    def slow(*args: Any) -> Any:
        stage.time += took
        return assess(*args)

    monkeypatch.setattr(judge, "assess", slow)
    stage.follow()
    first, *others = stage.gathers
    assert first == 0.0
    assert others == pytest.approx([gathered] * len(others))
    assert others


def test_verdict_that_is_withdrawn_after_the_deadline_is_confirmed_again() -> None:
    stage = placed(gone(placed(Watched(5.0), 9.0), 11.0), 14.5)
    stage.follow(patience=10.0)
    assert stage.recording.end >= 14.5
