"""A queue that admits fewer gangs than would fit: the cap holds, and each gang gets its turn."""

from collections.abc import Sequence

from lockstep.judge import explain, figures, podgroups
from lockstep.judge.case import Case, fail
from lockstep.judge.figures import Run
from lockstep.judge.model import Finding, RecheckAt
from lockstep.judge.rules.serialized import evidence, mismatch, starving
from lockstep.judge.rules.torn import torn_while_binding
from lockstep.scenarios.verdicts import VerdictName


def capped(case: Case) -> Finding | RecheckAt | None:
    """Find `capped`: as many gangs at once as the queue admits, never more, and a reason given."""
    if (answer := torn_while_binding(case)) is not None:
        return answer
    runs = figures.runs(case.history, case.wanted)
    cap = case.expectation.at_once or 0
    places, _ = figures.most_places(case.wanted)
    allowed = cap * case.expectation.size
    if places > allowed:
        what = f"{places} pods held a place at once in a queue that admits {allowed}"
        return Finding(VerdictName.EXCEEDED, what, evidence(case, runs))
    if wrong := _wrong_queue(case):
        return fail(VerdictName.MISMATCHED, wrong, evidence=evidence(case, runs))
    if missing := _missing(case, runs, cap):
        is_over = case.final and bool(runs)
        return Finding(VerdictName.STARVED, missing, evidence(case, runs)) if is_over else None
    return mismatch(case, runs) or _finding(case, runs, cap)


def _wrong_queue(case: Case) -> str:
    """Name a PodGroup that is in another queue."""
    wanted = case.expectation.queue
    for gang in case.wanted:
        group = podgroups.of(case.history, gang)
        if group and group.last.facts.get("queue") != wanted:
            found = group.last.facts.get("queue")
            return f"PodGroup {group.name} is in queue {found}, not {wanted}"
    return ""


def _missing(case: Case, runs: Sequence[Run], cap: int) -> str:
    """What has not been observed yet."""
    if never := starving(case, runs):
        return never
    most = figures.most_at_once(runs)
    if most < cap:
        return f"only {most} of the {cap} gangs that the queue admits ran at once"
    return "" if _refusal(case) else "no event says that the queue kept a gang waiting"


def _refusal(case: Case) -> str:
    """Volcano's event that says that a gang waits because of its queue."""
    for event in case.history.all("event"):
        facts = event.last.facts
        about_group = str(facts.get("object")).startswith("PodGroup/")
        if about_group and str(facts.get("message")).startswith(podgroups.QUEUE_REFUSAL):
            return explain.event_text(event)
    return ""


def _finding(case: Case, runs: Sequence[Run], cap: int) -> Finding:
    total = len(case.wanted)
    what = (
        f"never more than {cap} of {total} gangs ran at once, though there was room for all; "
        f"each of {total} ran"
    )
    facts = [f"queue {case.expectation.queue} admits {cap} gangs", _refusal(case)]
    _, places = figures.most_places(case.wanted)
    if places > cap * case.expectation.size:
        facts.append(
            f"while a gang ended, {places} pods held a place: Volcano counts a queue by its "
            "PodGroups, and the gang's PodGroup was deleted before its last pods"
        )
    return Finding(
        VerdictName.CAPPED,
        what,
        (*facts, *evidence(case, runs)),
        measures=figures.crowd_figures(case.history, case.wanted, runs),
        bind_skew=figures.longest_run_skew(case.history, runs),
    )
