"""Inside the recorder's process: watch, write, and serve what was written."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import uuid
from datetime import UTC, datetime
from typing import IO, Any

from lockstep.kube import client as kube
from lockstep.recording import model as recordings
from lockstep.recording.client import END, READY_FD, Subject, pid_file, socket_of
from lockstep.recording.model import Entry, Header, Tick, WatchStatus
from lockstep.recording.watch import Recorder, targets

# How often the recorder looks whether its file is still there; its cluster may have been removed.
LOOK = 5.0
# How often it tells its readers until when they know everything.
TICK = 0.1


def serve(subject: Subject) -> None:
    """Record until somebody says that it is enough, or the deadline."""
    os.umask(0o077)
    asyncio.run(_Server(subject).run())


class _Server:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._file: IO[bytes] | None = None
        self._early: list[Entry] = []
        self._readers: set[asyncio.StreamWriter] = set()
        self._enough = asyncio.Event()

    async def run(self) -> None:
        subject = self._subject
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._enough.set)
        client = kube.async_client(subject.kubeconfig, subject.context)
        recorder = Recorder(client, targets(subject.namespace, subject.pool), self._emit)
        started = datetime.now(UTC)
        await recorder.establish()
        header = self._header(recorder, started)
        self._open(header)
        os.chdir(subject.path.parent)
        name = socket_of(subject.path).name
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        server = await asyncio.start_unix_server(self._welcome, name)
        pid_file(subject.path).write_text(str(os.getpid()))
        _say_ready(subject, header)
        try:
            await self._until_enough(recorder)
        finally:
            server.close()
            await self._finish(recorder)
            await client.close()

    async def _until_enough(self, recorder: Recorder) -> None:
        """Follow until somebody ends it; a follower that fails fails the recorder."""
        work: list[asyncio.Task[Any]] = [
            asyncio.create_task(recorder.follow()),
            asyncio.create_task(self._timer()),
            asyncio.create_task(self._tick(recorder)),
            asyncio.create_task(self._enough.wait()),
        ]
        done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        for task in done:
            task.result()

    def _header(self, recorder: Recorder, started: datetime) -> Header:
        return Header(
            scenario=self._subject.scenario,
            namespaces=(self._subject.namespace,),
            pool=self._subject.pool,
            started=started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            clock=recorder.origin,
            run=uuid.uuid4().hex[:12],
            watched=recorder.watched,
            missing=recorder.missing,
        )

    def _open(self, header: Header) -> None:
        """Put the new recording in place of an old one, whole: no reader sees half a header."""
        path = self._subject.path
        fresh = path.with_suffix(".new")
        self._file = fresh.open("w+b", buffering=0)
        early, self._early = self._early, []
        lines = [recordings.to_line(header), *map(recordings.to_line, early)]
        self._file.write(b"".join(lines))
        fresh.replace(path)

    def _emit(self, entry: Entry) -> None:
        if self._file is None:
            self._early.append(entry)
            return
        line = recordings.to_line(entry)
        self._file.write(line)
        for reader in self._readers:
            reader.write(line)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand over everything so far, then everything new; no entry comes between the two."""
        assert self._file is not None  # noqa: S101 - the server starts after the file
        writer.write(os.pread(self._file.fileno(), os.fstat(self._file.fileno()).st_size, 0))
        self._readers.add(writer)
        try:
            while line := await reader.readline():
                if line == END:
                    self._enough.set()
        except ConnectionError:
            pass
        finally:
            self._readers.discard(writer)
            writer.close()

    async def _tick(self, recorder: Recorder) -> None:
        """Tell readers how far the recording is complete, though nothing may have happened.

        They must not use their own clock for that: on a busy machine we may be late. Each tick
        has the time of the one before, so that whatever had come by then is surely written.
        """
        while True:
            known = recorder.now()
            await asyncio.sleep(TICK)
            for reader in self._readers:
                reader.write(recordings.to_line(Tick(known)))

    async def _timer(self) -> None:
        """Wait for the deadline, or until the recording was removed with its cluster."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._subject.deadline
        while loop.time() < deadline and self._subject.path.exists():
            await asyncio.sleep(min(LOOK, max(0.0, deadline - loop.time())))

    async def _finish(self, recorder: Recorder) -> None:
        self._emit(WatchStatus(recorder.now(), "pod", "ended"))
        for path in (socket_of(self._subject.path), pid_file(self._subject.path)):
            path.unlink(missing_ok=True)
        for writer in list(self._readers):
            writer.close()  # after what is still on its way
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
        if self._file is not None:
            self._file.close()


def _say_ready(subject: Subject, header: Header) -> None:
    """Tell whoever started us; from now on nobody waits for us."""
    answer = json.dumps({"recording": str(subject.path), "run": header.run})
    if number := os.environ.pop(READY_FD, None):
        with os.fdopen(int(number), "w", encoding="utf-8") as ready:
            ready.write(answer)
