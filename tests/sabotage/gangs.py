"""From the campaign's own observations to what would make an ok verdict false."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lockstep.kube import quantity
from tests.sabotage.truth import Seen, Truth

BURST = 2.5
"""Seconds that a gang may be partly bound: the judge's limit, and some for the receipt."""
REACTION = 1.0
"""Seconds that a scheduler may work on with what it knew."""
WRITTEN_WITHIN = 1.5
"""Seconds from the judge's last look to the end of its process."""

_LWS = "leaderworkerset.sigs.k8s.io"
_GROUP = "scheduling.k8s.io/group-name"
_WITHOUT_GANGS = ("partial", "deadlocked", "leader-first")


@dataclass
class Pod:
    """The history of one pod."""

    story: list[Seen]

    @property
    def first(self) -> Seen:
        """Its creation."""
        return self.story[0]

    @property
    def bound(self) -> Seen | None:
        """The change that bound it."""
        return next((one for one in self.story if one.node), None)

    @property
    def gone(self) -> Seen | None:
        """The change from which on it no longer counts."""
        return next((one for one in self.story if one.is_gone), None)

    def label(self, name: str) -> str:
        """A label of LWS."""
        return str(self.first.thing["metadata"].get("labels", {}).get(f"{_LWS}/{name}", ""))

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""
        known: Mapping[str, str] = self.first.thing["metadata"].get("annotations") or {}
        return known

    def belongs_to(self, workload: Mapping[str, str]) -> bool:
        """Whether a controller created it for the workload: labels alone are not enough."""
        owners = self.first.thing["metadata"].get("ownerReferences") or ()
        owner = next((one for one in owners if one.get("controller")), None)
        if owner is None:
            return False
        if workload["kind"] == "LeaderWorkerSet":
            return self.label("name") == workload["name"] and owner["kind"] == "StatefulSet"
        return str(owner["name"]).startswith(workload["name"])


@dataclass
class Group:
    """One leader and the workers that were created for it; of a Deployment, all pods."""

    key: str
    size: int
    pods: list[Pod] = field(default_factory=list)

    def shortest_binding(self, truth: Truth, end: float) -> tuple[float, float] | None:
        """The time for which it was partly bound for certain, when it was bound; None: never.

        From the latest possible time of the first bind to the earliest possible time at which all
        pods were bound, or one ended.
        """
        changes = sorted(
            [
                (one.version, one, change)
                for pod in self.pods
                if pod.bound
                for one, change in ((pod.bound, 1), (pod.gone, -1))
                if one
            ],
            key=lambda change: change[0],
        )
        count = 0
        for _, one, change in changes:
            count += change
            if count == self.size or change < 0:
                return truth.happened(changes[0][1])[1], truth.happened(one)[0]
        return (truth.happened(changes[0][1])[1], end) if changes else None

    def _changes(self) -> list[tuple[int, float, int]]:
        """Version, time, and +1 for a bind or -1 for the end of a bound pod."""
        found = []
        for pod in self.pods:
            if bound := pod.bound:
                found.append((bound.version, bound.at, 1))
                if gone := pod.gone:
                    found.append((gone.version, gone.at, -1))
        return sorted(found)

    @property
    def began(self) -> float:
        """When its leader was created."""
        return self.pods[0].first.at

    @property
    def was_full(self) -> bool:
        """Whether all pods were bound at the same time."""
        count = 0
        for _, _, change in self._changes():
            count += change
            if count == self.size:
                return True
        return False


