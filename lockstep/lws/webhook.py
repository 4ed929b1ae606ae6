"""Waiting until the API server reaches the webhook of LWS.

A Deployment that is rolled out has pods that are ready, but for a moment more a node may send
requests to a pod that is gone: the first LeaderWorkerSet after a restart would be refused with
"failed calling webhook", and an update would fail for no fault of the user's.
"""

from __future__ import annotations

import time

from lightkube import ApiError, Client
from lightkube.models.meta_v1 import ObjectMeta

from lockstep import versions
from lockstep.errors import LockstepError
from lockstep.kube import client as kube
from lockstep.lws import gang_config

WITHIN = 120
IN_A_ROW = 3
"""Answers that count as reachable: with one of two addresses stale, one could be luck."""
PAUSE = 0.5


def await_answers(client: Client, within: float = WITHIN) -> None:
    """Ask until the webhook answers several times in a row; raise when it does not in time."""
    deadline = time.monotonic() + within
    answers = 0
    while answers < IN_A_ROW:
        silence = _ask(client)
        answers = 0 if silence else answers + 1
        if silence and time.monotonic() > deadline:
            raise LockstepError(
                f"the webhook of LWS does not answer after {within:.0f} s ({silence[:200]}); "
                f"look at the pods in {gang_config.LWS_NAMESPACE}"
            )
        time.sleep(PAUSE)


def _ask(client: Client) -> str:
    """Create a set without creating it; returns what is wrong, nothing when the webhook spoke."""
    container = {"name": "main", "image": versions.WORKLOAD_IMAGE}
    template = {"spec": {"containers": [container]}}
    probe = kube.LeaderWorkerSet(
        metadata=ObjectMeta(name="lockstep-probe", namespace=gang_config.LWS_NAMESPACE),
        spec={"leaderWorkerTemplate": {"size": 1, "workerTemplate": template}},
    )
    try:
        client.create(probe, dry_run=True)
    except ApiError as error:
        # A refusal is an answer; that the API server could not ask is not.
        return str(error) if (error.status.code or 500) >= 500 else ""
    except kube.FAILURES as error:
        return str(error) or type(error).__name__
    return ""
