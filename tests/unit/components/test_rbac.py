import functools

from components.rbac import PodGroupRights, PodGroupRightsArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


@functools.cache
def rights() -> Graph:
    def build() -> None:
        cluster = clusters.kind()
        PodGroupRights("rights", PodGroupRightsArgs(cluster), cluster.opts())

    return deploy(build)


def test_rights_are_exactly_the_verbs_that_lws_uses() -> None:
    assert rights()["rights-role"].inputs["rules"] == [
        {
            "apiGroups": ["scheduling.volcano.sh"],
            "resources": ["podgroups"],
            "verbs": ["create", "get", "list", "watch"],
        }
    ]


def test_rights_are_named_after_the_cluster_as_two_stacks_may_share_one() -> None:
    graph = rights()
    names = {graph[f"rights-{part}"].inputs["metadata"]["name"] for part in ("role", "binding")}
    assert names == {"lockstep-kind-lws-podgroups"}
