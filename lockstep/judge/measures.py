"""What a verdict measures: how far apart the binds of a gang were, and how soon it was released."""

from __future__ import annotations

from lockstep.judge.history import Gang, History, Interval


def bind_skew(history: History, gang: Gang) -> float | None:
    """Last minus first bind of a gang that is bound whole; None if a time is not known."""
    bound = gang.bound
    if len(bound) != gang.size or not all(pod.exactly_bound for pod in bound):
        return None
    times = [pod.bound.at for pod in bound if pod.bound]
    burst = Interval(min(times), max(times))
    # Binds that the API server told together after a cut came at times that nobody saw.
    if any(cut.start <= burst.end and burst.start <= cut.end for cut in history.cuts):
        return None
    return burst.end - burst.start


def longest_bind_skew(history: History, gangs: list[Gang]) -> float | None:
    """The longest bind skew of some gangs; None unless it is known of all."""
    skews = [bind_skew(history, gang) for gang in gangs]
    known = [skew for skew in skews if skew is not None]
    return round(max(known), 3) if known and len(known) == len(skews) else None


def release_latency(history: History, gangs: list[Gang]) -> float | None:
    """From the last taint that went to the last bind; None if either was not seen to happen."""
    pods = [pod for gang in gangs for pod in gang.bound]
    if not pods or not all(pod.exactly_bound for pod in pods):
        return None
    last = max(pod.bound.at for pod in pods if pod.bound)
    before = [at for at, _ in history.taint_removals() if at <= last]
    return round(last - max(before), 3) if before else None
