"""The embedded cluster as another user of the machine meets it: every port, every file."""

import http.client
import json
import os
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lockstep import paths
from lockstep.local import certificates
from tests.e2e.conftest import LiveStack, MakeStack

NOBODY = 65534
HEALTH = {"/healthz", "/readyz", "/livez"}
ADMISSION = "/mutate--v1-pod"
PATHS = (
    *sorted(HEALTH),
    "/",
    "/api",
    "/apis",
    "/version",
    "/openapi/v2",
    "/metrics",
    "/configz",
    "/debug/pprof/",
    "/debug/pprof/heap",
    "/api/v1/secrets",
    "/v3/kv/range",
    ADMISSION,
)
# Opens a path for reading, or connects to a socket, and prints whether it could.
OPEN = """\
import socket, stat, sys, os
for path in sys.stdin.read().splitlines():
    try:
        if stat.S_ISSOCK(os.stat(path).st_mode):
            socket.socket(socket.AF_UNIX).connect(path)
        elif os.path.isdir(path):
            os.listdir(path)
        else:
            open(path, "rb").close()
    except OSError:
        continue
    print(path)
"""


@pytest.fixture(scope="module")
def stack(make_stack: MakeStack) -> LiveStack:
    """A deployed stack."""
    made = make_stack("gang", name="e2e-closed")
    made.deploy()
    return made


def listening(stack: LiveStack) -> dict[int, str]:
    """The TCP ports on which the cluster's processes listen, with the name of the process."""
    found = {}
    for process in stack.processes():
        for connection in process.net_connections("inet"):
            if connection.status == psutil.CONN_LISTEN:
                assert connection.laddr.ip == "127.0.0.1", f"{process.name()} listens outside"
                found[connection.laddr.port] = process.name()
    return found


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An administrator's certificate of another cluster."""
    folder = tmp_path_factory.mktemp("wrong") / "pki"
    certificates.create(folder)
    return folder


def answers(port: int, path: str, tls: ssl.SSLContext | None) -> int | None:
    """The status of a request without credentials or with wrong ones; None if it is refused."""
    connection = (
        http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=tls)
        if tls
        else http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    )
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def contexts(wrong: Path) -> Iterator[tuple[str, ssl.SSLContext | None]]:
    yield "without TLS", None
    for name in ("without credentials", "with another cluster's certificate"):
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        if name != "without credentials":
            tls.load_cert_chain(wrong / "admin.crt", wrong / "admin.key")
        yield name, tls


def test_every_port_answers_health_only(stack: LiveStack, wrong: Path) -> None:
    ports = listening(stack)
    assert "kube-apiserver" in ports.values()
    assert not {"etcd", "kube-controller-manager", "kube-scheduler", "kwok"} & set(ports.values())
    answered = {
        (name, path)
        for port, name in ports.items()
        for _, tls in contexts(wrong)
        for path in PATHS
        if answers(port, path, tls) == http.HTTPStatus.OK and path not in HEALTH
    }
    # LWS cannot ask for a client certificate. Its answer depends on the request only.
    assert {(name.partition("-")[0], path) for name, path in answered} == {("lws", ADMISSION)}


def test_operators_have_no_lasting_token(stack: LiveStack) -> None:
    folder = paths.cluster_dir(stack.cluster_name())
    found = list(folder.glob("operators/*/*.kubeconfig"))
    assert len(found) == 3
    assert not any("token:" in file.read_text() for file in found)


def files(stack: LiveStack) -> list[Path]:
    """Everything below the state folder, and the copies of the kubeconfig that Pulumi makes."""
    copies = Path(tempfile.gettempdir()).glob("kubeconfig[0-9]*")
    return [*copies, paths.state_dir(), *paths.state_dir().rglob("*")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_nobody_opens_no_file_and_no_socket(stack: LiveStack) -> None:
    # As nobody may enter no folder above, the files are also tried where everybody may.
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        names = [str(path) for path in files(stack)]
        python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
        opened = subprocess.run(
            [python, "-c", OPEN],
            input="\n".join(names),
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        )
    assert opened.stdout.split() == []
    assert len(names) > 50


def test_files_are_the_owners_alone(stack: LiveStack) -> None:
    folder = paths.cluster_dir(stack.cluster_name())
    open_to_others = [
        path
        for path in (folder, *folder.rglob("*"))
        if not path.is_symlink() and stat.S_IMODE(path.lstat().st_mode) & 0o077
    ]
    assert open_to_others == []


def test_etcd_is_a_socket_of_its_owner(stack: LiveStack) -> None:
    place = paths.cluster_dir(stack.cluster_name()) / "etcd:1"
    assert stat.S_ISSOCK(place.stat().st_mode)
    descriptor = os.open(place.parent, os.O_PATH)  # the path of a socket may be too long
    try:
        with socket.socket(socket.AF_UNIX) as own:
            own.connect(f"/proc/self/fd/{descriptor}/{place.name}")
    finally:
        os.close(descriptor)


def test_stack_state_and_receipts_have_no_key(stack: LiveStack) -> None:
    key = (paths.cluster_dir(stack.cluster_name()) / "pki" / "admin.key").read_text()
    secret = key.splitlines()[1]
    state = json.dumps(json.loads(stack.pulumi("stack", "export")))
    assert secret not in state
