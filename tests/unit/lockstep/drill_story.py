"""Recordings of drills, in a few words: groups that are created, deleted and recreated."""

from typing import Any, Self

from lockstep.judge.drill_marks import Topic
from tests.unit.lockstep.story import SHORT, Story, pods


class DrillStory(Story):
    """A story of one set with groups of four."""

    def mark(self, at: float, topic: str, text: str = "") -> Self:
        self.recording.mark(topic, text, at, "LeaderWorkerSet/gang")
        self.recording.end = max(self.recording.end, at)
        return self

    def over(self, at: float) -> Self:
        return self.mark(at, Topic.OVER)

    def leader(self, at: float, group: int = 0, revision: str = "r1") -> Self:
        self.pod(
            at,
            f"gang-{group}",
            group,
            role="leader",
            revision=revision,
            podGroup=f"gang-{group}-{revision}",
            ready=False,
        )
        return self

    def own_pod_group(self, at: float, group: int = 0, revision: str = "r1", **facts: Any) -> Self:
        self.pod_group(
            at,
            group,
            name=f"gang-{group}-{revision}",
            revision=revision,
            ownerUid=self.uid("pod", f"gang-{group}"),
            **{"minResources": SHORT, **facts},
        )
        return self

    def workers(self, at: float, group: int = 0, revision: str = "r1") -> Self:
        for name in pods(group)[1:]:
            self.pod(at, name, group, revision=revision, podGroup=f"gang-{group}-{revision}")
        return self

    def whole(self, at: float, group: int = 0, revision: str = "r1", **pod_group: Any) -> Self:
        """A group from its leader to its last running pod, in half a second."""
        self.leader(at, group, revision)
        self.own_pod_group(at + 0.01, group, revision, **pod_group)
        self.workers(at + 0.1, group, revision)
        for index, name in enumerate(pods(group)):
            self.bind(at + 0.3 + 0.01 * index, name)
            self.run(at + 0.5, name)
        return self

    def gone(self, at: float, group: int = 0, revision: str | None = "r1") -> Self:
        """A group that is taken away, its PodGroup last (None: that stays)."""
        for index, name in enumerate(pods(group)):
            self.tell(at + 0.01 * index, "pod", "MODIFIED", name, deleting=True)
        for index, name in enumerate(pods(group)):
            self.delete(at + 0.1 + 0.01 * index, name)
        if revision is not None:
            self.tell(at + 0.2, "podgroup", "DELETED", f"gang-{group}-{revision}")
        return self
