"""Room for all gangs, but a queue that admits fewer."""

from dataclasses import replace
from typing import Any

import pulumi

from lockstep.kube import quantity

from .. import leader_worker_set as lws
from .. import queue, volcano
from . import pods
from .gang import Gang


class QueueCap(Gang):
    """Groups in a queue with room for all but one of them.

    The workers could take every gang, so only the queue's capability keeps one gang waiting.
    """

    scenario = "queue-cap"

    def create(self, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        """Create the queue and the set in it."""
        line = queue.Queue(f"{self._name}-queue", self._queue_args(), opts)
        # The set names its queue by a plain string, so the order must be said.
        after = pulumi.ResourceOptions(depends_on=[line])
        return super().create(pulumi.ResourceOptions.merge(opts, after))

    def set_args(self, priority_class: str | None = None) -> lws.LeaderWorkerSetArgs:
        """Return the set in the queue: LWS copies the annotation into each PodGroup's spec."""
        annotations = {volcano.QUEUE_ANNOTATION: self.scoped()}
        return replace(super().set_args(priority_class), annotations=annotations)

    def outcome_spec(self) -> Any:
        """Return the set and the queue."""
        return {"set": lws.spec(self.set_args()), "queue": queue.spec(self._queue_args())}

    def expects(self) -> dict[str, Any]:
        """Expect no more gangs at the same time than the queue admits."""
        return {**super().expects(), "at_once": self._admitted, "queue": self.scoped()}

    @property
    def _admitted(self) -> int:
        return self._args.sizes.groups - 1

    def _queue_args(self) -> queue.QueueArgs:
        pool, pods_admitted = self._args.pool, self._args.sizes.size * self._admitted
        capability = {
            "cpu": pool.pod_cpu.apply(
                lambda cpu: quantity.format_cpu(quantity.parse(cpu) * pods_admitted)
            ),
            "memory": pool.pod_memory.apply(
                lambda memory: quantity.format_memory(quantity.parse(memory) * pods_admitted)
            ),
        }
        # Queues belong to the whole cluster, so the name is unique there.
        return queue.QueueArgs(self.scoped(), capability, pods.labels(self.scenario))
