"""Volcano's scheduler with preemption: what differs from the chart, and what restarts it."""

from components.platform import Platform, PlatformArgs
from components.scheduler_conf import PREEMPTION
from components.volcano import Volcano, VolcanoArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


def on_kind(conf: str | None) -> Graph:
    def build() -> None:
        cluster = clusters.kind()
        args = VolcanoArgs(cluster, "1.14.1", scheduler_conf=conf)
        Volcano("volcano", args, cluster.opts())

    return deploy(build)


def test_scheduler_in_a_pod_is_rolled_out_again_for_another_configuration() -> None:
    def restart(conf: str) -> str:
        graph = on_kind(conf)
        patch = graph["volcano-restart"]
        assert graph.waits_for("volcano-restart", "volcano-release")
        assert patch.inputs["metadata"]["name"] == "volcano-scheduler"
        annotations: dict[str, str] = patch.inputs["spec"]["template"]["metadata"]["annotations"]
        return annotations["lockstep.dev/config"]

    assert restart(PREEMPTION) == restart(PREEMPTION)
    assert restart(PREEMPTION) != restart(f"{PREEMPTION}# another\n")
    assert "volcano-restart" not in on_kind(None).records


def test_scheduler_on_the_host_is_restarted_for_another_configuration() -> None:
    def environment(conf: str | None) -> dict[str, str]:
        def build() -> None:
            cluster = clusters.kwok()
            args = PlatformArgs(cluster, "1.14.1", "0.8.0", scheduler_conf=conf)
            Platform("platform", args, cluster.opts())

        graph = deploy(build)
        assert "platform-volcano-restart" not in graph.records
        return graph["platform-volcano-operator-process"].environment

    assert environment(PREEMPTION) == environment(PREEMPTION)
    assert environment(PREEMPTION) != environment(None)
