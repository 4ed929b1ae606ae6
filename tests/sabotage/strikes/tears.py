"""Sabotages that tear a gang: in the open, and while the recorder cannot see it.

The scheduler is stopped before the pods exist, one pod is bound by hand, and the scheduler goes on
some seconds later. What the recorder receives afterwards, all at once, looks like one burst.
"""

import signal
import threading
from collections.abc import Callable

from lockstep import processes
from tests.sabotage.api import FAILURES, Refused
from tests.sabotage.cluster import SCHEDULER
from tests.sabotage.gangs import Pod
from tests.sabotage.strikes.field import Field, Missed
from tests.sabotage.strikes.objects import bind
from tests.sabotage.strikes.recorder import send

TORN_FOR = 5.0
"""Seconds for which a gang is partly bound: more than twice the judge's limit."""
HIDDEN_AFTER = 1.5
"""Seconds for which the rest of the gang's binds are hidden, too."""
CREATED_WITHIN = 30.0


def in_the_open(field: Field) -> None:
    """Tear the gang in front of the recorder."""
    _tear(field, _nothing, _nothing)


def behind_late_watch(field: Field) -> None:
    """Tear the gang while the watch is held back, so that all binds arrive at once."""
    _tear(field, field.proxy.hold, field.proxy.release)


def behind_cut_watch(field: Field) -> None:
    """Tear the gang while the recorder has no connection."""
    _tear(field, field.proxy.cut, field.proxy.mend)


def behind_frozen_recorder(field: Field) -> None:
    """Tear the gang while the recorder is stopped, so that it receives all binds at once."""
    _tear(field, lambda: send(field, signal.SIGSTOP), lambda: send(field, signal.SIGCONT))


def _nothing() -> None:
    """Hide nothing."""


def _tear(field: Field, hide: Callable[[], None], show: Callable[[], None]) -> None:
    schedulers = processes.named(field.cluster.folder, SCHEDULER)
    for process in schedulers:
        process.suspend()
    over = threading.Event()

    def act() -> None:
        try:
            if field.truth.await_(lambda: over.is_set() or _is_created(field), CREATED_WITHIN):
                hide()
                bind(field, field.pod(_is_free).first.name, field.node())
                over.wait(TORN_FOR)
        except (*FAILURES, Refused, Missed):
            pass  # then no gang was torn, which the observer will notice
        finally:
            for process in schedulers:
                process.resume()
            over.wait(HIDDEN_AFTER)
            show()

    thread = threading.Thread(target=act, daemon=True)
    thread.start()

    def end() -> None:
        over.set()
        with field.truth.changed:
            field.truth.changed.notify_all()
        thread.join()

    field.undo.callback(end)


def _is_created(field: Field) -> bool:
    """Whether the first gang has all of its pods."""
    return len(field.pods()) >= int(field.update.expectation["size"])


def _is_free(pod: Pod) -> bool:
    return pod.bound is None
