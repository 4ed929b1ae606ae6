"""The recorder, which starts before a scenario's workload, and the judgement after it.

Both are commands, so that an update waits for them and fails with their reason. A change of their
environment runs them again in place: nothing is replaced or deleted.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from .cluster.base import Cluster


@dataclass
class WatchArgs:
    """Arguments of Watch."""

    cluster: Cluster
    """The cluster to watch."""
    scenario: str
    """The scenario's name; one recording per scenario and cluster."""
    namespace: pulumi.Input[str]
    """The namespace of the workload."""
    pool: str
    """The worker pool whose nodes, and taints, belong to the scenario."""
    fingerprint: pulumi.Input[str]
    """Whatever changes the outcome, as text: when it changes, a new recording starts."""


class Watch(pulumi.ComponentResource):
    """A recorder in the background, which starts before the workload and so misses nothing.

    The command returns when the recorder watches. The recorder ends at the verdict or its deadline,
    and when this resource is deleted.
    """

    run: pulumi.Output[str]
    """Id of this start of the recorder: another id means another judgement."""
    environment: dict[str, pulumi.Input[str]]
    """Environment variables that the judgement needs, too."""
    cluster: Cluster
    """The cluster that is watched."""

    def __init__(
        self, name: str, args: WatchArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        props = {"scenario": args.scenario, "namespace": args.namespace, "pool": args.pool}
        super().__init__("lockstep:verdict:Watch", name, props, opts)
        self.environment = {
            "LOCKSTEP_SCENARIO": args.scenario,
            "LOCKSTEP_NAMESPACE": args.namespace,
            "LOCKSTEP_POOL": args.pool,
        }
        recorder = args.cluster.command(
            f"{name}-recorder",
            create="record",
            delete="record --stop",
            environment=self.environment,
            rerun_when=args.fingerprint,
            opts=args.cluster.opts(self),
        )
        self.run = recorder.stdout.apply(lambda text: str(_parsed(text).get("run", "")))
        self.cluster = args.cluster
        self.register_outputs({"run": self.run})


@dataclass
class JudgementArgs:
    """Arguments of Judgement."""

    watch: Watch
    """The watch whose recording is judged."""
    expectation: pulumi.Input[Mapping[str, Any]]
    """`lockstep.judge.Expectation` as a mapping."""
    context: pulumi.Input[Mapping[str, Any]]
    """What else the receipt contains: versions, config, cluster, workers."""
    drill: str | None
    """What is done to the workload before it is judged: a module of `lockstep.drills`."""
    uid: pulumi.Input[str] | None = None
    """The workload's uid: when it was recreated, its new pods are judged."""


class Judgement(pulumi.ComponentResource):
    """The judgement of a recording: its creation fails unless the verdict is the expected one.

    It follows the recording until it can decide. A failed judgement leaves no state, so the next
    update judges again.
    """

    result: pulumi.Output[dict[str, Any]]
    """The stack output: expected, observed, ok, bound, size, bindSkewSeconds, podGroup…"""

    def __init__(
        self, name: str, args: JudgementArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:verdict:Judgement", name, {"drill": args.drill}, opts)
        judge = args.watch.cluster.command(
            f"{name}-judge",
            create="judge",
            environment={
                **args.watch.environment,
                "LOCKSTEP_EXPECTATION": _as_json(args.expectation),
                "LOCKSTEP_RECEIPT_CONTEXT": _as_json(args.context),
                **({"LOCKSTEP_DRILL": args.drill} if args.drill else {}),
            },
            rerun_when=[args.watch.run, args.uid],
            opts=args.watch.cluster.opts(self),
        )
        self.result = judge.stdout.apply(_parsed)
        self.register_outputs({"result": self.result})


def _as_json(value: pulumi.Input[Mapping[str, Any]]) -> pulumi.Output[str]:
    """Sorted, so that an equal mapping is an equal environment and nothing is run again."""
    return pulumi.Output.from_input(value).apply(
        lambda known: json.dumps(known, sort_keys=True, separators=(",", ":"))
    )


def _parsed(stdout: str | None) -> dict[str, Any]:
    """Read a command's output; a preview has none yet."""
    value: dict[str, Any] = json.loads(stdout) if stdout else {}
    return value
