from __future__ import annotations

from typing import Any

import yaml

from lockstep.local import kind_config

IMAGE = "node@sha256:1"


def workers(text: str) -> list[Any]:
    control_plane, *workers = yaml.safe_load(text)["nodes"]
    assert control_plane == {"role": "control-plane", "image": IMAGE}
    assert all(worker["role"] == "worker" and worker["image"] == IMAGE for worker in workers)
    return [worker.get("labels") for worker in workers]


def test_every_worker_of_a_pool_has_the_label_of_the_pool() -> None:
    text = kind_config.config("demo", {"gang": 2, "no-gang": 1}, IMAGE)
    gang, no_gang = {"lockstep.dev/pool": "gang"}, {"lockstep.dev/pool": "no-gang"}
    assert workers(text) == [gang, gang, no_gang]
    assert yaml.safe_load(text)["name"] == "demo"


def test_cluster_without_pools_has_workers_for_the_operators() -> None:
    assert workers(kind_config.config("demo", {}, IMAGE, workers_without_pool=3)) == [None] * 3
