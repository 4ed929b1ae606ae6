"""Talking to servers that may not be there: every wait is short and bounded."""

from __future__ import annotations

import re
import ssl
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from lockstep.errors import LockstepError

ANSWER_WITHIN = 10
"""Seconds for a first answer, looking up the name included."""

Result = TypeVar("Result")


class NoAnswerError(Exception):
    """The server cannot be reached, or does not answer in time."""


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Run `work` and give up after some seconds: name look-ups know no time-out of their own."""
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def attempt() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # handed to the caller below
            failure.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise NoAnswerError(f"no answer within {seconds:g} s")
    return outcome[0]


def get(url: str, *, seconds: float = ANSWER_WITHIN) -> bytes:
    """A small file; NoAnswerError when the server is not there or says anything but 200."""

    def fetch() -> bytes:
        with urllib.request.urlopen(url, timeout=seconds) as answer:  # noqa: S310
            return bytes(answer.read())

    with no_answer_for_errors():
        return within(seconds, fetch)


@contextmanager
def no_answer_for_errors() -> Iterator[None]:
    """Turn what urllib raises into NoAnswerError."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise NoAnswerError(str(error)) from None
    except OSError as error:  # URLError and time-outs are of this kind
        raise NoAnswerError(str(error)) from error


def check_module_proxy(go: Path, environment: Mapping[str, str]) -> None:
    """Raise when the Go module proxy in use does not answer at all."""
    setting = subprocess.run(
        [go, "env", "GOPROXY"], env=dict(environment), capture_output=True, text=True, check=True
    ).stdout.strip()
    first = re.split("[,|]", setting)[0]
    if not first.startswith(("http://", "https://")):
        return
    try:
        within(
            ANSWER_WITHIN,
            lambda: urllib.request.urlopen(first, timeout=ANSWER_WITHIN).close(),  # noqa: S310
        )
    except urllib.error.HTTPError as error:
        error.close()  # it refuses this address, but it is there
    except (OSError, NoAnswerError) as error:
        if isinstance(getattr(error, "reason", None), ssl.SSLError):
            return  # Go has certificates of its own to judge it by
        host = urllib.parse.urlsplit(first).hostname  # the whole address may hold a password
        raise LockstepError(
            f"the Go module proxy {host} does not answer ({error}): check the network, "
            "or set GOPROXY; what is built so far is kept"
        ) from error
