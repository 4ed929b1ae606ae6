"""The environment of the receipts: versions, settings, workers, and how to repeat the run."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lockstep.report import figures
from lockstep.report.receipt import Receipt, WorkerSize


def described(receipts: Sequence[Receipt]) -> list[tuple[str, dict[str, str]]]:
    """Versions, what the processes report, settings and workers under their titles."""
    reported = {one.step: dict(flat(one.verdict.platform or {})) for one in receipts}
    versions = {one.step: _platform(one) for one in receipts}
    settings = {one.step: dict(flat(one.config)) for one in receipts}
    workers = {one.step: {"per scenario": _workers(one.workers)} for one in receipts}
    tables = (
        ("Versions", versions),
        ("Reported by the processes", reported),
        ("Settings", settings),
        ("Workers", workers),
    )
    return [(title, merged(by_step)) for title, by_step in tables]


def merged(by_step: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Join the facts of all steps; where they differ, each value names its steps."""
    names = dict.fromkeys(name for facts in by_step.values() for name in facts)
    joined: dict[str, str] = {}
    for name in names:
        values: dict[str, list[str]] = {}
        for step, facts in by_step.items():
            values.setdefault(facts.get(name, figures.NOTHING), []).append(step)
        joined[name] = (
            next(iter(values))
            if len(values) == 1
            else "; ".join(f"{value} ({', '.join(steps)})" for value, steps in values.items())
        )
    return joined


def commands(receipts: Sequence[Receipt]) -> list[str]:
    """The commands that repeat the run, in a clone of the project."""
    provider = receipts[0].cluster.provider
    if provider in ("kind", "existing"):
        lines = [(f"lockstep demo --stack {provider}", "all scenarios of the demo")]
    else:
        lines = [("make demo", "all scenarios of the demo, on the embedded cluster")]
        for scenario in dict.fromkeys(receipt.scenario for receipt in receipts):
            lines.append((f"make up STACK={scenario}", "one scenario; make down removes it"))
    lines.append(("lockstep report", "this page, from the receipts"))
    return [f"{command:<34} # {what}" for command, what in lines]


def _platform(receipt: Receipt) -> dict[str, str]:
    cluster = receipt.cluster
    return {"cluster": cluster.name, "provider": cluster.provider, **receipt.versions}


def _workers(workers: Sequence[WorkerSize]) -> str:
    sizes = Counter(f"{worker.cpu} CPU, {worker.memory}" for worker in workers)
    return ", ".join(f"{number} with {size}" for size, number in sizes.items()) or figures.NOTHING


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested settings under dotted names."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        elif isinstance(value, list) and all(isinstance(one, str) for one in value):
            yield f"{prefix}{name}", ", ".join(value)
        elif value is not None:
            yield f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value)
