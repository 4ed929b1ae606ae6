"""Waiting for a webhook that is not reached at once, against answers of an API server."""

from collections.abc import Iterator

import httpx2
import pytest
from lightkube import Client

from lockstep.errors import LockstepError
from lockstep.lws import webhook as lws_webhook
from tests.unit.lockstep.memory_api import client

ACCEPTED = httpx2.Response(201, json={"metadata": {"name": "lockstep-probe"}})
UNREACHED = httpx2.Response(500, json={"code": 500, "message": "failed calling webhook"})
REFUSED = httpx2.Response(422, json={"code": 422, "message": "invalid"})

Answers = Iterator[httpx2.Response | Exception]


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lws_webhook, "PAUSE", 0)


def server(answers: Answers) -> tuple[Client, list[httpx2.Request]]:
    """A client whose requests get these answers, and the requests."""
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        given = next(answers)
        if isinstance(given, Exception):
            raise given
        return given

    return client(answer), asked


def test_webhook_that_answers_is_asked_a_few_times_and_nothing_is_created() -> None:
    client, asked = server(iter([ACCEPTED] * lws_webhook.IN_A_ROW))
    lws_webhook.await_answers(client)
    assert len(asked) == lws_webhook.IN_A_ROW
    for request in asked:
        assert request.url.params["dryRun"] == "All"


def test_refusal_is_an_answer() -> None:
    client, asked = server(iter([REFUSED] * lws_webhook.IN_A_ROW))
    lws_webhook.await_answers(client)
    assert len(asked) == lws_webhook.IN_A_ROW


def test_single_answers_between_failures_are_not_enough() -> None:
    broken = httpx2.ReadTimeout("timed out")
    luck: list[httpx2.Response | Exception] = [UNREACHED, ACCEPTED, broken]
    luck += [ACCEPTED, ACCEPTED, UNREACHED]
    client, asked = server(iter([*luck, *[ACCEPTED] * lws_webhook.IN_A_ROW]))
    lws_webhook.await_answers(client)
    assert len(asked) == len(luck) + lws_webhook.IN_A_ROW


def test_silent_webhook_is_an_error_that_says_where_to_look() -> None:
    client, _ = server(iter([UNREACHED] * 10))
    with pytest.raises(LockstepError, match=r"failed calling webhook.*pods in lws-system"):
        lws_webhook.await_answers(client, timeout=0)
