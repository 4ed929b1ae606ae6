"""`python service_account_token.py SERVER PKI NAMESPACE ACCOUNT`: print a token for an operator.

A kubeconfig names this program as its credential plugin: client-go runs it when the operator starts
and whenever a token has expired, so no operator needs a token that lives for long. The API server
refuses a token also when its ServiceAccount has been deleted.

Run as a file and without imports of Lockstep, so that it starts quickly.
"""

import http.client
import json
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

API_VERSION = "client.authentication.k8s.io/v1"
SECONDS = 3600
TIMEOUT = 10.0


def request(server: str, pki: Path, namespace: str, account: str) -> dict[str, str]:
    """Ask the API server for a token of a ServiceAccount, as the cluster's administrator."""
    tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    address = urlsplit(server)
    connection = http.client.HTTPSConnection(
        str(address.hostname), address.port, timeout=TIMEOUT, context=tls
    )
    spec = {"audiences": [], "expirationSeconds": SECONDS}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != http.HTTPStatus.CREATED:
        sys.exit(f"no token for ServiceAccount {namespace}/{account}: {content.decode()[:300]}")
    status: dict[str, str] = json.loads(content)["status"]
    return status


def main(server: str, pki: str, namespace: str, account: str) -> None:
    """Print the token as client-go reads it."""
    status = request(server, Path(pki), namespace, account)
    credential = {
        "apiVersion": API_VERSION,
        "kind": "ExecCredential",
        "status": {"token": status["token"], "expirationTimestamp": status["expirationTimestamp"]},
    }
    print(json.dumps(credential))


if __name__ == "__main__":
    main(*sys.argv[1:])
