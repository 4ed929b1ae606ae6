"""Wait until the API server reaches the webhook of LWS.

After a rollout the new pods are ready, but for a moment a node may still send requests to a deleted
pod. The first LeaderWorkerSet would then be refused with "failed calling webhook".
"""

import time

from lightkube import ApiError, Client
from lightkube.models.meta_v1 import ObjectMeta

from lockstep import versions
from lockstep.errors import LockstepError
from lockstep.kube.client import FAILURES, LeaderWorkerSet
from lockstep.lws import names

TIMEOUT = 120
IN_A_ROW = 3
"""Answers that count as reachable: while one of two addresses is stale, one may be chance."""
PAUSE = 0.5


def await_answers(client: Client, timeout: float = TIMEOUT) -> None:
    """Call the webhook until it answers several times in a row; raise after the timeout."""
    deadline = time.monotonic() + timeout
    answers = 0
    while True:
        failure = _call(client)
        answers = 0 if failure else answers + 1
        if answers == IN_A_ROW:
            return
        if failure and time.monotonic() > deadline:
            raise LockstepError(
                f"timed out after {timeout:.0f} s waiting for the webhook of LWS "
                f"({failure[:200]}); look at the pods in {names.NAMESPACE}"
            )
        time.sleep(PAUSE)


def _call(client: Client) -> str:
    """Create a set as a dry run; return the failure, or nothing if the webhook answered."""
    container = {"name": "main", "image": versions.WORKLOAD_IMAGE}
    template = {"spec": {"containers": [container]}}
    probe = LeaderWorkerSet(
        metadata=ObjectMeta(name="lockstep-probe", namespace=names.NAMESPACE),
        spec={"leaderWorkerTemplate": {"size": 1, "workerTemplate": template}},
    )
    try:
        client.create(probe, dry_run=True)
    except ApiError as error:
        # A refusal is an answer; a webhook that the API server cannot reach is not.
        return str(error) if (error.status.code or 500) >= 500 else ""
    except FAILURES as error:
        return str(error) or type(error).__name__
    return ""
