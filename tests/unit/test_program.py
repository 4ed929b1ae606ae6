"""The whole program, once per stack: what it would ask the engine to make."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.components import clusters
from tests.unit.components.graph import COMMAND, LEADER_WORKER_SET, RELEASE, Graph, deploy
from tests.unit.conftest import PROJECT_DIR, ConfigureStack

Run = Callable[..., Graph]
STACKS = ("gang", "constrained", "no-gang", "all", "kind", "existing")
SCENARIOS = {"gang", "constrained", "no-gang"}


PLAIN: dict[str, Graph] = {}
"""Stacks without changes: run once, as tests only look."""


@pytest.fixture
def run(configure_stack: ConfigureStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `__main__.py` with a stack's config and changes to it."""
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path / "cache"))
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(clusters.KUBECONFIG)

    def run(stack: str, /, **changes: Any) -> Graph:
        if not changes and stack in PLAIN:
            return PLAIN[stack]
        plain = not changes
        if stack == "existing":
            changes = {"kubeContext": "mine", "kubeconfig": str(kubeconfig), **changes}
        configure_stack(stack, **changes)

        def build() -> None:
            runpy.run_path(str(PROJECT_DIR / "__main__.py"), run_name="__main__")

        graph = deploy(build, stack=stack)
        return PLAIN.setdefault(stack, graph) if plain else graph

    return run


def scenarios(graph: Graph) -> set[str]:
    return {name for name in SCENARIOS if f"{name}-verdict" in graph.records}


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ("gang", {"gang"}),
        ("constrained", {"constrained"}),
        ("no-gang", {"no-gang"}),
        ("all", SCENARIOS),
        ("kind", {"gang"}),
        ("existing", set()),
    ],
)
def test_stack_has_its_scenarios(run: Run, stack: str, expected: set[str]) -> None:
    graph = run(stack)
    assert scenarios(graph) == expected
    assert set(graph.exports["verdicts"]) == expected


@pytest.mark.parametrize("stack", STACKS)
def test_stack_has_every_resource_in_its_place(run: Run, stack: str) -> None:
    graph = run(stack)
    for record in graph.records.values():
        if record.parent:
            assert record.parent in graph.records
        top = {"cluster", "platform", *SCENARIOS}
        assert record.parent or record.name in top, f"{record.name} has no parent"


@pytest.mark.parametrize("stack", STACKS)
def test_stack_goes_with_its_cluster_where_that_is_its_own(run: Run, stack: str) -> None:
    graph = run(stack)
    owners = {"kind": "cluster-containers", "existing": ""}
    owner = owners.get(stack, "cluster-control-plane")
    for record in graph.records.values():
        if record.name in {"cluster", owner} or record.read:
            continue
        assert record.deleted_with == owner, f"{record.name} is not deleted with the cluster"


@pytest.mark.parametrize("stack", STACKS)
def test_stack_marks_its_commands_as_the_clusters(run: Run, stack: str) -> None:
    """Whoever removes the cluster ends them, also when nobody waits for them any more."""
    commands = run(stack).of_type(COMMAND)
    assert commands
    for command in commands:
        folder = Path(command.environment["LOCKSTEP_CLUSTER_DIR"])
        assert folder.parts[-2:] == ("clusters", f"lockstep-{stack}")


@pytest.mark.parametrize("stack", STACKS)
def test_stack_reaches_kubernetes_through_its_own_provider_only(run: Run, stack: str) -> None:
    for record in run(stack).records.values():
        if record.type.startswith("kubernetes:"):
            assert record.provider == "cluster-provider", f"{record.name} has another provider"


@pytest.mark.parametrize("stack", STACKS)
def test_stack_makes_no_resource_inside_apply(run: Run, stack: str) -> None:
    assert run(stack).created_in_apply == []


@pytest.mark.parametrize("stack", STACKS)
def test_stack_keeps_its_kubeconfig_secret(run: Run, stack: str) -> None:
    graph = run(stack)
    assert "kubeconfig" in graph.secret_exports
    assert "verdicts" not in graph.secret_exports
    for record in graph.records.values():
        shown = {k: v for k, v in record.inputs.items() if k not in record.secret_inputs}
        assert "hunter2" not in str(shown), f"{record.name} shows the credentials"


@pytest.mark.parametrize("stack", STACKS)
def test_stack_passes_values_to_commands_by_environment_only(run: Run, stack: str) -> None:
    graph = run(stack)
    name = graph.exports["cluster"]["name"]
    for record in graph.of_type(COMMAND):
        for verb in ("create", "update", "delete"):
            words = record.inputs.get(verb) or '"$LOCKSTEP_PYTHON" -m lockstep step '
            assert words.startswith('"$LOCKSTEP_PYTHON" -m lockstep step ')
            assert name not in words


@pytest.mark.parametrize("stack", STACKS)
def test_stack_exports_the_contract(run: Run, stack: str) -> None:
    exports = run(stack).exports
    assert set(exports) == {"kubeconfig", "cluster", "versions", "verdicts"}
    assert exports["cluster"]["name"] == (f"lockstep-{stack}")


def test_versions_are_told_of_what_the_stack_brings_only(run: Run) -> None:
    assert set(run("gang").exports["versions"]) == {"kubernetes", "volcano", "lws"}
    assert set(run("existing").exports["versions"]) == {"volcano", "lws"}
    assert run("existing", installVolcano=False, installLws=False).exports["versions"] == {}


