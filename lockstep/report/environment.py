"""Where the receipts come from: versions, settings, workers, and how to get the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lockstep.report.markup import Markup, element, join

Receipt = Mapping[str, Any]


def section(receipts: Sequence[Receipt]) -> Markup:
    """Describe each environment once, however many receipts come from it."""
    found = distinct(receipts)
    return element(
        "section",
        element("h2", "Where this was measured"),
        *(_block(", ".join(steps) if len(found) > 1 else "", one) for steps, one in found),
        element("h3", "How to repeat it"),
        element("pre", "\n".join(commands(receipts))),
        id="environment",
        aria_label="Environment",
    )


def distinct(receipts: Sequence[Receipt]) -> list[tuple[list[str], Receipt]]:
    """Put together the receipts that have the same versions, cluster and settings."""
    found: dict[str, tuple[list[str], Receipt]] = {}
    for receipt in receipts:
        keys = ("versions", "cluster", "config")
        key = json.dumps([receipt[name] for name in keys], sort_keys=True)
        found.setdefault(key, ([], receipt))[0].append(receipt["step"])
    return list(found.values())


def commands(receipts: Sequence[Receipt]) -> list[str]:
    """Say what to type, in a clone of the project."""
    lines = ["make demo                     # everything, on the embedded cluster"]
    for scenario in dict.fromkeys(receipt["scenario"] for receipt in receipts):
        lines.append(f"{f'make up STACK={scenario}':<30}# {scenario} alone")
    lines.append("python -m lockstep report     # this page, from the receipts")
    return lines


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Walk nested settings as dotted names."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        elif value is not None:
            yield f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value)


def _block(title: str, receipt: Receipt) -> Markup:
    cluster = {"cluster": receipt["cluster"]["name"], "provider": receipt["cluster"]["provider"]}
    workers = {
        worker["name"]: f"{worker['cpu']} CPU, {worker['memory']}" for worker in receipt["workers"]
    }
    facts = element(
        "div",
        _facts("Versions", {**cluster, **receipt["versions"]}),
        _facts("Settings", dict(flat(receipt["config"]))),
        _facts("Workers", workers),
        class_="facts",
    )
    return join(element("p", title, class_="soft") if title else None, facts)


def _facts(title: str, facts: Mapping[str, str]) -> Markup | None:
    if not facts:
        return None
    rows = join(*(join(element("dt", name), element("dd", value)) for name, value in facts.items()))
    return element("div", element("h3", title), element("dl", rows))
