"""`lockstep crds apply|remove`: LWS's kinds in a cluster; the Pulumi program calls this."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from lightkube import Client

from lockstep.errors import LockstepError
from lockstep.kube import access, crds
from lockstep.lws import upgrade as lws_upgrade
from toolchain import catalogue

HELP = "install LWS's CustomResourceDefinitions, or take them away"

CHART = "LOCKSTEP_CHART"
VERSION = "LOCKSTEP_VERSION"
EARLIER = "PULUMI_COMMAND_STDOUT"
"""What `apply` printed when it ran last."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Values come by environment: never through shell text."""
    parser.add_argument("action", choices=["apply", "remove"])


def run(args: argparse.Namespace) -> int:
    """Do it, and print what must be known next time."""
    with access.cluster() as client:
        if args.action == "remove":
            remove(client)
        else:
            print(json.dumps(apply(client)))
    return 0


def apply(client: Client) -> dict[str, list[str]]:
    """Apply the chart's definitions; without a chart at hand, see whether Helm may."""
    version, chart = os.environ.get(VERSION), os.environ.get(CHART)
    if not version:
        raise LockstepError(f"which LWS? set {VERSION}")
    there, others = lws_upgrade.installed_version(client), _others_before()
    if others is None:
        others = crds.already_there(client)
        if others and there:
            raise LockstepError(
                f"the cluster has LWS {there} already; "
                "set lockstep:installLws to false to use it, or remove it"
            )
    missing = None if chart else catalogue.groups()[f"lws-{version}"].command
    lws_upgrade.check(client, there, version, missing)
    if chart:
        crds.apply(client, crds.of_chart(Path(chart)), others)
    return {"others": others}


def remove(client: Client) -> None:
    """Take away what we or our Helm release installed."""
    others = _others_before()
    if others is None:
        raise LockstepError(f"what was there before us? {EARLIER} must hold what `apply` printed")
    for line in crds.remove(client, others):
        print(line)


def _others_before() -> list[str] | None:
    """Definitions that were there before the first install, as noted then."""
    printed = os.environ.get(EARLIER)
    return list(json.loads(printed)["others"]) if printed else None
