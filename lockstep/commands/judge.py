"""The step `judge`: follow a scenario's recording until it is decided, and print the verdict."""

import contextlib
import json
import os
import sys
from pathlib import Path

import msgspec

from lockstep import drills, judge
from lockstep.commands import EXIT_FAILED, variables
from lockstep.drills import DrillContext, renewal
from lockstep.errors import LockstepError
from lockstep.judge.follow import follow
from lockstep.judge.model import Expectation, Verdict
from lockstep.kube.client import FAILURES, Client, client_from_env, explain
from lockstep.local import embedded_cluster, reported
from lockstep.recording import client, identity
from lockstep.recording.client import Live, LocalScheduler, Subject
from lockstep.recording.model import Recording, path_of
from lockstep.scenarios.verdicts import VerdictName

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
        scheduler=_scheduler(),
    )


def _scheduler() -> LocalScheduler | None:
    """Volcano's scheduler where it is not asked through its pods."""
    cluster = variables.optional("LOCKSTEP_CLUSTER")
    if cluster and (found := embedded_cluster.scheduler(cluster)):
        return LocalScheduler(*found)
    metrics = variables.optional("LOCKSTEP_SCHEDULER_METRICS")
    conf = variables.optional("LOCKSTEP_SCHEDULER_CONF")
    return LocalScheduler(metrics, Path(conf) if conf else None) if metrics else None


def run() -> int:
    """Judge, write the receipt and print the verdict; print only the reason if it failed."""
    expectation = Expectation.from_json(variables.text("LOCKSTEP_EXPECTATION"))
    recorded = subject()
    with client_from_env() as cluster:
        live = _follow_recorder(recorded, cluster)
        patience = variables.seconds("LOCKSTEP_PATIENCE", PATIENCE)
        context = DrillContext(
            cluster, live, expectation, patience, folder=recorded.path.parent.parent
        )
        verdict = _judge(context, variables.optional("LOCKSTEP_DRILL"))
        verdict = msgspec.structs.replace(
            verdict, platform=reported.platform(cluster, context.folder, verdict.platform)
        )
        _write_receipt(live.recording, expectation, verdict)
        if verdict.ok:
            print(json.dumps(msgspec.to_builtins(verdict)))
            with contextlib.suppress(*FAILURES):  # the note that stays has new pods judged
                renewal.keep_failure(context, "")
            return 0
    # Pulumi shows all output of a failed command: the reason must be the only line.
    print(verdict.reason, file=sys.stderr)
    return EXIT_FAILED


def _judge(context: DrillContext, drill: str | None) -> Verdict:
    """Judge the workload's pods; the verdict is `unproven` if an error keeps the judge from it.

    Where the pods cannot be noted as being judged, nothing is judged and the recorder goes on:
    the next update judges the same recording.
    """
    live = context.live
    try:
        with contextlib.closing(live):
            failure = renewal.begin(context)
            try:
                return _judge_pods(context, drill, failure)
            finally:
                live.end()
    except (LockstepError, *FAILURES) as error:
        reason = f"the judge failed: {' '.join(explain(error).split())}"
        return judge.unproven(live.recording, context.expectation, reason)


def _judge_pods(context: DrillContext, drill: str | None, failure: str) -> Verdict:
    """Judge the workload's pods, or new pods where those that exist cannot prove anything.

    Pods of a failed verdict, or of a judge that did not finish, are never judged again.
    """
    if failure and context.expectation.verdict == VerdictName.RELEASED:
        # New pods would be bound at once: there would be no release to see.
        why, _, _remedy = failure.partition(";")
        reason = f"the last verdict on these pods failed ({why})"
        return judge.unproven(context.live.recording, context.expectation, reason)
    if failure:
        renewal.renew(context, "the last verdict on them failed or is missing")
    verdict = _attempt(context, drill)
    if judge.needs_new_pods(context.live.recording, context.expectation, verdict):
        renewal.renew(context, "they are older than the recording")
        verdict = _attempt(context, drill)
    if not verdict.ok:
        with contextlib.suppress(*FAILURES):  # the note that stays is no less safe
            renewal.keep_failure(context, verdict.reason)
    return verdict


def _attempt(context: DrillContext, drill: str | None) -> Verdict:
    """Perform the drill, if there is one, in the process that judges, and judge its effect.

    What goes wrong in a drill fails the verdict: the workload did not react as it should.
    """
    trouble = drills.perform(drills.drill(drill), context) if drill else ""
    verdict = follow(context.live, context.expectation, 0.0 if trouble else context.patience)
    if trouble:
        reason = f"{verdict.reason}; {trouble}"
        return msgspec.structs.replace(verdict, ok=False, reason=reason)
    return verdict


def _follow_recorder(recorded: Subject, cluster: Client) -> Live:
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
    identity.check(live, recorded, cluster)
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
