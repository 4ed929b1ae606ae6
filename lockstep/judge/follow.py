"""Judging a recording that is still being made."""

from lockstep import judge
from lockstep.errors import LockstepError
from lockstep.judge.model import Expectation, RecheckAt, Verdict
from lockstep.recording.client import Live

_LONGEST_GATHER = 0.25


def follow(live: Live, expectation: Expectation, patience: float) -> Verdict:
    """Judge after each observation and when a rule asks for it, at most until the deadline."""
    deadline = live.now() + patience
    until = live.now()
    took = 0.0
    while True:
        # With thousands of pods, judging takes a while: judge less often then.
        live.wait(until, gather=min(4 * took, _LONGEST_GATHER))
        before = live.now()
        answer = judge.assess(live.recording, expectation)
        took = live.now() - before
        if isinstance(answer, Verdict):
            return answer
        if live.ended:
            raise LockstepError("the recorder ended before a verdict; run up again")
        if live.now() >= deadline:
            return judge.conclude(live.recording, expectation)
        until = min(answer.at, deadline) if isinstance(answer, RecheckAt) else deadline
