"""The example program of docs/library.md runs, and does what the text around it says."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from lockstep import versions
from tests.unit.components.graph import LEADER_WORKER_SET, RELEASE, Graph, deploy
from tests.unit.conftest import PROJECT_DIR

KUBECONFIG = """
contexts: [{name: my-context, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://example.com"}}]
users: [{name: u, user: {token: secret}}]
"""


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The resources that the example makes, on a machine with a kubeconfig and nothing else."""
    for name in ("LOCKSTEP_STATE", "LOCKSTEP_CACHE", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    guide = (PROJECT_DIR / "docs" / "library.md").read_text()
    (program,) = re.findall(r"^```python\n(.*?)^```", guide, re.M | re.S)
    (tmp_path / "program.py").write_text(program)

    def run() -> Any:
        return runpy.run_path(str(tmp_path / "program.py"))["proof"].verdict

    return deploy(run)


def test_example_installs_the_default_versions(graph: Graph) -> None:
    images = [record.inputs["values"] for record in graph.of_type(RELEASE)]
    assert len(images) == 2
    assert f"v{versions.VOLCANO_DEFAULT}" in str(images)
    assert f"v{versions.LWS_DEFAULT}" in str(images)


def test_example_proves_itself(graph: Graph) -> None:
    assert graph.value == {"ok": True, "observed": "placed"}
    judge = graph["proof-verdict-judge"]
    assert json.loads(judge.environment["LOCKSTEP_EXPECTATION"])["verdict"] == "placed"
    assert graph.created_in_apply == []


def test_example_job_is_a_gang_that_waits_for_the_platform(graph: Graph) -> None:
    job = graph["trainer"]
    assert job.type == LEADER_WORKER_SET
    template = job.inputs["spec"]["leaderWorkerTemplate"]
    assert job.inputs["spec"]["replicas"] == 2
    assert template["size"] == 4
    assert template["workerTemplate"]["spec"]["schedulerName"] == "volcano"
    assert graph.waits_for("trainer", "gang-scheduling-gang-config-config")
    assert graph.waits_for("trainer", "gang-scheduling-podgroup-rights-binding")
    assert job.provider == "cluster-provider"
