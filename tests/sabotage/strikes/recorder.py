"""Sabotages of the recorder's process, and of the order in which it is used."""

import json
import os
import signal

from tests.sabotage.strikes.field import Field, Missed
from tests.sabotage.strikes.watches import TORN_FOR, tear


def killed(field: Field) -> None:
    """Kill the recorder."""
    _send(field, signal.SIGKILL)


def frozen(field: Field) -> None:
    """Stop the recorder for a few seconds."""
    _send(field, signal.SIGSTOP)
    field.later(field.rng.uniform(1.5, 6.0), lambda: _send(field, signal.SIGCONT))


def wall_clock(field: Field) -> None:
    """Move the recorder's wall clock, by up to a day in either direction."""
    field.clock.write_text(str(field.rng.uniform(-86400, 86400)))
    field.undo.callback(field.clock.unlink, missing_ok=True)


def tear_behind_frozen_recorder(field: Field) -> None:
    """Tear the gang while the recorder is stopped, so that it receives all binds at once."""
    _send(field, signal.SIGSTOP)
    field.undo.callback(_send, field, signal.SIGCONT)
    tear(field)
    field.later(TORN_FOR + 2.0, lambda: _send(field, signal.SIGCONT))


def judged_again(field: Field) -> None:
    """Judge once more without a recorder: all binds come before the new recording."""
    field.records_again = False


def _send(field: Field, number: signal.Signals) -> None:
    try:
        with field.recording.open() as file:
            pid = int(json.loads(file.readline())["pid"])
        os.kill(pid, number)
    except (OSError, ValueError, KeyError) as error:
        if number != signal.SIGCONT:
            raise Missed("no recorder runs") from error
