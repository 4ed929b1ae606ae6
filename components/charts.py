"""Where the charts of Volcano and LWS are on this machine."""

from pathlib import Path

import pulumi

from lockstep import paths


def local_charts() -> str:
    """Return the folder with links to the toolchain's charts, relative to the Pulumi project.

    A path in the cache would be another on each machine, and a changed path upgrades the release.
    """
    return relative_path(paths.state_dir() / "charts")


def chart_path(folder: str | None, name: str, version: str) -> str | None:
    """Return the path of a chart in a folder; None, for no folder, means the published chart."""
    if folder is None:
        return None
    path = f"{folder}/{name}-{version}"
    if not Path(path).is_dir():
        raise pulumi.RunError(
            f"the chart {path} is missing; run `lockstep tools`, with --volcano or --lws for a "
            "version that is not the default, or set lockstep:charts to published"
        )
    return path


def relative_path(path: Path) -> str:
    """Return a path relative to the Pulumi project, where providers run; absolute if outside."""
    project = Path.cwd().resolve()
    resolved = path.resolve()
    return str(resolved.relative_to(project) if resolved.is_relative_to(project) else resolved)
