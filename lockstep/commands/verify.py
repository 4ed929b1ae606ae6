"""`lockstep verify`: whether all-or-nothing scheduling holds in a cluster that we did not make."""

import argparse
import asyncio
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from lockstep.errors import LockstepError
from lockstep.judge import verify as verification
from lockstep.judge.verify import GangReport
from lockstep.kube.client import Deployment, async_client, load
from lockstep.recording.model import Header, Recording, instant
from lockstep.recording.watch import Recorder, targets

HELP = "watch the LeaderWorkerSets of any cluster; exit 0: it holds, 1: broken, 2: could not tell"

_DURATION = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>s|m|)")
_WORDS = {True: "[green]holds[/]", False: "[bold red]BROKEN[/]", None: "[yellow]?[/]"}
_SUMMARY = {
    verification.HOLDS: "holds: every gang is bound whole or not at all",
    verification.BROKEN: "broken: not every gang is held together",
    verification.CANNOT_TELL: "could not tell",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Take any cluster that a kubeconfig reaches; nothing is changed in it."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "-n", "--namespace", help="namespace to watch (default: that of the kubeconfig's context)"
    )
    where.add_argument("-A", "--all-namespaces", action="store_true", help="watch all of them")
    parser.add_argument("--kubeconfig", help="kubeconfig file (default: as kubectl finds it)")
    parser.add_argument("--context", help="context in it (default: its current one)")
    parser.add_argument(
        "--for",
        dest="duration",
        type=duration,
        default=30.0,
        metavar="TIME",
        help="how long to watch, such as 30s or 2m (default 30s)",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def duration(text: str) -> float:
    """Read a time such as 30s, 2m or 90."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 30s or 2m")
    return float(match["number"]) * (60 if match["unit"] == "m" else 1)


def run(args: argparse.Namespace) -> int:
    """Watch, judge, and say it."""
    config = load(args.kubeconfig, args.context)
    namespace = None if args.all_namespaces else args.namespace or config.namespace
    recording = asyncio.run(_watch(args, namespace))
    reports = verification.examine(recording)
    code = verification.exit_code(reports)
    if args.json:
        print(json.dumps(_document(reports, recording, code), indent=2))
    else:
        _show(Console(), reports, recording, code, namespace)
    return code


async def _watch(args: argparse.Namespace, namespace: str | None) -> Recording:
    """Record for the given time; without a wait when nothing could be judged anyway."""
    client = async_client(args.kubeconfig, args.context)
    spaces = (namespace,) if namespace else ()
    started = instant(datetime.now(UTC))
    recording = Recording(Header("verify", spaces, None, started))
    # Deployments are no gangs, and the user may have no permission to list them.
    aims = [aim for aim in targets(namespace, None) if aim.resource is not Deployment]
    recorder = Recorder(client, aims, recording.add)
    try:
        await recorder.establish()
        if "workload" in recorder.missing:
            raise LockstepError(f"nothing to verify: {recorder.missing['workload']}")
        recording.header = Header(
            "verify", spaces, None, started, watched=recorder.watched, missing=recorder.missing
        )
        if any(seen.facts["kind"] == "LeaderWorkerSet" for seen in recording.of("workload")):
            await _follow(recorder, recording, args.duration, quiet=args.json)
    finally:
        await client.close()
    return recording


async def _follow(recorder: Recorder, recording: Recording, seconds: float, quiet: bool) -> None:
    """Follow until the time is up, and show how far it is on a terminal."""
    following = asyncio.create_task(recorder.follow())
    began = recorder.now()
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=quiet or not console.is_terminal
    ) as progress:
        task = progress.add_task("watching", total=seconds)
        while (left := began + seconds - recorder.now()) > 0 and not following.done():
            await asyncio.wait([following], timeout=min(left, 0.5))
            pods = len({seen.uid for seen in recording.of("pod")})
            words = f"watching {pods} pods, {len(recording.observations)} observations"
            progress.update(task, completed=recorder.now() - began, description=words)
    confirmed = following.done() or await recorder.confirm() is not None
    following.cancel()
    (failure,) = await asyncio.gather(following, return_exceptions=True)
    if isinstance(failure, Exception):
        raise failure
    if not confirmed:
        raise LockstepError("the API server does not answer, so what happened last is not known")


def _document(reports: Sequence[GangReport], recording: Recording, code: int) -> dict[str, object]:
    return {
        "result": {0: "holds", 1: "broken", 2: "unknown"}[code],
        "seconds": round(recording.end, 3),
        "missing": dict(recording.header.missing),
        "gangs": msgspec.to_builtins(reports),
    }


def _show(
    console: Console,
    reports: Sequence[GangReport],
    recording: Recording,
    code: int,
    namespace: str | None,
) -> None:
    if not reports:
        where = f"namespace {namespace}" if namespace else "the cluster"
        found = any(seen.facts["kind"] == "LeaderWorkerSet" for seen in recording.of("workload"))
        what = "every LeaderWorkerSet has replicas 0" if found else "there is no LeaderWorkerSet"
        console.print(f"could not tell: {what} in {where}")
        return
    table = Table(box=box.SIMPLE_HEAD)
    for title in ("namespace", "group", "bound", "state", "verdict", "bind skew"):
        table.add_column(title, no_wrap=True)
    table.add_column("why", overflow="fold")
    for report in reports:
        skew = "-" if report.bind_skew_seconds is None else f"{report.bind_skew_seconds:.3f} s"
        table.add_row(
            report.namespace,
            report.group,
            f"{report.bound}/{report.size}",
            report.state,
            _WORDS[report.holds],
            skew,
            report.reason,
        )
    console.print(table)
    count = "1 gang" if len(reports) == 1 else f"{len(reports)} gangs"
    console.print(f"{_SUMMARY[code]} ({count}, {recording.end:.0f} s)")
