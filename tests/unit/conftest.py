"""Config as the engine would hand it over: mocks load neither Pulumi.yaml nor a stack file."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pulumi
import pytest
import yaml
from hypothesis import settings

from lockstep import machine

# How long an example takes says more of the machine than of the code.
settings.register_profile("lockstep", deadline=None, derandomize=True)
settings.load_profile("lockstep")

PROJECT_DIR = Path(__file__).resolve().parents[2]


class ConfigureStack(Protocol):
    """Give the program the config of a stack file, with changes; None takes a key away."""

    def __call__(self, stack: str = "gang", /, **changes: Any) -> None: ...


def stack_config(stack: str) -> dict[str, str]:
    """The stack's config on top of the project's defaults, as text with JSON for lists."""
    declared = _config("Pulumi.yaml")
    values = {f"lockstep:{key}": entry["default"] for key, entry in declared.items()}
    values |= _config(f"stacks/Pulumi.{stack}.yaml")
    return {key: _text(value) for key, value in values.items()}


@functools.cache
def _config(path: str) -> dict[str, Any]:
    """What a file of the project says of config; read once, as it takes a while."""
    file = PROJECT_DIR / path
    config: dict[str, Any] = yaml.safe_load(file.read_text())["config"] if file.exists() else {}
    return config


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@pytest.fixture
def configure_stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConfigureStack]:
    """A function that sets the config and the stack's name; both are gone after the test."""

    def configure(stack: str = "gang", /, **changes: Any) -> None:
        config = stack_config(stack) | {f"lockstep:{k}": _text(v) for k, v in changes.items()}
        for key in [key for key, value in changes.items() if value is None]:
            del config[f"lockstep:{key}"]
        pulumi.runtime.set_all_config(config)
        monkeypatch.setattr(pulumi, "get_stack", lambda: stack)
        monkeypatch.setattr(machine, "memory", lambda: 24 * 2**30)

    yield configure
    pulumi.runtime.set_all_config({})
