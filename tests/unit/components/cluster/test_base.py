from collections.abc import Callable
from pathlib import Path

from components.cluster.base import Cluster
from tests.unit.components import clusters
from tests.unit.components.graph import deploy


def scoped(cluster: Callable[[], Cluster], name: str) -> str:
    found: str = deploy(lambda: cluster().scoped(name)).value
    return found


def test_scoped_name_carries_the_name_of_a_cluster_that_is_shared(tmp_path: Path) -> None:
    assert scoped(clusters.kwok, "gang") == "lockstep-gang"
    assert scoped(lambda: clusters.existing(tmp_path), "gang") == "lockstep-mine-gang"


def test_scoped_name_is_cut_to_the_length_of_a_label_and_stays_unique(tmp_path: Path) -> None:
    one, other = (scoped(lambda: clusters.existing(tmp_path), "x" * 60 + end) for end in "ab")
    assert len(one) == len(other) == 63
    assert one != other
