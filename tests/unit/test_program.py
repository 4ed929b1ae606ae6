"""The whole program, once per stack file: what it would ask the engine to create."""

import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.scenarios import SCENARIOS
from lockstep import versions
from tests.unit.components import clusters
from tests.unit.components.graph import COMMAND, LEADER_WORKER_SET, RELEASE, Graph, deploy
from tests.unit.conftest import PROJECT_DIR, ConfigureStack

Run = Callable[..., Graph]
STACKS = sorted(
    path.stem.removeprefix("Pulumi.") for path in (PROJECT_DIR / "stacks").glob("Pulumi.*.yaml")
)
OWNERS = {"kind": "cluster-containers", "existing": ""}
"""The resource whose deletion deletes the cluster of a stack; other stacks are embedded."""

PLAIN: dict[tuple[str, bool], Graph] = {}
"""Stacks without changes: run once, as tests only look."""


@pytest.fixture
def run(configure_stack: ConfigureStack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `__main__.py` with a stack's config and changes to it."""
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", _refuse)
    for chart in (
        *(f"volcano-{version}" for version in versions.VOLCANO_SUPPORTED),
        *(f"lws-{version}" for version in versions.LWS_SUPPORTED),
    ):
        (tmp_path / "state" / "charts" / chart).mkdir(parents=True)
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(clusters.KUBECONFIG)

    def run(stack: str, /, *, preview: bool = False, **changes: Any) -> Graph:
        plain = not changes
        if plain and (stack, preview) in PLAIN:
            return PLAIN[stack, preview]
        if stack == "existing":
            changes = {"kubeContext": "mine", "kubeconfig": str(kubeconfig), **changes}
        configure_stack(stack, **changes)

        def build() -> None:
            runpy.run_path(str(PROJECT_DIR / "__main__.py"), run_name="__main__")

        graph = deploy(build, stack=stack, graph=Graph(preview=preview))
        return PLAIN.setdefault((stack, preview), graph) if plain else graph

    return run


def _refuse(words: object, **_options: object) -> None:
    """Start no program: what a stack plans must not depend on what a machine has."""
    raise AssertionError(f"the program starts {words}")


def scenarios(graph: Graph) -> set[str]:
    return {name for name in SCENARIOS if f"{name}-verdict" in graph.records}


@pytest.mark.parametrize("preview", [False, True], ids=["update", "preview"])
@pytest.mark.parametrize("stack", STACKS)
class TestEveryStack:
    """What must be true of every resource, also while outputs are unknown."""

    @pytest.fixture
    def graph(self, run: Run, stack: str, preview: bool) -> Graph:
        return run(stack, preview=preview)

    def test_resource_is_named_after_its_parent(self, graph: Graph) -> None:
        for record in graph.records.values():
            top = {"cluster", "platform", *SCENARIOS}
            assert record.parent in graph.records or record.name in top, record.name
            assert record.name.startswith(record.parent), f"{record.name} of {record.parent}"

    def test_resource_is_deleted_with_an_owned_cluster(self, graph: Graph, stack: str) -> None:
        owner = OWNERS.get(stack, "cluster-control-plane")
        for record in graph.records.values():
            if record.name not in {"cluster", owner} and not record.read:
                assert record.deleted_with == owner, record.name

    def test_resource_of_kubernetes_has_the_provider_of_the_cluster(self, graph: Graph) -> None:
        for record in graph.records.values():
            if record.type.startswith("kubernetes:"):
                assert record.provider == "cluster-provider", record.name

    def test_resource_is_not_created_inside_apply(self, graph: Graph) -> None:
        assert graph.created_in_apply == []

    def test_credentials_are_secret(self, graph: Graph) -> None:
        assert "verdicts" not in graph.secret_exports
        for record in graph.records.values():
            shown = {k: v for k, v in record.inputs.items() if k not in record.secret_inputs}
            assert "hunter2" not in str(shown), f"{record.name} shows the credentials"

    def test_command_is_independent_of_the_machine(self, graph: Graph, stack: str) -> None:
        """Values reach a command by its environment, and the state serves every checkout."""
        commands = graph.of_type(COMMAND)
        assert commands
        for command in commands:
            assert "dir" not in command.inputs
            assert command.environment["LOCKSTEP_CLUSTER"] == f"lockstep-{stack}"
            shell = [command.inputs.get(key) for key in ("create", "delete", "interpreter")]
            assert f"lockstep-{stack}" not in str(shell)
            text = str(command.inputs)
            assert str(PROJECT_DIR) not in text, command.name
            assert sys.executable not in text, command.name


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack != "existing"])
def test_input_has_no_path_of_the_machine(run: Run, stack: str, tmp_path: Path) -> None:
    for record in run(stack).records.values():
        for folder in (tmp_path.parent, Path.home() / ".cache"):
            assert str(folder) not in str(record.inputs), record.name


