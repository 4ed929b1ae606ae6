"""JUnit XML for CI: one test case per receipt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from lockstep.report.markup import visible
from lockstep.report.summary import reason

Receipt = Mapping[str, Any]


def render(receipts: Sequence[Receipt]) -> str:
    """Make the whole document."""
    failed = sum(not receipt["verdict"]["ok"] for receipt in receipts)
    counts = {
        "tests": str(len(receipts)),
        "failures": str(failed),
        "errors": "0",
        "skipped": "0",
        "time": _seconds(sum(receipt["timeline"]["end"] for receipt in receipts)),
    }
    root = Xml.Element("testsuites", {"name": "lockstep", **counts})
    first = min(receipt["timeline"]["started"] for receipt in receipts)
    suite = Xml.SubElement(root, "testsuite", {"name": "lockstep", "timestamp": first, **counts})
    for receipt in receipts:
        _case(suite, receipt)
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: Xml.Element, receipt: Receipt) -> None:
    verdict = receipt["verdict"]
    name = {"classname": f"lockstep.{receipt['scenario']}", "name": receipt["step"]}
    case = Xml.SubElement(suite, "testcase", {**name, "time": _seconds(receipt["timeline"]["end"])})
    if not verdict["ok"]:
        told = f"expected {verdict['expected']}, observed {verdict['observed']}"
        message = visible(f"{told}: {reason(receipt)}")
        failure = Xml.SubElement(case, "failure", {"message": message, "type": "verdict"})
        failure.text = message
    if receipt["evidence"]:
        Xml.SubElement(case, "system-out").text = visible("\n".join(receipt["evidence"]))


def _seconds(value: float) -> str:
    return f"{value:.3f}"
