"""The step `judge`: follow a scenario's recording until it is decided, and print the verdict."""

import json
import os
import sys
from pathlib import Path

import msgspec

from lockstep.commands import EXIT_FAILED, variables
from lockstep.errors import LockstepError
from lockstep.judge.follow import follow
from lockstep.judge.model import Expectation, Verdict
from lockstep.recording import client
from lockstep.recording.client import Live, Subject
from lockstep.recording.model import Recording, path_of

PATIENCE = 60.0


def subject(path: Path | None = None) -> Subject:
    """Read what to record, and where, from the environment variables."""
    scenario = variables.text("LOCKSTEP_SCENARIO")
    if path is None:
        path = path_of(variables.text("LOCKSTEP_CLUSTER"), scenario).resolve()
    context = variables.optional("LOCKSTEP_CONTEXT")
    return Subject(
        path=path,
        scenario=scenario,
        namespace=variables.text("LOCKSTEP_NAMESPACE"),
        pool=variables.text("LOCKSTEP_POOL"),
        kubeconfig=(variables.optional if context else variables.text)("LOCKSTEP_KUBECONFIG"),
        context=context,
        deadline=variables.seconds("LOCKSTEP_DEADLINE", client.DEADLINE),
    )


def run() -> int:
    """Judge, write the receipt and print the verdict; print only the reason if it failed."""
    expectation = Expectation.from_json(variables.text("LOCKSTEP_EXPECTATION"))
    patience = variables.seconds("LOCKSTEP_PATIENCE", PATIENCE)
    drill = variables.optional("LOCKSTEP_DRILL")
    recorded = subject()
    live = _follow_recorder(recorded)
    try:
        trouble = _perform(drill, live, expectation, recorded, patience) if drill else ""
        verdict = follow(live, expectation, 0.0 if trouble else patience)
    finally:
        live.end()
    if trouble:
        verdict = msgspec.structs.replace(verdict, ok=False, reason=f"{verdict.reason}; {trouble}")
    _write_receipt(live.recording, expectation, verdict)
    if verdict.ok:
        print(json.dumps(msgspec.to_builtins(verdict)))
        return 0
    # Pulumi shows all output of a failed command: the reason must be the only line.
    print(verdict.reason, file=sys.stderr)
    return EXIT_FAILED


def _perform(
    name: str, live: Live, expectation: Expectation, recorded: Subject, patience: float
) -> str:
    """Perform a drill in the process that judges, so that judging again performs it again.

    Return what went wrong: the workload did not react as it should. How it did react is judged.
    """
    from lockstep import drills  # only some scenarios have a drill
    from lockstep.kube.client import client_from_env

    with client_from_env() as cluster:
        folder = recorded.path.parent.parent
        context = drills.DrillContext(cluster, live, expectation, patience, folder)
        return drills.perform(drills.drill(name), context)


def _follow_recorder(recorded: Subject) -> Live:
    """Follow the recorder that was started before the workload; without it, record from now.

    It does not run when an earlier verdict on the same recording failed: a failed command leaves
    no state, so the next update judges again.
    """
    live = client.connect(recorded.path)
    if live is None:
        client.start(recorded)
        live = client.connect(recorded.path)
    if live is None:
        log = client.log_file(recorded.path)
        raise LockstepError(f"the recorder does not answer; see {log}, then run up again")
    return live


def _write_receipt(recording: Recording, expectation: Expectation, verdict: Verdict) -> None:
    """Write the receipt; an error here must not hide the verdict."""
    from lockstep.report import receipt  # only here: it takes time to load

    context = json.loads(os.environ.get("LOCKSTEP_RECEIPT_CONTEXT") or "{}")
    context.setdefault("cluster", {"name": os.environ.get("LOCKSTEP_CLUSTER", ""), "provider": ""})
    try:
        document = receipt.build(recording, expectation, verdict, context)
        receipt.write(receipt.home() / f"{document.step}.json", document)
    except (LockstepError, OSError, KeyError) as error:
        print(f"lockstep: no receipt was written: {error}", file=sys.stderr)
