"""Recordings told in a few words, for tests: who was created, bound, refused and freed when."""

from typing import Any, Self

from lockstep.judge import Expectation, Workload
from lockstep.recording.model import (
    Change,
    Header,
    Kind,
    Observation,
    Recording,
    WatchState,
    WatchStatus,
)

NAMESPACE = "lockstep-gang"
REQUESTS = {"cpu": "2", "memory": "4Gi"}
SHORT = {"cpu": "8", "memory": "16Gi"}


def expect(verdict: str, **changes: Any) -> Expectation:
    data: dict[str, Any] = {
        "scenario": "gang",
        "verdict": verdict,
        "namespace": NAMESPACE,
        "workload": Workload("LeaderWorkerSet", "gang"),
        "size": 4,
        "groups": 1,
        "requests": REQUESTS,
        "gang": True,
    }
    return Expectation(**{**data, **changes})


def expect_partial(**changes: Any) -> Expectation:
    workload = Workload("Deployment", "no-gang")
    return expect("partial", scenario="no-gang", workload=workload, gang=False, **changes)


ACTIONS = ["allocate", "backfill", "enqueue"]
PLUGINS = ["gang", "predicates", "priority"]


class Story:
    """Builds a recording; every method says what happens at a time.

    The recorder of a story is never late: after each observation the recording is complete, and the
    scheduler has just been asked.
    """

    def __init__(self, missing: dict[str, str] | None = None) -> None:
        header = Header("gang", (NAMESPACE,), "gang", "2026-01-01T00:00:00Z", missing=missing or {})
        self.recording = Recording(header)
        self._state: dict[tuple[Kind, str], dict[str, Any]] = {}
        self._version = 100
        self.scheduler: dict[str, Any] | None = {
            "uid": "1",
            "source": "metrics",
            "sessions": 9,
            "withoutGang": 0,
            "actions": ACTIONS,
            "plugins": PLUGINS,
            "asked": {"actions": ACTIONS, "plugins": PLUGINS, "disabled": []},
        }
        """What the scheduler answers from now on; None: it is not asked."""
        self.look(0.0)

    def tell(
        self,
        at: float,
        kind: Kind,
        change: Change,
        name: str,
        listed: bool = False,
        late: float | None = 0.0,
        **facts: Any,
    ) -> Self:
        state = self._state.setdefault((kind, name), {"uid": f"{kind}-{name}-{self._version}"})
        state.update(facts)
        self._version += 1
        shown = {key: value for key, value in state.items() if key not in ("uid", "namespace")}
        namespace = "" if kind == "node" else state.get("namespace", NAMESPACE)
        late = None if listed and not late else late
        version = str(self._version)
        self.recording.add(
            Observation(
                at, kind, change, namespace, name, state["uid"], version, shown, listed, late
            )
        )
        if change == "DELETED":
            del self._state[kind, name]
        return self.look(at)

    def look(self, at: float) -> Self:
        """The scheduler answers what it runs, and the recording is complete."""
        if self.scheduler:
            self._version += 1
            facts = {key: value for key, value in self.scheduler.items() if key != "uid"}
            facts["sessions"] += int(at)  # a session begins every second
            self.recording.add(
                Observation(
                    at,
                    "scheduler",
                    "MODIFIED",
                    "",
                    "vc-scheduler",
                    self.scheduler["uid"],
                    str(self._version),
                    facts,
                )
            )
        return self.until(max(at, self.recording.end))

    def uid(self, kind: Kind, name: str) -> str:
        return str(self._state[kind, name]["uid"])

    def watch(self, at: float, state: WatchState, kind: Kind = "pod") -> Self:
        self.recording.add(WatchStatus(at, kind, state))
        return self

    def pod(self, at: float, name: str, group: int = 0, lws: str = "gang", **facts: Any) -> Self:
        fresh = {
            "workload": f"LeaderWorkerSet/{lws}",
            "group": f"{lws}-{group}",
            "role": "worker",
            "owner": f"StatefulSet/{lws if facts.get('role') == 'leader' else f'{lws}-{group}'}",
            "node": None,
            "phase": "Pending",
            "scheduler": "volcano",
            "podGroup": f"{lws}-{group}-r1",
            "unschedulable": None,
        }
        self.tell(at, "pod", "ADDED", name, **{**fresh, **facts})
        return self._report_bind(at, name) if facts.get("node") else self

    def members(self, at: float, group: int = 0, **facts: Any) -> Self:
        """All pods of a group, at once."""
        for name in pods(group):
            self.pod(at, name, group, **facts)
        return self

    def change(self, at: float, *names: str, **facts: Any) -> Self:
        """Some pods change in the same way."""
        for name in names:
            was_bound = self._state["pod", name]["node"]
            self.tell(at, "pod", "MODIFIED", name, **facts)
            if facts.get("node") and not was_bound:
                self._report_bind(at, name)
        return self

    def _report_bind(self, at: float, name: str) -> Self:
        """The event of the scheduler that bound a pod."""
        scheduler = self._state["pod", name]["scheduler"]
        return self.tell(
            at,
            "event",
            "ADDED",
            f"{self.uid('pod', name)}.scheduled",
            type="Normal",
            reason="Scheduled",
            object=f"Pod/{name}",
            objectUid=self.uid("pod", name),
            source=scheduler,
            message="",
            count=1,
        )

    def bind(self, at: float, *names: str) -> Self:
        return self.change(at, *names, node="w1", unschedulable=None)

    def run(self, at: float, *names: str) -> Self:
        return self.change(at, *names, phase="Running")

    def refuse_pod(self, at: float, *names: str) -> Self:
        message = "0/3 nodes are available: 1 Insufficient cpu"
        return self.change(at, *names, unschedulable=message)

    def delete(self, at: float, *names: str) -> Self:
        for name in names:
            self.tell(at, "pod", "DELETED", name)
        return self

    def pod_group(self, at: float, group: int = 0, lws: str = "gang", **facts: Any) -> Self:
        fresh = {
            "workload": f"LeaderWorkerSet/{lws}",
            "group": f"{lws}-{group}",
            "minMember": 4,
            "minResources": SHORT,
            "queue": "default",
            "phase": "Pending",
            "conditions": [],
        }
        leader = ("pod", f"{lws}-{group}")
        if leader in self._state:
            fresh |= {"owner": f"Pod/{leader[1]}", "ownerUid": self._state[leader]["uid"]}
        name = facts.pop("name", f"{lws}-{group}-r1")
        return self.tell(at, "podgroup", "ADDED", name, **{**fresh, **facts})

    def own(self, at: float, uid: str, kind: str = "Pod", **facts: Any) -> Self:
        """Say whose the PodGroup of the first gang is."""
        owner: dict[str, Any] = {"owner": f"{kind}/gang-0", "ownerUid": uid}
        return self.tell(at, "podgroup", "MODIFIED", "gang-0-r1", **owner, **facts)

    def phase(self, at: float, phase: str, name: str = "gang-0-r1", **facts: Any) -> Self:
        return self.tell(at, "podgroup", "MODIFIED", name, phase=phase, **facts)

    def refuse(
        self, at: float, count: int, group: str = "gang-0-r1", tasks: int = 4, **facts: Any
    ) -> Self:
        """Volcano's event about a PodGroup; its count rises by one each cycle.

        The gang is refused although one worker, w0, is free.
        """
        if ("node", "w0") not in self._state:
            self.node(0.0, "w0")
        uid = self._state["podgroup", group]["uid"]
        return self.tell(
            at,
            "event",
            "ADDED" if count == 1 else "MODIFIED",
            f"{group}.{tasks}",
            type="Warning",
            reason="Unschedulable",
            object=f"PodGroup/{group}",
            objectUid=uid,
            message=f"{tasks}/{tasks} tasks in gang unschedulable: 1 Insufficient cpu",
            count=count,
            **facts,
        )

    def warn(self, at: float, about: str, reason: str, message: str) -> Self:
        name = f"{about}.{reason}"
        facts: dict[str, Any] = {
            "type": "Warning",
            "reason": reason,
            "object": about,
            "message": message,
        }
        return self.tell(at, "event", "ADDED", name, objectUid=None, count=1, **facts)

    def node(self, at: float, name: str, *taints: str) -> Self:
        known = ("node", name) in self._state
        listed = [{"key": key, "value": "", "effect": "NoSchedule"} for key in taints]
        change: Change = "MODIFIED" if known else "ADDED"
        return self.tell(at, "node", change, name, taints=listed, cpu="4", memory="8Gi")

    def until(self, at: float) -> Self:
        self.recording.end = at
        return self


