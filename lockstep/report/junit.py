"""The report as JUnit XML for CI: one test case per receipt, and per cell of a version matrix."""

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from lockstep.judge.model import Verdict
from lockstep.report.figures import visible
from lockstep.report.matrix import Cell, Matrix
from lockstep.report.receipt import Receipt
from lockstep.report.summary import reason


def render(receipts: Sequence[Receipt], matrix: Matrix | None = None) -> str:
    """Make the document; a version matrix is a test suite of its own."""
    root = Xml.Element("testsuites", {"name": "lockstep"})
    first = min(receipt.timeline.started for receipt in receipts)
    suite = Xml.SubElement(root, "testsuite", {"name": "lockstep", "timestamp": first})
    for receipt in receipts:
        case = _case(suite, receipt.scenario, receipt.step, receipt.timeline.end)
        if not receipt.verdict.ok:
            _fail(case, receipt.verdict, reason(receipt))
        if receipt.evidence:
            Xml.SubElement(case, "system-out").text = visible("\n".join(receipt.evidence))
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


def _versions(root: Xml.Element, matrix: Matrix) -> None:
    name = {"name": "lockstep versions", "timestamp": matrix.created_at}
    suite = Xml.SubElement(root, "testsuite", name)
    for row in matrix.rows:
        for cell in row.cells:
            pair = f"lws-{row.lws}-volcano-{row.volcano}"
            case = _case(suite, pair, cell.step, cell.seconds)
            if not cell.ok:
                _fail(case, cell, cell.reason)


def _case(suite: Xml.Element, owner: str, name: str, seconds: float) -> Xml.Element:
    known = {"classname": f"lockstep.{owner}", "name": name, "time": _seconds(seconds)}
    return Xml.SubElement(suite, "testcase", known)


def _fail(case: Xml.Element, verdict: Verdict | Cell, why: str) -> None:
    message = visible(f"expected {verdict.expected}, observed {verdict.observed}: {why}")
    failure = Xml.SubElement(case, "failure", {"message": message, "type": "verdict"})
    failure.text = message


def _seconds(value: float) -> str:
    return f"{value:.3f}"
