"""The README says what is so: its tables and examples against the files they speak of."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

import settings
from lockstep import versions
from lockstep.commands.matrix import steps
from lockstep.scenarios.registry import SCENARIOS
from lockstep.walk import matrix
from settings import SettingsError
from tests.unit.conftest import PROJECT_DIR, ConfigureStack
from toolchain import catalogue, golang

README = (PROJECT_DIR / "README.md").read_text()


def section(title: str) -> str:
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.M | re.S)
    assert match, f"README has no section {title!r}"
    return match[1]


def table(title: str, number: int = 0) -> list[list[str]]:
    """The rows of a table in a section, without its head and without backticks."""
    rows = re.findall(r"(?:^\|.*\n)+", section(title), re.M)[number].splitlines()[2:]
    return [[cell.strip().replace("`", "") for cell in row.strip("|").split("|")] for row in rows]


def shown(default: Any) -> str:
    return default if isinstance(default, str) and default else json.dumps(default)


def test_configuration_table_is_the_declared_config() -> None:
    declared = yaml.safe_load((PROJECT_DIR / "Pulumi.yaml").read_text())["config"]
    assert table("Configuration") == [
        [key, entry["type"], shown(entry["default"]), entry["description"]]
        for key, entry in declared.items()
    ]


def test_stacks_tables_are_the_scenarios_and_the_clusters() -> None:
    article, beyond = (
        [row[0] for row in table(title)] for title in ("What you will see", "Beyond the article")
    )
    assert article == ["gang", "constrained", "no-gang", "all", "kind", "existing"]
    assert beyond == [name for name in SCENARIOS if name not in article]
    for name in [*article, *beyond]:
        assert (PROJECT_DIR / "stacks" / f"Pulumi.{name}.yaml").exists()


def test_versions_table_is_the_supported_versions() -> None:
    assert [row[1:] for row in table("Supported versions")] == [
        [", ".join(versions.KUBERNETES_SUPPORTED), versions.KUBERNETES],
        [", ".join(versions.VOLCANO_SUPPORTED), versions.VOLCANO],
        [", ".join(versions.LWS_SUPPORTED), versions.LWS_DEFAULT],
    ]


def test_matrix_in_the_readme_is_of_all_pairs_and_steps() -> None:
    verdicts = [step.expected for step in steps()]
    assert table("Supported versions", 1) == [
        [pair.lws, pair.volcano, *verdicts] for pair in matrix.pairs()
    ]


def test_required_go_is_what_the_toolchain_needs() -> None:
    major, minor, *_ = golang.needed_version(catalogue.groups().values())
    assert f"Go {major}.{minor} or newer" in section("Try it")


@pytest.mark.parametrize(
    "line", [line for line in README.splitlines() if re.match(r"lockstep:\w+ is ", line)]
)
def test_shown_error_is_the_real_one(line: str, configure_stack: ConfigureStack) -> None:
    match = re.match(r"lockstep:(\w+) is '(.*?)'", line)
    assert match
    configure_stack("constrained", **{match[1]: match[2]})
    with pytest.raises(SettingsError) as raised:
        settings.load()
    assert str(raised.value) == line


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_inside_the_project_lead_somewhere(name: str) -> None:
    text = (PROJECT_DIR / name).read_text()
    headings = {
        re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")
        for head in re.findall(r"^#+ (.*)$", text, re.M)
    }
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        assert not anchor or anchor in headings, target
        assert not file or (PROJECT_DIR / file).exists(), target


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_commands_exist(name: str) -> None:
    makefiles = (PROJECT_DIR / "Makefile", PROJECT_DIR / "toolchain" / "kind_image" / "targets.mk")
    rules = "\n".join(makefile.read_text() for makefile in makefiles)
    targets = set(re.findall(r"^([a-z0-9-]+):", rules, re.M))
    text = (PROJECT_DIR / name).read_text()
    used = set(re.findall(r"[`$] ?make ([a-z0-9-]+)", text))
    assert used
    assert used <= targets