@pytest.mark.parametrize("stack", STACKS)
def test_preview_shows_every_resource_of_the_update(run: Run, stack: str) -> None:
    assert set(run(stack, preview=True).records) == set(run(stack).records)


@pytest.mark.parametrize("stack", STACKS)
def test_outputs_are_the_contract(run: Run, stack: str) -> None:
    graph = run(stack)
    assert set(graph.exports) == {"kubeconfig", "cluster", "versions", "verdicts"}
    assert graph.exports["cluster"]["name"] == f"lockstep-{stack}"
    assert set(graph.exports["verdicts"]) == scenarios(graph)


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack != "existing"])
def test_kubeconfig_of_an_owned_cluster_is_a_secret_output(run: Run, stack: str) -> None:
    graph = run(stack)
    assert "kubeconfig" in graph.secret_exports
    assert "hunter2" in graph.exports["kubeconfig"]


def test_kubeconfig_of_an_existing_cluster_is_an_output_only_when_asked_for(run: Run) -> None:
    assert run("existing").exports["kubeconfig"] is None
    asked = run("existing", exportKubeconfig=True)
    assert "hunter2" in asked.exports["kubeconfig"]
    assert "kubeconfig" in asked.secret_exports


def test_kind_node_image_is_the_configured_one(run: Run) -> None:
    """Docker is not asked, so a preview plans the same on every machine."""
    config = run("kind", kindNodeImage="mine:v1.35.2")["cluster-containers"].environment
    assert config["LOCKSTEP_KIND_CONFIG"].count("image: mine:v1.35.2") == 4
    exports = run("kind", kindNodeImage="mine:v1.35.2").exports
    assert exports["versions"]["kubernetes"] == "1.35.2"


def test_missing_chart_is_an_error_of_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "state" / "charts" / f"lws-{versions.LWS_DEFAULT}").rmdir()
    with pytest.raises(pulumi.RunError, match=r"lws-0\.9\.0 is missing; run `lockstep tools`"):
        run("gang", groupSize=3)


def test_published_charts_need_nothing_on_this_machine(run: Run) -> None:
    for release in run("gang", charts="published").of_type(RELEASE):
        assert release.inputs["version"]


def test_versions_are_told_of_what_the_stack_installs_only(run: Run) -> None:
    assert set(run("gang").exports["versions"]) == {"kubernetes", "volcano", "lws"}
    assert set(run("existing").exports["versions"]) == {"volcano", "lws"}
    assert run("existing", installVolcano=False, installLws=False).exports["versions"] == {}


def test_stack_without_a_file_has_the_defaults_of_the_project(run: Run) -> None:
    graph = run("mine")
    assert scenarios(graph) == {"gang"}
    assert graph["gang-lws"].inputs["spec"]["leaderWorkerTemplate"]["size"] == 4


def test_all_scenarios_have_workers_of_their_own(run: Run) -> None:
    graph = run("all")
    nodes = graph.of_type("kubernetes:core/v1:Node")
    by_pool = [node.inputs["metadata"]["labels"]["lockstep.dev/pool"] for node in nodes]
    assert sorted(by_pool) == sorted(["gang", "constrained", "no-gang"] * 3)


def test_kind_has_a_worker_for_every_place_in_a_pool(run: Run) -> None:
    names = ["gang", "constrained", "no-gang"]
    changes = {"workersPerScenario": 2, "taintedWorkers": 1, "scenarios": names}
    config = run("kind", **changes)["cluster-containers"].environment
    assert config["LOCKSTEP_KIND_CONFIG"].count("role: worker") == 6
    config = run("kind", scenarios=[])["cluster-containers"].environment
    assert config["LOCKSTEP_KIND_CONFIG"].count("role: worker") == 3


