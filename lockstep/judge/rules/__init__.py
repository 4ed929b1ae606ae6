"""The rules: each looks for one outcome, and finds it, finds it not, or says when to look again.

Every expected verdict has its list of rules, tried in order; the first finding counts. A rule
reports what it proves, whether that was expected or not: `up` should fail as soon as the outcome
is known, not at its deadline.
"""

from __future__ import annotations

from lockstep.judge.case import Rule
from lockstep.judge.rules.capped import capped
from lockstep.judge.rules.deadlocked import deadlocked
from lockstep.judge.rules.held import held
from lockstep.judge.rules.leader_first import leader_first
from lockstep.judge.rules.partial import partial
from lockstep.judge.rules.placed import placed
from lockstep.judge.rules.preempted import preempted
from lockstep.judge.rules.recreated import recreated
from lockstep.judge.rules.refused import refused
from lockstep.judge.rules.rolled import rolled
from lockstep.judge.rules.scaled import scaled
from lockstep.judge.rules.serialized import serialized
from lockstep.judge.rules.torn import torn

RULES: dict[str, tuple[Rule, ...]] = {
    "placed": (torn, placed, held),
    "released": (torn, placed, held),
    "held": (torn, placed, held),
    "partial": (placed, partial, held),
    "serialized": (serialized,),
    "deadlocked": (deadlocked,),
    "capped": (capped,),
    "preempted-whole": (preempted,),
    "waits": (preempted,),
    "recreated": (recreated,),
    "rolled": (rolled,),
    "scaled": (scaled,),
    "leader-first": (leader_first,),
    "refused": (refused,),
}