def gang_created(story: Story, at: float = 1.0, group: int = 0, **facts: Any) -> Story:
    """A leader, the PodGroup that LWS makes for it, then its workers."""
    prefix = f"gang-{group}"
    story.pod(at, prefix, group, role="leader", **facts)
    story.pod_group(at + 0.01, group)
    for index in (1, 2, 3):
        story.pod(at + 0.05 * index, f"{prefix}-{index}", group, **facts)
    return story


def pods(group: int = 0) -> list[str]:
    return [f"gang-{group}", *(f"gang-{group}-{index}" for index in (1, 2, 3))]


def gang_placed(story: Story, at: float = 2.0, group: int = 0) -> Story:
    for index, name in enumerate(pods(group)):
        story.bind(at + 0.01 * index, name)
    story.run(at + 0.2, *pods(group))
    return story


def control(story: Story, at: float = 1.0, bound: int = 2, refused: int = 2) -> Story:
    """A Deployment of four pods on the default scheduler."""
    names = [f"no-gang-x-{index}" for index in range(4)]
    facts: dict[str, Any] = {"workload": "Deployment/no-gang", "group": None, "podGroup": None}
    for name in names:
        story.pod(at, name, scheduler="default-scheduler", **facts)
    story.bind(at + 0.1, *names[:bound])
    story.refuse_pod(at + 0.2, *names[4 - refused :])
    return story


def events_ran_out() -> Story:
    """A gang that was refused so often before the recording that no further event is written."""
    unschedulable = [{"type": "Unschedulable", "status": "True", "reason": "", "message": ""}]
    story = Story().members(0.0, listed=True)
    story.pod_group(0.0, conditions=unschedulable, listed=True)
    return story.refuse(0.0, 2, tasks=1, listed=True).refuse(0.0, 23, listed=True)
