"""The recorder's process: it watches the cluster and writes the recording."""

import asyncio
import contextlib
import os
import signal
import uuid
from datetime import UTC, datetime
from typing import IO

from lockstep.errors import LockstepError
from lockstep.kube.client import async_client
from lockstep.recording import client, identity, model
from lockstep.recording.client import Subject
from lockstep.recording.model import Entry, Header
from lockstep.recording.watch import Recorder, targets

CHECK_SECONDS = 0.1
"""Seconds between two looks at the deadline and at the recording's file."""


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
        aims = targets(subject.namespace, subject.pool)
        recorder = Recorder(connection, aims, self._write, subject.scheduler or "pods")
        started = datetime.now(UTC)
        try:
            await recorder.establish()
            cluster = await identity.cluster_of(connection)
            self._publish(_header(subject, recorder, started, cluster))
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(recorder.follow())
                await self._wait_for_end()
                watching.cancel()
        except ExceptionGroup as errors:  # of the only task
            raise errors.exceptions[0] from None
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
            _write_all(self._file, model.to_line(entry))

    def _publish(self, header: Header) -> None:
        """Give the recording its name once it is locked and has its header and first entries."""
        path = self._subject.path
        new = path.with_suffix(f".{header.pid}")
        self._file = new.open("xb", buffering=0)
        client.lock(self._file)
        _write_all(self._file, b"".join(map(model.to_line, [header, *self._early])))
        self._extend()
        new.replace(path)

    async def _wait_for_end(self) -> None:
        """Return when the recording is over."""
        clock = asyncio.get_running_loop().time
        while not self._stopped.is_set() and clock() < self._deadline and self._is_in_place():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._stopped.wait()

    def _is_in_place(self) -> bool:
        """Whether the file was neither removed, as its cluster was, nor replaced by a new run."""
        assert self._file is not None  # noqa: S101 - the file is open once it is published
        try:
            return os.path.samestat(os.fstat(self._file.fileno()), self._subject.path.stat())
        except FileNotFoundError:
            return False


def _write_all(file: IO[bytes], data: bytes) -> None:
    """Write all of it, or end the recorder: a recording with a gap must not go on."""
    try:
        while data:
            data = data[file.write(data) :]
    except OSError as error:
        raise LockstepError(f"cannot write the recording: {error}") from error


def _header(subject: Subject, recorder: Recorder, started: datetime, cluster: str) -> Header:
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
        cluster=cluster,
    )
