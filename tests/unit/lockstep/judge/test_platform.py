"""What the scheduler answered, and whether that proves that it scheduled gangs all the time."""

from typing import Any

import pytest

from lockstep.judge import RecheckAt, platform
from lockstep.judge.history import History
from lockstep.recording.model import UNREACHABLE, Observation
from tests.unit.lockstep.story import ACTIONS, NAMESPACE, PLUGINS, Story

FACTS = {key: value for key, value in (Story().scheduler or {}).items() if key != "uid"}
NO_GANG: dict[str, Any] = {"plugins": ["predicates"]}
NO_SESSION: dict[str, Any] = {"actions": None, "plugins": None}
OTHER: dict[str, Any] = {"uid": "2", "name": "b"}
START, BOUND, END = 5.0, 7.0, 8.0
"""When the pods were created, and when the first and the last of them was bound."""

Answer = tuple[float, dict[str, Any]]


def answers(*told: Answer, until: float = 10.0) -> History:
    """What processes answered: by default the pod `a`, as it should."""
    story = Story()
    story.recording.observations.clear()
    for number, (at, facts) in enumerate(told):
        uid, name = facts.get("uid", "1"), facts.get("name", "a")
        shown = {key: value for key, value in facts.items() if key not in ("uid", "name")}
        story.recording.add(
            Observation(at, "scheduler", "MODIFIED", "", name, uid, str(number), {**FACTS, **shown})
        )
    return History.of(story.until(until).recording, NAMESPACE)


def problem(*told: Answer, start: float = START, until: float = 10.0) -> str | RecheckAt | None:
    return platform.problem(answers(*told, until=until), start, BOUND, END, final=False)


def silent(at: float, reason: str = "") -> Answer:
    return at, {"uid": UNREACHABLE, "reason": reason}


def test_receipt_has_the_last_answer() -> None:
    assert platform.scheduler(answers(silent(1.0))) is None
    history = answers((1.0, NO_GANG), (8.0, {"uid": "2"}), silent(9.0))
    ran = {"source": "metrics", "actions": ACTIONS, "plugins": PLUGINS}
    assert platform.scheduler(history) == ran


SILENCE = "Volcano's scheduler could not be asked what it runs"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([(4.0, {}), (7.9, {})], SILENCE),
        ([silent(7.0, "before"), silent(9.0, "timeout")], f"{SILENCE}: timeout"),
        # No session has begun since it was asked for the first time.
        ([(4.0, NO_SESSION), (8.0, NO_SESSION)], SILENCE),
    ],
)
def test_answer_is_awaited_until_some_time_after_the_last_bind(
    told: list[Answer], words: str
) -> None:
    assert problem(*told, until=17.9) == RecheckAt(18.0)
    assert problem(*told, until=18.0) == words
    assert platform.problem(answers(*told), START, BOUND, END, final=True) == words


def test_scheduler_that_answers_before_its_first_session_is_awaited_no_longer_after_it() -> None:
    assert problem((4.0, NO_SESSION), (8.0, {})) is None


def test_scheduler_that_stands_by_and_opens_no_session_is_no_matter() -> None:
    other = {**OTHER, **NO_SESSION}
    assert problem((4.0, {}), (4.0, other), (8.0, {}), (8.0, other), until=20.0) is None


def test_fault_counts_when_a_second_look_confirms_it() -> None:
    told = [(4.0, {}), (8.0, NO_GANG)]
    words = "the scheduler runs without the plugin gang: predicates"
    assert problem(*told) == RecheckAt(11.0)
    assert platform.problem(answers(*told), START, BOUND, END, final=True) == words
    assert problem(*told, (9.0, NO_GANG)) == words


SECOND: dict[str, Any] = {"uid": "2"}


