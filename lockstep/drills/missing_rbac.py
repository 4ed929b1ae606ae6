"""Remove LWS's permission to create PodGroups, let it recreate a group, and restore it."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lightkube import Client
from lightkube.resources.core_v1 import Pod

from lockstep import paths
from lockstep.drills import actions
from lockstep.drills.context import DrillContext
from lockstep.judge.case import Case
from lockstep.judge.drill_marks import Topic
from lockstep.judge.groups import incarnations
from lockstep.lws import names, rights

LASTING = 3.0
"""Seconds without a PodGroup, while LWS retries."""

_LABELS: dict[str, Any] = {"control-plane": "controller-manager"}
_RECENT = 30
_REFUSAL = re.compile(r'(podgroups\.scheduling\.volcano\.sh\b[^{}]*?is forbidden: .*?)"?[,}\n]')


def run(context: DrillContext) -> None:
    """Remove the permission while a group is recreated; it is always restored."""
    client, cluster = context.client, context.folder.name
    account = f"{names.NAMESPACE}/{names.MANAGER}"
    rights.give(client, cluster)  # an interrupted drill may not have restored it
    groups = context.expectation.groups
    actions.await_collector(context)
    leader = actions.until_complete(context, groups)[0].leader
    log = LwsLog(client, context.folder)
    try:
        since = context.mark(Topic.RIGHTS_TAKEN, f"{account} may not make PodGroups")
        rights.take(client, cluster)
        context.poll(
            "the API server to refuse PodGroups (does LWS have the permission by another role?)",
            lambda: not rights.are_given(client, context.namespace),
        )
        actions.delete_leader(context, leader.name)
        context.poll("LWS's error in its log", lambda: log.refusal(context.namespace) is not None)
        context.until(
            "a new leader that waits",
            lambda case: _is_waiting(case, since),
            lasting=LASTING,
        )
        context.mark(Topic.LWS_ERROR, str(log.refusal(context.namespace)))
    finally:
        rights.give(client, cluster)
    context.mark(Topic.RIGHTS_BACK, account)
    actions.until_complete(context, groups)


def _is_waiting(case: Case, since: float) -> bool:
    """Whether the group was recreated and has no more than a leader that is not bound."""
    groups = incarnations(case.gangs[0])
    leader = groups[-1].leader if groups else None
    return leader is not None and leader.first.at > since and leader.alive and not leader.bound


class LwsLog:
    """The log of LWS's manager from now on: of a process on this machine, or of a pod."""

    def __init__(self, client: Client, folder: Path) -> None:
        self._client = client
        self._file = paths.program_log(folder, "lws-manager")
        self._read = self._file.stat().st_size if self._file.exists() else 0

    def refusal(self, namespace: str) -> str | None:
        """The newest error of LWS about PodGroups that it may not create in a namespace."""
        found = [line for line in self._lines() if "forbidden" in line and namespace in line]
        errors = [match[1] for line in found if (match := _REFUSAL.search(line + "\n"))]
        return errors[-1].replace('\\"', '"') if errors else None

    def _lines(self) -> Iterable[str]:
        if self._file.exists():
            with self._file.open(encoding="utf-8", errors="replace") as file:
                # A log that was started again is shorter than what was read of the old one.
                file.seek(self._read if self._file.stat().st_size >= self._read else 0)
                yield from file
            return
        for pod in self._client.list(Pod, namespace=names.NAMESPACE, labels=_LABELS):
            if pod.metadata and pod.metadata.name:
                yield from self._client.log(
                    pod.metadata.name, namespace=names.NAMESPACE, since=_RECENT, newlines=False
                )