class Facts:
    """What the observer knows about the workload of one expectation until a time."""

    def __init__(self, truth: Truth, expectation: Mapping[str, Any], end: float) -> None:
        self._truth = truth
        self._expectation = expectation
        self._end = end
        self._blind = list(truth.blind)
        stories: dict[str, list[Seen]] = {}
        for one in truth.pods:
            if one.at <= end:
                stories.setdefault(one.uid, []).append(one)
        self._all = [Pod(story) for story in stories.values()]
        self._pod_groups = [one for one in truth.seen["PodGroup"] if one.at <= end]

    def pods(self, since: float = 0.0) -> list[Pod]:
        """The pods of the workload and of its rival that existed after a time."""
        workloads = [self._expectation["workload"], self._expectation.get("rival")]
        return [
            pod
            for pod in self._all
            if any(one and pod.belongs_to(one) for one in workloads)
            and (pod.gone is None or pod.gone.at > since)
        ]

    def bound_after(self, at: float) -> bool:
        """Whether a pod of the workload was bound after a time."""
        return any(pod.bound and pod.bound.at > at for pod in self.pods())

    def contradictions(self, since: float) -> list[str]:
        """What makes an ok verdict on the time since `since` false; empty if it was right."""
        verdict = self._expectation["verdict"]
        pods = self.pods(since)
        found = []
        if self._expectation.get("gang", True) and verdict != "held":
            found += [text for pod in pods if (text := self._wrong_bind(pod, since))]
        if verdict not in _WITHOUT_GANGS:
            found += self._torn(pods, since)
        return found + self._wrong_end(str(verdict), pods)

    def _torn(self, pods: list[Pod], since: float) -> list[str]:
        found = []
        for group in groups(pods, self._expectation["size"]):
            stretch = group.shortest_binding(self._truth, self._end)
            if stretch is None or stretch[0] < since or self._was_blind(*stretch):
                continue
            seconds = stretch[1] - stretch[0]
            if seconds > BURST:
                found.append(f"{group.key} was partly bound for {seconds:.1f} s")
        return found

    def _was_blind(self, start: float, end: float) -> bool:
        return any(lost <= end and back >= start for lost, back in self._blind)

    def _wrong_bind(self, pod: Pod, since: float) -> str:
        """How a pod was bound without the PodGroup that it should have had for a while."""
        bound = pod.bound
        if bound is None or bound.at < since:
            return ""
        if bound.thing["spec"].get("schedulerName") != "volcano":
            return f"{bound.name} was bound for {bound.thing['spec'].get('schedulerName')}"
        name = pod.annotations.get(_GROUP)
        named = [one for one in self._pod_groups if one.name == name]
        states = [one for one in named if one.version < bound.version]
        # What may have been so when the scheduler decided.
        since = self._truth.happened(bound)[0] - REACTION
        recent = [one for one in states if self._truth.happened(one)[1] > since]
        before = [one for one in states if one not in recent][-1:]
        wrong = [self._wrong_demands(one, pod) for one in [*before, *recent]]
        if not wrong:
            return f"{bound.name} was bound without a PodGroup"
        return "" if "" in wrong else f"{bound.name} was bound while {wrong[-1]}"

    def _wrong_demands(self, group: Seen, pod: Pod) -> str:
        expectation, spec = self._expectation, group.thing["spec"]
        if group.deleted:
            return f"PodGroup {group.name} did not exist"
        size = int(pod.annotations.get(f"{_LWS}/size") or expectation["size"])
        members = expectation.get("minMember") or size
        if spec.get("minMember") != members:
            return f"minMember was {spec.get('minMember')}"
        for name, amount in (expectation.get("requests") or {}).items():
            reserved = (spec.get("minResources") or {}).get(name)
            if reserved is None or _amount(reserved) != _amount(amount) * size:
                return f"minResources had {name} {reserved}"
        wanted = expectation.get("queue")
        return (
            f"its queue was {spec.get('queue')}" if wanted not in (None, spec.get("queue")) else ""
        )

    def _wrong_end(self, verdict: str, pods: list[Pod]) -> list[str]:
        size, wanted = self._expectation["size"], self._expectation.get("groups", 1)
        bound = [pod for pod in pods if pod.bound]
        known = groups(pods, size)
        full = {group.key for group in known if group.was_full}
        if verdict in ("placed", "released"):
            done = len({one.key for one in self._current(known) if one.was_full})
            return [f"{done} of {wanted} groups were bound completely"] if done < wanted else []
        if verdict == "held" and bound:
            return [f"{len(bound)} pods were bound"]
        if verdict == "partial" and (not bound or full):
            return ["all pods were bound" if full else "no pod was bound"]
        if verdict == "deadlocked" and full:
            return [f"{', '.join(sorted(full))} was completely bound"]
        if verdict == "capped":
            most = self._most_places(pods)
            allowed = int(self._expectation["atOnce"]) * size
            if most > allowed:
                return [f"{most} pods held a place at once, not {allowed}"]
        return []

    def _current(self, known: list[Group]) -> list[Group]:
        """The newest groups, and those that may have been recreated since the judge looked."""
        settled = {one.key: one for one in known if one.began < self._end - WRITTEN_WITHIN}
        began = {key: one.began for key, one in settled.items()}
        return [one for one in known if one.began >= began.get(one.key, 0.0)]

    def _most_places(self, pods: list[Pod]) -> int:
        """The most pods that held a place at once; a gang that ran gives up all when one ends."""
        changes: list[tuple[int, int]] = []
        for group in groups(pods, self._expectation["size"]):
            ends = [pod.gone.version for pod in group.pods if pod.gone and pod.bound]
            first = min(ends) if ends and group.was_full else None
            for pod in group.pods:
                if pod.bound:
                    changes.append((pod.bound.version, 1))
                    end = first or (pod.gone.version if pod.gone else None)
                    changes += [(end, -1)] if end else []
        count = most = 0
        for _, change in sorted(changes):
            count += change
            most = max(most, count)
        return most


def groups(pods: list[Pod], size: int) -> list[Group]:
    """Divide pods into groups: a worker belongs to the leader that was the newest."""
    leaders = sorted(
        (pod for pod in pods if pod.label("worker-index") == "0"),
        key=lambda pod: pod.first.version,
    )
    if not leaders:
        return [Group("the pods", size, pods)] if pods else []
    made: dict[str, Group] = {}
    for leader in leaders:
        own = int(leader.annotations.get(f"{_LWS}/size") or size)
        made[leader.first.uid] = Group(leader.first.name, own, [leader])
    for pod in pods:
        if pod.label("worker-index") == "0":
            continue
        older = [
            leader
            for leader in leaders
            if leader.first.version < pod.first.version
            and leader.label("name") == pod.label("name")
            and leader.label("group-index") == pod.label("group-index")
        ]
        if older:
            made[older[-1].first.uid].pods.append(pod)
    return list(made.values())


def _amount(text: object) -> Fraction:
    return quantity.parse(str(text))
