from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import NameOID

from lockstep.local import certificates


@pytest.fixture
def pki(tmp_path: Path) -> Path:
    folder = tmp_path / "pki"
    certificates.create(folder)
    return folder


def read(pki: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((pki / f"{name}.crt").read_bytes())


def test_files_are_the_owners_alone(pki: Path) -> None:
    assert oct(pki.stat().st_mode & 0o777) == "0o700"
    assert {oct(file.stat().st_mode & 0o777) for file in pki.iterdir()} == {"0o600"}


def test_certificates_are_of_the_clusters_authority(pki: Path) -> None:
    for name in ("server", "admin"):
        read(pki, name).verify_directly_issued_by(read(pki, "ca"))


def test_only_the_administrator_may_do_everything(pki: Path) -> None:
    groups = {
        name: read(pki, name).subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)[0].value
        for name in ("server", "admin")
    }
    assert groups == {"server": "lockstep", "admin": "system:masters"}


def test_key_of_the_authority_is_not_kept(pki: Path) -> None:
    public = read(pki, "ca").public_key()
    keys = [load_pem_private_key(file.read_bytes(), None) for file in pki.glob("*.key")]
    assert len(keys) == 3
    assert all(key.public_key() != public for key in keys)
