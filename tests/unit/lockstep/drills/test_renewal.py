"""The note on the workload that keeps a failed or unfinished verdict from being judged away."""

from pathlib import Path
from typing import Any, cast

import pytest
from lightkube import ApiError

from lockstep.drills import DrillContext, renewal
from tests.unit.lockstep.memory_api import MemoryApi
from tests.unit.lockstep.story import expect

SET = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/lockstep-gang/leaderworkersets/gang"


@pytest.fixture
def api() -> MemoryApi:
    api = MemoryApi()
    api.put(SET, {"spec": {"replicas": 1}})
    return api


def context_of(api: MemoryApi) -> DrillContext:
    return DrillContext(api.client(), cast("Any", None), expect("placed"), 1.0, Path("/"))


def test_a_judge_notes_that_it_has_not_finished_until_it_notes_the_verdict(api: MemoryApi) -> None:
    context = context_of(api)
    assert renewal.begin(context) == ""
    assert renewal.failed_verdict(context).endswith("Z the judge did not finish")
    renewal.keep_failure(context, "")
    assert renewal.failed_verdict(context) == ""


def test_a_judge_keeps_the_note_of_the_one_before(api: MemoryApi) -> None:
    context = context_of(api)
    renewal.keep_failure(context, "torn")
    failure = renewal.begin(context)
    assert failure.endswith("Z torn")
    assert renewal.failed_verdict(context) == failure


def test_a_note_that_cannot_be_written_is_an_error_unless_there_is_no_workload(
    api: MemoryApi,
) -> None:
    api.refused = ("PATCH",)
    with pytest.raises(ApiError, match="forbidden"):
        renewal.begin(context_of(api))
    assert renewal.begin(context_of(MemoryApi())) == ""
