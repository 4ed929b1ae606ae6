"""Sabotages of the recorder's process, and of the order in which it is used."""

import json
import os
import signal

from tests.sabotage.strikes.field import Field, Missed


def killed(field: Field) -> None:
    """Kill the recorder."""
    send(field, signal.SIGKILL)


def frozen(field: Field) -> None:
    """Stop the recorder for a few seconds."""
    send(field, signal.SIGSTOP)
    field.later(field.rng.uniform(1.5, 6.0), lambda: send(field, signal.SIGCONT))


def wall_clock(field: Field) -> None:
    """Move the recorder's wall clock, by up to a day in either direction."""
    field.clock.write_text(str(field.rng.uniform(-86400, 86400)))
    field.undo.callback(field.clock.unlink, missing_ok=True)


def judged_again(field: Field) -> None:
    """Judge once more without a recorder: all binds come before the new recording."""
    field.records_again = False


def send(field: Field, number: signal.Signals) -> None:
    """Send a signal to the recorder."""
    try:
        with field.recording.open() as file:
            pid = int(json.loads(file.readline())["pid"])
        os.kill(pid, number)
    except (OSError, ValueError, KeyError) as error:
        if number != signal.SIGCONT:
            raise Missed("no recorder runs") from error
