"""`lockstep step`: the steps of an update that only the Pulumi program runs.

Their arguments are environment variables: a value from a stack's config never becomes shell text.
Each step imports what it needs when it runs, because most of an update's steps are short and the
imports would take longer than their work.
"""

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from lockstep.commands import variables
from lockstep.errors import LockstepError

HELP = "run one step of an update; for the Pulumi program, not for people"


def create_cluster() -> None:
    """Create an embedded cluster, or start one that ended, and print it once it serves."""
    from lockstep.local import control_plane

    incarnation = variables.optional("LOCKSTEP_INCARNATION") or "by-hand"
    run = variables.optional("LOCKSTEP_RUN") or "by-hand"
    made = control_plane.create(variables.text("LOCKSTEP_CLUSTER"), incarnation, run)
    print(json.dumps(made.describe()))


def delete_cluster() -> None:
    """Delete an embedded cluster with its processes and its folder."""
    from lockstep.local import control_plane

    control_plane.delete(variables.text("LOCKSTEP_CLUSTER"))


def create_kind() -> None:
    """Create a kind cluster and print its kubeconfig as JSON once its nodes are ready."""
    from lockstep.local import kind

    name = variables.text("LOCKSTEP_CLUSTER")
    print(json.dumps(kind.create(name, variables.text("LOCKSTEP_KIND_CONFIG"))))


def delete_kind() -> None:
    """Delete a kind cluster."""
    from lockstep.local import kind

    kind.delete(variables.text("LOCKSTEP_CLUSTER"))


def start_operator() -> None:
    """Start Volcano or LWS beside an embedded cluster, or restart it with its changed config."""
    from lockstep.local import embedded_cluster, operators

    operator = variables.text("LOCKSTEP_OPERATOR")
    if operator not in operators.OPERATORS:
        known = ", ".join(sorted(operators.OPERATORS))
        raise LockstepError(f"LOCKSTEP_OPERATOR is {operator!r}; it must be one of {known}")
    cluster = embedded_cluster.load(variables.text("LOCKSTEP_CLUSTER"))
    operators.start(cluster, operator, variables.optional("LOCKSTEP_VERSION") or "")


def apply_crds() -> None:
    """Install the CRDs of LWS; print which of them existed before, for `crds remove`."""
    from lockstep.kube import crds
    from lockstep.kube.client import client_from_env
    from lockstep.lws import upgrade
    from toolchain import catalogue

    version = variables.text("LOCKSTEP_VERSION")
    chart = variables.optional("LOCKSTEP_CHART")
    with client_from_env() as client:
        installed = upgrade.installed_version(client)
        others = _crds_before()
        if others is None:
            others = crds.already_there(client)
            if others and installed:
                raise LockstepError(
                    f"the cluster already has LWS {installed}; "
                    "set lockstep:installLws to false to use it, or remove it"
                )
        build_command = None if chart else catalogue.groups()[f"lws-{version}"].command
        upgrade.check(client, installed, version, build_command)
        if chart:
            crds.apply(client, crds.of_chart(Path(chart)), others)
    print(json.dumps({"others": others}))


def remove_crds() -> None:
    """Delete the CRDs that this stack installed and that have no objects left."""
    from lockstep.kube import crds
    from lockstep.kube.client import client_from_env

    others = _crds_before()
    if others is None:
        raise LockstepError(
            "PULUMI_COMMAND_STDOUT is empty, so it is unknown which CRDs existed before; "
            "set it to what `lockstep step crds apply` printed"
        )
    with client_from_env() as client:
        for line in crds.remove(client, others):
            print(line)


def _crds_before() -> list[str] | None:
    """The CRDs that existed before the first `crds apply`; None if that has not run yet."""
    if variables.optional("PULUMI_COMMAND_STDOUT") is None:
        return None
    return list(variables.document("PULUMI_COMMAND_STDOUT")["others"])


def restore_gang_config() -> None:
    """Restore the original configuration of LWS and restart it."""
    from lockstep.kube.client import client_from_env
    from lockstep.lws import restore

    with client_from_env() as client:
        restore.restore(client)


def await_webhook() -> None:
    """Wait until the API server reaches the webhook of LWS."""
    from lockstep.kube.client import client_from_env
    from lockstep.lws import webhook

    with client_from_env() as client:
        webhook.await_answers(client)


