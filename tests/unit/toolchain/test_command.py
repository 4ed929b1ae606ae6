"""`lockstep tools`."""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import toolchain
from lockstep import versions
from lockstep.cli import main
from toolchain import cache, catalogue

MakeProgram = Callable[[str, str], Path]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The groups that `ensure` was called for, which makes nothing."""
    calls: list[tuple[str, ...]] = []

    def ensure(groups: Sequence[str], **_: object) -> None:
        calls.append(tuple(groups))

    monkeypatch.setattr(toolchain, "ensure", ensure)
    return calls


DEFAULT = (
    *("etcd", "kwok", "kubernetes", f"volcano-{versions.VOLCANO_DEFAULT}"),
    f"lws-{versions.LWS_DEFAULT}",
    *("pulumi", "pulumi-command", "pulumi-kubernetes"),
)


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        ([], DEFAULT),
        (["--lws", "0.7.0", "--kind"], (*DEFAULT, "lws-0.7.0", "kind")),
        (["--group", "etcd"], ("etcd",)),
        (["--group", "etcd", "--lws", "0.8.0"], ("etcd", "lws-0.8.0")),
        (["--volcano", "1.14.1", "--volcano", "1.15.1"], (*DEFAULT, "volcano-1.14.1")),
    ],
)
def test_options_choose_the_groups(
    asked: list[tuple[str, ...]], options: list[str], groups: tuple[str, ...]
) -> None:
    assert main(["tools", *options]) == 0
    assert asked == [groups]


def test_list_makes_nothing_and_shows_sources(
    asked: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str], make_program: MakeProgram
) -> None:
    program = make_program("kubectl", f"v{versions.KUBERNETES}")
    assert main(["tools", "--list"]) == 0
    assert asked == []
    lines = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["kubectl"].split()[2:] == ["yours", str(program)]
    assert lines["etcd"].split()[2:] == ["absent", "make", "tools"]
    assert lines["kind"].endswith("lockstep tools --kind")
    assert "chart volcano" in lines


def test_export_is_what_a_shell_can_evaluate(
    asked: list[tuple[str, ...]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "a folder; with 'signs'"))
    assert main(["tools", "--export"]) == 0
    assert asked == [DEFAULT]
    script = f'{capsys.readouterr().out}\nprintf %s "$PULUMI_CONFIG_PASSPHRASE_FILE"'
    done = subprocess.run(["/bin/sh", "-ec", script], capture_output=True, text=True, check=True)
    assert done.stdout == str(tmp_path / "a folder; with 'signs'" / "passphrase")


def test_clean_removes_everything(tmp_path: Path) -> None:
    for folder in ("toolchain/etcd-1", "build/mod", "logs"):
        (tmp_path / "cache" / folder).mkdir(parents=True)
    assert main(["tools", "--clean"]) == 0
    left = [path.name for path in (tmp_path / "cache").iterdir()]
    assert left == ["lock"]
    assert main(["tools", "--clean"]) == 0


def test_clean_is_refused_while_another_run_builds(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "cache" / "build").mkdir(parents=True)
    with cache.lock(lambda: None):
        assert main(["tools", "--clean"]) == 2
    assert "lockstep: another run is building the toolchain" in capsys.readouterr().err
    assert cache.build_dir().is_dir()


def test_built_tool_shows_the_version_of_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    for group in catalogue.groups().values():
        for program in group.programs:
            cache.program(group, program.name).parent.mkdir(parents=True, exist_ok=True)
            cache.program(group, program.name).touch()
        (cache.folder(group) / cache.MANIFEST).write_text('{"source": "built"}')
    main(["tools", "--list", "--json"])
    items = {item["name"]: item for item in json.loads(capsys.readouterr().out)}
    pulumi = "github.com/pulumi"
    assert {name: items[name]["built_from"] for name in items if name.startswith("pulumi")} == {
        "pulumi": f"{pulumi}/pulumi/pkg/v3@v{versions.PULUMI}",
        "pulumi-language-python": f"{pulumi}/pulumi/sdk/python/cmd/pulumi-language-python/v3"
        f"@v{versions.PULUMI_PYTHON_CODE}",
        "pulumi-resource-command": f"{pulumi}/pulumi-command/provider"
        f"@v{versions.PULUMI_COMMAND_CODE}",
        "pulumi-resource-kubernetes": f"{pulumi}/pulumi-kubernetes/provider/v4"
        f"@v{versions.PULUMI_KUBERNETES_CODE}",
    }
    assert items["pulumi-resource-command"]["version"] == versions.PULUMI_COMMAND
    assert items["etcd"]["built_from"] == f"go.etcd.io/etcd/server/v3@v{versions.ETCD}"
