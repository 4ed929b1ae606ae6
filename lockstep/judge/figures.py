"""Figures of a verdict: bind skew, release latency, and what gangs that take turns achieved."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lockstep.judge.groups import Incarnation, all_incarnations
from lockstep.judge.history import History, Interval, ObservedGang, bind_times, count_at_starts


def bind_skew(gang: ObservedGang) -> float | None:
    """Last minus first bind of a gang whose pods are all bound; None if a time is not known."""
    bound = gang.bound
    if len(bound) != gang.size or not all(pod.exactly_bound for pod in bound):
        return None
    times = bind_times(bound)
    return max(times) - min(times)


def longest_bind_skew(gangs: Iterable[ObservedGang]) -> float | None:
    """The longest bind skew of some gangs; None unless it is known for each of them."""
    skews = [bind_skew(gang) for gang in gangs]
    known = [skew for skew in skews if skew is not None]
    return max(known) if known and len(known) == len(skews) else None


def release(history: History, gangs: Iterable[ObservedGang]) -> tuple[float, str, float] | None:
    """The last taint removal before the last bind: its time, its worker, seconds until the bind.

    None if either was not observed as it happened.
    """
    pods = [pod for gang in gangs for pod in gang.bound]
    if not pods or not all(pod.exactly_bound for pod in pods):
        return None
    last = max(bind_times(pods))
    before = [(seen.at, node) for seen, node in history.taint_removals() if seen.at <= last]
    if not before:
        return None
    at, node = max(before)
    return at, node, last - at


@dataclass(frozen=True)
class Run:
    """The time in which one incarnation of a gang was completely bound."""

    incarnation: Incarnation
    start: float
    """When the last of its pods was bound."""
    end: float
    """When the first of its pods began to terminate, or the recording ended."""
    over: bool
    """Whether a pod began to terminate."""

    @property
    def key(self) -> str:
        """The name of the gang."""
        return self.incarnation.key

    @property
    def ran(self) -> bool:
        """Whether all pods were observed running at the same time."""
        return self.incarnation.completed_at is not None

    @property
    def ending(self) -> Interval:
        """From the first pod that terminated to the last: infinite if a pod keeps its place."""
        last = max(pod.ends for pod in self.incarnation.bound_pods)
        late = self.incarnation.lateness_at
        return Interval(self.end, last, start_late=late(self.end), end_late=late(last))

    @property
    def lingers(self) -> bool:
        """Whether a pod keeps its place although another pod terminated."""
        return self.over and any(pod.alive for pod in self.incarnation.bound_pods)

    @property
    def wait(self) -> float:
        """How long the gang waited, from the creation of its leader."""
        return max(0.0, self.start - self.incarnation.began)

    @property
    def exactly_bound(self) -> bool:
        """Whether a watch reported every bind, so that their times are known."""
        return all(pod.exactly_bound for pod in self.incarnation.bound_pods)


def runs(history: History, gangs: Iterable[ObservedGang]) -> list[Run]:
    """Every run of some gangs, in the order in which they began."""
    found = []
    for one in all_incarnations(gangs):
        if one.fully_bound_at is not None:
            over = one.broken_at <= history.end
            end = min(one.broken_at, history.end)
            found.append(Run(one, one.fully_bound_at, end, over))
    return sorted(found, key=lambda run: (run.start, run.key))


def most_at_once(runs: Sequence[Run]) -> int:
    """The largest number of gangs that were completely bound at the same time."""
    return _most((run.start, run.end) for run in runs)


def most_places(gangs: Iterable[ObservedGang]) -> tuple[int, int]:
    """Return (peak of bound pods without those of ending gangs, peak with them).

    A pod that terminates gives up its place. A gang that ran is ending when its first pod
    terminates.
    """
    active: list[tuple[float, float]] = []
    every: list[tuple[float, float]] = []
    for one in all_incarnations(gangs):
        bound = one.bound_pods
        for pod, start in zip(bound, bind_times(bound), strict=True):
            every.append((start, pod.ends))
            active.append((start, min(pod.ends, one.broken_at)))
    return _most(active), _most(every)


def _most(spans: Iterable[tuple[float, float]]) -> int:
    return max((count for _, count in count_at_starts(spans)), default=0)


def handovers(runs: Sequence[Run]) -> list[float]:
    """How long it took, after each run that ended, until the next gang was completely bound."""
    found = []
    for run in runs:
        later = [other.start for other in runs if other.start >= run.end]
        if run.over and later:
            found.append(min(later) - run.end)
    return found


def longest_run_skew(history: History, runs: Iterable[Run]) -> float | None:
    """The longest bind skew of the runs whose bind times are all known."""
    skews = []
    for run in runs:
        burst = run.incarnation.binding(history.end)
        if burst and run.exactly_bound:
            skews.append(burst.end - burst.start)
    return max(skews, default=None)


def longest_binding(gangs: Iterable[ObservedGang], end: float) -> float:
    """The longest binding burst of the groups whose leaders were created during the recording."""
    groups = all_incarnations(gangs)
    bursts = [group.binding(end) for group in groups if not group.leader.first.listed]
    return max((burst.end - burst.start for burst in bursts if burst), default=0.0)


def crowd_figures(
    history: History, gangs: Iterable[ObservedGang], runs: Sequence[Run]
) -> dict[str, float]:
    """What gangs that compete achieved and what it cost, to compare two schedulers.

    A pod occupies its place from its bind until it terminates. That is useful while its gang is
    completely bound, and wasted before that.
    """
    groups = all_incarnations(gangs)
    by_leader = {run.incarnation.leader.uid: run for run in runs}
    useful = wasted = ending = 0.0
    waits = [run.wait for run in runs]
    for group in groups:
        run = by_leader.get(group.leader.uid)
        start, end = (run.start, run.end) if run else (history.end, history.end)
        wasted += _pod_seconds(group, 0.0, start)
        useful += _pod_seconds(group, start, end)
        ending += _pod_seconds(group, end, history.end)
        if run is None and group.leader.alive:
            waits.append(history.end - group.began)
    first = min((group.began for group in groups), default=history.end)
    return {
        "watchedSeconds": history.end - first,
        "gangsCompleted": sum(1 for run in runs if run.over and run.ran),
        "gangsAtOnce": most_at_once(runs),
        "podSecondsUseful": useful,
        "podSecondsWasted": wasted,
        "podSecondsEnding": ending,
        "longestWaitSeconds": max(waits, default=0.0),
    }


def _pod_seconds(group: Incarnation, start: float, end: float) -> float:
    """How long the pods of a group occupied their places between two times, added up."""
    within = Interval(start, end)
    return sum(within.overlap(Interval(pod.bound.at, pod.ends)) for pod in group.pods if pod.bound)
