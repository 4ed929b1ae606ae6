"""What a drill may use: the cluster to act on, and the recording that shows the effects."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lightkube import Client

from lockstep.errors import LockstepError
from lockstep.judge import Expectation, judge
from lockstep.judge.case import Case
from lockstep.judge.drill_marks import Topic
from lockstep.recording.client import Live

_PAUSE = 0.25


class DrillTimeout(LockstepError):  # noqa: N818  # the judge decides whether it is an error
    """What a drill waited for did not happen; what happened instead is for the judge."""


@dataclass(frozen=True)
class DrillContext:
    """The context of a drill; it waits on the recording instead of polling the cluster."""

    client: Client
    live: Live
    expectation: Expectation
    patience: float
    """Seconds until a wait times out."""
    folder: Path
    """The folder of the cluster on this machine; its name is the cluster's name."""

    @property
    def namespace(self) -> str:
        """The scenario's namespace."""
        return self.expectation.namespace

    def case(self) -> Case:
        """What has been recorded so far."""
        return Case.of(self.live.recording, self.expectation)

    def workers(self) -> list[str]:
        """The names of the pool's nodes; they are listed before anything else is recorded."""
        what = "the pool's workers"
        case = self.until(what, lambda case: bool(case.history.existing("node")))
        return sorted(node.name for node in case.history.existing("node"))

    def has_failed(self) -> bool:
        """Whether the judge already has a failing verdict, so that there is nothing to wait for."""
        verdict = judge(self.live.recording, self.expectation)
        return verdict is not None and not verdict.ok

    def until(self, what: str, reached: Callable[[Case], bool], lasting: float = 0.0) -> Case:
        """Wait until the recording shows a state, and shows it for some seconds.

        Raises DrillTimeout when the state is not reached, or not kept, before the deadline.
        """
        deadline = self.live.now() + self.patience
        since: float | None = None
        while True:
            case, now = self.case(), self.live.now()
            if not reached(case):
                since = None
            elif since is None:
                since = now
            if since is not None and now >= since + lasting:
                return case
            if self.live.ended:
                raise LockstepError("the recorder ended before the drill did; run up again")
            if since is None and now >= deadline:
                raise self._timeout(what)
            self.live.wait(deadline if since is None else since + lasting)

    def poll(self, what: str, reached: Callable[[], bool]) -> None:
        """Wait for something that a recording cannot show."""
        deadline = self.live.now() + self.patience
        while not reached():
            if self.live.now() >= deadline:
                raise self._timeout(what)
            self.rest(_PAUSE)

    def _timeout(self, what: str) -> DrillTimeout:
        return DrillTimeout(f"the drill timed out after {self.patience:.0f} s waiting for {what}")

    def mark(self, topic: Topic, text: str = "") -> float:
        """Note the next step of the drill in the recording; return its time."""
        about = str(self.expectation.workload)
        return self.live.recording.mark(topic, text, self.live.now(), about).at

    def rest(self, seconds: float) -> None:
        """Let some scheduling cycles pass, and read what is recorded meanwhile."""
        until = self.live.now() + seconds
        while self.live.now() < until and not self.live.ended:
            self.live.wait(until)
