from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.errors import LockstepError
from lockstep.lws.config_text import original_text, with_scheduler_provider

SHIPPED = """
apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
# one of the replicas leads
leaderElection:
  leaderElect: true   # always
internalCertManagement:
  enable: true
clientConnection: {qps: 500, burst: 500}
"""
SECTION = "gangSchedulingManagement"

CONFIGS = {
    "as shipped": SHIPPED,
    "empty": "",
    "comments only": "# nothing yet\n",
    "with an empty section": f"{SHIPPED}{SECTION}: {{}}\n",
    "with a section of nothing": f"{SHIPPED}{SECTION}:",
    "with another provider": f"{SHIPPED}{SECTION}:\n    schedulerProvider: kai  # ours\n    x: 1\n",
    "with other keys in the section": f"{SHIPPED}{SECTION}:\n   x: 1\n",
    "as JSON": '{"kind": "Configuration",\n "x": [1]}',
    "with other line ends": SHIPPED.replace("\n", "\r\n"),
}


def parsed(text: str) -> dict[str, Any]:
    return yaml.safe_load(text) or {}


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS.keys())
def test_provider_is_added_once_and_the_original_is_restored(config: str) -> None:
    once = with_scheduler_provider(config)
    before, after = parsed(config), parsed(once)
    assert after.pop(SECTION) == {
        **(before.pop(SECTION, None) or {}),
        "schedulerProvider": "volcano",
    }
    assert after == before
    assert with_scheduler_provider(once) == once
    assert original_text(once, config) == config, "to the byte"
    assert original_text(config, None) == config
    assert original_text(config, config) == config


def test_config_that_names_the_provider_already_is_upstreams_own_choice() -> None:
    theirs = f"{SHIPPED}{SECTION}:\n  schedulerProvider: volcano\n"
    assert with_scheduler_provider(theirs) == theirs
    assert original_text(theirs, None) == theirs


def test_edit_after_the_change_is_kept_and_the_provider_removed() -> None:
    edited = with_scheduler_provider(SHIPPED) + "z: 1\n"
    assert parsed(original_text(edited, SHIPPED)) == {**parsed(SHIPPED), "z": 1}


def test_edit_after_the_change_gets_the_provider_of_before_back() -> None:
    before = f"{SHIPPED}{SECTION}: {{schedulerProvider: kai}}\n"
    edited = with_scheduler_provider(before) + "z: 1\n"
    assert parsed(original_text(edited, before)) == {**parsed(before), "z": 1}


def test_config_that_helm_wrote_again_is_the_new_original() -> None:
    upgraded = f"{SHIPPED}newKey: 1\n"
    assert original_text(upgraded, SHIPPED) == upgraded


scalars = st.one_of(st.integers(), st.booleans(), st.text("abc #:-'\"é", max_size=8), st.none())
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "schedulerProvider"]), inner, max_size=3)
    ),
    max_leaves=8,
)
configs = st.dictionaries(st.sampled_from(["kind", "webhook", SECTION, "z"]), values, max_size=4)


@settings(deadline=None)
@given(config=configs, flow=st.sampled_from([None, True, False]), end=st.booleans())
def test_provider_is_added_to_any_config_and_taken_back(
    config: dict[str, Any], flow: bool | None, end: bool
) -> None:
    text = yaml.safe_dump(config, default_flow_style=flow, sort_keys=False)
    text = text if end else text.rstrip("\n")
    added = with_scheduler_provider(text)
    assert parsed(added)[SECTION]["schedulerProvider"] == "volcano"
    rest = {key: value for key, value in config.items() if key != SECTION}
    assert {key: value for key, value in parsed(added).items() if key != SECTION} == rest
    assert original_text(added, text) == text


@pytest.mark.parametrize(
    ("text", "fault"), [("a: [", "not YAML"), ("- a\n", "not a mapping"), ("word", "not a mapping")]
)
def test_config_that_is_none_is_refused_in_one_line(text: str, fault: str) -> None:
    with pytest.raises(LockstepError, match=fault) as caught:
        with_scheduler_provider(text)
    assert "\n" not in str(caught.value)
