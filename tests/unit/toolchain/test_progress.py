"""What a long build prints where there is no terminal."""

import time

import pytest

from toolchain import progress
from toolchain.building import LINK, Work
from toolchain.progress import Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that only the test moves."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_remaining_time_is_told_once_a_minute_at_the_pace_so_far(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(2).together() as shown:
        for seconds, share in ((30, 0.1), (60, 0.25), (90, 0.3)):
            clock[0] = 100 + seconds
            shown.so_far(share)
        shown.finished("anvil")
    assert capsys.readouterr().err.splitlines() == [
        "building from Go modules",
        "building from Go modules: 25% after 1m00s, about 3m00s left",
        "[1/2] anvil … built after 1m30s",
    ]


def test_remaining_time_is_not_guessed_from_little_work(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress(1).together() as shown:
        clock[0] += progress.EVERY
        shown.so_far(progress.SURE / 2)
    assert "left" not in capsys.readouterr().err


def test_work_is_source_to_compile_and_programs_to_link(two_folders: Work) -> None:
    assert two_folders.share == 0
    two_folders.finish(["/mod/a", "/mod/a", "/elsewhere"])
    assert two_folders.share == pytest.approx(0.25)
    two_folders.linked = 1
    assert two_folders.share == pytest.approx(0.75)


def test_work_of_an_earlier_run_is_not_to_be_done_again(two_folders: Work) -> None:
    two_folders.finish(["/mod/a"])
    again = Work(two_folders.record, links=1)
    again.add("/mod/a", LINK // 2)
    again.add("/mod/b", LINK)
    assert again.compiled == {"/mod/b": LINK}
    assert again.share == 0


@pytest.fixture
def two_folders(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """Two packages and a program, each as long as the others."""
    work = Work(tmp_path_factory.mktemp("work") / "compiled", links=1)
    work.add("/mod/a", LINK // 2)
    work.add("/mod/b", LINK // 2)
    return work
