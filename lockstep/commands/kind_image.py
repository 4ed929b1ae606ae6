"""`lockstep kind_image`: kind's node image from package registries, where none can be pulled."""

from __future__ import annotations

import argparse
import shutil

from toolchain.kind_image import build, engine, store

HELP = "build kind's node image from Debian packages and Go modules (root; opt-in)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Building is what it does; the options undo it."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--clean", action="store_true", help="remove the images and what is half built"
    )
    choice.add_argument(
        "--stop", action="store_true", help="stop the Docker engine that this started"
    )


def run(args: argparse.Namespace) -> int:
    """Build, unless told to undo."""
    if args.stop:
        print("lockstep: stopped Docker" if engine.stop() else "lockstep: no Docker of ours runs")
    elif args.clean:
        clean()
    else:
        print(build.build())
    return 0


def clean() -> None:
    """Remove what was built; the toolchain's programs stay, and so does the engine."""
    shutil.rmtree(build.work_dir(), ignore_errors=True)
    for name in store.all_built():
        done = store.remove(name)
        print(f"lockstep: removed {name}" if done else f"lockstep: {name} is in use; kept")
