"""Sabotages of nodes."""

from tests.sabotage.strikes.field import Field


def cordoned(field: Field) -> None:
    """Cordon a worker."""
    field.api.merge("Node", field.node(), {"spec": {"unschedulable": True}})


def deleted(field: Field) -> None:
    """Delete a worker's Node."""
    field.api.delete("Node", field.node())


def tainted(field: Field) -> None:
    """Taint a worker with a taint that is not Lockstep's."""
    name = field.node()
    taints = field.api.get("Node", name)["spec"].get("taints") or []
    foreign = {"key": "sabotage.example/taint", "effect": "NoSchedule"}
    field.api.merge("Node", name, {"spec": {"taints": [*taints, foreign]}})


def resized(field: Field) -> None:
    """Change what a worker can take: much more, or less than a pod."""
    cpu, memory = field.rng.choice([("64", "128Gi"), ("1", "1Gi")])
    size = {"cpu": cpu, "memory": memory}
    change = {"status": {"allocatable": size, "capacity": size}}
    field.api.merge("Node", field.node(), change, sub="status")
