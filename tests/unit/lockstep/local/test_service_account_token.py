import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lockstep.local import certificates, service_account_token


class Api(BaseHTTPRequestHandler):
    """Grants a token to one ServiceAccount."""

    asked: ClassVar[list[tuple[str, dict[str, Any]]]] = []

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append((self.path, json.loads(content)))
        is_known = "/serviceaccounts/known/" in self.path
        status = {"token": "t", "expirationTimestamp": "2026-11-19T22:00:00Z"}
        self.send_response(201 if is_known else 404)
        self.end_headers()
        self.wfile.write(json.dumps({"status": status} if is_known else {"message": "no"}).encode())

    def log_message(self, *_args: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of the API, which takes the administrator's certificate only, and the PKI."""
    pki = tmp_path / "pki"
    certificates.create(pki)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(pki / "ca.crt"))
    tls.load_cert_chain(pki / "server.crt", pki / "server.key")
    tls.verify_mode = ssl.CERT_REQUIRED
    with HTTPServer(("127.0.0.1", 0), Api) as http:
        http.socket = tls.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{http.server_port}", str(pki)
        http.shutdown()
        thread.join()


def test_prints_a_token_of_an_hour_as_client_go_reads_it(
    server: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    service_account_token.main(*server, "ns", "known")
    printed = json.loads(capsys.readouterr().out)
    assert printed["kind"] == "ExecCredential"
    assert printed["apiVersion"] == service_account_token.API_VERSION
    assert printed["status"] == {"token": "t", "expirationTimestamp": "2026-11-19T22:00:00Z"}
    path, body = Api.asked[-1]
    assert path == "/api/v1/namespaces/ns/serviceaccounts/known/token"
    assert body["spec"]["expirationSeconds"] == 3600


def test_refusal_names_the_service_account(server: tuple[str, str]) -> None:
    with pytest.raises(SystemExit, match="no token for ServiceAccount ns/other"):
        service_account_token.main(*server, "ns", "other")