@pytest.mark.parametrize(
    ("told", "after"),
    [
        ([(3.0, SECOND), (4.0, {})], None),  # it had ended when the pods were created
        ([(3.0, SECOND), (5.0, {})], None),
        ([(3.0, {**SECOND, **NO_GANG}), (4.0, {})], None),
        ([(5.0, {**SECOND, **NO_GANG}), (4.0, {})], None),
        ([(3.0, SECOND), (5.0, {**SECOND, "sessions": 11}), (4.0, {})], None),
        ([(5.0, SECOND), (4.0, {})], None),
        ([(4.0, {}), (6.0, SECOND)], 6.0),
        ([(3.0, SECOND), (6.0, SECOND), (4.0, {})], 6.0),
        ([(3.0, SECOND), (6.0, SECOND), (7.0, {})], 6.0),
        ([(4.0, OTHER), (6.0, {})], 4.0),  # nobody knows until when it scheduled
        ([(4.0, OTHER), (6.0, OTHER), (4.0, {})], None),  # it stands by
        ([(4.0, OTHER), (9.0, OTHER), (6.0, {})], None),
        ([(6.0, OTHER), (6.0, {})], None),
    ],
)
def test_scheduler_must_be_one_process_from_the_creation_to_the_last_bind(
    told: list[Answer], after: float | None
) -> None:
    words = None if after is None else f"the scheduler was restarted after {after:.1f} s"
    assert problem(*told, (8.0, {}), (9.0, {})) == words


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([(1.0, NO_GANG), (4.0, {}), (8.0, {}), (9.0, NO_GANG)], None),
        ([(4.0, {}), (8.0, {}), (8.5, {}), (9.0, NO_GANG)], None),
        (
            [(4.0, NO_GANG), (8.0, {}), (9.0, {})],
            "the scheduler runs without the plugin gang: predicates",
        ),
        (
            [(4.0, {}), (8.0, {"plugins": []}), (9.0, {})],
            "the scheduler runs without the plugin gang: none",
        ),
        (
            [(6.0, {"withoutGang": 1}), (8.0, {"withoutGang": 1}), (9.0, {"withoutGang": 1})],
            "the plugin gang did not run in 1 of the scheduler's sessions",
        ),
        (
            [(4.0, {}), (8.0, {"actions": ["allocate"]}), (9.0, {})],
            "the scheduler's actions are allocate, but the stack installed "
            "allocate, backfill, enqueue",
        ),
        (
            [(4.0, {"asked": None}), (8.0, {"asked": None, "actions": ["allocate"]}), (9.0, {})],
            "the scheduler's actions changed from allocate, backfill, enqueue to allocate",
        ),
    ],
)
def test_scheduler_must_run_what_it_should_from_the_creation_to_the_last_bind(
    told: list[Answer], words: str | None
) -> None:
    assert problem(*told) == words


def test_sessions_before_the_recording_are_no_matter() -> None:
    told = [(at, {"withoutGang": 7}) for at in (1.0, 8.0, 9.0)]
    assert problem(*told, start=0.0) is None
    words = "the plugin gang did not run in 1 of the scheduler's sessions"
    assert problem(*told, (9.5, {"withoutGang": 8}), start=0.0) == words


@pytest.mark.parametrize("started", ["4000000000.5", "2026-01-01T00:00:09Z"])
def test_scheduler_that_started_after_the_pods_were_created_did_not_see_all_of_them(
    started: str,
) -> None:
    told = [(at, {"uid": f"pod-uid {started}"}) for at in (6.0, 8.0, 9.0)]
    assert problem(*told) == "the scheduler was started after the recording began"
    assert problem(*told, start=6.0) is None
    assert problem(*told, start=0.0) is None  # the pods are older than the recording
    assert problem(*told[1:], start=0.0) == "the scheduler was started after the recording began"


def test_scheduler_that_scheduled_and_ended_counts_beside_the_one_that_took_over() -> None:
    active = [(4.0, OTHER), (6.0, {**OTHER, "sessions": 11})]
    standby = [(at, NO_SESSION) for at in (4.0, 6.0)]
    words = "the scheduler was restarted after 6.0 s"
    assert problem(*active, *standby, (8.0, {}), (9.0, {})) == words
    words = "the scheduler runs without the plugin gang: predicates"
    ended = [(4.0, {**OTHER, **NO_GANG}), (6.0, {**OTHER, **NO_GANG})]
    assert problem(*ended, *standby, (8.0, {}), (9.0, {})) == words


def test_scheduler_that_started_with_the_recording_saw_all_of_it() -> None:
    told = [(at, {"uid": "pod-uid 1767225600"}) for at in (6.0, 8.0, 9.0)]
    assert problem(*told) is None


@pytest.mark.parametrize(
    ("told", "sessions"),
    [
        ([], None),
        ([(4.0, {})], None),
        ([(5.0, {}), (4.0, {"sessions": 8})], 0),
        ([(4.0, {}), (5.0, {"sessions": 11}), (7.0, {"sessions": 13})], 2),
        ([(5.0, OTHER), (5.0, {}), (7.0, {"sessions": 12}), (7.0, OTHER)], 3),
        # Where the ConfigMap is read, sessions are not counted.
        ([(5.0, {"sessions": 0}), (7.0, {"sessions": 0})], None),
    ],
)
def test_sessions_are_counted_from_the_first_look_after_a_time(
    told: list[Answer], sessions: int | None
) -> None:
    assert platform.sessions_since(answers(*told), 5.0) == sessions
