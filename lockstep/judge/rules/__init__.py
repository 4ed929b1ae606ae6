"""The rules of the judge, one outcome in each module.

Every expected verdict has its list of rules, evaluated in order; the first finding counts. A rule
reports what it proves, whether that was expected or not: `pulumi up` should fail as soon as the
outcome is known, not at the deadline.
"""

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
from lockstep.scenarios.verdicts import VerdictName

RULES: dict[str, tuple[Rule, ...]] = {
    VerdictName.PLACED: (torn, placed, held),
    VerdictName.RELEASED: (torn, placed, held),
    VerdictName.HELD: (torn, placed, held),
    VerdictName.PARTIAL: (placed, partial, held),
    VerdictName.SERIALIZED: (serialized,),
    VerdictName.DEADLOCKED: (deadlocked,),
    VerdictName.CAPPED: (capped,),
    VerdictName.PREEMPTED_WHOLE: (preempted,),
    VerdictName.RECREATED: (recreated,),
    VerdictName.ROLLED: (rolled,),
    VerdictName.SCALED: (scaled,),
    VerdictName.LEADER_FIRST: (leader_first,),
    VerdictName.REFUSED: (refused,),
}
