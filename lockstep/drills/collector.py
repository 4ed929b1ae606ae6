"""Wait until the cluster's garbage collector follows PodGroups.

It looks for new kinds twice a minute. Until then it deletes no PodGroup with its leader, so a group
that is made anew in a young cluster would find the PodGroup of the old one and lose it later
(lws#1054).
"""

from __future__ import annotations

import uuid

from lightkube.models.meta_v1 import ObjectMeta, OwnerReference

from lockstep.drills.context import Ground
from lockstep.judge.history import History
from lockstep.kube import client as kube


def await_collector(ground: Ground) -> None:
    """Make a PodGroup whose owner does not exist, and wait until it is collected."""
    name = f"lockstep-orphan-{uuid.uuid4().hex[:8]}"
    owner = OwnerReference(apiVersion="v1", kind="ConfigMap", name=name, uid=str(uuid.uuid4()))
    ground.client.create(
        kube.PodGroup(
            metadata=ObjectMeta(name=name, namespace=ground.namespace, ownerReferences=[owner]),
            spec={"minMember": 1},
        )
    )

    def collected(history: History) -> bool:
        return any(life.name == name and life.gone for life in history.lives.get("podgroup", ()))

    ground.until("the garbage collector, which deletes PodGroups without an owner", collected)
