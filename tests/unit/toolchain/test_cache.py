"""The cache: its keys, and publication in one step."""

from pathlib import Path

import pytest

from toolchain import cache
from toolchain.catalogue import Group

Groups = dict[str, Group]


def fill(folder: Path) -> None:
    for name in ("anvil", "anvilctl"):
        (folder / "bin" / name).write_text("program")


@pytest.fixture
def anvil(two_groups: Groups) -> Group:
    cache.root().mkdir(parents=True)
    return two_groups["anvil"]


def test_relative_cache_is_found_from_anywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOCKSTEP_CACHE", "cache")
    monkeypatch.chdir(tmp_path)
    assert cache.root() == tmp_path / "cache" / "toolchain"
    assert cache.build_dir() == tmp_path / "cache" / "build"


def test_key_changes_with_the_groups_own_pins_only(two_groups: Groups) -> None:
    anvil, bell = cache.key(two_groups["anvil"]), cache.key(two_groups["bell"])
    (cache.sources() / "anvil" / "go.mod").write_text("module anvil\n\ngo 1.26.0\n")
    assert cache.key(two_groups["anvil"]) != anvil
    assert cache.key(two_groups["bell"]) == bell


def test_published_group_is_present_and_knows_its_source(anvil: Group) -> None:
    assert not cache.is_present(anvil)
    cache.publish(anvil, "built", fill)
    assert cache.is_present(anvil)
    assert cache.source(anvil) == "built"
    assert cache.program(anvil, "anvilctl").read_text() == "program"


def test_group_that_lost_a_program_is_absent(anvil: Group) -> None:
    cache.publish(anvil, "built", fill)
    cache.program(anvil, "anvilctl").unlink()
    assert not cache.is_present(anvil)
    cache.publish(anvil, "built", fill)  # and can be made again over its remains
    assert cache.is_present(anvil)


def test_interrupted_making_leaves_nothing_behind(anvil: Group) -> None:
    def interrupted(folder: Path) -> None:
        fill(folder)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.publish(anvil, "built", interrupted)
    assert list(cache.root().iterdir()) == []


def test_remains_of_a_killed_run_are_removed(anvil: Group) -> None:
    remains = cache.root() / f".{cache.key(anvil)}.killed"
    remains.mkdir()
    cache.publish(anvil, "built", fill)
    assert list(cache.root().iterdir()) == [cache.folder(anvil)]
