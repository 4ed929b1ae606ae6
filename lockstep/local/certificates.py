"""The certificates and keys of an embedded cluster."""

import datetime
import os
from pathlib import Path

import trustme

ADMIN = ("kubernetes-admin", "system:masters")
"""The user of the administrator's certificate, and the group that may do everything."""
HOSTS = ("127.0.0.1", "localhost")
VALID_DAYS = 3650


def create(folder: Path) -> None:
    """Write the certificates and keys of a new cluster to a folder.

    The authority's own key is not written, so no other certificate can be issued later.
    """
    folder.mkdir(mode=0o700)
    authority = trustme.CA(organization_name="lockstep")
    expires = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=VALID_DAYS)
    user, group = ADMIN
    issued = {
        "server": authority.issue_cert(*HOSTS, organization_name="lockstep", not_after=expires),
        # Go refuses a certificate with an empty list of hosts.
        "admin": authority.issue_cert(
            user, common_name=user, organization_name=group, not_after=expires
        ),
    }
    _write(folder / "ca.crt", authority.cert_pem)
    # Signs the tokens of ServiceAccounts; it is the key of a certificate that is not used.
    _write(folder / "accounts.key", authority.issue_cert("accounts").private_key_pem)
    for name, certificate in issued.items():
        _write(folder / f"{name}.crt", certificate.cert_chain_pems[0])
        _write(folder / f"{name}.key", certificate.private_key_pem)


def _write(path: Path, blob: trustme.Blob) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(blob.bytes())
