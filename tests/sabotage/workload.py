"""What an update deploys and runs: the exact inputs of the program's resources, by mocks."""

import json
import runpy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pulumi

from lockstep.scenarios.pool import POOL_LABEL
from tests.sabotage.api import Thing
from tests.unit.components.graph import COMMAND, RELEASE, Graph, Record, deploy
from tests.unit.conftest import PROJECT_DIR, stack_config

CLUSTER = "the-campaigns-cluster"
"""Stands for the name of the cluster until a round has one."""
_NODE, _PATCH = "kubernetes:core/v1:Node", "kubernetes:core/v1:NodePatch"


@dataclass(frozen=True)
class Update:
    """One update of a scenario: its objects, and the environment of its commands."""

    scenario: str
    nodes: list[Thing]
    taints: dict[str, list[Thing]]
    """By node; only of scenarios that own the taints of their pool."""
    namespace: Thing
    workload: list[Thing]
    """In the order of creation."""
    record: dict[str, str]
    """The environment of `lockstep step record`."""
    judge: dict[str, str]
    """The environment of `lockstep step judge`."""
    scheduler_conf: str | None
    """Volcano's configuration if it is not the chart's."""
    gang_scheduling: bool

    @property
    def expectation(self) -> Mapping[str, Any]:
        """What the judge is told to expect."""
        known: dict[str, Any] = json.loads(self.judge["LOCKSTEP_EXPECTATION"])
        return known

    @property
    def variant(self) -> tuple[str | None, bool]:
        """What the platform must be like: updates of one variant can follow each other."""
        return self.scheduler_conf, self.gang_scheduling

    @property
    def has_drill(self) -> bool:
        """Whether the judge performs a drill."""
        return "LOCKSTEP_DRILL" in self.judge

    def renamed(self, cluster: str, suffix: str) -> "Update":
        """Return the update with a namespace, nodes and cluster-wide names of its own."""
        name, new = self.scenario, f"{self.scenario}-{suffix}"
        document = json.dumps(self.__dict__)
        for old, fresh in (
            (CLUSTER, cluster),
            (f"lockstep-{name}", f"lockstep-{new}"),
            (f"{name}-worker-", f"{new}-worker-"),
            (f'"{POOL_LABEL}": "{name}"', f'"{POOL_LABEL}": "{new}"'),
            (f'"LOCKSTEP_POOL": "{name}"', f'"LOCKSTEP_POOL": "{new}"'),
        ):
            document = document.replace(old, fresh)
        return Update(**json.loads(document))


def update_of(scenario: str, **changes: Any) -> Update:
    """Run the program on mocks, as `pulumi up` would, and read what it asks for."""
    graph = _graph(scenario, {"clusterName": CLUSTER, "charts": "published", **changes})
    records = list(graph.records.values())
    own = [record for record in records if record.name.startswith(scenario)]
    release = next(one for one in graph.of_type(RELEASE) if "volcano" in one.name)
    custom = release.inputs["values"]["custom"]
    return Update(
        scenario=scenario,
        nodes=[record.inputs for record in graph.of_type(_NODE)],
        taints={
            record.inputs["metadata"]["name"]: record.inputs["spec"].get("taints") or []
            for record in graph.of_type(_PATCH)
        },
        namespace=next(one.inputs for one in own if one.type.endswith(":Namespace")),
        workload=[one.inputs for one in _in_order(own) if _is_workload(one)],
        record=_environment(own, "record"),
        judge=_environment(own, "judge"),
        scheduler_conf=custom.get("scheduler_config_override"),
        gang_scheduling=any("podgroup-rights" in record.name for record in records),
    )


def _graph(scenario: str, changes: Mapping[str, Any]) -> Graph:
    config = stack_config(scenario)
    config |= {
        f"lockstep:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in changes.items()
    }

    def build() -> None:
        runpy.run_path(str(PROJECT_DIR / "__main__.py"), run_name="__main__")

    pulumi.runtime.set_all_config(config)
    with patch.object(pulumi, "get_stack", lambda: scenario):
        return deploy(build, stack=scenario)


def _is_workload(record: Record) -> bool:
    kinds = (_NODE, _PATCH, "kubernetes:core/v1:Namespace")
    return record.custom and record.type.startswith("kubernetes:") and record.type not in kinds


def _in_order(records: list[Record]) -> list[Record]:
    """Sort so that each comes after those that it waits for."""
    ordered: list[Record] = []
    left = list(records)
    names = {record.name for record in records}
    while left:
        done = {record.name for record in ordered}
        ready = [one for one in left if not (one.depends_on & names) - done] or left[:1]
        ordered += ready
        left = [one for one in left if one not in ready]
    return ordered


def _environment(records: list[Record], step: str) -> dict[str, str]:
    return next(one.environment for one in records if one.type == COMMAND and one.step() == step)