def choose_nodes() -> None:
    """Choose the workers of a pool on a real cluster; print them and their free capacity."""
    from lockstep.kube import nodes
    from lockstep.kube.client import client_from_env

    pool, size = variables.text("LOCKSTEP_POOL"), variables.integer("LOCKSTEP_POOL_SIZE")
    with client_from_env() as client:
        chosen = nodes.choose(nodes.read(client, pool), pool, size)
    print(json.dumps({"workers": [node.worker() for node in chosen]}))


def apply_taints() -> None:
    """Block the first workers of a pool, unblock the others, and print the blocked ones."""
    from lockstep.kube import taints
    from lockstep.kube.client import client_from_env

    nodes: list[str] = variables.document("LOCKSTEP_NODES")
    blocked = variables.integer("LOCKSTEP_BLOCKED")
    with client_from_env() as client:
        taints.apply(client, nodes, blocked, variables.optional("LOCKSTEP_POOL") or "lockstep")
    print(json.dumps({"blocked": nodes[:blocked]}))


def remove_taints() -> None:
    """Unblock all workers of a pool."""
    from lockstep.kube import taints
    from lockstep.kube.client import client_from_env

    with client_from_env() as client:
        taints.remove(client, variables.document("LOCKSTEP_NODES"))


def start_recorder() -> None:
    """Start recording a scenario in the background and print the name of the recording."""
    from lockstep.commands.judge import subject
    from lockstep.recording import client

    print(json.dumps(client.start(subject())))


def stop_recorder() -> None:
    """Stop the recorder of a scenario, if it runs, and delete its recording."""
    from lockstep.commands.judge import subject
    from lockstep.recording import client

    client.remove(subject().path)


def judge() -> int:
    """Judge a recorded scenario, write its receipt and print the verdict; exit 1 if it failed."""
    from lockstep.commands import judge

    return judge.run()


_CLUSTER = ("KUBECONFIG", "CONTEXT")
_SUBJECT = ("CLUSTER", "SCENARIO", "NAMESPACE", "POOL", *_CLUSTER, "DEADLINE")

# Each step: the function that runs it, and the variables that it reads, without LOCKSTEP_.
STEPS: Mapping[str, tuple[Callable[[], int | None], tuple[str, ...]]] = {
    "cluster create": (create_cluster, ("CLUSTER", "INCARNATION", "RUN")),
    "cluster delete": (delete_cluster, ("CLUSTER",)),
    "kind create": (create_kind, ("CLUSTER", "KIND_CONFIG")),
    "kind delete": (delete_kind, ("CLUSTER",)),
    "operators": (start_operator, ("CLUSTER", "OPERATOR", "VERSION")),
    "crds apply": (apply_crds, (*_CLUSTER, "VERSION", "CHART")),
    "crds remove": (remove_crds, _CLUSTER),
    "gang-config restore": (restore_gang_config, _CLUSTER),
    "webhook": (await_webhook, _CLUSTER),
    "nodes": (choose_nodes, (*_CLUSTER, "POOL", "POOL_SIZE")),
    "taint apply": (apply_taints, (*_CLUSTER, "NODES", "BLOCKED", "POOL")),
    "taint remove": (remove_taints, (*_CLUSTER, "NODES")),
    "record": (start_recorder, _SUBJECT),
    "record --stop": (stop_recorder, _SUBJECT),
    "judge": (judge, (*_SUBJECT, "EXPECTATION", "DRILL", "PATIENCE")),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe every step and every variable in the help text."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _describe()
    parser.add_argument("words", nargs="+", metavar="STEP", help="the step, such as: crds apply")
    parser.add_argument("--stop", action="store_true", help="of record: stop the recorder")
    parser.add_argument("--serve", metavar="FILE", type=Path, help=argparse.SUPPRESS)


def _describe() -> str:
    lines = ["steps, and the variables that each reads (without LOCKSTEP_):"]
    for words, (function, names) in STEPS.items():
        lines += [f"  {words:<20} {function.__doc__}", f"{'':<22} {', '.join(names)}"]
    lines += ["", "environment variables:"]
    lines += [f"  {name:<22} {meaning}" for name, meaning in variables.VARIABLES.items()]
    return "\n".join(lines)


def run(args: argparse.Namespace) -> int:
    """Run the step that the words name."""
    if args.serve:
        from lockstep.commands.judge import subject
        from lockstep.recording import daemon

        daemon.serve(subject(args.serve))
        return 0
    words = " ".join([*args.words, *(["--stop"] if args.stop else [])])
    if words not in STEPS:
        raise LockstepError(f"there is no step {words!r}; see `lockstep step --help`")
    function, _ = STEPS[words]
    os.umask(0o077)  # what a step writes is for its user only
    return function() or 0
