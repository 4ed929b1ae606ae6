"""A small client of an embedded cluster's API server, of the campaign's own.

The campaign must not share code with what it tests, so it speaks plain JSON over HTTP.
"""

import json
import ssl
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import httpx2

from lockstep.local.embedded_cluster import EmbeddedCluster

Thing = dict[str, Any]

_ROOTS = {
    "Namespace": "/api/v1",
    "Node": "/api/v1",
    "Pod": "/api/v1",
    "ConfigMap": "/api/v1",
    "Secret": "/api/v1",
    "Deployment": "/apis/apps/v1",
    "LeaderWorkerSet": "/apis/leaderworkerset.x-k8s.io/v1",
    "PodGroup": "/apis/scheduling.volcano.sh/v1beta1",
    "Queue": "/apis/scheduling.volcano.sh/v1beta1",
    "PriorityClass": "/apis/scheduling.k8s.io/v1",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1",
}
_PLURALS = {"PriorityClass": "priorityclasses"}

WATCH_SILENCE = 2.0
"""Seconds without an event after which a watch is opened again, to notice that it should end."""
FAILURES = (httpx2.HTTPError, httpx2.StreamError, OSError, json.JSONDecodeError)
"""Everything that a request may fail with."""


class Refused(Exception):  # noqa: N818  # it need not be an error
    """The API server's answer to a request that it did not fulfil."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """Requests as the cluster's administrator; safe to use from several threads."""

    def __init__(self, cluster: EmbeddedCluster) -> None:
        tls = ssl.create_default_context(cafile=str(cluster.pki / "ca.crt"))
        tls.load_cert_chain(cluster.pki / "admin.crt", cluster.pki / "admin.key")
        self._http = httpx2.Client(
            base_url=f"https://127.0.0.1:{cluster.ports['apiserver']}",
            verify=tls,
            timeout=httpx2.Timeout(30),
            trust_env=False,
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def is_ready(self) -> bool:
        """Whether the API server says that it is ready."""
        try:
            return bool(self._http.get("/readyz").status_code == HTTPStatus.OK)
        except FAILURES:
            return False

    def get(self, kind: str, name: str, namespace: str | None = None) -> Thing:
        """Return one object."""
        return self._request("GET", _path(kind, namespace, name))

    def find(self, kind: str, name: str, namespace: str | None = None) -> Thing | None:
        """Return one object, or None if it does not exist."""
        try:
            return self.get(kind, name, namespace)
        except Refused as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def listed(self, kind: str, namespace: str | None = None, labels: str = "") -> Thing:
        """Return the list of a kind, with its version."""
        return self._request("GET", _path(kind, namespace), params={"labelSelector": labels})

    def items(self, kind: str, namespace: str | None = None, labels: str = "") -> list[Thing]:
        """Return the objects of a kind."""
        return list(self.listed(kind, namespace, labels)["items"])

    def create(self, thing: Mapping[str, Any], sub: str = "") -> Thing:
        """Create an object, or a subresource of it."""
        kind, metadata = str(thing["kind"]), thing["metadata"]
        if sub:
            owner = _path("Pod", metadata.get("namespace"), metadata["name"])
            return self._request("POST", f"{owner}/{sub}", body=thing)
        return self._request("POST", _path(kind, metadata.get("namespace")), body=thing)

    def apply(self, thing: Mapping[str, Any], manager: str = "pulumi") -> Thing:
        """Create or change an object by server-side apply, as Pulumi's provider does."""
        metadata = thing["metadata"]
        path = _path(str(thing["kind"]), metadata.get("namespace"), metadata["name"])
        return self._request(
            "PATCH",
            path,
            body=thing,
            content_type="application/apply-patch+yaml",
            params={"fieldManager": manager, "force": "true"},
        )

    def merge(
        self, kind: str, name: str, change: Thing, namespace: str | None = None, sub: str = ""
    ) -> Thing:
        """Change some fields of an object."""
        path = _path(kind, namespace, name) + (f"/{sub}" if sub else "")
        return self._request(
            "PATCH", path, body=change, content_type="application/merge-patch+json"
        )

    def delete(
        self, kind: str, name: str, namespace: str | None = None, grace: int | None = None
    ) -> None:
        """Delete an object; one that does not exist is no error."""
        params = {} if grace is None else {"gracePeriodSeconds": str(grace)}
        try:
            self._request("DELETE", _path(kind, namespace, name), params=params)
        except Refused as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise

    def watch(self, kind: str, namespace: str, version: str) -> Iterator[tuple[str, Thing]]:
        """Yield changes after a version; ends with an error of the connection."""
        params = {"watch": "true", "resourceVersion": version}
        silence = httpx2.Timeout(10, read=WATCH_SILENCE)
        path = _path(kind, namespace)
        with self._http.stream("GET", path, params=params, timeout=silence) as answer:
            if answer.status_code != HTTPStatus.OK:
                raise Refused(answer.status_code, f"no watch of {path}")
            for line in answer.iter_lines():
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise Refused(int(event["object"].get("code", 500)), str(event["object"]))
                yield event["type"], event["object"]

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Thing:
        answer = self._http.request(
            method,
            path,
            params=params,
            content=None if body is None else json.dumps(body),
            headers={"Content-Type": content_type},
        )
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise Refused(answer.status_code, f"{method} {path}: {answer.text[:300]}")
        known: Thing = answer.json()
        return known


def _path(kind: str, namespace: str | None, name: str = "") -> str:
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"{_ROOTS[kind]}{scope}/{plural}" + (f"/{name}" if name else "")
