from __future__ import annotations

import functools
from pathlib import Path

from components.volcano import Volcano, VolcanoArgs, chart_values
from lockstep import versions
from tests.unit.components import clusters
from tests.unit.components.graph import RELEASE, Graph, deploy


@functools.cache
def volcano_on_kind(chart: str | None = None) -> Graph:
    def build() -> None:
        cluster = clusters.kind()
        Volcano("volcano", VolcanoArgs(cluster, "1.14.1", chart), cluster.opts())

    return deploy(build)


def test_volcano_comes_from_its_published_chart_pinned() -> None:
    release = volcano_on_kind()["volcano-release"].inputs
    assert release["chart"] == "volcano"
    assert release["version"] == "1.14.1"
    assert release["repositoryOpts"] == {"repo": versions.VOLCANO_CHART_REPO}
    assert release["name"] == "volcano"


def test_volcano_comes_from_a_local_chart_when_there_is_one() -> None:
    release = volcano_on_kind("/charts/volcano")["volcano-release"].inputs
    assert release["chart"] == "/charts/volcano"
    assert "version" not in release
    assert "repositoryOpts" not in release


def test_volcano_namespace_is_a_resource_that_goes_with_the_stack() -> None:
    graph = volcano_on_kind()
    assert graph["volcano-namespace"].inputs["metadata"]["name"] == "volcano-system"
    assert graph["volcano-release"].inputs["namespace"] == "volcano-system"
    assert graph.waits_for("volcano-release", "volcano-namespace")
    assert {r.parent for r in graph.records.values() if r.name.startswith("volcano-")} == {
        "volcano"
    }


def test_volcano_images_are_pinned_to_the_version() -> None:
    for host_operators in (True, False):
        basic = chart_values("1.14.1", host_operators=host_operators)["basic"]
        assert basic == {"image_tag_version": "v1.14.1", "image_pull_policy": "IfNotPresent"}


def test_volcano_runs_its_admission_webhook_where_pods_run() -> None:
    graph = volcano_on_kind()
    custom = graph["volcano-release"].inputs["values"]["custom"]
    assert custom["admission_enable"] is True
    assert custom["vap_enable"] is False
    assert [custom[f"{part}_replicas"] for part in ("controller", "scheduler", "admission")] == [
        1,
        1,
        1,
    ]
    assert graph["volcano-release"].inputs["skipAwait"] is False


def test_volcano_starts_no_pods_where_operators_run_on_the_host() -> None:
    def build() -> None:
        cluster = clusters.kwok()
        Volcano("volcano", VolcanoArgs(cluster, "1.14.1"), cluster.opts())

    release = deploy(build)["volcano-release"].inputs
    custom = release["values"]["custom"]
    assert custom["admission_enable"] is False
    assert custom["vap_enable"] is True
    assert {custom[f"{part}_replicas"] for part in ("controller", "scheduler", "admission")} == {0}
    assert release["skipAwait"] is True


def test_volcano_requests_suit_a_laptop() -> None:
    custom = chart_values("1.14.1", host_operators=False)["custom"]
    for part in ("controller", "scheduler", "admission"):
        assert custom[f"{part}_resources"]["requests"] == {"cpu": "25m", "memory": "64Mi"}


def test_volcano_outlives_nothing_in_an_existing_cluster(tmp_path: Path) -> None:
    def build() -> None:
        cluster = clusters.existing(tmp_path)
        Volcano("volcano", VolcanoArgs(cluster, "1.14.1"), cluster.opts())

    graph = deploy(build)
    assert len(graph.of_type(RELEASE)) == 1
    assert {record.deleted_with for record in graph.records.values()} == {""}
