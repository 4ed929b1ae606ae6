"""Whether a recording is of the cluster and the objects that are to be judged.

Two stacks with one `clusterName` share the folder of their recordings, but not always the cluster.
"""

from typing import Any

from lockstep.errors import LockstepError
from lockstep.kube.client import FAILURES, AsyncClient, Client, Namespace
from lockstep.recording.client import Live, Subject

_SYSTEM = "kube-system"


async def cluster_of(client: AsyncClient) -> str:
    """The uid of the namespace `kube-system`; empty if it may not be read."""
    try:
        return _uid(await client.get(Namespace, _SYSTEM))
    except FAILURES:
        return ""


def check(live: Live, subject: Subject, client: Client) -> None:
    """Refuse to follow a recording of something else than what is to be judged."""
    header = live.recording.header
    try:
        cluster = _uid(client.get(Namespace, _SYSTEM))
    except FAILURES:
        cluster = ""
    for what, recorded, judged in (
        ("scenario", header.scenario, subject.scenario),
        ("namespace", ", ".join(header.namespaces), subject.namespace),
        ("pool", header.pool, subject.pool),
        ("cluster", header.cluster or cluster, cluster or header.cluster),
    ):
        if recorded != judged:
            live.close()
            raise LockstepError(
                f"the recording is of the {what} {recorded}, not {judged}: another stack with the "
                "same clusterName records there; give one of them another clusterName (or end "
                f"process {header.pid}, if it is left over), then run up again"
            )


def _uid(namespace: Any) -> str:
    return str(namespace["metadata"]["uid"])
