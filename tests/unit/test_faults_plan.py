"""The fault campaign's sample and table: every process and moment, and what the README says."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.faults import document, plan
from tests.faults.observer import uncovered
from tests.faults.result import Result

SIZE = 45


def rounds(seed: int, size: int = SIZE, quick: bool = False) -> list[plan.Round]:
    return [one for some in plan.chapters(seed, size, quick=quick) for one in some]


@pytest.mark.parametrize("seed", [1, 7, 123456])
def test_every_process_and_every_moment_is_struck_several_times(seed: int) -> None:
    found = rounds(seed)
    faults, moments = (Counter(getattr(one, part) for one in found) for part in ("fault", "moment"))
    assert set(faults) == set(plan.FAULTS)
    assert min(faults.values()) >= 2
    assert moments == dict.fromkeys(plan.MOMENTS, SIZE // len(plan.MOMENTS))


def test_no_pair_of_process_and_moment_comes_twice_before_all_have_come() -> None:
    pairs = Counter((one.fault, one.moment) for one in rounds(7))
    assert max(pairs.values()) == 1
    assert all(plan.possible(*pair) for pair in pairs)


def test_plan_repeats_for_its_seed_only() -> None:
    assert plan.chapters(7, SIZE) == plan.chapters(7, SIZE)
    assert plan.chapters(7, SIZE) != plan.chapters(8, SIZE)


def test_chapter_is_the_life_of_one_cluster() -> None:
    for some in plan.chapters(7, SIZE):
        assert [one.moment for one in some] == list(plan.MOMENTS)


def test_every_update_deploys_something_else() -> None:
    deployed = [one.scenario for one in rounds(7) if one.scenario]
    assert all(before != after for before, after in pairwise(deployed))
    assert {one.scenario for one in rounds(7) if one.moment == "drill"} <= set(plan.DRILLED)


def test_quick_plan_has_no_drill() -> None:
    found = rounds(plan.QUICK_SEED, plan.QUICK_ROUNDS, quick=True)
    assert [one.moment for one in found] == ["up", "judge", "churn", "destroy"]


def test_plan_can_be_restricted() -> None:
    (some,) = plan.chapters(7, 3, ["fault=etcd", "moment=churn"])[:1]
    assert [(one.fault, one.moment) for one in some] == [("etcd", "churn")]
    with pytest.raises(ValueError, match="no combination fits"):
        plan.chapters(7, 1, ["fault=unknown"])


RESULTS = [
    Result(plan.Round(0, "etcd", "up", "gang", 0.5), recovery=1.24, longest_part=0.42),
    Result(plan.Round(1, "etcd", "churn", "", 0.5), recovery=2.0, violations=["one", "two"]),
    Result(plan.Round(2, "update", "up", "gang", 0.5)),
    Result(plan.Round(3, "kwok", "drill", "scale", 0.5), missed="the update was quicker"),
]


def test_table_has_a_row_for_each_process_that_was_killed() -> None:
    assert document.table(RESULTS) == [
        "| killed | up | judge | churn | drill | destroy | longest recovery | violations |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        "| etcd | 1 |  | 1 |  |  | 2.0 s | 1 |",
        "| update | 1 |  |  |  |  | - | 0 |",
        "| all | 2 |  | 1 |  |  | 2.0 s | 1 |",
    ]


def test_table_replaces_the_one_in_the_document(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text(f"before\n{document.BEGIN}\nold\n{document.END}\nafter\n")
    document.write(file, RESULTS, "make faults")
    first = file.read_text()
    assert first.startswith(f"before\n{document.BEGIN}\n`make faults` on ")
    assert first.endswith(f"{document.END}\nafter\n")
    assert "3 kills, 2 of them of a process that must come back by itself" in first
    assert "longer than 0.4 s while all that binds pods was running. Kubernetes" in first
    assert "old" not in first
    document.write(file, [replace(one, violations=[]) for one in RESULTS], "make faults")
    assert file.read_text().count("| etcd |") == 1
    document.write(file, [replace(RESULTS[0], lost_pod_groups=2)], "make faults")
    assert "running; 2 groups had lost their PodGroup (lws#1054)" in file.read_text()


@pytest.mark.parametrize(
    ("hidden", "seconds"),
    [
        ([], 10.0),
        ([(0.0, 5.0)], 10.0),
        ([(8.0, 12.0)], 8.0),
        ([(12.0, 14.0), (13.0, 15.0)], 7.0),
        ([(12.0, float("inf"))], 2.0),
        ([(5.0, 25.0)], 0.0),
    ],
)
def test_outages_do_not_count(hidden: list[tuple[float, float]], seconds: float) -> None:
    assert uncovered((10.0, 20.0), hidden) == seconds
