"""Sabotages of LWS, of its permission, of the API server, and a second controller."""

import contextlib
import threading

import yaml

from lockstep.lws import config_text
from tests.sabotage.api import FAILURES, Refused
from tests.sabotage.cluster import MANAGER
from tests.sabotage.strikes.field import Field, Missed
from tests.sabotage.strikes.objects import copy_of


def lws_stopped(field: Field) -> None:
    """Stop the process of LWS, with its webhook, until the end of the round."""
    process = field.cluster.process(MANAGER)
    process.suspend()
    field.undo.callback(process.resume)


def provider_gone(field: Field) -> None:
    """Take the scheduler provider out of the configuration of LWS and restart it."""
    before = field.cluster.manager_text()
    config = yaml.safe_load(before)
    if config.pop(config_text.SECTION, None) is None:
        raise Missed("LWS has no scheduler provider")
    field.undo.callback(field.cluster.write_manager_text, before)
    field.cluster.write_manager_text(yaml.safe_dump(config))


def permission_gone(field: Field) -> None:
    """Take away the permission of LWS to create PodGroups."""
    field.undo.callback(field.cluster.give_rights)
    field.cluster.take_rights()


def second_controller(field: Field) -> None:
    """Delete pods of the gang and create copies of them for a few seconds."""
    over = threading.Event()
    rng, seconds = field.rng, field.rng.uniform(1.0, 4.0)

    def act() -> None:
        for number in range(4):
            with contextlib.suppress(Missed, Refused, *FAILURES):
                name = field.pod().first.name
                found = field.api.get("Pod", name, field.namespace)
                field.api.delete("Pod", name, field.namespace)
                if rng.random() < 0.5:
                    field.api.create(copy_of(found, f"sabotage-copy-{number}"))
            if over.wait(seconds / 3):
                return

    thread = threading.Thread(target=act, daemon=True)

    def end() -> None:
        over.set()
        thread.join()

    thread.start()
    field.undo.callback(end)


def api_server_restarted(field: Field) -> None:
    """Kill the API server and start it again with the same command line."""
    field.cluster.restart_api_server()
