import functools
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components.gang_config import GangConfig, GangConfigArgs
from components.lws import LeaderWorkerSetOperator, LwsArgs
from lockstep.lws.config_text import with_scheduler_provider
from lockstep.lws.names import ORIGINAL_ANNOTATION
from tests.unit.components import clusters
from tests.unit.components.graph import UPSTREAM_CONFIG, Graph, deploy

KEY = "controller_manager_config.yaml"
PATCH = "kubernetes:core/v1:ConfigMapPatch"
RESTART = "kubernetes:apps/v1:DeploymentPatch"


@functools.cache
def installed(
    *, enabled: bool, kwok: bool = False, revision: int = 1, config: str = "", original: str = ""
) -> Graph:
    """GangConfig on an LWS that the stack installs; deployed once, as tests only look."""
    graph = Graph(revision=revision)
    if config:
        graph.config_map = {KEY: config}
    if original:
        graph.annotations = {ORIGINAL_ANNOTATION: original}

    def build() -> pulumi.Output[str]:
        cluster = clusters.kwok() if kwok else clusters.kind()
        lws = LeaderWorkerSetOperator("lws", LwsArgs(cluster, "0.8.0"), cluster.opts())
        args = GangConfigArgs(cluster, lws.release, enabled)
        return GangConfig("gang", args, cluster.opts()).config

    return deploy(build, graph=graph)


def found(folder: Path, *, enabled: bool, graph: Graph | None = None) -> Graph:
    """GangConfig on an LWS that was there before."""

    def build() -> pulumi.Output[str]:
        cluster = clusters.existing(folder)
        args = GangConfigArgs(cluster, None, enabled)
        return GangConfig("gang", args, cluster.opts()).config

    return deploy(build, graph=graph)


def pod_annotations(graph: Graph) -> dict[str, str]:
    template: dict[str, Any] = graph["gang-restart"].inputs["spec"]["template"]
    annotations: dict[str, str] = template["metadata"].get("annotations", {})
    return annotations


def test_patch_adds_the_provider_and_keeps_every_key_of_upstream() -> None:
    text = installed(enabled=True)["gang-config"].inputs["data"][KEY]
    wanted = yaml.safe_load(UPSTREAM_CONFIG)
    wanted["gangSchedulingManagement"] = {"schedulerProvider": "volcano"}
    assert yaml.safe_load(text) == wanted


def test_patch_turned_off_stays_and_gives_upstream_back() -> None:
    """Deleting it would remove the key: it was taken over by force."""
    graph = installed(enabled=False, config=patched(), original=UPSTREAM_CONFIG)
    assert graph["gang-config"].inputs["data"] == {KEY: UPSTREAM_CONFIG}
    assert ORIGINAL_ANNOTATION not in graph["gang-config"].inputs["metadata"]["annotations"]


def patched() -> str:
    return with_scheduler_provider(UPSTREAM_CONFIG)


def test_patch_of_a_patched_config_changes_nothing() -> None:
    """Each update reads what the last one wrote."""
    first = installed(enabled=True)
    second = installed(enabled=True, config=patched(), original=UPSTREAM_CONFIG)
    assert first["gang-config"].inputs == second["gang-config"].inputs
    assert pod_annotations(first) == pod_annotations(second)


def test_patch_is_made_again_after_a_helm_upgrade() -> None:
    """Helm writes the chart's text again, which may be the same as before."""
    first, second = (installed(enabled=True, revision=n) for n in (1, 2))
    assert first["gang-config"].inputs != second["gang-config"].inputs
    assert first["gang-config"].inputs["data"] == second["gang-config"].inputs["data"]
    assert pod_annotations(first) != pod_annotations(second)


def test_config_is_read_after_the_release_is_there() -> None:
    graph = installed(enabled=True)
    assert graph["gang-upstream"].read
    assert graph.waits_for("gang-config", "lws-release")


def test_config_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pulumi.RunError, match=r"lws-system/lws-manager-config has no .*\.yaml"):
        found(tmp_path, enabled=True, graph=Graph(config_map={"other": ""}))


@pytest.mark.parametrize(("text", "fault"), [("a: [", "is not YAML"), ("- a", "not a mapping")])
def test_config_that_cannot_be_read_is_an_error_of_one_line(
    text: str, fault: str, tmp_path: Path
) -> None:
    """Pulumi prints a RunError without a traceback."""
    for kept in ({}, {ORIGINAL_ANNOTATION: "a: b"}):
        graph = Graph(config_map={KEY: text}, annotations=kept)
        with pytest.raises(pulumi.RunError, match=fault):
            found(tmp_path, enabled=True, graph=graph)


def test_manager_is_restarted_after_the_patch_when_the_config_changes() -> None:
    graph = installed(enabled=True)
    restart = graph["gang-restart"]
    assert restart.inputs["metadata"]["name"] == "lws-controller-manager"
    assert restart.inputs["metadata"]["namespace"] == "lws-system"
    assert graph.waits_for("gang-restart", "gang-config")
    assert list(pod_annotations(graph)) == ["lockstep.dev/config"]


def test_manager_is_not_restarted_for_the_config_that_it_has() -> None:
    assert pod_annotations(installed(enabled=False)) == {}
    already = UPSTREAM_CONFIG + "gangSchedulingManagement: {schedulerProvider: volcano}\n"
    assert pod_annotations(installed(enabled=True, config=already)) == {}


def test_manager_on_the_host_is_restarted_by_its_own_resource() -> None:
    assert installed(enabled=True, kwok=True).of_type(RESTART) == []


def test_installed_lws_needs_no_clean_up() -> None:
    graph = installed(enabled=True)
    assert "gang-restore" not in graph.records
    assert not graph["gang-config"].retained


def test_found_lws_gets_its_config_back_by_a_command_when_the_stack_goes(tmp_path: Path) -> None:
    graph = found(tmp_path, enabled=True)
    restore = graph["gang-restore"]
    assert restore.step("delete") == "gang-config restore"
    assert "create" not in restore.inputs
    assert restore.environment["LOCKSTEP_CONTEXT"] == "mine"
    # The command is deleted, and so runs, after the patches, which are left in place for it.
    assert "gang-restore" in graph["gang-config"].depends_on
    assert graph["gang-config"].retained
    assert graph["gang-restart"].retained


def test_found_lws_is_read_while_previewing(tmp_path: Path) -> None:
    graph = found(tmp_path, enabled=True)
    assert graph["gang-upstream"].depends_on == frozenset()
    assert graph["gang-config"].inputs["metadata"]["annotations"] == {
        "pulumi.com/patchForce": "true",
        ORIGINAL_ANNOTATION: UPSTREAM_CONFIG,
    }


def test_found_lws_keeps_a_provider_of_its_own_choice(tmp_path: Path) -> None:
    theirs = UPSTREAM_CONFIG + "gangSchedulingManagement:\n  schedulerProvider: other\n"
    on = found(tmp_path, enabled=True, graph=Graph(config_map={KEY: theirs}))
    text = on["gang-config"].inputs["data"][KEY]
    assert yaml.safe_load(text)["gangSchedulingManagement"] == {"schedulerProvider": "volcano"}
    changed = Graph(config_map={KEY: text}, annotations={ORIGINAL_ANNOTATION: theirs})
    off = found(tmp_path, enabled=False, graph=changed)
    assert off["gang-config"].inputs["data"][KEY] == theirs
