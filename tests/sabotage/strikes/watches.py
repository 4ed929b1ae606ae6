"""Sabotages of the recorder's connection to the API server."""

from tests.sabotage.strikes.field import Field


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
