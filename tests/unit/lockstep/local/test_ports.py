import http.client
import socket
from functools import partial

import pytest

from lockstep.errors import LockstepError
from lockstep.local import ports


def test_free_ports_are_distinct_and_free() -> None:
    found = ports.free_ports(["a", "b", "c"])
    assert set(found) == {"a", "b", "c"}
    assert len(set(found.values())) == 3
    assert all(ports.LOWEST <= port <= ports.HIGHEST for port in found.values())


def test_taken_port_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not ports.is_free(port)
        monkeypatch.setattr("random.sample", lambda _population, _count: [port, 20001])
        assert ports.free_ports(["a"]) == {"a": 20001}


def test_no_free_port_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "is_free", lambda _port: False)
    with pytest.raises(LockstepError, match=r"no free ports .*ss -ltn"):
        ports.free_ports(["a"])


def test_server_that_listens_is_noticed() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert ports.await_listening(server.getsockname()[1], 5)


def test_waiting_for_a_port_without_a_server_times_out() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    assert not ports.await_listening(port, 0.1)
    connect = partial(http.client.HTTPConnection, "127.0.0.1", port, timeout=1)
    assert not ports.await_ok(connect, "/healthz", 0.1)
