import os
from collections.abc import Callable
from pathlib import Path

from components.cluster.base import Cluster
from components.lws import LeaderWorkerSetOperator, LwsArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


def lws(cluster: Callable[[], Cluster] = clusters.kind, chart: str | None = None) -> Graph:
    def build() -> None:
        made = cluster()
        LeaderWorkerSetOperator("lws", LwsArgs(made, "0.8.0", chart), made.opts())

    return deploy(build)


def test_lws_post_renderer_is_a_program_that_helm_can_start() -> None:
    path = Path(lws(clusters.kwok, "/charts/lws")["lws-release"].inputs["postrender"])
    assert path == Path("lockstep/lws/post_renderer.py"), "relative: the same on every machine"
    assert os.access(path, os.X_OK)


def test_lws_kinds_are_installed_apart_from_it_and_before_it() -> None:
    """In Helm's hands, an upgrade would delete them, and every LeaderWorkerSet (lws#880)."""
    for graph in (lws(chart="/charts/lws"), lws(clusters.kwok, "/charts/lws")):
        kinds, release = graph["lws-crds"].inputs, graph["lws-release"].inputs
        assert graph["lws-crds"].step("create") == "crds apply"
        assert graph["lws-crds"].step("delete") == "crds remove"
        assert kinds["environment"]["LOCKSTEP_CHART"] == "/charts/lws"
        assert kinds["environment"]["LOCKSTEP_VERSION"] == "0.8.0"
        assert graph.waits_for("lws-release", "lws-crds")
        assert graph.waits_for("lws-namespace", "lws-crds")
        assert release["skipCrds"] is True
        assert Path(release["postrender"]).name == "post_renderer.py"


def test_lws_kinds_come_with_the_published_chart_where_no_other_is_at_hand() -> None:
    graph = lws()
    assert graph["lws-crds"].inputs["environment"]["LOCKSTEP_CHART"] == ""
    assert graph["lws-release"].inputs["skipCrds"] is False
