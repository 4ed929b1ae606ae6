"""`make bench`: what Pulumi and the verdict cost, against the same by hand in the same run."""

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lockstep import paths, versions
from lockstep.local import control_plane, embedded_cluster
from lockstep.report import receipt
from lockstep.walk.stack import ensure_tools
from tests.bench import recorder
from tests.bench.by_hand import ByHand, copy_of
from tests.e2e.conftest import LiveStack

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))


def timed(stack: LiveStack, *words: str) -> float:
    """Seconds of one pulumi command."""
    started = time.monotonic()
    stack.pulumi(*words)
    return time.monotonic() - started


def stack_of(base: str, name: str) -> LiveStack:
    """A fresh stack with the config of another."""
    stack = LiveStack(name)
    stack.write_config(base)
    stack.select()
    return stack


def deploying() -> None:
    """`pulumi` on the gang stack, and the same by hand, in turns."""
    times: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        stack = stack_of("gang", f"bench-{number}")
        try:
            times.setdefault("preview", []).append(timed(stack, "preview"))
            times.setdefault("up", []).append(timed(stack, "up", "--yes", "--skip-preview"))
            times.setdefault("again", []).append(timed(stack, "up", "--yes", "--skip-preview"))
            made = embedded_cluster.load(stack.cluster_name())
            manifests = copy_of(made)
            destroy = timed(stack, "destroy", "--yes", "--skip-preview")
            times.setdefault("destroy", []).append(destroy)
        finally:
            stack.down()
        hand = ByHand(f"hand-{number}", made.ports, paths.cluster_dir(f"hand-{number}"))
        try:
            times.setdefault("up by hand", []).append(hand.up(manifests, versions.LWS_DEFAULT))
        finally:
            times.setdefault("down by hand", []).append(hand.down())
    middle = {name: statistics.median(values) for name, values in times.items()}
    print(f"\ndeploying the gang stack, median of {ROUNDS}")
    for name, seconds in middle.items():
        print(f"  {name:<14} {seconds:6.2f} s")
    print(f"  up against by hand: {middle['up'] / middle['up by hand']:.2f}x")


def judging() -> None:
    """How long the verdict keeps an update waiting after the last thing that happened."""
    print("\njudging: from the last change of a pod to the verdict, plus starting the command")
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "lockstep", "step", "--help"],
        cwd=paths.project_dir(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    starting = time.monotonic() - started
    stack = stack_of("all", "bench-all")
    try:
        stack.deploy()
    finally:
        stack.down()
    for one in receipt.load(Path(os.environ["LOCKSTEP_RECEIPTS"])):
        if one.scenario not in ("gang", "constrained", "no-gang"):
            continue
        pods = one.timeline.pods
        last = max(mark.at for pod in pods for mark in pod.marks)
        waited = one.timeline.end - last
        print(f"  {one.verdict.observed:<10} {waited:5.2f} s + {starting:.2f} s")


def following() -> None:
    """The recorder against kubectl."""
    print("\nfollowing: seconds behind the API server, the recorder beside `kubectl --watch`")
    cluster = control_plane.create("bench-recorder", "bench", "run")
    try:
        print(f"  {asyncio.run(recorder.measure(cluster))}")
    finally:
        control_plane.delete(cluster.name)


def main() -> None:
    """Everything, on state of its own."""
    folder = Path(tempfile.mkdtemp(prefix="lockstep-bench-"))
    os.environ["LOCKSTEP_STATE"] = str(folder / "state")
    os.environ["LOCKSTEP_RECEIPTS"] = str(folder / "receipts")
    # Compiling our modules anew for each command is no part of what a user waits for.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        ensure_tools()
        deploying()
        judging()
        following()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
