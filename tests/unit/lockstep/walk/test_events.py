import pytest

from lockstep.walk.events import EventLog, reason_of
from tests.unit.lockstep.walk.fakes import error_event, step_event, summary_event

STACK = "pulumi:pulumi:Stack"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("key is 'x': must be y\n", "key is 'x': must be y"),
        ("two\nlines\n", "two lines"),
        ('exit status 2: running "…":\nkind says a lot\nlockstep: no Docker\n\n', "no Docker"),
        ("\n", ""),
    ],
)
def test_reason_is_one_line(message: str, reason: str) -> None:
    assert reason_of(message) == reason


def test_reason_of_an_update_is_the_first_specific_error() -> None:
    events = EventLog()
    for message in ("update failed", "no room\n", "another"):
        events(error_event(message))
    assert events.reason == "no room"
    only = EventLog()
    only(error_event("update failed\n"))
    assert (only.reason, EventLog().reason) == ("update failed", "")


def test_outputs_are_those_of_the_stack() -> None:
    events = EventLog()
    events(step_event("resOutputsEvent", "create", "x", outputs={"verdicts": {}}))
    assert events.outputs == {}
    events(
        step_event("resOutputsEvent", "same", "gang", type=STACK, outputs={"verdicts": {"a": 1}})
    )
    assert events.outputs == {"verdicts": {"a": 1}}


def test_unchanged_resources_are_no_changes() -> None:
    events = EventLog()
    events(summary_event(create=2, update=1, same=30, read=1))
    assert events.changed == 3
