"""Links with stable names to the charts in the cache."""

from pathlib import Path

import toolchain
from lockstep import versions
from toolchain import cache, catalogue


def cached_chart(group: str, name: str) -> Path:
    chart = cache.folder(catalogue.groups()[group]) / "charts" / name
    chart.mkdir(parents=True)
    (chart / "Chart.yaml").touch()
    return chart


def test_cached_charts_are_linked_by_name_and_version(tmp_path: Path) -> None:
    volcano = cached_chart(f"volcano-{versions.VOLCANO_DEFAULT}", "volcano")
    lws = cached_chart("lws-0.7.0", "lws")
    toolchain.link_charts(tmp_path / "charts")
    links = {link.name: link.resolve() for link in (tmp_path / "charts").iterdir()}
    assert links == {f"volcano-{versions.VOLCANO_DEFAULT}": volcano, "lws-0.7.0": lws}


def test_link_follows_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "charts"
    folder.mkdir()
    for name in (f"volcano-{versions.VOLCANO_DEFAULT}", "lws-0.9.0"):
        (folder / name).symlink_to(tmp_path / "removed")
    volcano = cached_chart(f"volcano-{versions.VOLCANO_DEFAULT}", "volcano")
    toolchain.link_charts(folder)
    assert [link.resolve() for link in folder.iterdir()] == [volcano]
