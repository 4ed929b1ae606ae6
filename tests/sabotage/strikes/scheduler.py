"""Sabotages of Volcano's scheduler: its configuration and its process."""

import re

from lockstep import processes
from lockstep.wait import wait_until
from tests.sabotage.cluster import SCHEDULER
from tests.sabotage.strikes.field import Field

_GANG = re.compile(r"^\s*- name: gang\n(?:\s+enable\w+:.*\n)*", re.M)


def gang_plugin_off(field: Field) -> None:
    """Remove the gang plugin from the file that the running scheduler reads."""
    _write(field, _without_gang(field.cluster.conf_file.read_text()))


def gang_plugin_off_and_restart(field: Field) -> None:
    """Remove the gang plugin from the ConfigMap and restart the scheduler."""
    before = field.cluster.scheduler_text()
    field.undo.callback(field.cluster.write_scheduler_text, before)
    field.cluster.write_scheduler_text(_without_gang(before))


def misspelt_action(field: Field) -> None:
    """Misspell the action that places pods, in the file that the scheduler reads."""
    text = field.cluster.conf_file.read_text()
    _write(field, text.replace("allocate", "alocate", 1))


def restarted(field: Field) -> None:
    """Kill the scheduler; it is restarted at once."""
    old = field.cluster.process(SCHEDULER)
    processes.end([old], SCHEDULER)
    folder = field.cluster.folder
    wait_until("the scheduler", lambda: processes.named(folder, SCHEDULER), 15.0)
    wait_until("the scheduler's health", field.cluster.is_healthy, 15.0)


def frozen(field: Field) -> None:
    """Stop the scheduler's process until the end of the round."""
    process = field.cluster.process(SCHEDULER)
    process.suspend()
    field.undo.callback(process.resume)


def thawed(field: Field) -> None:
    """Stop the scheduler's process for a few seconds."""
    process = field.cluster.process(SCHEDULER)
    process.suspend()
    field.later(field.rng.uniform(1.5, 5.0), process.resume)


def _without_gang(text: str) -> str:
    changed, count = _GANG.subn("", text)
    if not count:
        raise RuntimeError("the scheduler's configuration has no gang plugin")
    return changed


def _write(field: Field, text: str) -> None:
    file = field.cluster.conf_file
    before = file.read_text()
    if text == before:
        raise RuntimeError("the sabotage changes nothing in the scheduler's configuration")
    field.undo.callback(file.write_text, before)
    file.write_text(text)
