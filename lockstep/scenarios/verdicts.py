"""The name of every verdict: those that a scenario can expect, and those that are only observed."""

from enum import StrEnum


class VerdictName(StrEnum):
    """A verdict's name, as receipts, stack outputs and reports spell it."""

    # Expected by some scenario.
    PLACED = "placed"
    HELD = "held"
    RELEASED = "released"
    PARTIAL = "partial"
    SERIALIZED = "serialized"
    DEADLOCKED = "deadlocked"
    CAPPED = "capped"
    PREEMPTED_WHOLE = "preempted-whole"
    RECREATED = "recreated"
    ROLLED = "rolled"
    SCALED = "scaled"
    LEADER_FIRST = "leader-first"
    REFUSED = "refused"

    # Observed instead of the expected verdict.
    ABSENT = "absent"
    ALLOWED = "allowed"
    BINDING = "binding"
    BOUND = "bound"
    CUT = "cut"
    EXCEEDED = "exceeded"
    IGNORED = "ignored"
    INCOMPLETE = "incomplete"
    KEPT = "kept"
    LOST = "lost"
    MISMATCHED = "mismatched"
    ORPHANED = "orphaned"
    PENDING = "pending"
    PROGRESSED = "progressed"
    SILENT = "silent"
    STALLED = "stalled"
    STARVED = "starved"
    STRAYED = "strayed"
    STUCK = "stuck"
    TORN = "torn"
    UNMANAGED = "unmanaged"
    UNPROVEN = "unproven"
    UNTOUCHED = "untouched"
    WAITS = "waits"
