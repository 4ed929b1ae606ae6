"""Whether the scheduler that placed the gangs was one that schedules gangs, all the time."""

import math
from datetime import datetime
from typing import Any

from lockstep.judge import limits
from lockstep.judge.history import History, ObjectHistory
from lockstep.judge.model import RecheckAt
from lockstep.recording.model import GANG_PLUGIN, UNREACHABLE, Observation


def scheduler(history: History) -> dict[str, Any] | None:
    """What the scheduler ran at the end, for the receipt; None if it was never asked."""
    newest = max(_answers(history), key=lambda seen: seen.at, default=None)
    if newest is None:
        return None
    return {key: newest.facts.get(key) for key in ("source", "actions", "plugins")}


def problem(
    history: History, start: float, bound: float, end: float, final: bool
) -> str | RecheckAt | None:
    """What is wrong with the scheduler between two times, in a clause, or when to look again.

    `bound` is the time of the first bind; `start` is 0 where pods are older than the recording.

    The scheduler must be the same process all the time, run `gang` in every session, and run what
    its configuration says.
    """
    processes = _processes(history)
    current = [one for one in processes if _asked_after(one, end)]
    if not current:
        later = end + limits.EVENTS
        return RecheckAt(later) if history.end < later and not final else _silence(history)
    if gone := [one for one in processes if one not in current and _scheduled(one, start)]:
        return f"the scheduler was restarted after {gone[-1].last.at:.1f} s"
    for process in (one for one in processes if one.last.at > start):
        looks = len(_asked_after(process, end))
        restart = _restart(history, process, start, start or bound) if looks else ""
        if found := restart or _misconfigured(process, start, end):
            # Plugins open a session one after the other: a look may fall between two of them.
            return found if looks != 1 or final else RecheckAt(history.end + limits.SETTLE)
    if all(_last(process).get("actions") is None for process in current):
        # No session has ended since the scheduler was asked for the first time.
        later = end + limits.EVENTS
        return RecheckAt(later) if history.end < later and not final else _silence(history)
    return None


def _processes(history: History) -> list[ObjectHistory]:
    return [one for one in history.all("scheduler") if one.uid != UNREACHABLE]


def _answers(history: History) -> list[Observation]:
    return [seen for process in _processes(history) for seen in process.observations]


def _asked_after(process: ObjectHistory, at: float) -> list[Observation]:
    """The answers to questions that were put after a time."""
    return [seen for seen in process.observations if seen.earliest >= at]


def _last(process: ObjectHistory) -> dict[str, Any]:
    return dict(process.last.facts)


def _silence(history: History) -> str:
    reasons = [
        one.last.facts["reason"] for one in history.all("scheduler") if one.uid == UNREACHABLE
    ]
    why = f": {reasons[-1]}" if reasons else ""
    return f"Volcano's scheduler could not be asked what it runs{why}"


def _scheduled(process: ObjectHistory, start: float) -> bool:
    """Whether a process is known to have opened sessions after a time."""
    sessions = [seen.facts["sessions"] for seen in process.observations]
    return process.last.at > start and sessions[-1] > sessions[0]


def sessions_since(history: History, at: float) -> int | None:
    """The sessions that the scheduler is known to have opened after a time; None: not known."""
    counts = [
        [seen.facts["sessions"] for seen in _asked_after(process, at)]
        for process in _processes(history)
    ]
    return max((known[-1] - known[0] for known in counts if known and known[-1]), default=None)


def _started(process: ObjectHistory) -> float:
    """When a process started, by its machine's clock; infinite if that is not known."""
    try:
        return float(process.uid.split()[-1])
    except ValueError:
        return math.inf


def _restart(history: History, process: ObjectHistory, start: float, seen_by: float) -> str:
    """Another process may have scheduled the gang: what it ran until its end is not known.

    Pods of one Deployment may stand by for each other: they need not end when another starts.
    """
    processes = _processes(history)
    recorded = datetime.fromisoformat(history.recording.header.started).timestamp()
    if process.first.at > seen_by and _started(process) > recorded:
        return "the scheduler was started after the recording began"
    others = [one for one in processes if one is not process and one.last.at > start]
    if process.first.at > start:
        others += [one for one in processes if one.last.at < process.first.at]
    found = [one for one in others if one.name == process.name or one.last.at < process.first.at]
    return f"the scheduler was restarted after {found[0].last.at:.1f} s" if found else ""


def _misconfigured(process: ObjectHistory, start: float, end: float) -> str:
    # Where the pods are older than the recording, it begins with the first look.
    since = start or process.first.at
    before = [seen for seen in process.observations if seen.at <= since]
    during = [seen for seen in process.observations if since < seen.at]
    until = next((n for n, seen in enumerate(during) if seen.earliest >= end), len(during))
    shown = [*before[-1:], *during[: until + 1]]
    missing = process.last.facts["withoutGang"] - (before[-1].facts["withoutGang"] if before else 0)
    if missing > 0:
        return f"the plugin gang did not run in {missing} of the scheduler's sessions"
    known = [seen.facts for seen in shown if seen.facts.get("plugins") is not None]
    for facts in known:
        if GANG_PLUGIN not in facts["plugins"]:
            return f"the scheduler runs without the plugin gang: {_list(facts['plugins'])}"
        asked = facts.get("asked")
        if asked and asked["disabled"]:
            return f"the plugin gang is disabled in part: {_list(asked['disabled'])} is false"
        for what in ("actions", "plugins"):
            if asked and set(asked[what]) != set(facts[what]):
                return (
                    f"the scheduler's {what} are {_list(facts[what])}, "
                    f"but the stack installed {_list(asked[what])}"
                )
            if facts[what] != known[0][what]:
                return (
                    f"the scheduler's {what} changed from {_list(known[0][what])} "
                    f"to {_list(facts[what])}"
                )
    return ""


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"
