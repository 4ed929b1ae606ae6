"""The recorder's process: it watches the cluster and writes the recording."""

import asyncio
import contextlib
import os
import signal
import uuid
from datetime import UTC, datetime
from typing import IO

from lockstep.kube.client import async_client
from lockstep.recording import client, model
from lockstep.recording.client import Subject
from lockstep.recording.model import Entry, Header, Tick
from lockstep.recording.watch import Recorder, targets

TICK = 0.1
"""Seconds between two ticks, which tell readers until when the recording is complete."""


def serve(subject: Subject) -> None:
    """Record until a signal, the deadline, or the removal of the recording's file."""
    os.umask(0o077)
    asyncio.run(_Daemon(subject).run())


class _Daemon:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._file: IO[bytes] | None = None
        self._early: list[Entry] = []
        self._stopped = asyncio.Event()
        self._deadline = 0.0

    async def run(self) -> None:
        subject = self._subject
        self._handle_signals()
        connection = async_client(subject.kubeconfig, subject.context)
        recorder = Recorder(connection, targets(subject.namespace, subject.pool), self._write)
        started = datetime.now(UTC)
        try:
            await recorder.establish()
            self._publish(_header(subject, recorder, started))
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(recorder.follow())
                await self._tick_until_stopped(recorder)
                watching.cancel()
        finally:
            await connection.close()

    def _handle_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopped.set)
        loop.add_signal_handler(client.EXTEND, self._extend)

    def _extend(self) -> None:
        self._deadline = asyncio.get_running_loop().time() + self._subject.deadline

    def _write(self, entry: Entry) -> None:
        if self._file is None:
            self._early.append(entry)
        else:
            self._file.write(model.to_line(entry))

    def _publish(self, header: Header) -> None:
        """Give the recording its name once it is locked and has its header and first entries."""
        path = self._subject.path
        new = path.with_suffix(f".{header.pid}")
        self._file = new.open("xb", buffering=0)
        client.lock(self._file)
        self._file.write(b"".join(map(model.to_line, [header, *self._early])))
        self._extend()
        new.replace(path)

    async def _tick_until_stopped(self, recorder: Recorder) -> None:
        """Write ticks until the recording is over.

        Readers cannot use their own clock to know until when a recording is complete, as the
        recorder may be late on a busy machine. Each tick has the time of the tick before it, so
        that everything that was received by then is surely written.
        """
        clock = asyncio.get_running_loop().time
        while not self._stopped.is_set() and clock() < self._deadline and self._is_in_place():
            known = recorder.now()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK):
                    await self._stopped.wait()
            self._write(Tick(known))

    def _is_in_place(self) -> bool:
        """Whether the file was neither removed, as its cluster was, nor replaced by a new run."""
        assert self._file is not None  # noqa: S101 - the file is open before the first tick
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._subject.path.stat())
        except FileNotFoundError:
            return False


def _header(subject: Subject, recorder: Recorder, started: datetime) -> Header:
    return Header(
        scenario=subject.scenario,
        namespaces=(subject.namespace,),
        pool=subject.pool,
        started=model.instant(started),
        clock=recorder.origin,
        run=uuid.uuid4().hex[:12],
        pid=os.getpid(),
        watched=recorder.watched,
        missing=recorder.missing,
    )
