"""Sabotages of the recorder's connection to the API server."""

from tests.sabotage.cluster import SCHEDULER
from tests.sabotage.gangs import Pod
from tests.sabotage.strikes.field import Field, Missed
from tests.sabotage.strikes.objects import bind

TORN_FOR = 5.0
"""Seconds for which the hidden tears last: more than twice the judge's limit."""


def cut(field: Field) -> None:
    """Cut the recorder's connections, and refuse new ones for a while."""
    field.proxy.cut()
    field.later(field.rng.uniform(0.5, 4.0), field.proxy.mend)


def dead(field: Field) -> None:
    """Let nothing more through, but leave the connections open."""
    field.proxy.stall()
    field.undo.callback(field.proxy.release)


def late(field: Field) -> None:
    """Deliver what the API server sends several seconds late, all at once."""
    field.proxy.hold()
    field.later(field.rng.uniform(2.5, 7.0), field.proxy.release)


def tear_behind_late_watch(field: Field) -> None:
    """Tear the gang while the watch is held back, so that all binds arrive at once."""
    field.proxy.hold()
    field.undo.callback(field.proxy.release)
    tear(field)
    field.later(TORN_FOR + 2.0, field.proxy.release)


def tear_behind_cut_watch(field: Field) -> None:
    """Tear the gang while the recorder has no connection."""
    field.proxy.cut()
    field.undo.callback(field.proxy.mend)
    tear(field)
    field.later(TORN_FOR + 2.0, field.proxy.mend)


def tear(field: Field) -> None:
    """Leave a gang partly bound for some seconds: the scheduler sleeps, and one pod is bound."""
    process = field.cluster.process(SCHEDULER)
    process.suspend()
    field.undo.callback(process.resume)

    def is_free(pod: Pod) -> bool:
        return pod.bound is None

    bind(field, field.pod(is_free).first.name, field.node())
    if not any(pod.bound is None for pod in field.pods()):
        raise Missed("all pods were bound already")
    field.later(TORN_FOR, process.resume)
