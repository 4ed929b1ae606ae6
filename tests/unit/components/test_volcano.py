from __future__ import annotations

import functools

from components.volcano import Volcano, VolcanoArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


@functools.cache
def volcano_on_kind(chart: str | None = None) -> Graph:
    def build() -> None:
        cluster = clusters.kind()
        Volcano("volcano", VolcanoArgs(cluster, "1.14.1", chart), cluster.opts())

    return deploy(build)


def test_volcano_comes_from_a_local_chart_when_there_is_one() -> None:
    release = volcano_on_kind("/charts/volcano")["volcano-release"].inputs
    assert release["chart"] == "/charts/volcano"
    assert "version" not in release
    assert "repositoryOpts" not in release


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
