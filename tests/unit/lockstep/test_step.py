"""`lockstep step`, and the command line around it."""

import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from lockstep import cli
from lockstep.commands import step, variables
from lockstep.commands.step import STEPS
from lockstep.errors import LockstepError


def test_help_shows_what_people_use(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    listed = re.findall(r"^    (\S+)", capsys.readouterr().out, re.M)
    assert listed == ["demo", "up", "down", "verify", "report", "matrix", "tools"]


def test_help_of_step_names_every_step_and_known_variables_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["step", "--help"])
    shown = capsys.readouterr().out
    for words, (_, names) in STEPS.items():
        assert f"  {words} " in shown
        assert {f"LOCKSTEP_{name}" for name in names} <= set(variables.VARIABLES)


def test_unknown_step_is_an_error_of_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["step", "cluster", "explode"]) == cli.EXIT_ERROR
    said = "lockstep: there is no step 'cluster explode'; see `lockstep step --help`\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("read", "value", "reason"),
    [
        (variables.text, "", "LOCKSTEP_POOL is not set; set it to the name of a pool of workers"),
        (variables.integer, "-1", "LOCKSTEP_POOL is '-1'; it must be a whole number"),
        (variables.document, "[", "LOCKSTEP_POOL is not JSON"),
    ],
)
def test_variable_of_the_wrong_type_is_an_error_of_one_line(
    read: Callable[[str], object], value: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_POOL", value)
    with pytest.raises(LockstepError, match=re.escape(reason)) as caught:
        read("LOCKSTEP_POOL")
    assert "\n" not in str(caught.value)


def test_seconds_have_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert variables.seconds("LOCKSTEP_PATIENCE", 60.0) == 60.0
    monkeypatch.setenv("LOCKSTEP_PATIENCE", "1.5")
    assert variables.seconds("LOCKSTEP_PATIENCE", 60.0) == 1.5
    monkeypatch.setenv("LOCKSTEP_DEADLINE", "soon")
    with pytest.raises(LockstepError, match="must be a number of seconds"):
        variables.seconds("LOCKSTEP_DEADLINE", 1.0)


def test_table_of_steps_imports_nothing_heavy() -> None:
    code = (
        f"import sys, {step.__name__}; "
        "print([name for name in ('lightkube', 'psutil', 'rich', 'pulumi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
