import json
from typing import Any

import pulumi

from components.verdict import Judgement, JudgementArgs, Watch, WatchArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy

EXPECTATION = {"verdict": "placed", "scenario": "gang", "size": 4}


def judged(fingerprint: str = "f1", graph: Graph | None = None) -> Graph:
    """A watch and its verdict."""

    def build() -> None:
        cluster = clusters.kwok()
        watch_args = WatchArgs(cluster, "gang", "lockstep-gang", "gang", fingerprint)
        watch = Watch("watch", watch_args, cluster.opts())
        expectation: dict[str, Any] = {**EXPECTATION, "namespace": pulumi.Output.from_input("ns")}
        context = {"versions": {"lws": pulumi.Output.from_input("0.8.0")}}
        judgement_args = JudgementArgs(watch, expectation, context, drill=None)
        Judgement("verdict", judgement_args, cluster.opts())

    return deploy(build, graph=graph)


def test_a_changed_fingerprint_changes_the_recorder_in_place() -> None:
    first, second = (judged(fingerprint=text)["watch-recorder"] for text in ("f1", "f2"))
    assert first.environment != second.environment
    assert first.inputs["create"] == second.inputs["create"]
    assert "triggers" not in first.inputs


def test_a_new_run_of_the_recorder_is_judged_again() -> None:
    class Later(Graph):
        def _stdout(self, inputs: dict[str, Any]) -> str:
            said = super()._stdout(inputs)
            return said.replace('"run": "1"', '"run": "2"')

    first, second = judged(), judged(graph=Later())
    assert first["verdict-judge"].environment != second["verdict-judge"].environment
    assert first["watch-recorder"].environment == second["watch-recorder"].environment


def test_verdict_gets_the_expectation_complete_and_in_one_order() -> None:
    text = judged()["verdict-judge"].environment["LOCKSTEP_EXPECTATION"]
    assert json.loads(text) == {**EXPECTATION, "namespace": "ns"}
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
