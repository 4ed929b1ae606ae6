"""A toolchain of two small groups, a fake Go compiler, and folders for each test."""

import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from toolchain import building, cache, catalogue, golang, users_tools
from toolchain.catalogue import Copy, Group, Program

FAKE_GO = """\
#!/bin/sh
echo "$*" >> "{calls}"
case "$1" in
version) echo "go version go{version} test/test"; exit ;;
mod) echo '{{"Dir": "{module}"}}'; exit ;;
list) printf 'example.org/lib\\t{module}\\tlib.go\\n'; exit ;;
esac
echo example.org/lib >&2
{behaviour}
while [ "$1" != -o ]; do shift; done
folder=$2; shift 2
for package; do
  printf '#!/bin/sh\\necho "$0"\\n' > "$folder${{package##*/}}"
  chmod +x "$folder${{package##*/}}"
done
"""

MakeGo = Callable[..., Path]
MakeProgram = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache, state folder, HOME and PATH for the test."""
    for name in [name for name in os.environ if name.startswith(("PULUMI_", "LOCKSTEP_", "GO"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LOCKSTEP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "bin").mkdir()
    users_tools._on_path.cache_clear()
    return tmp_path


@pytest.fixture
def two_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Group]:
    """`anvil` has two programs and a chart; `bell` is not among the default groups."""
    for module in ("anvil", "bell"):
        folder = tmp_path / "tools" / module
        folder.mkdir(parents=True)
        (folder / "go.mod").write_text(f"module {module}\n\ngo 1.25.3\n")
    groups = {
        "anvil": Group(
            name="anvil",
            version="1.2.3",
            programs=(
                Program("anvil", "anvil", "example.org/anvil", ("example.org/v.Version=v1.2.3",)),
                Program("anvilctl", "anvil", "example.org/anvilctl"),
            ),
            copies=(Copy("anvil", "example.org/anvil", "chart", "charts/anvil"),),
        ),
        "bell": Group(
            name="bell",
            version="2.0.0",
            programs=(Program("bell", "bell", "example.org/bell"),),
            command="make bell",
        ),
    }
    monkeypatch.setattr(cache, "sources", lambda: tmp_path / "tools")
    monkeypatch.setattr(catalogue, "groups", lambda: groups)
    return groups


@pytest.fixture
def make_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeGo:
    """A `go` on PATH that writes a script instead of compiling, and logs its arguments."""
    module = tmp_path / "module"
    (module / "chart").mkdir(parents=True)
    (module / "chart" / "Chart.yaml").write_text("name: anvil\n")
    (module / "lib.go").write_text("package lib\n")

    monkeypatch.setattr(golang, "USUAL_PLACES", ())
    monkeypatch.setattr(building, "POLL", 0.01)

    def make(behaviour: str = "", *, version: str = "1.26.1") -> Path:
        script = FAKE_GO.format(
            calls=tmp_path / "calls",
            version=version,
            module=module,
            behaviour=textwrap.dedent(behaviour),
        )
        go = tmp_path / "bin" / "go"
        go.write_text(script)
        go.chmod(0o755)
        return go

    return make


@pytest.fixture
def make_program(tmp_path: Path) -> MakeProgram:
    """A program on PATH that prints the given text."""

    def make(name: str, output: str) -> Path:
        program = tmp_path / "bin" / name
        program.write_text(f"#!/bin/sh\necho '{output}'\n")
        program.chmod(0o755)
        users_tools._on_path.cache_clear()
        return program

    return make
