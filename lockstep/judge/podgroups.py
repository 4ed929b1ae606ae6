"""PodGroups: whether each gang has its own, with the right demands, and what Volcano said."""

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from lockstep.judge.case import Case
from lockstep.judge.groups import Incarnation
from lockstep.judge.history import History, ObjectHistory, ObservedGang
from lockstep.judge.model import Expectation
from lockstep.kube import quantity
from lockstep.recording.model import version_number

# Volcano's message for a refused gang; the second number is how many pods of it existed.
_REFUSAL = re.compile(r"^\d+/(?P<tasks>\d+) tasks in gang unschedulable")

QUEUE_REFUSAL = "queue "
"""How Volcano's message begins when a queue, and not the room on the workers, refuses a gang."""

# An event client writes 25 events about one object, then one in five minutes: after that many
# refusals, no further event does not mean that scheduling cycles have stopped.
_EVENT_LIMIT = 20


def of(history: History, gang: ObservedGang) -> ObjectHistory | None:
    """The PodGroup that the gang's pods name, or else the newest that was created for the gang."""
    named = {pod.last.facts.get("podGroup") for pod in gang.alive}
    mine = [
        group
        for group in history.existing("podgroup")
        if group.name in named or group.last.facts.get("group") == gang.key
    ]
    return max(mine, key=lambda group: (group.name in named, group.first.at), default=None)


def problems(case: Case, *, uncollected: bool = True) -> list[str]:
    """Everything about PodGroups that is not as expected, each as one clause.

    `uncollected` includes those that will be garbage-collected.
    """
    history, expectation = case.history, case.expectation
    found: list[str] = []
    mine: set[str] = set()
    for gang in case.wanted:
        group = of(history, gang)
        if group is not None:
            mine.add(group.name)
        if expectation.gang:
            found += gang_problems(history, expectation, gang)
        elif group:
            found.append(f"PodGroup {group.name} manages {gang.key}")
    if expectation.gang:
        found += [
            f"unexpected PodGroup {group.name}"
            for group in history.existing("podgroup")
            if group.name not in mine
            and _concerns(group, case)
            and (uncollected or not is_abandoned(history, group))
        ]
    return found


def gang_problems(history: History, expectation: Expectation, gang: ObservedGang) -> list[str]:
    """What is wrong with the PodGroup that must hold a gang together, each as one clause."""
    group = of(history, gang)
    if group is None:
        return [missing(history, gang)]
    if is_abandoned(history, group):
        return [
            f"PodGroup {group.name} of {gang.key} is owned by a deleted leader, will be "
            f"garbage-collected and not recreated by LWS (lws#1054); {_remedy(gang)}"
        ]
    return _wrong_demands(group.name, group.last.facts, expectation)


def problems_while_binding(
    history: History, group: Incarnation, expectation: Expectation
) -> list[str]:
    """What was wrong with the PodGroup of a gang at any time from its first bind to its last.

    Versions order the changes of pods and PodGroups, whichever watch was told first.
    """
    full = math.inf if group.fully_bound_at is None else group.fully_bound_at
    # Pods that replace others are bound later, when LWS is about to recreate the group.
    bound = [(pod, pod.bound) for pod in group.pods if pod.bound and pod.bound.at <= full]
    binds = [version_number(seen.version) for _, seen in bound]
    name = str(group.leader.last.facts.get("podGroup"))
    for pod, _ in bound:
        if (other := pod.last.facts.get("podGroup")) != name:
            return [f"{pod.name} names PodGroup {other}, not {name} of its leader"]
    states = sorted(
        (
            seen
            for one in history.all("podgroup")
            if one.name == name
            for seen in one.observations
            if version_number(seen.version) <= max(binds)
        ),
        key=lambda seen: version_number(seen.version),
    )
    queue = expectation.queue or (states[0].facts.get("queue") if states else None)
    earlier = [seen for seen in states if version_number(seen.version) < min(binds)]
    if not earlier:
        return [f"{group.key} was bound before PodGroup {name} existed"]
    for seen in [earlier[-1], *states[len(earlier) :]]:
        if seen.change == "DELETED":
            return [f"PodGroup {name} was deleted while {group.key} was bound"]
        if seen.facts.get("ownerUid") != group.leader.uid:
            owner = seen.facts.get("owner") or "nothing"
            return [f"PodGroup {name} belongs to {owner}, not to the leader of {group.key}"]
        if seen.facts.get("queue") != queue:
            return [f"PodGroup {name} is in queue {seen.facts.get('queue')}, not {queue}"]
        if problems := _wrong_demands(name, seen.facts, expectation):
            return problems
    return []


def is_abandoned(history: History, group: ObjectHistory) -> bool:
    """Whether a PodGroup's leader was deleted, so that the PodGroup will be garbage-collected.

    In a new cluster that takes half a minute: until then the collector does not know PodGroups.
    """
    facts = group.last.facts
    if not str(facts.get("owner") or "").startswith("Pod/"):
        return False  # Volcano's own PodGroups belong to the pods' controller: it is not watched
    return facts["ownerUid"] not in history.alive


def expected_members(expectation: Expectation) -> int:
    """The minMember that a PodGroup should have."""
    return expectation.size if expectation.min_member is None else expectation.min_member