@pytest.mark.parametrize("stack", ["gang", "kind", "existing"])
def test_gang_scheduling_off_reverts_the_patch_and_the_permission(run: Run, stack: str) -> None:
    on, off = run(stack), run(stack, gangScheduling=False)
    assert "platform-podgroup-rights-binding" in on.records
    assert "platform-podgroup-rights-binding" not in off.records
    data = [graph["platform-gang-config-config"].inputs["data"] for graph in (on, off)]
    texts = [entry["controller_manager_config.yaml"] for entry in data]
    assert "schedulerProvider: volcano" in texts[0]
    assert texts[1] == on.config_map["controller_manager_config.yaml"]


def test_existing_installs_what_the_cluster_lacks(run: Run) -> None:
    def releases(**changes: Any) -> set[str]:
        return {release.name for release in run("existing", **changes).of_type(RELEASE)}

    volcano, lws = "platform-volcano-release", "platform-lws-release"
    assert releases() == {volcano, lws}
    assert releases(installVolcano=False) == {lws}
    assert releases(installLws=False) == {volcano}
    assert releases(installVolcano=False, installLws=False) == set()


def test_existing_deletes_nothing_that_it_does_not_own(run: Run) -> None:
    graph = run("existing", installVolcano=False, installLws=False, scenarios=["constrained"])
    patches = [record for record in graph.records.values() if record.type.endswith("Patch")]
    retained = {record.name for record in patches if record.retained}
    assert retained == {"platform-gang-config-config", "platform-gang-config-restart"}
    assert "platform-gang-config-restore" in graph.records


@pytest.mark.parametrize("stack", ["gang", "kind"])
def test_workload_waits_for_the_whole_platform(run: Run, stack: str) -> None:
    graph = run(stack, scenarios=["gang"])
    for part in ("volcano-release", "lws-release", "gang-config-config", "podgroup-rights-binding"):
        assert graph.waits_for("gang-lws", f"platform-{part}")
    assert len(graph.of_type(LEADER_WORKER_SET)) == 1


def test_workload_waits_for_the_webhook_after_each_restart_of_its_pod(run: Run) -> None:
    on, off = run("kind"), run("kind", gangScheduling=False)
    webhook = "platform-lws-webhook"
    assert on.waits_for("gang-lws", webhook)
    assert on.waits_for(webhook, "platform-gang-config-restart")
    assert on[webhook].environment != off[webhook].environment
    assert webhook not in run("gang").records


def test_operators_run_on_the_host_on_the_embedded_cluster_only(run: Run) -> None:
    on, off = run("gang"), run("gang", gangScheduling=False)
    lws, volcano = "platform-lws-operator-process", "platform-volcano-operator-process"
    assert on[lws].environment != off[lws].environment, "another config restarts LWS"
    assert on[volcano].environment == off[volcano].environment
    for part in ("platform-lws-crds", "platform-lws-release"):
        assert on.waits_for(lws, part)
    for operator in (lws, volcano):
        assert on.waits_for("gang-lws", operator)
    assert not [name for name in run("kind").records if "operator-process" in name]


@pytest.mark.parametrize("provider", ["kwok", "kind", "existing"])
def test_program_starts_without_heavy_imports(provider: str) -> None:
    """A Kubernetes client is for the commands; every preview waits for the program itself."""
    code = (
        "import sys; import settings, components.platform; import components.scenarios; "
        f"import components.cluster.{provider}; "
        "heavy = {'lightkube', 'httpx', 'httpx2', 'rich', 'jinja2'}; "
        "sys.exit(', '.join(heavy.intersection(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT_DIR, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr.decode()


def test_preemption_runs_on_a_scheduler_that_preempts(run: Run) -> None:
    def conf(stack: str) -> str | None:
        values = run(stack)["platform-volcano-release"].inputs["values"]
        found: str | None = values["custom"].get("scheduler_config_override")
        return found

    assert "preempt, " in (conf("preemption") or "")
    assert conf("gang") is None


def test_program_warns_of_versions_out_of_support(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warned.append)
    run("gang", lwsVersion="0.7.0", scenarios=[])
    (line,) = warned
    assert "0.7.0" in line
    assert "\n" not in line
