"""Volcano's scheduler configuration where it is not the chart's own, and which names it may use."""

import difflib
from collections.abc import Collection, Iterator
from typing import NamedTuple

import yaml

from lockstep import versions
from lockstep.errors import LockstepError

_ACTIONS = frozenset({"allocate", "backfill", "enqueue", "preempt", "reclaim", "shuffle"})
_GANG_ACTIONS = frozenset({"gangpreempt", "gangreclaim"})
_PLUGINS = frozenset(
    {
        "binpack",
        "capacity",
        "cdp",
        "conformance",
        "deviceshare",
        "drf",
        "extender",
        "gang",
        "network-topology-aware",
        "nodegroup",
        "nodeorder",
        "numa-aware",
        "overcommit",
        "pdb",
        "predicates",
        "priority",
        "proportion",
        "rescheduling",
        "resource-strategy-fit",
        "resourcequota",
        "sla",
        "task-topology",
        "tdm",
        "usage",
    }
)


class Known(NamedTuple):
    """What a version of Volcano registers."""

    actions: frozenset[str]
    plugins: frozenset[str]


KNOWN = {
    "1.14": Known(_ACTIONS, _PLUGINS),
    "1.15": Known(_ACTIONS | _GANG_ACTIONS, _PLUGINS),
}
"""By minor version of Volcano."""

_PREEMPTION = """\
actions: "enqueue, allocate, {actions}, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
    arguments:
      overcommit-factor: 10.0
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
    enableJobEnqueued: false
  - name: nodeorder
  - name: binpack
"""


def preemption(version: str) -> str:
    """Return the chart's configuration with preemption, by whole gangs where Volcano has that.

    It takes a preempting action, which the chart leaves out, and a way into the queue for a gang
    that does not fit: only admitted gangs preempt, and both `overcommit` and `proportion` would
    keep it out of a full cluster.

    Since 1.15, `gangpreempt` evicts all pods of a gang that it breaks, and so does `gangreclaim`
    for the gangs of another queue. Before, `preempt` evicts as many pods as it needs, and LWS ends
    the rest, as a group that lost a pod. The gang plugin must not veto that: it protects every gang
    whose minMember is its size, so no gang of LWS could ever be preempted.
    """
    known = KNOWN.get(versions.minor(version), KNOWN["1.15"])
    by_gangs = known.actions >= _GANG_ACTIONS
    return _PREEMPTION.format(actions="gangpreempt, gangreclaim" if by_gangs else "preempt")


def check(conf: str, version: str) -> None:
    """Refuse a configuration that Volcano would not run as it is written.

    Volcano reports no error: it replaces a configuration with an unknown action by its defaults,
    and leaves out an unknown plugin (volcano#5827). What a version that is not in `KNOWN` knows is
    not checked.
    """
    if fault := next(_faults(conf, version), None):
        raise LockstepError(f"the scheduler configuration {fault}")


def _faults(conf: str, version: str) -> Iterator[str]:
    instead = f"and Volcano {version} would run its defaults instead (volcano#5827)"
    try:
        document = yaml.safe_load(conf)
        actions = [action.strip() for action in document["actions"].split(",")]
        tiers = [{one["name"]: one for one in tier["plugins"]} for tier in document["tiers"]]
    except yaml.YAMLError as error:
        yield f"is not YAML ({' '.join(str(error).split())}), {instead}"
        return
    except (AttributeError, KeyError, TypeError):
        yield "has no text `actions`, or no list `tiers` of `plugins` with names"
        return
    if known := KNOWN.get(versions.minor(version)):
        for name in actions:
            if name not in known.actions:
                yield _unknown("action", name, known.actions, version, "run its defaults")
        for name in (name for tier in tiers for name in tier):
            if name not in known.plugins:
                yield _unknown("plugin", name, known.plugins, version, "leave it out")
    if any("proportion" in tier and tier.get("drf", {}).get("enableHierarchy") for tier in tiers):
        yield f"has `enableHierarchy` of drf beside proportion, {instead}"


def _unknown(kind: str, name: str, known: Collection[str], version: str, instead: str) -> str:
    near = difflib.get_close_matches(str(name).lower(), known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"{kind}s: {', '.join(sorted(known))}"
    return (
        f"has the {kind} {name!r}, which Volcano {version} does not know: it would {instead} "
        f"(volcano#5827); {hint}"
    )
