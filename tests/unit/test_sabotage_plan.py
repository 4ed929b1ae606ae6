"""The sabotage campaign's sample and table: every part comes about, every entry is used."""

from collections import Counter

import pytest

from lockstep.scenarios.registry import SCENARIOS
from tests.sabotage import oracle, plan
from tests.sabotage.oracle import Must
from tests.sabotage.strikes import STRIKES

SEVERAL = 3


@pytest.mark.parametrize("seed", [1, 7, 123456])
def test_sample_has_everything_several_times(seed: int) -> None:
    rounds = plan.sabotaged(seed, 220)
    for part, wanted in (
        ("scenario", set(SCENARIOS)),
        ("case", set(oracle.POSSIBLE)),
        ("sabotage", set(STRIKES)),
        ("moment", set(oracle.MOMENTS)),
    ):
        counts = Counter(getattr(one, part) for one in rounds)
        assert set(counts) == wanted
        assert min(counts.values()) >= SEVERAL, counts


def test_sample_repeats_for_its_seed_only() -> None:
    assert plan.sabotaged(7, 50) == plan.sabotaged(7, 50)
    assert plan.sabotaged(7, 50) != plan.sabotaged(8, 50)


def test_quick_sample_has_every_moment() -> None:
    rounds = plan.sabotaged(plan.QUICK_SEED, 10, quick=True)
    assert {one.moment for one in rounds} == set(oracle.MOMENTS)
    assert {one.case for one in rounds} <= set(plan.QUICK_CASES)


def test_sample_can_be_restricted() -> None:
    rounds = plan.sabotaged(7, 20, ["scenario=constrained", "moment=burst"])
    assert {one.scenario for one in rounds} == {"constrained"}
    assert {one.case for one in rounds} == {"constrained", "constrained-released"}
    assert {one.moment for one in rounds} == {"burst"}
    with pytest.raises(ValueError, match="no combination fits"):
        plan.sabotaged(7, 1, ["scenario=unknown"])


def test_clean_runs_have_every_case_equally_often() -> None:
    counts = Counter(one.case for one in plan.clean(7, 260))
    assert counts == dict.fromkeys(oracle.POSSIBLE, 20)


def test_table_speaks_of_every_sabotage() -> None:
    assert set(oracle.sabotages()) == set(STRIKES)
    assert set(oracle.POSSIBLE) - {"constrained-released"} == set(SCENARIOS)


def test_table_has_no_entry_that_is_never_used() -> None:
    used = {oracle.entry(*one) for one in oracle.combinations()}
    assert [one for one in oracle.TABLE if one not in used] == []


@pytest.mark.parametrize(
    ("sabotage", "moment", "case", "must"),
    [
        ("gang plugin off", "before", "gang", Must.FAIL),
        ("gang plugin off", "before", "no-gang", Must.OK),
        ("permission gone", "verdict", "gang", Must.OK),
        ("recorder killed", "burst", "constrained-released", Must.FAIL),
        ("bound by hand", "verdict", "constrained", Must.FAIL),
        ("node deleted", "burst", "scale", Must.EITHER),
    ],
)
def test_table_answers(sabotage: str, moment: str, case: str, must: Must) -> None:
    found = oracle.entry(sabotage, moment, case)
    assert found is not None
    assert found.must == must


def test_table_leaves_out_what_makes_no_sense() -> None:
    assert oracle.entry("PodGroup deleted", "before", "gang") is None
    assert oracle.entry("minMember 1", "burst", "no-gang") is None
    assert oracle.entry("recorder killed", "between", "constrained") is None
