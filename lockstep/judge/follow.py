"""Judging a recording that is still being made."""

from lockstep import judge
from lockstep.judge.model import Expectation, RecheckAt, Verdict
from lockstep.recording.client import Live

CONFIRM_SECONDS = 15.0
"""Seconds within which the recorder must confirm that the recording of a verdict is complete."""
_LONGEST_GATHER = 0.25


def follow(live: Live, expectation: Expectation, patience: float) -> Verdict:
    """Judge after each observation and when a rule asks for it, at most until the deadline.

    A verdict is given once the API server has confirmed that nothing was missing when it was
    reached. Without that it is `unproven`, whatever was observed.
    """
    deadline = live.now() + patience
    until = live.now()
    took = 0.0
    decided: tuple[str, bool] | None = None
    since = deadline
    while True:
        # With thousands of pods, judging takes a while: judge less often then.
        gather = min(4 * took, _LONGEST_GATHER)
        live.wait(until, gather, grace=CONFIRM_SECONDS)
        now = live.now()
        answer = judge.assess(live.recording, expectation)
        took = live.now() - now
        if isinstance(answer, Verdict):
            if decided != (answer.observed, answer.ok):
                decided, since = (answer.observed, answer.ok), now
            if live.recording.end >= since:
                return answer
            until = since
        elif now < deadline:
            decided, since = None, deadline
            until = min(answer.at, deadline) if isinstance(answer, RecheckAt) else deadline
        elif live.recording.end >= deadline:
            return judge.conclude(live.recording, expectation)
        else:
            decided, until, since = None, deadline, deadline
        if live.ended:
            return _unproven(live, expectation, "the recorder ended before a verdict")
        if now >= since + CONFIRM_SECONDS:
            why = f"the API server or the recorder did not answer for {CONFIRM_SECONDS:.0f} s"
            return _unproven(live, expectation, why)


def _unproven(live: Live, expectation: Expectation, reason: str) -> Verdict:
    known = f"{reason}; what happened after {live.recording.end:.1f} s is not known"
    return judge.unproven(live.recording, expectation, known)