def test_stack_without_config_of_its_own_has_the_defaults_of_the_project(run: Run) -> None:
    graph = run("mine")
    assert scenarios(graph) == {"gang"}
    assert graph["gang-lws"].inputs["spec"]["leaderWorkerTemplate"]["size"] == 4


def test_all_scenarios_have_workers_of_their_own(run: Run) -> None:
    graph = run("all")
    selectors = [
        graph["gang-lws"].inputs["spec"]["leaderWorkerTemplate"]["workerTemplate"],
        graph["constrained-lws"].inputs["spec"]["leaderWorkerTemplate"]["workerTemplate"],
        graph["no-gang-deployment"].inputs["spec"]["template"],
    ]
    pools = [template["spec"]["nodeSelector"]["lockstep.dev/pool"] for template in selectors]
    assert pools == ["gang", "constrained", "no-gang"]
    nodes = graph.of_type("kubernetes:core/v1:Node")
    by_pool = [node.inputs["metadata"]["labels"]["lockstep.dev/pool"] for node in nodes]
    assert sorted(by_pool) == sorted(pools * 3)


def test_kind_has_a_worker_for_every_place_in_a_pool(run: Run) -> None:
    changes = {"workersPerScenario": 2, "taintedWorkers": 1, "scenarios": sorted(SCENARIOS)}
    config = run("kind", **changes)["cluster-containers"].environment
    assert config["LOCKSTEP_KIND_CONFIG"].count("role: worker") == 6
    config = run("kind", scenarios=[])["cluster-containers"].environment
    assert config["LOCKSTEP_KIND_CONFIG"].count("role: worker") == 3


@pytest.mark.parametrize("stack", ["gang", "kind", "existing"])
def test_gang_scheduling_off_takes_patch_and_rights_back(run: Run, stack: str) -> None:
    on, off = run(stack), run(stack, gangScheduling=False)
    rights = [name for name in on.records if name.startswith("podgroup-rights")]
    assert rights
    assert not [name for name in off.records if name.startswith("podgroup-rights")]
    data = [graph["gang-config-config"].inputs["data"] for graph in (on, off)]
    texts = [entry["controller_manager_config.yaml"] for entry in data]
    assert "schedulerProvider: volcano" in texts[0]
    assert texts[1] == on.config_map["controller_manager_config.yaml"]


def test_existing_installs_what_is_not_there(run: Run) -> None:
    assert len(run("existing").of_type(RELEASE)) == 2
    assert run("existing", installVolcano=False).of_type(RELEASE)[0].name == "lws-release"
    assert run("existing", installLws=False).of_type(RELEASE)[0].name == "volcano-release"
    assert run("existing", installVolcano=False, installLws=False).of_type(RELEASE) == []


def test_existing_deletes_nothing_that_it_does_not_own(run: Run) -> None:
    graph = run("existing", installVolcano=False, installLws=False, scenarios=["constrained"])
    patches = [record for record in graph.records.values() if record.type.endswith("Patch")]
    retained = {record.name for record in patches if record.retained}
    assert retained == {"gang-config-config", "gang-config-restart"}
    assert "gang-config-restore" in graph.records


def test_workload_waits_for_the_whole_platform(run: Run) -> None:
    for stack in ("gang", "kind"):
        graph = run(stack, scenarios=["gang"])
        for part in (
            "volcano-release",
            "lws-release",
            "gang-config-config",
            "podgroup-rights-binding",
        ):
            assert graph.waits_for("gang-lws", part)
    assert graph.waits_for("gang-lws", "gang-config-restart")
    assert len(graph.of_type(LEADER_WORKER_SET)) == 1


def test_workload_waits_for_the_webhook_after_each_restart_of_its_pod(run: Run) -> None:
    on, off = run("kind"), run("kind", gangScheduling=False)
    assert on.waits_for("gang-lws", "lws-webhook")
    assert on.waits_for("lws-webhook", "gang-config-restart")
    changed = "LOCKSTEP_RESTARTED_FOR"
    assert on["lws-webhook"].environment[changed] != off["lws-webhook"].environment[changed]
    assert "lws-webhook" not in run("gang").records


def test_operators_run_on_the_host_on_the_embedded_cluster_only(run: Run) -> None:
    graph = run("gang")
    assert (
        graph["lws-operator-process"].environment["LOCKSTEP_CONFIG"]
        == (graph["gang-config-config"].inputs["data"]["controller_manager_config.yaml"])
    )
    assert graph.waits_for("lws-operator-process", "lws-crds")
    assert graph.waits_for("lws-operator-process", "lws-release")
    assert graph.waits_for("gang-lws", "lws-operator-process")
    assert graph.waits_for("gang-lws", "volcano-operator-process")
    assert not [name for name in run("kind").records if "operator-process" in name]


def test_program_starts_without_a_kubernetes_client() -> None:
    """Its commands need one; the program itself, which every preview waits for, does not."""
    code = (
        "import sys; import settings, components.platform, components.scenarios; "
        "import components.cluster.kwok, components.cluster.existing; "
        "sys.exit('lightkube' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT_DIR, check=True)
