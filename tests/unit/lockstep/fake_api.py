"""A Kubernetes API of one process: lists and watches that can be cut, compacted and refused."""

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

PODS = "/api/v1/namespaces/test/pods"
NODES = "/api/v1/nodes"
EVENTS = "/api/v1/namespaces/test/events"
POD_GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/test/podgroups"
SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/test/leaderworkersets"
METRICS = "/metrics"
DEPLOYMENTS = "/apis/apps/v1/namespaces/test/deployments"


class FakeApi:
    """The state, and the levers that a test pulls."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.version = 1
        self.oldest = 0
        self.objects: dict[str, dict[str, dict[str, Any]]] = {
            path: {} for path in (PODS, NODES, EVENTS, POD_GROUPS, SETS, DEPLOYMENTS)
        }
        self.log: list[tuple[int, str, str, dict[str, Any]]] = []
        self.statuses: dict[str, int] = {}
        self.down = False
        self.gone_as_event = True
        self.noise: list[bytes] = []
        self.queries: list[dict[str, list[str]]] = []
        self.sessions = 0
        self.done: Callable[[], int] = lambda: self.sessions
        """How many sessions of the scheduler have ended."""
        self.mute = False
        """Whether watches stay open but deliver nothing."""
        self.on_delete: Callable[[str], None] = self.delete
        """Called with the name of a pod that a client deletes."""
        self._watches: set[socket.socket] = set()

    def put(self, name: str, path: str = PODS, **fields: Any) -> None:
        """Create or change an object."""
        with self.changed:
            self.version += 1
            known = self.objects[path].get(name)
            uid = known["metadata"]["uid"] if known else f"{name}-{self.version}"
            metadata = {"name": name, "uid": uid, "resourceVersion": str(self.version)}
            if path != NODES:
                metadata["namespace"] = "test"
            thing = {"metadata": {**metadata, **fields.pop("extra", {})}, **fields}
            self.objects[path][name] = thing
            self.log.append((self.version, path, "MODIFIED" if known else "ADDED", thing))
            self.changed.notify_all()

    def delete(self, name: str, path: str = PODS) -> None:
        with self.changed:
            self.version += 1
            thing = json.loads(json.dumps(self.objects[path].pop(name)))
            thing["metadata"]["resourceVersion"] = str(self.version)
            self.log.append((self.version, path, "DELETED", thing))
            self.changed.notify_all()

    def bind(self, name: str, node: str = "w1") -> None:
        self.put(name, spec={"nodeName": node})

    def cut(self, down: bool = False) -> None:
        """Break every watch in the middle; `down` refuses new connections, too."""
        with self.changed:
            self.down = down
            for connection in self._watches:
                with suppress(OSError):  # the client may have left
                    connection.shutdown(socket.SHUT_RDWR)
            self._watches.clear()
            self.changed.notify_all()

    def unmute(self) -> None:
        with self.changed:
            self.mute = False
            self.changed.notify_all()

    def up(self) -> None:
        with self.changed:
            self.down = False

    def compact(self) -> None:
        """Forget all history: a watch from an older version is told 410 Gone."""
        with self.changed:
            self.oldest = self.version
            self.changed.notify_all()

    def watched(self, connection: socket.socket) -> None:
        with self.changed:
            self._watches.add(connection)

    def is_watched(self, connection: socket.socket) -> bool:
        return connection in self._watches


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # an answer in two packets would take 40 ms
    api: FakeApi

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_DELETE(self) -> None:
        path, _, name = self.path.partition("?")[0].rpartition("/")
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        known = self.api.objects.get(path, {}).get(name)
        uid = body.get("preconditions", {}).get("uid")
        found = known is not None and uid in (None, known["metadata"]["uid"])
        if found and path == PODS:
            self.api.on_delete(name)
        elif found:
            self.api.delete(name, path)
        self._answer(200 if found else 404, _status(200 if found else 404))

    def do_PATCH(self) -> None:
        self._answer(404, _status(404))

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == METRICS:
            self._scheduler_metrics()
            return
        query = parse_qs(url.query)
        self.api.queries.append({"path": [url.path], **query})
        status = self.api.statuses.get(url.path)
        if self.api.down:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif status or url.path not in self.api.objects:
            self._answer(status or 404, _status(status or 404))
        elif "watch" in query:
            self._watch(url.path, int(query["resourceVersion"][0]))
        else:
            self._list(url.path, query)

    def _scheduler_metrics(self) -> None:
        """A scheduler that runs one session whenever it is asked."""
        self.api.sessions += 1
        name = "volcano_{0}_scheduling_latency_milliseconds_count{{{0}={1}}} {2}"
        lines = [
            name.format(kind, json.dumps(value), self.api.sessions)
            for kind, value in (("action", "allocate"), ("plugin", "gang"))
        ]
        lines.append(f"volcano_e2e_scheduling_latency_milliseconds_count {self.api.done()}")
        self.send_response(200)
        self.end_headers()
        self.wfile.write("\n".join([*lines, "process_start_time_seconds 1"]).encode())
        self.close_connection = True

    def _answer(self, code: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _list(self, path: str, query: dict[str, list[str]]) -> None:
        """Answer in pages, as the real one does."""
        with self.api.changed:
            items = list(self.api.objects[path].values())
            version = str(self.api.version)
        start = int(query.get("continue", ["0"])[0])
        end = start + int(query.get("limit", ["1000"])[0])
        metadata = {"resourceVersion": version}
        if end < len(items):
            metadata["continue"] = str(end)
        self._answer(200, {"metadata": metadata, "items": items[start:end]})

    def _watch(self, path: str, version: int) -> None:
        api = self.api
        if version < api.oldest and not api.gone_as_event:
            self._answer(410, _status(410))
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.close_connection = True
        with suppress(OSError):
            self._stream(path, version)

    def _stream(self, path: str, version: int) -> None:
        api = self.api
        if version < api.oldest:
            self._chunk({"type": "ERROR", "object": _status(410)})
            self.wfile.write(b"0\r\n\r\n")
            return
        api.watched(self.connection)
        while True:
            with api.changed:
                if not api.is_watched(self.connection):
                    return
                news = [entry for entry in api.log if entry[0] > version and entry[1] == path]
                noise = api.noise.pop() if api.noise and path == PODS else None
                if api.mute or (not news and not noise):
                    api.changed.wait(5.0)
                    continue
            if noise:
                self._raw(noise)
            for number, _, change, thing in news:
                self._chunk({"type": change, "object": thing})
                version = number

    def _chunk(self, event: Any) -> None:
        self._raw(json.dumps(event).encode() + b"\n")

    def _raw(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Take it that clients leave in the middle; anything else is told."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _status(code: int) -> dict[str, Any]:
    return {"kind": "Status", "apiVersion": "v1", "code": code, "message": f"status {code}"}


@contextmanager
def serving(folder: Path) -> Iterator[tuple[FakeApi, Path]]:
    """Serve a fake API; gives its levers and a kubeconfig for it."""
    api = FakeApi()
    handler = type("Handler", (_Handler,), {"api": api})
    server = _Server(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield api, kubeconfig(folder / "kubeconfig", f"http://127.0.0.1:{server.server_port}")
    finally:
        api.cut(down=True)
        server.shutdown()
        thread.join()
        server.server_close()


def kubeconfig(path: Path, server: str, context: str = "fake", **user: Any) -> Path:
    # Nothing is verified over http, and to load the machine's certificates takes a while.
    cluster = {"server": server, "insecure-skip-tls-verify": True}
    content = {
        "current-context": context,
        "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user or {"token": "secret"}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path
