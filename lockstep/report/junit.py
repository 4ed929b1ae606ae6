"""The report as JUnit XML for CI: one test case per receipt, and per cell of a version matrix."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from lockstep.report.figures import visible
from lockstep.report.matrix import Matrix
from lockstep.report.receipt import Receipt
from lockstep.report.summary import reason


def render(receipts: Sequence[Receipt], matrix: Matrix | None = None) -> str:
    """Make the document; a version matrix is a test suite of its own."""
    root = Xml.Element("testsuites", {"name": "lockstep"})
    first = min(receipt.timeline.started for receipt in receipts)
    suite = Xml.SubElement(root, "testsuite", {"name": "lockstep", "timestamp": first})
    for receipt in receipts:
        _case(suite, receipt)
    if matrix:
        _versions(root, matrix)
    for element in (*root, root):
        element.attrib |= _counts(element)
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _counts(element: Xml.Element) -> dict[str, str]:
    cases = list(element.iter("testcase"))
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": "0",
        "skipped": "0",
        "time": _seconds(sum(float(case.attrib["time"]) for case in cases)),
    }


def _case(suite: Xml.Element, receipt: Receipt) -> None:
    verdict = receipt.verdict
    name = {"classname": f"lockstep.{receipt.scenario}", "name": receipt.step}
    case = Xml.SubElement(suite, "testcase", {**name, "time": _seconds(receipt.timeline.end)})
    if not verdict.ok:
        told = f"expected {verdict.expected}, observed {verdict.observed}"
        _failure(case, f"{told}: {reason(receipt)}")
    if receipt.evidence:
        Xml.SubElement(case, "system-out").text = visible("\n".join(receipt.evidence))


def _versions(root: Xml.Element, matrix: Matrix) -> None:
    name = {"name": "lockstep versions", "timestamp": matrix.created_at}
    suite = Xml.SubElement(root, "testsuite", name)
    for row in matrix.rows:
        pair = f"lockstep.lws-{row.lws}-volcano-{row.volcano}"
        for cell in row.cells:
            known = {"classname": pair, "name": cell.step, "time": _seconds(cell.seconds)}
            case = Xml.SubElement(suite, "testcase", known)
            if not cell.ok:
                told = f"expected {cell.expected}, observed {cell.observed}"
                _failure(case, f"{told}: {cell.reason}")


def _failure(case: Xml.Element, said: str) -> None:
    message = visible(said)
    failure = Xml.SubElement(case, "failure", {"message": message, "type": "verdict"})
    failure.text = message


def _seconds(value: float) -> str:
    return f"{value:.3f}"
