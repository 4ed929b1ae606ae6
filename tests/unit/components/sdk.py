"""The Pulumi SDK in tests: its event loop, what coverage traces, and resources made in `apply`."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pulumi

Tracer = Callable[..., Any] | None


@contextmanager
def traced_by(tracer: Tracer) -> Iterator[None]:
    """Let coverage look at the program, but not at the SDK: that takes twice as long."""
    before, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(tracer)
    threading.settrace(None)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(of_threads)


@contextmanager
def own_loop() -> Iterator[None]:
    """Give the SDK the event loop that it would make in any thread, and never close."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@contextmanager
def watched_applies(created: list[str], tracer: Tracer) -> Iterator[None]:
    """Add to `created` every resource that is created while a function of `apply` runs."""
    depth = 0
    plain_apply, plain_init = pulumi.Output.apply, pulumi.Resource.__init__

    def apply(self: Any, func: Callable[[Any], Any], *rest: Any, **options: Any) -> Any:
        def noticed(value: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                with traced_by(tracer):
                    return func(value)
            finally:
                depth -= 1

        return plain_apply(self, noticed, *rest, **options)

    def init(self: Any, t: str, name: str, *rest: Any, **options: Any) -> None:
        # The SDK itself makes these for references; they register nothing.
        if depth and not options.get("dependency"):
            created.append(name)
        plain_init(self, t, name, *rest, **options)

    pulumi.Output.apply, pulumi.Resource.__init__ = apply, init  # type: ignore[method-assign]
    try:
        yield
    finally:
        pulumi.Output.apply, pulumi.Resource.__init__ = plain_apply, plain_init  # type: ignore[method-assign]
