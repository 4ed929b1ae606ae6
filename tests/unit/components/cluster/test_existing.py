from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components.cluster.existing import ExistingCluster, ExistingClusterArgs
from tests.unit.components import clusters
from tests.unit.components.graph import Graph, deploy


def existing_cluster(folder: Path, *, export_kubeconfig: bool = False) -> Graph:
    def build() -> dict[str, Any]:
        cluster = clusters.existing(folder, export_kubeconfig=export_kubeconfig)
        cluster.pool("gang", 2)
        return {
            "kubeconfig": cluster.kubeconfig,
            "secret": cluster.kubeconfig.is_secret() if cluster.kubeconfig else None,
        }

    return deploy(build)


def test_existing_creates_nothing_but_what_marks_its_pools(tmp_path: Path) -> None:
    assert {r.name for r in existing_cluster(tmp_path).records.values() if r.custom} == {
        "cluster-provider",
        "cluster-gang-pool",
        "cluster-gang-worker-0",
        "cluster-gang-worker-1",
    }


def test_existing_provider_has_the_explicit_context_and_no_credentials(tmp_path: Path) -> None:
    provider = existing_cluster(tmp_path)["cluster-provider"].inputs
    assert provider["context"] == "mine"
    assert provider["kubeconfig"] == str(tmp_path / "kubeconfig")
    assert provider["enableServerSideApply"] == "true"
    assert "hunter2" not in str(provider)


def test_existing_kubeconfig_is_secret_and_has_one_context_only(tmp_path: Path) -> None:
    value = existing_cluster(tmp_path, export_kubeconfig=True).value
    assert value["secret"] is True
    config = yaml.safe_load(value["kubeconfig"])
    assert config["current-context"] == "mine"
    assert [user["user"]["token"] for user in config["users"]] == ["hunter2"]


@pytest.mark.parametrize(
    ("context", "fault"),
    [("", "explicit context"), ("mnie", "no context 'mnie' in .*; its contexts: mine, other")],
)
def test_existing_refuses_a_context_that_is_not_named_or_missing(
    context: str, fault: str, tmp_path: Path
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(clusters.KUBECONFIG)
    args = ExistingClusterArgs("lockstep-mine", context, str(path))
    with pytest.raises(pulumi.RunError, match=fault):
        deploy(lambda: ExistingCluster("cluster", args).urn)


def test_existing_has_one_identity_whatever_the_path_of_its_kubeconfig(tmp_path: Path) -> None:
    """Or another machine's path would plan to replace everything in the cluster."""
    identities = []
    for name in ("laptop", "ci"):
        (tmp_path / name).mkdir()
        provider = existing_cluster(tmp_path / name)["cluster-provider"].inputs
        identities.append(provider["clusterIdentifier"])
    assert identities == ["mine", "mine"]


def test_existing_names_carry_the_name_of_the_stacks_cluster(tmp_path: Path) -> None:
    """Two stacks may use one cluster."""
    graph = existing_cluster(tmp_path)
    labels = graph["cluster-gang-worker-0"].inputs["metadata"]["labels"]
    assert labels == {"lockstep.dev/pool": "lockstep-mine-gang"}
    assert graph["cluster-gang-pool"].environment["LOCKSTEP_POOL"] == "lockstep-mine-gang"
