"""Every scenario, in the order in which the demo shows them.

Adding a scenario: an entry here, a component in components/scenarios/, a stack file in stacks/,
and a rule in lockstep/judge/rules/ only if its verdict is new.
"""

from lockstep.scenarios.checks import (
    crowded,
    fills_the_pool,
    held_or_released,
    larger_than_a_worker,
    several_groups,
    some_worker_free,
    spare_worker,
    workers_for_groups,
    workers_for_one_more_group,
)
from lockstep.scenarios.model import Needs, Scenario, Sizes, Step
from lockstep.scenarios.verdicts import VerdictName

SCALE_STEPS = (2, 6, 1)
"""Numbers of groups that the scale drill asks for, one after the other."""


def _held_or_released(sizes: Sizes) -> VerdictName:
    return VerdictName.HELD if sizes.free_capacity < sizes.size else VerdictName.RELEASED


def _partial_or_placed(sizes: Sizes) -> VerdictName:
    return VerdictName.PARTIAL if sizes.free_capacity < sizes.pods else VerdictName.PLACED


_IN_ORDER = (
    Scenario(
        name="gang",
        steps=(
            Step(
                "gang",
                VerdictName.PLACED,
                story="four pods and room for them: all start together",
                meaning="There was room, and each gang was bound completely, in one burst.",
                config={"scenarios": ["gang"]},
            ),
        ),
        needs=Needs(whole_groups=True),
        in_article=True,
        in_matrix=True,
    ),
    Scenario(
        name="constrained",
        steps=(
            Step(
                "constrained",
                VerdictName.HELD,
                story="two of three workers are blocked: "
                "room for two pods of four, so none may start",
                meaning="There was room for only a part of the gang, so no pod was bound.",
                config={"scenarios": ["gang", "constrained"], "taintedWorkers": 2},
            ),
            Step(
                "constrained-released",
                VerdictName.RELEASED,
                story="one worker is unblocked: the whole gang starts",
                meaning="A worker was unblocked, and the whole gang was bound in one burst.",
                config={"scenarios": ["gang", "constrained"], "taintedWorkers": 1},
                continues=True,
            ),
        ),
        needs=Needs(whole_groups=True, blocks_workers=True, checks=(held_or_released,)),
        expected=_held_or_released,
        in_article=True,
        in_matrix=True,
    ),
    Scenario(
        name="no-gang",
        steps=(
            Step(
                "no-gang",
                VerdictName.PARTIAL,
                story="the same pods without gang scheduling: "
                "some start, and occupy workers uselessly",
                meaning="Without a gang scheduler some pods were bound and the rest waited: "
                "workers are occupied, and the job cannot start.",
                config={"scenarios": ["no-gang"], "taintedWorkers": 2},
            ),
        ),
        needs=Needs(blocks_workers=True, checks=(some_worker_free,)),
        expected=_partial_or_placed,
        control_of="constrained",
        in_article=True,
        in_matrix=True,
    ),
    Scenario(
        name="contention",
        steps=(
            Step(
                "contention",
                VerdictName.SERIALIZED,
                story="four gangs and room for one: they run one after the other, each complete",
                meaning="There were more gangs than room: complete gangs ran in turn.",
            ),
        ),
        needs=Needs(
            alone="as Volcano admits gangs by the capacity of the whole cluster: the waiting gangs "
            "would keep those of other scenarios out",
            checks=(crowded,),
        ),
        drill="turns",
        in_matrix=True,
    ),
    Scenario(
        name="contention-control",
        steps=(
            Step(
                "contention-control",
                VerdictName.DEADLOCKED,
                story="the same four gangs by the default scheduler: "
                "each gets a part, none can run",
                meaning="There were more gangs than room and no gang scheduler: "
                "several gangs got a part of what they need, and none could start.",
            ),
        ),
        needs=Needs(
            gang_scheduling=False,
            gang_scheduling_because="as LWS would create PodGroups for it although another "
            "scheduler places its pods (lws#630)",
            checks=(crowded,),
        ),
        drill="endurance",
        control_of="contention",
    ),
    Scenario(
        name="queue-cap",
        steps=(
            Step(
                "queue-cap",
                VerdictName.CAPPED,
                story="three gangs, room for all, a queue that admits two",
                meaning="The queue admitted only as many gangs as it may, each complete.",
            ),
        ),
        needs=Needs(whole_groups=True, checks=(several_groups,)),
        drill="turns",
    ),
    Scenario(
        name="preemption",
        steps=(
            Step(
                "preemption",
                VerdictName.PREEMPTED_WHOLE,
                story="a gang of higher priority meets a full pool: "
                "a complete gang makes room for it",
                meaning="A gang of higher priority took the place of a complete gang.",
            ),
        ),
        needs=Needs(
            whole_groups=True,
            alone="as Volcano 1.15 looks for gangs to evict on the workers of all scenarios",
            own_volcano="which needs a scheduler that preempts",
            checks=(fills_the_pool,),
        ),
        drill="preemption",
    ),
    Scenario(
        name="recovery",
        steps=(
            Step(
                "recovery",
                VerdictName.RECREATED,
                story="leader, worker and node are lost in turn: "
                "the whole gang is recreated each time",
                meaning="A member was lost, and the whole gang was recreated together.",
            ),
        ),
        needs=Needs(whole_groups=True, checks=(spare_worker,)),
        drill="recovery",
        in_matrix=True,
    ),
    Scenario(
        name="rolling-update",
        steps=(
            Step(
                "rolling-update",
                VerdictName.ROLLED,
                story="the template changes where room is tight: complete groups are replaced",
                meaning="The template changed, and each group was replaced as a whole.",
            ),
        ),
        needs=Needs(whole_groups=True, checks=(workers_for_one_more_group,)),
        drill="rolling-update",
    ),
    Scenario(
        name="scale",
        steps=(
            Step(
                "scale",
                VerdictName.SCALED,
                story="two groups, six, one: PodGroups follow exactly",
                meaning="Groups came and went as a whole, and their PodGroups with them.",
            ),
        ),
        needs=Needs(checks=(workers_for_groups(max(SCALE_STEPS)),)),
        drill="scale",
        # The number that the drill ends with: Pulumi and the cluster then agree.
        groups=SCALE_STEPS[-1],
    ),
    Scenario(
        name="leader-ready",
        steps=(
            Step(
                "leader-ready",
                VerdictName.LEADER_FIRST,
                story="workers wait for their leader: the leader starts alone",
                meaning="The leader must be ready before its workers are created, so there was "
                "no gang: the leader and the workers that fitted were bound.",
            ),
        ),
        needs=Needs(checks=(workers_for_groups(1), larger_than_a_worker)),
        drill="leader-ready",
        groups=1,
    ),
    Scenario(
        name="missing-rbac",
        steps=(
            Step(
                "missing-rbac",
                VerdictName.REFUSED,
                story="LWS loses its permission to create PodGroups, and gets it back",
                meaning="Without the permission, LWS created no PodGroup and logged the error; "
                "with the permission back, it created the group.",
            ),
        ),
        needs=Needs(
            whole_groups=True,
            alone="as it takes the permission of LWS away from all scenarios",
            gang_scheduling=True,
            gang_scheduling_because="as there is no permission to take away otherwise",
        ),
        drill="missing-rbac",
    ),
)

SCENARIOS = {scenario.name: scenario for scenario in _IN_ORDER}
"""By the name that the stack's config uses."""

MEANINGS: dict[VerdictName, str] = {
    step.expected: step.meaning for scenario in SCENARIOS.values() for step in scenario.steps
}
"""What each expected verdict means, in one sentence."""
