"""Volcano's scheduler configuration: the one that preempts, and those that are refused."""

import pulumi
import pytest
import yaml

from components.platform import Platform, PlatformArgs
from components.scenarios import scheduler_conf as conf_of
from components.scheduler_conf import KNOWN, check, preemption
from components.volcano import Volcano, VolcanoArgs
from lockstep import versions
from lockstep.errors import LockstepError
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy

CONF = preemption("1.14.1")
# Of the chart, the same in 1.14.1 and 1.15.1.
CHART = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""


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

    assert restart(CONF) == restart(CONF)
    assert restart(CONF) != restart(f"{CONF}# another\n")
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

    assert environment(CONF) == environment(CONF)
    assert environment(CONF) != environment(None)


@pytest.mark.parametrize(
    ("version", "actions"),
    [
        ("1.14.1", "enqueue, allocate, preempt, backfill"),
        ("1.15.1", "enqueue, allocate, gangpreempt, gangreclaim, backfill"),
        ("1.16.0", "enqueue, allocate, gangpreempt, gangreclaim, backfill"),
    ],
)
def test_preemption_is_by_whole_gangs_where_volcano_has_that(version: str, actions: str) -> None:
    conf = yaml.safe_load(preemption(version))
    assert conf["actions"] == actions
    check(preemption(version), version)
    chart = yaml.safe_load(CHART)
    plugins = [[plugin["name"] for plugin in tier["plugins"]] for tier in conf["tiers"]]
    assert plugins == [[plugin["name"] for plugin in tier["plugins"]] for tier in chart["tiers"]]


def test_only_a_scenario_that_preempts_has_a_configuration_of_its_own() -> None:
    assert conf_of(["gang", "preemption"], "1.15.1") == preemption("1.15.1")
    assert conf_of(["gang", "scale"], "1.15.1") is None


@pytest.mark.parametrize("version", ["1.14.1", "1.15.1", *versions.VOLCANO_SUPPORTED])
def test_configuration_of_the_chart_is_known(version: str) -> None:
    assert version.rpartition(".")[0] in KNOWN
    check(CHART, version)


INSTEAD = "and Volcano 1.14.1 would run its defaults instead (volcano#5827)"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "backfill",
            "gangpreempt",
            "has the action 'gangpreempt', which Volcano 1.14.1 does not know: it would run its "
            "defaults (volcano#5827); did you mean preempt?",
        ),
        (
            "backfill",
            "x",
            "has the action 'x', which Volcano 1.14.1 does not know: it would run its defaults "
            "(volcano#5827); actions: allocate, backfill, enqueue, preempt, reclaim, shuffle",
        ),
        (
            "name: gang",
            "name: Gang",
            "has the plugin 'Gang', which Volcano 1.14.1 does not know: it would leave it out "
            "(volcano#5827); did you mean gang?",
        ),
        ("tiers:", "tiers: [", "is not YAML (while parsing a"),
        ("tiers:", "tires:", "has no text `actions`, or no list `tiers` of `plugins` with names"),
        ("actions:", "action:", "has no text `actions`"),
        ('"enqueue, allocate, backfill"', "[enqueue]", "has no text `actions`"),
        ("- name: gang", "- title: gang", "has no text `actions`"),
        (
            "- name: drf",
            "- name: drf\n    enableHierarchy: true",
            f"has `enableHierarchy` of drf beside proportion, {INSTEAD}",
        ),
    ],
)
def test_configuration_that_volcano_would_not_run_is_refused_in_one_line(
    old: str, new: str, fault: str
) -> None:
    assert old in CHART
    with pytest.raises(LockstepError) as raised:
        check(CHART.replace(old, new, 1), "1.14.1")
    line = str(raised.value)
    assert line.startswith(f"the scheduler configuration {fault}")
    assert "\n" not in line


def test_names_of_a_version_that_is_not_known_are_not_checked() -> None:
    check(CHART.replace("backfill", "tomorrow"), "1.99.0")
    with pytest.raises(LockstepError, match="has no text"):
        check("{}", "1.99.0")


def test_gang_actions_are_of_1_15() -> None:
    assert KNOWN["1.15"].actions - KNOWN["1.14"].actions == {"gangpreempt", "gangreclaim"}
    assert KNOWN["1.15"].plugins == KNOWN["1.14"].plugins
    assert len(KNOWN["1.15"].plugins) == 24


def test_refused_configuration_deploys_nothing_of_volcano() -> None:
    graph: Graph = Graph()

    def build() -> None:
        cluster = clusters.kind()
        conf = CONF.replace("preempt", "pre-empt")
        with pytest.raises(pulumi.RunError, match="has the action 'pre-empt'") as raised:
            Volcano("volcano", VolcanoArgs(cluster, "1.14.1", scheduler_conf=conf), cluster.opts())
        assert isinstance(raised.value.__cause__, LockstepError)

    deploy(build, graph=graph)
    assert not [name for name in graph.records if name.startswith("volcano-")]
