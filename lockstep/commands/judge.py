"""`lockstep judge`: follow a scenario's recording until it is decided, and say the verdict."""

from __future__ import annotations

import argparse
import json
import os
import sys

import msgspec

from lockstep import judge
from lockstep.commands import record
from lockstep.errors import LockstepError
from lockstep.judge import Expectation, RecheckAt, Verdict
from lockstep.recording import client as recorder_process
from lockstep.recording.client import Live, Subject
from lockstep.recording.model import Recording

HELP = "judge a scenario that is being recorded (the Pulumi program calls this)"

PATIENCE = 60.0
LONGEST_GATHER = 0.25
BROKEN = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Take the same options as `record`, and what to expect."""
    record.add_subject(parser)
    parser.add_argument(
        "--expectation",
        default=os.environ.get("LOCKSTEP_EXPECTATION"),
        help="what to expect, as JSON; - reads it from standard input [LOCKSTEP_EXPECTATION]",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the verdict as JSON also when it is not expected"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=float(os.environ.get("LOCKSTEP_PATIENCE") or PATIENCE),
        help="seconds until the state that is there is the verdict [LOCKSTEP_PATIENCE]",
    )
    parser.add_argument(
        "--drill",
        default=os.environ.get("LOCKSTEP_DRILL"),
        help="what is done to the workload first: a drill's name [LOCKSTEP_DRILL]",
    )


def run(args: argparse.Namespace) -> int:
    """Decide, write the receipt, print the verdict; fail with its reason if it is not expected."""
    expectation = _expectation(args.expectation)
    subject = record.subject(args)
    live = _live(subject)
    try:
        trouble = _exercise(args, live, expectation, subject) if args.drill else ""
        verdict = follow(live, expectation, 0.0 if trouble else args.patience)
    finally:
        live.end()
    if trouble:
        verdict = msgspec.structs.replace(verdict, ok=False, reason=f"{verdict.reason}; {trouble}")
    _write_receipt(live.recording, expectation, verdict)
    if verdict.ok or args.json:
        print(json.dumps(verdict.to_mapping()))
    if not verdict.ok:
        # Pulumi shows all output of a failed command: there, one line is what should be read.
        print(verdict.reason, file=sys.stderr)
    return 0 if verdict.ok else BROKEN


def _exercise(
    args: argparse.Namespace, live: Live, expectation: Expectation, subject: Subject
) -> str:
    """Act on the workload in the same command that judges: who judges again acts again.

    Return what went wrong. The workload did not react as it should then, and how it did react is
    still to be judged.
    """
    from lockstep import drills  # only for scenarios that need them
    from lockstep.kube import access

    with access.cluster() as client:
        ground = drills.Ground(
            client, live, expectation, subject.pool, args.patience, subject.path.parent.parent
        )
        return drills.perform(drills.drill(args.drill), ground)


def _expectation(text: str | None) -> Expectation:
    return Expectation.from_json(sys.stdin.read() if text in (None, "-") else str(text))


def _live(subject: Subject) -> Live:
    """Follow the recorder that was started before the workload; without one, record from now.

    There is none when an earlier verdict on the same recording failed: that left no state behind,
    so the next update judges again.
    """
    live = recorder_process.connect(subject.path)
    if live is None:
        recorder_process.start(subject)
        live = recorder_process.connect(subject.path)
    if live is None:
        log = recorder_process.log_file(subject.path)
        raise LockstepError(f"the recorder does not answer; see {log}, then run up again")
    return live


def follow(live: Live, expectation: Expectation, patience: float) -> Verdict:
    """Look whenever something was seen, or when a rule asked to; give up at the deadline."""
    deadline = live.now() + patience
    until = live.now()
    took = 0.0
    while True:
        # With thousands of pods a look takes a while: then look less often, not all the time.
        live.wait(until, gather=min(4 * took, LONGEST_GATHER))
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


def _write_receipt(recording: Recording, expectation: Expectation, verdict: Verdict) -> None:
    """Keep the proof; a fault in it must not hide the verdict."""
    from lockstep.report import receipt  # only here: reading its schema takes time

    context = json.loads(os.environ.get("LOCKSTEP_RECEIPT_CONTEXT") or "{}")
    context.setdefault("cluster", {"name": os.environ.get("LOCKSTEP_CLUSTER", ""), "provider": ""})
    try:
        paper = receipt.build(recording, expectation.to_mapping(), verdict.to_mapping(), context)
        receipt.write(receipt.home() / f"{paper['step']}.json", paper)
    except (LockstepError, OSError, KeyError) as error:
        print(f"lockstep: no receipt was written: {error}", file=sys.stderr)
