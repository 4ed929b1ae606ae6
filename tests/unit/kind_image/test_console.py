"""Programs that fail tell the user one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lockstep.errors import LockstepError
from toolchain.kind_image import console
from toolchain.kind_image.console import Console


@pytest.fixture
def quiet(tmp_path: Path) -> Console:
    log = tmp_path / "log"
    log.touch()
    return Console(lambda: None, log)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_words_of_a_program_go_to_the_log(quiet: Console) -> None:
    quiet.run("greeting", python("print('hello')"))
    assert "hello" in quiet.log.read_text()


def test_program_that_takes_long_shows_signs_of_life(tmp_path: Path) -> None:
    ticks: list[int] = []
    (tmp_path / "log").touch()
    slow = Console(lambda: ticks.append(1), tmp_path / "log")
    slow.run("waiting", python("import time; time.sleep(0.5)"))
    assert ticks


def test_failure_is_one_line_with_the_last_words_and_the_log(quiet: Console) -> None:
    with pytest.raises(LockstepError) as failed:
        quiet.run("packing", python("print('first'); print('it broke\\n'); exit(3)"))
    assert str(failed.value) == f"packing failed: it broke (the whole log: {quiet.log})"


def test_only_the_failed_programs_words_are_judged(quiet: Console) -> None:
    quiet.run("fetching", python("print('could not resolve')"))
    with pytest.raises(LockstepError, match="packing failed: other"):
        quiet.run("packing", python("print('other'); exit(1)"))


@pytest.mark.parametrize(
    "words", ["E: Failed getting release file http://x", "Temporary failure resolving 'x'"]
)
def test_silent_mirror_is_called_that(tmp_path: Path, words: str) -> None:
    line = console.explain("installing", [words], tmp_path)
    assert "the Debian mirror does not answer" in line
    assert "LOCKSTEP_DEBIAN_MIRROR" in line


def test_full_disk_is_called_that(tmp_path: Path) -> None:
    line = console.explain("packing", ["write: No space left on device"], tmp_path)
    assert line == "packing: the disk is full; free some space and run this again"


def test_answer_of_a_command(quiet: Console) -> None:
    assert quiet.ask(python("print('yes')")) == "yes\n"
    with pytest.raises(LockstepError, match="failed: no idea"):
        quiet.ask(python("import sys; sys.exit('no idea')"))
