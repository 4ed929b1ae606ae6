"""New pods for a new proof, where the pods that are there cannot prove anything any more.

Pods that are older than the recording, or that a verdict has failed, are deleted while the
recorder watches; LWS or the Deployment creates new ones, which are judged.
"""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from lightkube import ApiError
from lightkube.types import CascadeType, PatchType

from lockstep.drills.context import DrillContext
from lockstep.judge.drill_marks import Topic
from lockstep.kube import client as kube
from lockstep.kube.client import status_of
from lockstep.recording import facts
from lockstep.recording.model import instant

ANNOTATION = "lockstep.dev/failed-verdict"
"""On the workload: why the last verdict on its pods failed, or that a judge did not finish."""
UNFINISHED = "the judge did not finish"

_KINDS = {"LeaderWorkerSet": kube.LeaderWorkerSet, "Deployment": kube.Deployment}


def begin(context: DrillContext) -> str:
    """Note on the workload that its pods are being judged; return the earlier note, or nothing.

    So pods whose judge is interrupted are not judged again. An earlier note is kept.
    """
    failure = failed_verdict(context)
    if not failure:
        keep_failure(context, UNFINISHED)
    return failure


def failed_verdict(context: DrillContext) -> str:
    """Why the last verdict on the workload's pods failed; empty if it did not."""
    workload = context.expectation.workload
    kind = _KINDS[workload.kind]
    found = kube.find(context.client, kind, workload.name, context.namespace)
    annotations = (found or {}).get("metadata", {}).get("annotations") or {}
    return str(annotations.get(ANNOTATION) or "")


def keep_failure(context: DrillContext, reason: str) -> None:
    """Note on the workload that a verdict on its pods failed; an empty reason removes the note."""
    workload = context.expectation.workload
    text = f"{instant(datetime.now(UTC))} {reason}" if reason else None
    try:
        context.client.patch(
            _KINDS[workload.kind],
            workload.name,
            {"metadata": {"annotations": {ANNOTATION: text}}},
            namespace=context.namespace,
            patch_type=PatchType.MERGE,
        )
    except ApiError as error:
        if status_of(error) != HTTPStatus.NOT_FOUND:
            raise


def renew(context: DrillContext, why: str) -> None:
    """Delete the workload's pods, and their PodGroups, so that new ones are created."""
    pods, workload = _pods(context), context.expectation.workload
    context.mark(Topic.RENEWED, f"{len(pods)} pods of {workload}: {why}")
    leaders = [pod for pod in pods if facts.of("pod", pod).get("role") == "leader"]
    groups = context.client.list(kube.PodGroup, namespace=context.namespace) if leaders else ()
    old = [group["metadata"] for group in groups]
    for pod in leaders or pods:
        _delete(context, pod, CascadeType.FOREGROUND if leaders else None)
    # The garbage collector of a new cluster does not know PodGroups yet, and a new group would use
    # the PodGroup of the old one and lose it later (lws#1054).
    names = {facts.of("pod", pod)["podGroup"] for pod in leaders}
    for metadata in old:
        if metadata["name"] in names:
            name, uid = metadata["name"], metadata["uid"]
            kube.delete_exactly(context.client, kube.PodGroup, name, context.namespace, uid)


def _pods(context: DrillContext) -> list[Any]:
    found = context.client.list(kube.Pod, namespace=context.namespace)
    name = str(context.expectation.workload)
    return [pod for pod in found if facts.of("pod", pod)["workload"] == name]


def _delete(context: DrillContext, pod: Any, cascade: CascadeType | None) -> None:
    try:
        name = pod["metadata"]["name"]
        context.client.delete(kube.Pod, name, namespace=context.namespace, cascade=cascade)
    except ApiError as error:
        if status_of(error) != HTTPStatus.NOT_FOUND:
            raise
