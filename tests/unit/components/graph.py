"""Deploy components without an engine, and look at the resource graph that comes of it."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pulumi
from google.protobuf import json_format  # type: ignore[import-untyped]
from pulumi.runtime import resource
from pulumi.runtime.mocks import MockCallArgs, MockMonitor, MockResourceArgs, Mocks
from pulumi.runtime.proto.source_pb2 import StackTrace

from tests.unit.components.sdk import own_loop, traced_by, watched_applies

# How programs and the engine mark special values; part of Pulumi's wire format.
MARK = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"

UPSTREAM_CONFIG = """
apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
# who leads
leaderElection:
  leaderElect: true
internalCertManagement:
  enable: true
clientConnection:
  qps: 500
"""

CREDENTIALS = "token: hunter2"
"""What is in every kubeconfig here, and must be nowhere else."""

COMMAND = "command:local:Command"
RELEASE = "kubernetes:helm.sh/v3:Release"
LEADER_WORKER_SET = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"


@dataclass(frozen=True)
class Record:
    """One resource as the program registered it."""

    type: str
    name: str
    parent: str
    """The parent's name; the stack's own is empty."""
    inputs: dict[str, Any]
    depends_on: frozenset[str]
    """Names of all resources that it waits for, by option or by data."""
    deleted_with: str
    provider: str
    """The provider's name; empty for the default one."""
    custom: bool
    read: bool
    retained: bool
    delete_first: bool
    secret_inputs: frozenset[str]
    secret_outputs: frozenset[str]

    @property
    def environment(self) -> dict[str, str]:
        return dict(self.inputs["environment"])

    def step(self, event: str = "create") -> str:
        """The step of `lockstep step` that a command runs; empty if it runs none."""
        return step_of(self.inputs.get(event))


@dataclass
class Graph(Mocks):
    """All resources by name, and what the program exports."""

    records: dict[str, Record] = field(default_factory=dict)
    exports: dict[str, Any] = field(default_factory=dict)
    secret_exports: frozenset[str] = frozenset()
    value: Any = None
    """What the deployed function returned, resolved."""
    created_in_apply: list[str] = field(default_factory=list)
    config_map: dict[str, str] = field(
        default_factory=lambda: {"controller_manager_config.yaml": UPSTREAM_CONFIG}
    )
    annotations: dict[str, str] = field(default_factory=dict)
    """Of the ConfigMap."""
    workers: dict[str, str] = field(default_factory=lambda: {"cpu": "4", "memory": "8Gi"})
    revision: int = 1
    uid: str = "1"
    """Of the objects that Pulumi creates."""
    preview: bool = False
    """Whether nothing has been created yet, so that what a resource computes is unknown."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[Any, Any]]:
        outputs = dict(args.inputs)
        if self.preview:
            return args.resource_id or "", outputs
        if args.typ == COMMAND:
            outputs["stdout"] = self._stdout(args.inputs)
        if args.typ == RELEASE:
            outputs["status"] = {"revision": self.revision, "status": "deployed"}
        if args.typ == "kubernetes:core/v1:ConfigMap" and args.resource_id:
            outputs |= {"data": self.config_map, "metadata": {"annotations": self.annotations}}
        if args.typ.endswith((":LeaderWorkerSet", ":Deployment")):
            outputs["metadata"] = {**outputs["metadata"], "uid": self.uid}
        if args.typ == "kubernetes:core/v1:NodePatch":
            outputs["status"] = {"allocatable": self.workers}
        return args.resource_id or f"{args.name}-id", outputs

    def call(self, args: MockCallArgs) -> tuple[dict[Any, Any], None]:
        raise AssertionError(f"nothing may be looked up outside of resources: {args.token}")

    def _stdout(self, inputs: dict[str, Any]) -> str:
        said: dict[str, Any] = {
            "cluster create": {
                "kubeconfig": CREDENTIALS,
                "kubeconfigPath": "/state/kubeconfig",
                "webhookUrl": "https://127.0.0.1:9443",
                "webhookCa": "Q0E=",
            },
            "kind create": {"kubeconfig": CREDENTIALS, "kubeconfigPath": "/state/kubeconfig"},
            "record": {"recording": "/state/recording.jsonl", "run": "1"},
            "judge": {"ok": True, "observed": "placed"},
            "taint apply": {"blocked": []},
        }
        words = step_of(inputs.get("create"))
        if words == "nodes":
            environment = inputs["environment"]
            names = [
                f"node-{environment['LOCKSTEP_POOL']}-{index}"
                for index in range(int(environment["LOCKSTEP_POOL_SIZE"]))
            ]
            return json.dumps({"workers": [{"name": name, **self.workers} for name in names]})
        return json.dumps(said[words]) if words in said else ""

    def __getitem__(self, name: str) -> Record:
        return self.records[name]

    def of_type(self, kind: str) -> list[Record]:
        return [record for record in self.records.values() if record.type == kind]

    def blocked_workers(self, scenario: str) -> int:
        """How many workers of a scenario on an owned cluster have a taint."""
        patches = [r for r in self.records.values() if r.parent == f"{scenario}-blocked"]
        assert patches, f"{scenario} has no patch of its workers' taints"
        return sum(bool(patch.inputs["spec"]["taints"]) for patch in patches)

    def waits_for(self, name: str, other: str) -> bool:
        """Whether one resource is created after another, over any number of steps."""
        seen: set[str] = set()
        todo = [name]
        while todo:
            record = self.records.get(todo.pop())
            if record is None or record.name in seen:
                continue
            if other in record.depends_on:
                return True
            seen.add(record.name)
            # A child is registered after its parent, which waits for its own dependencies.
            todo += [*record.depends_on, record.parent]
        return False


def step_of(text: str | None) -> str:
    """The words after `lockstep step` in a command's text."""
    return (text or "").removeprefix("lockstep step ")


