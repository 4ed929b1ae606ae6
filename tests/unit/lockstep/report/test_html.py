"""The page: right numbers, no way in for markup, nothing fetched, every picture in words."""

import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lockstep.report import figures, html
from lockstep.report.receipt import Receipt, to_document
from lockstep.report.summary import summarize
from lockstep.report.timeline import PhaseMark
from tests import samples

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x00\u202e"


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.fields: dict[tuple[str, str], tuple[str, str | None]] = {}
        self._field: tuple[str, str, int, str | None] | None = None
        self._text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.append((tag, known))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)
        if "data-field" in known:
            self._text = ""
            self._field = (
                str(known["data-step"]),
                str(known["data-field"]),
                len(self.open),
                known.get("data-value"),
            )

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if self._field and len(self.open) == self._field[2]:
            step, field, _, value = self._field
            assert self.fields.setdefault((step, field), (self._text, value))[0] == self._text
            self._field = None
        assert self.open.pop() == tag

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_numbers_on_the_page_are_those_of_the_receipts() -> None:
    receipts = samples.demo()
    fields = Page(html.render(receipts)).fields
    for receipt in receipts:
        step, verdict = receipt.step, receipt.verdict
        bound = figures.share(verdict.bound, verdict.size)
        assert fields[step, "bound"] == (bound, str(verdict.bound))
        assert fields[step, "observed"][0] == verdict.observed
        assert fields[step, "expected"] == (verdict.expected, verdict.expected)
        for name, value in (
            ("bindSkewSeconds", verdict.bind_skew_seconds),
            ("releaseLatencySeconds", verdict.release_latency_seconds),
            ("end", receipt.timeline.end),
        ):
            exact = None if value is None else str(value)
            assert fields[step, name] == (figures.duration(value), exact)


def spoil(value: Any, key: str = "") -> Any:
    """Put hostile text wherever a receipt has free text."""
    if isinstance(value, dict):
        return {name: spoil(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [spoil(inner, key) for inner in value]
    fixed = ("schema", "scenario", "step", "createdAt", "started", "what", "change", "role")
    return EVIL if isinstance(value, str) and key not in fixed else value


def test_hostile_text_stays_text() -> None:
    documents = [spoil(to_document(one)) for one in [*samples.demo(), samples.crowd(8)]]
    documents[0]["verdict"]["ok"] = False
    for document in documents:
        document["config"] = {EVIL: EVIL, "nested": {EVIL: [EVIL]}}
        document["versions"] = {EVIL: EVIL}
    receipts = [msgspec.convert(document, Receipt) for document in documents]
    text = html.render(receipts)
    page = Page(text)
    assert not page.named("script")
    assert not page.named("img")
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert "\x00" not in text
    assert "\u202e" not in text


def test_page_fetches_nothing_and_forbids_it() -> None:
    text = html.render(samples.demo())
    page = Page(text)
    policy = next(m["content"] for m in page.named("meta") if "http-equiv" in m)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy
    for _, attributes in page.tags:
        assert not {"src", "style", "xlink:href"} & set(attributes)
        assert (attributes.get("href") or "#").startswith(("#", "data:,"))
    assert not re.search(r"https?://|@import|@font-face", text)


def test_ids_are_unique_and_references_hit() -> None:
    page = Page(html.render(samples.demo()))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for link in page.named("a"):
        assert str(link["href"]).removeprefix("#") in ids
    for svg in page.named("svg"):
        for reference in str(svg.get("aria-labelledby") or "").split():
            assert reference in ids


def test_every_picture_has_words_and_a_table() -> None:
    text = html.render(samples.demo())
    pictures = [svg for svg in Page(text).named("svg") if svg.get("aria-hidden") != "true"]
    assert len(pictures) == 6  # four scenarios, and two in the comparison
    assert all(svg["role"] == "img" and svg["aria-labelledby"] for svg in pictures)
    assert text.count("The picture as a table") == 4
    assert "No pod was bound to a node; all waited until the end." in text
    assert "constrained-worker-1 unblocked at 3.495 s." in text


def test_failed_verdict_shows_its_reason() -> None:
    text = html.render([samples.broken()])
    assert "<h1><em>No:</em> a gang was bound in part.</h1>" in text
    why = "3 of 4 pods of gang-0 bound for 6.0 s</p>"
    assert text.count(why) == 2  # at the top, and in its section
    assert "observed partial:" not in text  # that is in the table and the heading
    assert 'class="verdict bad"' in text


def test_comparison_has_one_scale_for_both() -> None:
    text = html.render(samples.demo())
    section = text[text.index('class="comparison"') :]
    section = section[section.index("<svg") : section.index('class="then"')]
    left, right = section.split("</svg>", 1)
    ticks = [re.findall(r'class="tick" x="([^"]+)"[^>]*>([^<]+)<', half) for half in (left, right)]
    assert ticks[0] == ticks[1]
    assert ticks[0][0] == ("0%", "0 s")


def test_actions_of_a_drill_are_numbered_and_listed() -> None:
    receipt = samples.serialized()
    text = html.render([receipt])
    assert len(re.findall('<circle class="sign"', text)) == 3
    assert '<ol class="actions">' in text
    assert text.count("gang-1 has worked for 1.0 s and ends") == 3  # and as an event
    fields = Page(text).fields
    assert fields["contention", "gangsCompleted"] == ("3", "3")
    assert fields["contention", "podSecondsWasted"] == ("240 ms", "0.24")


def test_phases_of_a_pod_group_follow_each_other() -> None:
    placed = samples.placed()
    (group,) = placed.timeline.pod_groups
    phases = [*group.phases, PhaseMark(at=2.9, phase="Running")]
    told = replace(placed.timeline, pod_groups=[replace(group, phases=phases)])
    text = html.render([replace(placed, timeline=told)])
    assert re.findall(r"<title>PodGroup (\w+) from", text) == ["Inqueue", "Running"]


def test_crowd_is_drawn_by_gang() -> None:
    text = html.render([samples.crowd(100)])
    assert "100 gangs, one lane each" in text
    assert text.count(": 4 of 4 bound from ") == 100


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "\N{EN DASH}"),
        (0.0, "0 ms"),
        (0.0214, "21 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (59.99, "59.99 s"),
        (60.0, "1 min"),
        (134.2, "2 min 14 s"),
        (7322.0, "2 h 2 min"),
    ],
)
def test_durations_read_well(seconds: float | None, text: str) -> None:
    assert figures.duration(seconds) == text


def test_a_leader_that_starts_alone_is_not_told_as_a_gang() -> None:
    placed = samples.placed()
    alone = samples.changed(
        placed,
        verdict={"observed": "leader-first", "bind_skew_seconds": 6.2},
        expectation={"verdict": "leader-first", "min_member": 1},
    )
    lead = summarize([placed, alone]).lead
    assert f"Gangs were bound within {figures.duration(placed.verdict.bind_skew_seconds)}." in lead
    assert "Workers that wait for their leader are no gang: a part was bound." in lead
