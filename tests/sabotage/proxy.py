"""A TCP proxy between the recorder and the API server, which can cut, stall or delay the watches.

It passes TLS through untouched.
"""

import contextlib
import socket
import threading


class Proxy:
    """Forwards connections to a port of this machine until it is told otherwise."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._down = threading.Event()
        self._down.set()
        self._up = threading.Event()
        self._up.set()
        self._is_refusing = False
        self._is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close all connections, and every new one at once."""
        self._is_refusing = True
        self._close_pairs()

    def mend(self) -> None:
        """Accept connections again."""
        self._is_refusing = False

    def hold(self) -> None:
        """Keep what the API server sends, and deliver it later: requests still pass."""
        self._down.clear()

    def stall(self) -> None:
        """Let nothing through in either direction, but keep every connection open."""
        self._down.clear()
        self._up.clear()

    def release(self) -> None:
        """Deliver everything that was kept, at once."""
        self._down.set()
        self._up.set()

    def close(self) -> None:
        """End the proxy."""
        self._is_closed = True
        self._server.close()
        self._close_pairs()
        self.release()

    def _close_pairs(self) -> None:
        for pair in self._pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
        self._pairs.clear()

    def _accept(self) -> None:
        while not self._is_closed:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            if self._is_refusing:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            self._pairs.append((client, server))
            for source, sink, gate in (
                (client, server, self._up),
                (server, client, self._down),
            ):
                threading.Thread(target=_pump, args=(source, sink, gate), daemon=True).start()


def _pump(source: socket.socket, sink: socket.socket, gate: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            gate.wait()
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