class Monitor(MockMonitor):
    """Keeps what the mocks are not shown: parents, dependencies, options."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.graph = graph

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        if request.type != "pulumi:pulumi:Stack":
            self._keep(request, json_format.MessageToDict(request.object), read=False)
        with own_loop():
            return super().RegisterResource(request)  # type: ignore[no-untyped-call]

    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        self._keep(request, json_format.MessageToDict(request.properties), read=True)
        with own_loop():
            return super().ReadResource(request)  # type: ignore[no-untyped-call]

    def _keep(self, request: Any, inputs: dict[str, Any], *, read: bool) -> None:
        assert request.name not in self.graph.records, f"two resources are named {request.name}"
        self.graph.records[request.name] = Record(
            type=request.type,
            name=request.name,
            parent="" if "pulumi:pulumi:Stack::" in request.parent else _name(request.parent),
            inputs=_plain(inputs),
            depends_on=frozenset(map(_name, request.dependencies)),
            deleted_with="" if read else _name(request.deletedWith),
            provider=_name(request.provider.rpartition("::")[0]),
            custom=read or request.custom,
            read=read,
            retained=not read and request.retainOnDelete,
            delete_first=not read and request.deleteBeforeReplace,
            secret_inputs=_secrets(inputs),
            secret_outputs=frozenset(request.additionalSecretOutputs),
        )


def deploy(build: Callable[[], Any], *, graph: Graph | None = None, stack: str = "gang") -> Graph:
    """Run a piece of program to its end; whatever it returns is resolved into `value`."""
    graph = graph or Graph()
    tracer = sys.gettrace()

    exported: dict[str, pulumi.Output[Any]] = {}

    def keep(known: list[Any]) -> None:
        graph.value, graph.exports, secret = known
        graph.secret_exports = frozenset(key for key, value in secret.items() if value)

    @pulumi.runtime.test  # type: ignore[untyped-decorator]
    def run() -> pulumi.Output[None]:
        with traced_by(tracer):
            value = build()
        secret = {key: output.is_secret() for key, output in exported.items()}
        return pulumi.Output.all(value, dict(exported), secret).apply(keep)

    def export(name: str, value: Any) -> None:
        exported[name] = pulumi.Output.from_input(value)

    # A stack trace per resource, for an engine that would show it, takes half of the time.
    traces = patch.object(resource, "_get_stack_trace", StackTrace)
    exports = patch.object(pulumi, "export", export)
    with (
        traced_by(None),
        own_loop(),
        watched_applies(graph.created_in_apply, tracer),
        traces,
        exports,
    ):
        pulumi.runtime.set_mocks(
            graph, project="lockstep", stack=stack, preview=graph.preview, monitor=Monitor(graph)
        )
        run()
    return graph


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _secrets(values: dict[str, Any]) -> frozenset[str]:
    return frozenset(key for key, value in values.items() if _is_secret(value))


def _is_secret(value: Any) -> bool:
    if isinstance(value, dict):
        marked = value.get(MARK) == SECRET or (MARK in value and value.get("secret") is True)
        return marked or any(map(_is_secret, value.values()))
    return isinstance(value, list) and any(map(_is_secret, value))


def _plain(value: Any) -> Any:
    """Without the marks around secrets, and with whole numbers as such."""
    if isinstance(value, dict):
        if MARK in value:
            return _plain(value.get("value"))
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
