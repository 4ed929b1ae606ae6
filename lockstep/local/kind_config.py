"""The text of kind's cluster config; pure, so that the Pulumi program can import it quickly."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from lockstep.scenarios.pool import POOL_LABEL


def config(
    cluster_name: str, pools: Mapping[str, int], image: str, *, workers_without_pool: int = 0
) -> str:
    """Return the config of a cluster: one control plane and the workers of every pool.

    `pools` maps a pool's name to its number of workers, which carry the pool's label from the
    start. A stack without scenarios has no pools but still needs workers for the operators:
    `workers_without_pool`.
    """
    nodes: list[dict[str, object]] = [{"role": "control-plane", "image": image}]
    for pool, size in pools.items():
        nodes += [_worker(image, {POOL_LABEL: pool}) for _ in range(size)]
    nodes += [_worker(image, {}) for _ in range(workers_without_pool)]
    cluster = {"kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4", "name": cluster_name}
    return yaml.safe_dump({**cluster, "nodes": nodes}, sort_keys=False)


def _worker(image: str, labels: Mapping[str, str]) -> dict[str, object]:
    worker: dict[str, object] = {"role": "worker", "image": image}
    return {**worker, "labels": dict(labels)} if labels else worker
