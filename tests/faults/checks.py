"""What must not be left behind: by an update that is over, and by a stack that was removed."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from lockstep import paths, processes
from lockstep.drills.renewal import ANNOTATION
from lockstep.local import supervise, supervisor
from lockstep.scenarios.pool import POOL_LABEL
from tests.faults.victims import Victims, alive
from tests.sabotage.api import Api
from tests.sabotage.workload import Update

WITHIN = 10.0
"""Seconds that what is ending may take to be gone, such as a recorder after its verdict."""
BLOCKED = "lockstep.dev/blocked"


def settled(check: Callable[[], list[str]]) -> list[str]:
    """Return what a check finds wrong, once that is nothing or the time is over."""
    deadline = time.monotonic() + WITHIN
    while (wrong := check()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return wrong


def running(victims: Victims) -> list[str]:
    """What runs and should not, and what does not run and should, in a stack that is up."""
    programs = paths.programs_dir(victims.folder)
    names = [file.stem for file in programs.glob("*.json")] + [supervise.STANDBY]
    known = {name: victims.program(name) for name in names}
    known["supervisor"] = supervisor.holder(victims.folder)
    wrong = [f"{name} does not run" for name, pid in known.items() if pid is None]
    mine = {one.pid for one in processes.of_cluster(victims.folder)} - set(known.values())
    left = sorted(mine | set(victims.marked()))
    return wrong + [f"left over: {one}" for one in alive(left)]


def nodes_and_notes(api: Api, update: Update) -> list[str]:
    """Taints, labels and notes of a stack that is up which should not be there."""
    wrong = []
    declared = {str(one["metadata"]["name"]): one for one in update.nodes}
    found = {str(one["metadata"]["name"]): one for one in api.items("Node")}
    wrong += [f"node {name} should not exist" for name in found.keys() - declared.keys()]
    wrong += [f"node {name} does not exist" for name in declared.keys() - found.keys()]
    for name in found.keys() & declared.keys():
        wrong += _wrong_node(name, found[name], declared[name], update)
    namespace = str(update.namespace["metadata"]["name"])
    for thing in update.workload:
        if thing["kind"] in ("LeaderWorkerSet", "Deployment"):
            real = api.get(str(thing["kind"]), thing["metadata"]["name"], namespace)
            if note := (real["metadata"].get("annotations") or {}).get(ANNOTATION):
                wrong.append(f"{thing['metadata']['name']} has the note {note!r}")
    return wrong


def _wrong_node(name: str, found: dict, declared: dict, update: Update) -> list[str]:  # type: ignore[type-arg]
    wrong = []
    spec = found["spec"]
    taints = {one["key"] for one in spec.get("taints") or ()}
    wrong += [f"{name} has the taint {key}" for key in taints - {BLOCKED}]
    if update.taints and not update.has_drill:
        wanted = {one["key"] for one in update.taints.get(name, ())}
        wrong += [f"{name} lacks the taint {key}" for key in wanted - taints]
        wrong += [f"{name} has the taint {key}" for key in taints - wanted if key == BLOCKED]
    labels = found["metadata"].get("labels") or {}
    own = {key for key in labels if "lockstep" in key}
    wrong += [f"{name} has the label {key}" for key in own - {POOL_LABEL}]
    wrong += [
        f"{name} has the label {key}={labels.get(key)}"
        for key, value in declared["metadata"]["labels"].items()
        if labels.get(key) != value
    ]
    return wrong + ([f"{name} is cordoned"] if spec.get("unschedulable") else [])


def locks(stack: str) -> list[str]:
    """Locks on the stack in Pulumi's backend."""
    backend = paths.state_dir() / "backend" / ".pulumi" / "locks"
    return [f"lock {file.name}" for file in backend.rglob("*.json") if stack in file.parts]


def nothing(victims: Victims, stack: str, scratch: Path) -> list[str]:
    """Everything that is left of a stack that was removed."""
    mine = [one.pid for one in processes.of_cluster(victims.folder)]
    wrong = [f"left over: {one}" for one in alive(sorted({*mine, *victims.marked()}))]
    backend = paths.state_dir() / "backend" / ".pulumi" / "stacks"
    places = [
        victims.folder,
        victims.folder.with_suffix(".id"),
        paths.state_dir() / "stacks" / f"Pulumi.{stack}.yaml",
        *backend.rglob(f"{stack}.json"),
    ]
    wrong += [f"left over: {place.name}" for place in places if place.exists()]
    for file in scratch.glob("kubeconfig*"):
        with contextlib.suppress(OSError):
            wrong.append(f"left over: {file.name}, a copy of the kubeconfig")
    return wrong + locks(stack)
