"""The page in a real browser: nothing to complain about, nothing cut off."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lockstep import cli
from lockstep.report import receipt
from lockstep.report.receipt import Receipt
from tests import samples
from tests.browser import Browser, browser, find

PROGRAM = find()
pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no chromium on PATH; on Debian: apt-get install chromium"
)

STORIES: dict[str, list[Receipt]] = {
    "demo": samples.demo(),
    "broken": [samples.broken(), samples.partial()],
    "long": [samples.released(300.0), samples.partial()],
    "crowd": [samples.crowd(100)],
    "contention": [samples.serialized(), samples.deadlocked()],
}
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Text of a lane that runs into other text of the same line.
COLLISIONS = """
[...document.querySelectorAll('svg.timeline')].flatMap(svg => {
  const meet = (p, q) => p.left < q.right && q.left < p.right
    && p.top + 4 < q.bottom && q.top + 4 < p.bottom;
  const texts = [...svg.querySelectorAll('text')]
    .map(text => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0);
  return texts.flatMap(([a, p], index) => texts.slice(index + 1)
    .filter(([, q]) => meet(p, q)).map(([b]) => a + ' / ' + b));
})
"""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with browser(PROGRAM, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each story as a page, made by the command from receipts."""
    folder = tmp_path_factory.mktemp("report")
    made: dict[str, Path] = {}
    for name, receipts in STORIES.items():
        for one in receipts:
            receipt.write(folder / name / f"{one.step}.json", one)
        made[name] = folder / f"{name}.html"
        words = ["report", "--receipts", str(folder / name), "--output", str(made[name])]
        assert cli.main(words) == 0
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("story", sorted(STORIES))
def test_page_fits_and_the_console_is_silent(
    chromium: Browser, pages: dict[str, Path], story: str, width: int, scheme: str
) -> None:
    chromium.open(pages[story], width, scheme=scheme)
    assert chromium.ask("document.querySelectorAll('details').forEach(d => d.open = true)") is None
    assert chromium.ask(OVERFLOW) == 0
    assert chromium.complaints() == []
    assert chromium.requests() == [pages[story].as_uri()]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("story", sorted(STORIES))
def test_text_in_pictures_does_not_collide(
    chromium: Browser, pages: dict[str, Path], story: str, width: int
) -> None:
    chromium.open(pages[story], width)
    assert chromium.ask(COLLISIONS) == []


def test_answer_and_comparison_are_near_the_top(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["demo"], 1280, 800)
    bottom = "document.querySelector({!r}).getBoundingClientRect().bottom"
    assert chromium.ask(bottom.format("h1")) < 300
    assert chromium.ask(bottom.format("#verdicts")) < 800
    top = chromium.ask("document.querySelector('.comparison').getBoundingClientRect().top")
    assert top < 800


def test_contrast_is_enough_to_read(chromium: Browser, pages: dict[str, Path]) -> None:
    for scheme in ("light", "dark"):
        chromium.open(pages["broken"], 1280, scheme=scheme)
        for ink in ("ink", "soft", "accent", "warm", "bad"):
            for ground in ("paper", "card"):
                assert _contrast(chromium, ink, ground) >= 4.5, (scheme, ink, ground)


def test_paper_shows_what_is_folded(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["demo"], 794, scheme="dark")
    chromium.call("Emulation.setEmulatedMedia", media="print")
    chromium.paint()
    shown = "document.querySelector('.events').checkVisibility({contentVisibilityAuto: true})"
    assert chromium.ask(shown) is True
    assert chromium.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(chromium.call("Page.printToPDF")["data"]) > 10_000


def _contrast(chromium: Browser, ink: str, ground: str) -> float:
    """WCAG's contrast between two of the page's colours."""
    style = "getComputedStyle(document.documentElement).getPropertyValue('--{}')"
    first, second = (_luminance(chromium.ask(style.format(name))) for name in (ink, ground))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def _luminance(colour: str) -> float:
    text = colour.strip().removeprefix("#")
    if len(text) == 3:
        text = "".join(2 * digit for digit in text)
    parts = [int(text[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
