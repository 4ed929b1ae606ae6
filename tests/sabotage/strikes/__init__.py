"""The sabotages: one function each, by name. A strike registers how it is undone."""

from collections.abc import Callable

from tests.sabotage.strikes import controllers, nodes, objects, recorder, scheduler, tears, watches
from tests.sabotage.strikes.field import Field, Missed

__all__ = ["STRIKES", "Field", "Missed"]

STRIKES: dict[str, Callable[[Field], None]] = {
    "gang plugin off": scheduler.gang_plugin_off,
    "gang plugin off and restart": scheduler.gang_plugin_off_and_restart,
    "misspelt action": scheduler.misspelt_action,
    "scheduler restarted": scheduler.restarted,
    "scheduler frozen": scheduler.frozen,
    "scheduler thawed": scheduler.thawed,
    "PodGroup deleted": objects.pod_group_deleted,
    "minMember 1": objects.min_member,
    "minResources changed": objects.min_resources,
    "queue changed": objects.queue,
    "owner changed": objects.owner,
    "other scheduler": objects.other_scheduler,
    "foreign pod": objects.foreign_pod,
    "bound by hand": objects.bound_by_hand,
    "LWS stopped": controllers.lws_stopped,
    "provider gone": controllers.provider_gone,
    "permission gone": controllers.permission_gone,
    "second controller": controllers.second_controller,
    "API server restarted": controllers.api_server_restarted,
    "node cordoned": nodes.cordoned,
    "node deleted": nodes.deleted,
    "node tainted": nodes.tainted,
    "node resized": nodes.resized,
    "watch cut": watches.cut,
    "watch dead": watches.dead,
    "watch late": watches.late,
    "recorder killed": recorder.killed,
    "recorder frozen": recorder.frozen,
    "wall clock moved": recorder.wall_clock,
    "tear in the open": tears.in_the_open,
    "tear behind a late watch": tears.behind_late_watch,
    "tear behind a cut watch": tears.behind_cut_watch,
    "tear behind a frozen recorder": tears.behind_frozen_recorder,
    "judged again": recorder.judged_again,
}
"""By the name that plan, table and report use."""
