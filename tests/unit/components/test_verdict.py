from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.verdict import Verdict, VerdictArgs, Watch, WatchArgs
from tests.unit.components import clusters
from tests.unit.components.graph import COMMAND, Graph, deploy

EXPECTATION = {"verdict": "placed", "scenario": "gang", "size": 4}


def judged(
    folder: Path | None = None,
    fingerprint: str = "f1",
    graph: Graph | None = None,
    drill: str | None = None,
) -> Graph:
    """A watch and its verdict; the graph's value is what the verdict says."""

    def build() -> pulumi.Output[dict[str, Any]]:
        cluster = clusters.existing(folder) if folder else clusters.kwok()
        args = WatchArgs(
            cluster=cluster,
            scenario="gang",
            namespace=pulumi.Output.from_input("lockstep-gang"),
            pool="gang",
            fingerprint=fingerprint,
        )
        watch = Watch("watch", args, cluster.child(None))
        expectation: dict[str, Any] = {**EXPECTATION, "namespace": pulumi.Output.from_input("ns")}
        context = {"versions": {"lws": pulumi.Output.from_input("0.8.0")}}
        return Verdict(
            "verdict", VerdictArgs(watch, expectation, context, drill), cluster.child(None)
        ).result

    return deploy(build, graph=graph)


def test_watch_starts_a_recorder_and_ends_it_when_it_goes() -> None:
    recorder = judged()["watch-recorder"]
    assert recorder.type == COMMAND
    assert recorder.inputs["create"].endswith("-m lockstep step record")
    assert recorder.inputs["delete"].endswith("-m lockstep step record --stop")
    assert recorder.parent == "watch"


def test_watch_tells_the_recorder_what_to_record() -> None:
    environment = judged()["watch-recorder"].environment
    assert environment["LOCKSTEP_SCENARIO"] == "gang"
    assert environment["LOCKSTEP_NAMESPACE"] == "lockstep-gang"
    assert environment["LOCKSTEP_POOL"] == "gang"
    assert environment["LOCKSTEP_CLUSTER"] == "lockstep-gang"
    assert environment["LOCKSTEP_KUBECONFIG"] == "/state/kubeconfig"


def test_watch_uses_the_context_of_an_existing_cluster(tmp_path: Path) -> None:
    graph = judged(tmp_path)
    for name in ("watch-recorder", "verdict-judge"):
        assert graph[name].environment["LOCKSTEP_CONTEXT"] == "mine"
        assert graph[name].deleted_with == ""


def test_a_changed_fingerprint_changes_the_recorder_in_place() -> None:
    first, second = (judged(fingerprint=text)["watch-recorder"] for text in ("f1", "f2"))
    assert first.environment != second.environment
    assert first.inputs["create"] == second.inputs["create"]
    assert "triggers" not in first.inputs


def test_verdict_waits_for_the_recorder() -> None:
    graph = judged()
    assert graph.waits_for("verdict-judge", "watch-recorder")
    assert graph["verdict-judge"].environment["LOCKSTEP_RECORDING"] == "/state/recording.jsonl"


def test_a_new_run_of_the_recorder_is_judged_anew() -> None:
    class Later(Graph):
        def _stdout(self, inputs: dict[str, Any]) -> str:
            said = super()._stdout(inputs)
            return said.replace('"run": "1"', '"run": "2"')

    first, second = judged(), judged(graph=Later())
    runs = [graph["verdict-judge"].environment["LOCKSTEP_RUN"] for graph in (first, second)]
    assert runs == ["1", "2"]


def test_verdict_gets_the_expectation_whole_and_in_one_order() -> None:
    judge = judged()["verdict-judge"]
    text = judge.environment["LOCKSTEP_EXPECTATION"]
    assert json.loads(text) == {**EXPECTATION, "namespace": "ns"}
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


def test_verdict_hands_over_what_the_receipt_says() -> None:
    text = judged()["verdict-judge"].environment["LOCKSTEP_RECEIPT_CONTEXT"]
    assert json.loads(text) == {"versions": {"lws": "0.8.0"}}


def test_verdict_result_is_what_the_judge_said() -> None:
    assert judged().value == {"ok": True, "observed": "placed"}


def test_verdict_leaves_nothing_to_do_when_it_goes() -> None:
    assert not judged()["verdict-judge"].inputs.get("delete")


@pytest.mark.parametrize("drill", [None, "recovery"])
def test_verdict_names_the_drill_if_there_is_one(drill: str | None) -> None:
    environment = judged(drill=drill)["verdict-judge"].environment
    assert environment.get("LOCKSTEP_DRILL") == drill


def test_both_go_with_the_cluster_and_need_no_deleting_before_it() -> None:
    graph = judged()
    for name in ("watch-recorder", "verdict-judge"):
        assert graph[name].deleted_with.startswith("cluster")


def test_no_value_is_in_shell_text() -> None:
    for record in judged().of_type(COMMAND):
        for step in ("create", "delete"):
            text = record.inputs.get(step) or ""
            assert "gang" not in text
            assert "/state" not in text
