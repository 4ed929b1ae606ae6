import http.client
import socket
from functools import partial

from lockstep.local import health


def test_a_port_that_is_served_is_found_at_once() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert health.await_listening(server.getsockname()[1], 5)


def test_a_port_that_nobody_serves_is_given_up() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    assert not health.await_listening(port, 0.1)
    connect = partial(http.client.HTTPConnection, "127.0.0.1", port, timeout=1)
    assert not health.await_ok(connect, "/healthz", 0.1)
