"""What the judge must say of a sabotaged deployment, and why: one table.

`fail`: an ok verdict is a false pass. `either`: an ok verdict is right exactly if the campaign's
own observer agrees that the invariant held, from the first pod's creation to the last bind. `ok`:
the sabotage cannot matter there; an ok verdict is still compared with the observer.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

MOMENTS = ("before", "between", "creation", "burst", "verdict")
"""When a sabotage strikes: before the update, between two updates, when the first pod is created,
when the first pod is bound, and after the last bind or at a random moment of the drill."""


class Must(StrEnum):
    """What the judge must say."""

    FAIL = "fail"
    EITHER = "either"
    OK = "ok"


@dataclass(frozen=True)
class Entry:
    """One entry of the table."""

    sabotages: str
    moments: str
    cases: frozenset[str]
    must: Must
    why: str
    later_fail: float | None = None
    """Seconds after the strike from which on a bind makes an ok verdict false."""


DRILLS = frozenset(
    ("contention", "queue-cap", "preemption", "recovery", "rolling-update", "scale", "missing-rbac")
)
PLAIN = frozenset(("gang", "constrained-released"))
HELD = frozenset(("constrained",))
GANGS = DRILLS | PLAIN | HELD
LEADER = frozenset(("leader-ready",))
NO_GANG, DEADLOCK = frozenset(("no-gang",)), frozenset(("contention-control",))
CROWDS = DEADLOCK | {"contention"}
CONTROLS = NO_GANG | DEADLOCK
SETS = GANGS | LEADER | DEADLOCK
EVERY = SETS | NO_GANG

POSSIBLE: dict[str, str] = {
    **dict.fromkeys(EVERY, "before between creation burst verdict"),
    "constrained": "before creation burst verdict",
    "constrained-released": "between burst verdict",
}
"""The moments of a case. A held gang has no binds: its first refusal stands for the burst."""

_SLOW, _BLIND = 1.0, 0.3
_FAIL, _EITHER, _OK = Must.FAIL, Must.EITHER, Must.OK
_LATER = "creation burst verdict"
_ALWAYS = "before between creation burst verdict"
_EARLY = "before between"
_CONF = "gang plugin off|gang plugin off and restart"
_PLACED_ELSE = "the default scheduler places these pods"

TABLE = (
    Entry(_CONF, _ALWAYS, CONTROLS, _OK, _PLACED_ELSE),
    Entry(_CONF, _EARLY, GANGS, _FAIL, "without the gang plugin a complete burst is luck"),
    Entry(_CONF, _LATER, GANGS, _EITHER, "binds after it prove nothing", _SLOW),
    Entry(_CONF, _ALWAYS, LEADER, _EITHER, "there is no gang to hold together"),
    Entry("misspelt action", _ALWAYS, CONTROLS, _OK, _PLACED_ELSE),
    Entry("misspelt action", _ALWAYS, EVERY, _EITHER, "Volcano may keep its configuration"),
    Entry("scheduler restarted", _ALWAYS, CONTROLS, _OK, _PLACED_ELSE),
    Entry("scheduler restarted", _EARLY, EVERY, _OK, "it works again before the update"),
    Entry("scheduler restarted", _LATER, EVERY, _EITHER, "it may leave a burst half done"),
    Entry("scheduler frozen|scheduler thawed", _ALWAYS, CONTROLS, _OK, _PLACED_ELSE),
    Entry("scheduler frozen", _EARLY, GANGS | LEADER, _FAIL, "no scheduler handles the pods"),
    Entry("scheduler frozen", "creation", HELD, _FAIL, "no scheduler refuses the gang"),
    Entry("scheduler frozen", _LATER, EVERY, _EITHER, "the binds may be over"),
    Entry("scheduler thawed", _LATER, EVERY, _EITHER, "the scheduler may be quick enough"),
    Entry("PodGroup deleted", "between creation burst verdict", GANGS | LEADER, _EITHER,
          "binds without a PodGroup prove nothing"),
    Entry("minMember 1", "between creation burst verdict", GANGS, _EITHER,
          "binds under a smaller demand prove nothing"),
    Entry("minResources changed", "between creation burst verdict", GANGS | LEADER, _EITHER,
          "binds under a smaller demand prove nothing"),
    Entry("queue changed", "between creation burst verdict", GANGS | LEADER, _EITHER,
          "matters where a queue has a cap"),
    Entry("owner changed", "between creation burst verdict", GANGS | LEADER, _EITHER,
          "matters when the leader goes"),
    Entry("other scheduler", _EARLY, GANGS - PLAIN | {"gang"}, _FAIL,
          "a pod of another scheduler is not held with its gang"),
    Entry("other scheduler", _ALWAYS, PLAIN | DRILLS | HELD | LEADER, _EITHER,
          "LWS replaces the group later"),
    Entry("foreign pod", "between creation burst verdict", GANGS | LEADER, _EITHER,
          "it may count as a member, or take a place"),
    Entry("bound by hand", _LATER, HELD, _FAIL, "a gang with a bound pod is not held"),
    Entry("bound by hand", "creation", PLAIN | DRILLS | LEADER | CONTROLS, _EITHER,
          "the gang may follow within a burst"),
    Entry("bound by hand", "burst verdict", CROWDS, _EITHER,
          "the gang may be left partly bound"),
    Entry("LWS stopped", _ALWAYS, NO_GANG, _OK, "LWS has no part in it"),
    Entry("LWS stopped", "before", SETS, _FAIL, "no pod can be created"),
    Entry("LWS stopped", "between", DRILLS | {"gang"} | LEADER, _FAIL, "no group can be recreated"),
    Entry("LWS stopped", _ALWAYS, SETS, _EITHER, "the pods may exist already"),
    Entry("provider gone", _ALWAYS, NO_GANG, _OK, "LWS has no part in it"),
    Entry("provider gone", "before", GANGS | LEADER, _FAIL, "no PodGroup is created"),
    Entry("provider gone", "between", DRILLS | {"gang"}, _FAIL, "no PodGroup is created"),
    Entry("provider gone", _ALWAYS, GANGS | LEADER, _EITHER, "the PodGroup may exist already"),
    Entry("permission gone", _ALWAYS, CONTROLS, _OK, "no PodGroup is needed"),
    Entry("permission gone", _ALWAYS, frozenset(("missing-rbac",)), _EITHER,
          "the drill takes and gives the permission itself"),
    Entry("permission gone", "before", GANGS | LEADER, _FAIL, "no PodGroup can be created"),
    Entry("permission gone", "between", DRILLS | {"gang"}, _FAIL, "no PodGroup can be created"),
    Entry("permission gone", "between burst verdict", PLAIN | HELD, _OK, "the PodGroup exists"),
    Entry("permission gone", _ALWAYS, GANGS | LEADER, _EITHER, "the PodGroup may exist already"),
    Entry("second controller", _LATER, EVERY, _EITHER, "LWS may recreate the group in time"),
    Entry("API server restarted", _ALWAYS, EVERY, _EITHER, "everything may be back in time"),
    Entry("node cordoned|node deleted|node tainted|node resized", _ALWAYS, EVERY, _EITHER,
          "there may be room enough, or too much"),
    Entry("watch cut|watch late", _LATER, EVERY, _EITHER, "what was missed may be read later"),
    Entry("watch dead", "creation", HELD, _FAIL, "the refusals cannot be seen"),
    Entry("watch dead", "creation burst", DEADLOCK, _FAIL, "the standstill cannot be seen"),
    Entry("watch dead", _LATER, EVERY, _EITHER, "binds after it cannot be seen", _BLIND),
    Entry("recorder killed", _LATER, frozenset(("constrained-released",)), _FAIL,
          "the release and the binds come after it"),
    Entry("recorder killed", _LATER, GANGS, _EITHER,
          "the pods are created again for another recorder"),
    Entry("recorder killed", _LATER, HELD | CONTROLS | LEADER, _EITHER,
          "the state can be seen again"),
    Entry("recorder frozen", _LATER, EVERY, _EITHER, "it receives everything later"),
    Entry("wall clock moved", _ALWAYS, EVERY, _OK, "times are monotonic"),
    Entry("tear in the open|tear behind a late watch|tear behind a cut watch"
          "|tear behind a frozen recorder", "before", DRILLS | {"gang"}, _FAIL,
          "a gang was partly bound for five seconds"),
    Entry("tear in the open", "between", frozenset(("constrained-released",)), _FAIL,
          "a gang was partly bound for five seconds"),
    Entry("judged again", "between", frozenset(("gang",)), _EITHER,
          "all binds came before the recording, unless the pods are created again"),
)  # fmt: skip


def sabotages() -> list[str]:
    """Every sabotage, in the order of the table."""
    return list(dict.fromkeys(name for one in TABLE for name in one.sabotages.split("|")))


def entry(sabotage: str, moment: str, case: str) -> Entry | None:
    """Return the first entry that fits; None if the combination makes no sense."""
    if moment not in POSSIBLE[case].split():
        return None
    return next(
        (
            one
            for one in TABLE
            if sabotage in one.sabotages.split("|")
            and moment in one.moments.split()
            and case in one.cases
        ),
        None,
    )


def combinations() -> Iterator[tuple[str, str, str]]:
    """Every sabotage, moment and case that make sense together."""
    for sabotage in sabotages():
        for moment in MOMENTS:
            for case in POSSIBLE:
                if entry(sabotage, moment, case):
                    yield sabotage, moment, case
