"""The two ends of a scenario: a recorder that starts before the workload, a verdict after it.

Both are commands, so that an update waits for them and fails with their reason. A change of their
environment runs them again in place: nothing is replaced, so nothing has to be deleted first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi

from .cluster.base import Cluster


@dataclass
class WatchArgs:
    """What to record."""

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
    """A recorder in the background; it is there before the workload, so nothing is missed.

    The command returns when the watches stand. The recorder ends by itself at the verdict or at
    its deadline, and when this resource is deleted.
    """

    recording: pulumi.Output[str]
    """The recording's file."""
    run: pulumi.Output[str]
    """Names this start of the recorder: a new one means a new verdict."""
    environment: dict[str, pulumi.Input[str]]
    """What the verdict of this watch needs to know, too."""
    cluster: Cluster
    """The cluster that is watched."""

    def __init__(
        self, name: str, args: WatchArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:verdict:Watch", name, None, opts)
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
        started = recorder.stdout.apply(_parsed)
        self.recording = started.apply(lambda value: str(value.get("recording", "")))
        self.run = started.apply(lambda value: str(value.get("run", "")))
        self.cluster = args.cluster
        self.register_outputs({"recording": self.recording, "run": self.run})


@dataclass
class VerdictArgs:
    """What to judge."""

    watch: Watch
    """The recording."""
    expectation: pulumi.Input[Mapping[str, Any]]
    """`lockstep.judge.Expectation` as a mapping."""
    context: pulumi.Input[Mapping[str, Any]] = field(default_factory=dict)
    """What the receipt says besides: versions, config, cluster, workers."""
    drill: str | None = None
    """What is done to the workload before it is judged: a module of `lockstep.drills`."""


class Verdict(pulumi.ComponentResource):
    """The judgement: creating it fails, with a one-line reason, unless it is as expected.

    It follows the recording until it can decide. A failed one leaves no state, so the next update
    judges again.
    """

    result: pulumi.Output[dict[str, Any]]
    """The stack output: expected, observed, ok, bound, size, bindSkewSeconds, podGroup…"""

    def __init__(
        self, name: str, args: VerdictArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("lockstep:verdict:Verdict", name, None, opts)
        judge = args.watch.cluster.command(
            f"{name}-judge",
            create="judge",
            environment={
                **args.watch.environment,
                "LOCKSTEP_EXPECTATION": _as_json(args.expectation),
                "LOCKSTEP_RECEIPT_CONTEXT": _as_json(args.context),
                **({"LOCKSTEP_DRILL": args.drill} if args.drill else {}),
            },
            rerun_when=args.watch.run,
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
