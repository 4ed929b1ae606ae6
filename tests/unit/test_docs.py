"""The README says what is so: its tables and examples against the files they speak of."""

import json
import re
from typing import Any

import pytest
import yaml

import settings
from lockstep import versions
from lockstep.commands import matrix
from lockstep.commands.matrix import columns, supported_pairs
from lockstep.scenarios.registry import SCENARIOS
from settings import SettingsError
from tests.unit.conftest import PROJECT_DIR, ConfigureStack

DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    *sorted(f"docs/{file.name}" for file in (PROJECT_DIR / "docs").glob("*.md")),
)
README = (PROJECT_DIR / "README.md").read_text()
LONGEST_README = 300


def tables(document: str) -> list[list[list[str]]]:
    """Return the tables of a document: rows of cells, without the head and without backticks."""
    text = (PROJECT_DIR / document).read_text()
    found = [block.splitlines()[2:] for block in re.findall(r"(?:^\|.*\n)+", text, re.M)]
    return [
        [[cell.strip().replace("`", "") for cell in row.strip("|").split(" | ")] for row in rows]
        for rows in found
    ]


def table(document: str, first: str) -> list[list[str]]:
    """Return the table whose first cell is `first`."""
    return next(rows for rows in tables(document) if rows[0][0] == first)


def shown(default: Any) -> str:
    return default if isinstance(default, str) and default else json.dumps(default)


def test_configuration_table_is_the_declared_config() -> None:
    declared = yaml.safe_load((PROJECT_DIR / "Pulumi.yaml").read_text())["config"]
    assert table("README.md", "clusterProvider") == [
        [key, entry["type"], shown(entry["default"]), entry["description"].replace("`", "")]
        for key, entry in declared.items()
    ]


def test_stacks_tables_have_every_scenario_with_its_verdict() -> None:
    rows = [*table("README.md", "gang"), *table("docs/scenarios.md", "contention")]
    told = [(row[0], row[2].partition(":")[0]) for row in rows]
    beside = [told.pop(3)[0] for _ in range(3)]
    assert told == [(one.name, one.steps[0].expected) for one in SCENARIOS.values()]
    assert beside == ["all", "kind", "existing"]


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= LONGEST_README


def test_versions_table_is_the_supported_versions() -> None:
    assert [row[1:] for row in table("docs/versions.md", "Kubernetes (kubernetesVersion)")] == [
        [", ".join(versions.KUBERNETES_SUPPORTED), versions.KUBERNETES],
        [", ".join(versions.VOLCANO_SUPPORTED), versions.VOLCANO_DEFAULT],
        [", ".join(versions.LWS_SUPPORTED), versions.LWS_DEFAULT],
    ]


def test_documents_of_kind_have_its_versions() -> None:
    text = (PROJECT_DIR / "docs" / "versions.md").read_text()
    assert f"that of kind {versions.KIND} for Kubernetes {versions.KUBERNETES}, by digest" in text
    assert versions.of_image(versions.KIND_NODE_IMAGE) == versions.KUBERNETES
    image = (PROJECT_DIR / "toolchain" / "kind_image" / "README.md").read_text()
    assert f"lockstep/kind-node:v{versions.KUBERNETES}-" in image


def test_matrix_in_the_docs_is_of_all_pairs_and_steps() -> None:
    rows = table("README.md", versions.LWS_SUPPORTED[0])
    assert [row[:2] for row in rows] == [list(pair) for pair in supported_pairs()]
    text = (PROJECT_DIR / "README.md").read_text()
    head = next(line for line in text.splitlines() if line.startswith("| LWS |"))
    steps = [stage.step for stage in columns()]
    assert head.strip("| ").split(" | ") == ["LWS", "Volcano", *(step.name for step in steps)]
    for row in rows:
        for cell, step in zip(row[2:], steps, strict=True):
            # A pair that does not work stays, with what it does.
            assert cell == f"✅ {step.expected}" or cell.startswith("❌ ")
    assert text.index(matrix.BEGIN) < text.index(head) < text.index(matrix.END)


def test_required_go_is_what_the_toolchain_needs() -> None:
    assert f"Go {versions.GO} or newer" in README


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


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_inside_the_project_lead_somewhere(name: str) -> None:
    text = (PROJECT_DIR / name).read_text()
    headings = {
        re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")
        for head in re.findall(r"^#+ (.*)$", text, re.M)
    }
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        assert not anchor or anchor in headings, target
        assert not file or ((PROJECT_DIR / name).parent / file).exists(), target


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_commands_exist(name: str) -> None:
    makefiles = (PROJECT_DIR / "Makefile", PROJECT_DIR / "toolchain" / "kind_image" / "targets.mk")
    rules = "\n".join(makefile.read_text() for makefile in makefiles)
    targets = set(re.findall(r"^([a-z0-9-]+):", rules, re.M))
    text = (PROJECT_DIR / name).read_text()
    used = set(re.findall(r"[`$] ?make ([a-z0-9-]+)", text))
    assert used
    assert used <= targets
