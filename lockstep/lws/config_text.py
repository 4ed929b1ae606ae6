"""The switch for gang scheduling in the config file of the LWS manager.

The provider is added to the parsed config and written as plain YAML. The text before that is kept
in an annotation, so that turning the switch off restores it to the byte, comments included.
"""

from typing import Any

import yaml

from lockstep.errors import LockstepError

PROVIDER = "volcano"
SECTION = "gangSchedulingManagement"
KEY = "schedulerProvider"


def with_scheduler_provider(text: str) -> str:
    """Return the config with the provider; a config that names it already stays as it is."""
    config = _parsed(text)
    section = _section(config)
    if section.get(KEY) == PROVIDER:
        return text
    return _dumped({**config, SECTION: {**section, KEY: PROVIDER}})


def original_text(text: str, kept: str | None) -> str:
    """Return the config as it would be without Lockstep.

    `kept` is the text before Lockstep changed it; None if Lockstep has not changed it. A text that
    was edited after the change keeps the edit and loses the provider only.
    """
    if kept is None or text == kept:
        return text
    if text == with_scheduler_provider(kept):
        return kept
    config = _parsed(text)
    if _section(config).get(KEY) != PROVIDER:
        return text  # rewritten by its owner, for example by a Helm upgrade
    return _dumped(_without_provider(config, _section(_parsed(kept))))


def _without_provider(config: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Return the config with the provider that the section had before, or with none."""
    section = {key: value for key, value in _section(config).items() if key != KEY}
    section |= {KEY: before[KEY]} if KEY in before else {}
    rest = {key: value for key, value in config.items() if key != SECTION}
    return {**rest, SECTION: section} if section else rest


def _section(config: dict[str, Any]) -> dict[str, Any]:
    section = config.get(SECTION)
    return section if isinstance(section, dict) else {}


def _parsed(text: str) -> dict[str, Any]:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise LockstepError(f"the LWS config is not YAML ({reason}); correct it") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise LockstepError("the LWS config is not a mapping; correct its ConfigMap")
    return data


def _dumped(config: dict[str, Any]) -> str:
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
