"""A browser for tests: headless Chromium, driven through its DevTools pipe; no package needed."""

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
# Chromium reads requests from descriptor 3 and answers on 4.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
DEADLINE = 30.0
COMPLAINTS = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")


def find() -> str | None:
    """The browser's path, or None when it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One page; every call waits for its answer under a deadline."""

    def __init__(self, send: int, receive: int) -> None:
        self._send, self._receive = send, receive
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return its result; events that arrive meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda said: said.get("id") == self._number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return dict(answer["result"])

    def open(self, page: Path, width: int, height: int = 900, scheme: str = "light") -> None:
        """Show a file at a width, as a reader with these preferences sees it."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.call("Page.navigate", url=page.as_uri())
        self._until(lambda said: said.get("method") == "Page.loadEventFired")

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def paint(self) -> None:
        """Wait until changes are drawn: two frames, as the first may have begun before them."""
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.call("Runtime.evaluate", expression=f"{frames}.then(() => 0)", awaitPromise=True)

    def complaints(self) -> list[dict[str, Any]]:
        """Whatever the browser wrote to its console since the page was opened."""
        return [event for event in self.events if event["method"] in COMPLAINTS]

    def requests(self) -> list[str]:
        """What was fetched since the page was opened."""
        sent = [e for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [str(event["params"]["request"]["url"]) for event in sent]

    def _until(self, wanted: Any) -> dict[str, Any]:
        deadline = time.monotonic() + DEADLINE
        while True:
            while b"\0" in self._buffer:
                text, _, self._buffer = self._buffer.partition(b"\0")
                said = json.loads(text)
                if "method" in said:
                    self.events.append(said)
                if wanted(said):
                    return dict(said)
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._receive], [], [], left)[0]:
                raise TimeoutError(f"the browser did not answer within {DEADLINE:.0f} s")
            heard = os.read(self._receive, 1 << 20)
            if not heard:
                raise RuntimeError("the browser exited; start it by hand to see why")
            self._buffer += heard


@contextlib.contextmanager
def browser(program: str, profile: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    child_in, send = os.pipe()
    receive, child_out = os.pipe()
    pipes = [str(child_in), str(child_out)]
    process = subprocess.Popen(
        [sys.executable, "-c", LAUNCH, *pipes, program, *FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(child_in, child_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(child_in)
    os.close(child_out)
    try:
        yield Browser(send, receive)
    finally:
        os.close(send)  # Chromium quits when its pipe is closed
        try:
            process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(receive)