def _concerns(group: ObjectHistory, case: Case) -> bool:
    """Whether a PodGroup is the workload's, by its label or because a pod names it.

    Volcano creates a PodGroup for pods that name none, and leaves it when they are deleted: such
    a PodGroup has no effect.
    """
    if group.last.facts.get("workload") == str(case.expectation.workload):
        return True
    pods = (pod for gang in case.gangs for pod in gang.alive)
    return any(pod.last.facts.get("podGroup") == group.name for pod in pods)


def missing(history: History, gang: ObservedGang) -> str:
    """Why a gang has no PodGroup, as far as the recording shows."""
    if absent := history.recording.header.missing.get("podgroup"):
        return f"there are no PodGroups: {absent}"
    named = sorted({str(p.last.facts["podGroup"]) for p in gang.alive if p.last.facts["podGroup"]})
    if not named:
        return f"no PodGroup was created for {gang.key} (is gang scheduling on in LWS?)"
    created = min((pod.first.at for pod in gang.alive), default=0.0)
    deleted_since = [
        group.name for group in history.all("podgroup") if group.deleted and group.last.at > created
    ]
    if named[0] in deleted_since:
        return (
            f"PodGroup {named[0]} of an earlier leader still existed when {gang.key} was created, "
            f"then it was deleted, and LWS created no other (lws#1054); {_remedy(gang)}"
        )
    if all(pod.first.listed for pod in gang.alive):
        return (
            f"PodGroup {named[0]}, which the pods of {gang.key} name, does not exist: it was "
            f"deleted with an earlier leader (lws#1054; {_remedy(gang)}), or LWS has no permission "
            "to create PodGroups"
        )
    return (
        f"PodGroup {named[0]}, which the pods of {gang.key} name, was not created "
        "(does LWS have permission to create PodGroups?)"
    )


def _remedy(gang: ObservedGang) -> str:
    return f"delete pod {gang.key} to have the group recreated"


def _wrong_demands(name: str, facts: Mapping[str, Any], expectation: Expectation) -> list[str]:
    """Compare a PodGroup's demands with the workload's."""
    found: list[str] = []
    wanted = expected_members(expectation)
    if facts.get("minMember") != wanted:
        found.append(f"PodGroup {name} has minMember {facts.get('minMember')}, not {wanted}")
    reserved: Mapping[str, str] = facts.get("minResources") or {}
    for resource, amount in sorted(expectation.requests.items()):
        total = quantity.parse(amount) * expectation.size
        if _amount(reserved.get(resource)) != total:
            found.append(
                f"PodGroup {name} reserves {resource} {reserved.get(resource, 'nothing')}, "
                f"not {expectation.size} x {amount}"
            )
    return found


def _amount(text: str | None) -> Fraction | None:
    try:
        return None if text is None else quantity.parse(text)
    except quantity.QuantityError:
        return None


def refused_cycles(history: History, group: ObjectHistory, size: int, since: float) -> int:
    """Count the scheduling cycles, after a time, in which Volcano refused the whole gang.

    At the end of every cycle Volcano writes an event about each PodGroup that it could not place;
    a repeated message raises the event's count. The status of the PodGroup is only written when
    it changes, so it does not show cycles.
    """
    cycles = 0
    for event in _refusal_events(history, group):
        message = str(event.last.facts["message"])
        match = _REFUSAL.match(message)
        if match and int(match["tasks"]) < size:
            continue  # a cycle in which some pods of the gang did not exist yet
        if message.startswith(QUEUE_REFUSAL):
            continue  # the queue is full, however much room there is
        before = 0
        for seen in event.observations:
            count = int(seen.facts["count"])
            if seen.earliest > since:
                cycles += max(0, count - before)
            before = count
    return cycles


def refusals_ran_out(history: History, group: ObjectHistory) -> bool:
    """Whether so many refusals were written that the event client now drops them."""
    total = sum(int(event.last.facts["count"]) for event in _refusal_events(history, group))
    return total >= _EVENT_LIMIT and any(
        one["type"] == "Unschedulable" and one["status"] == "True"
        for one in group.last.facts.get("conditions") or ()
    )


def refusals(history: History, group: ObjectHistory) -> list[str]:
    """Every message of Volcano about a refused gang, newest last."""
    # Events of one list have one time: the version shows which was written last.
    events = sorted(
        _refusal_events(history, group),
        key=lambda event: (event.last.at, version_number(event.last.version)),
    )
    return [str(event.last.facts["message"]) for event in events]


def last_refusal(history: History, group: ObjectHistory) -> str:
    """Volcano's newest message about a refused gang."""
    return next(reversed(refusals(history, group)), "")


def _refusal_events(history: History, group: ObjectHistory) -> list[ObjectHistory]:
    return [
        event
        for event in history.all("event")
        if event.last.facts.get("reason") == "Unschedulable"
        and event.last.facts.get("objectUid") == group.uid
        and event.last.change != "DELETED"
    ]


def summary(group: ObjectHistory) -> dict[str, Any]:
    """The PodGroup as a verdict has it: its demands, and its phases with their times."""
    phases: list[dict[str, Any]] = []
    for seen in group.observations:
        phase = seen.facts.get("phase")
        if phase and (not phases or phases[-1]["phase"] != phase):
            phases.append({"at": round(seen.at, 3), "phase": phase})
    facts = group.last.facts
    return {
        "name": group.name,
        "minMember": facts.get("minMember"),
        "minResources": dict(facts.get("minResources") or {}),
        "phases": phases,
    }
