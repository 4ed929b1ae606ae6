import pulumi
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.pools import Worker, WorkerPool, pod_requests
from lockstep.kube import quantity
from tests.unit.components.graph import deploy


def fits(worker: tuple[str, str], requests: tuple[str, str]) -> int:
    pairs = zip(worker, requests, strict=True)
    return min(quantity.parse(size) // quantity.parse(request) for size, request in pairs)


def test_pod_requests_are_half_of_a_simulated_worker() -> None:
    assert pod_requests([("4", "8Gi")] * 3) == ("2", "4Gi")


def test_pod_requests_follow_the_smallest_worker() -> None:
    assert pod_requests([("4", "9Gi"), ("3900m", "8Gi")]) == ("1950m", "4Gi")


@pytest.mark.parametrize("cpu", ["1", "3", "1930m", "0.5", "15", "1e1"])
@pytest.mark.parametrize("memory", ["8Gi", "7901Mi", "16393244Ki", "1000000001", "129e6"])
def test_pod_requests_of_any_worker_fill_it_with_two(cpu: str, memory: str) -> None:
    assert fits((cpu, memory), pod_requests([(cpu, memory)])) == 2


@settings(deadline=None)
@given(
    cpu=st.integers(min_value=10, max_value=10**6),
    memory=st.integers(min_value=2**20, max_value=2**45),
    more=st.integers(min_value=0, max_value=49),
)
def test_pod_requests_of_unequal_workers_fill_each_with_two(
    cpu: int, memory: int, more: int
) -> None:
    small = (f"{cpu}m", str(memory))
    # Less than one and a half times as large, after rounding.
    large = (f"{min(cpu + cpu * more // 101, 3 * (cpu // 2) - 1)}m", str(memory * 5))
    requests = pod_requests([large, small])
    assert fits(small, requests) == 2
    assert fits(large, requests) == 2


def test_pod_requests_refuse_workers_that_differ_too_much() -> None:
    with pytest.raises(pulumi.RunError, match="differ too much"):
        pod_requests([("2", "4Gi"), ("8", "16Gi")])


def test_pod_requests_accept_workers_that_one_resource_keeps_alike() -> None:
    assert pod_requests([("2", "4Gi"), ("2", "64Gi")]) == ("1", "2Gi")


@pytest.mark.parametrize("worker", [("1m", "8Gi"), ("4", "1"), ("0", "8Gi")])
def test_pod_requests_refuse_a_worker_without_room(worker: tuple[str, str]) -> None:
    with pytest.raises(pulumi.RunError, match="no room for two pods"):
        pod_requests([worker])


def test_pod_requests_refuse_an_empty_pool() -> None:
    with pytest.raises(pulumi.RunError, match="at least one worker"):
        pod_requests([])


def test_pool_sizes_its_pods_by_workers_known_later() -> None:
    def build() -> list[pulumi.Output[str]]:
        later = pulumi.Output.from_input("6")
        pool = WorkerPool("gang", [Worker("a", later, "8Gi"), Worker("b", "7", "8Gi")])
        assert pool.label == {"lockstep.dev/pool": "gang"}
        return [pool.pod_cpu, pool.pod_memory]

    assert deploy(build).value == ["3", "4Gi"]
