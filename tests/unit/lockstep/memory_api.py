"""A Kubernetes API in memory: reads, lists, and merge patches that notice stale versions."""

import copy
import json
from collections.abc import Callable
from typing import Any

import httpx2
from lightkube import Client, KubeConfig
from lightkube.config.models import Cluster, User


def client(answer: Callable[[httpx2.Request], httpx2.Response]) -> Client:
    """A client whose requests a function answers."""
    # Nothing is verified over http, and to load the machine's certificates takes a while.
    cluster = Cluster(server="http://memory.example", insecure=True)
    config = KubeConfig.from_one(cluster=cluster, user=User())
    return Client(config=config, transport=httpx2.MockTransport(answer))


class MemoryApi:
    """Objects by path; every change has a new resourceVersion, as in the real API."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.patches: list[str] = []
        self.before_patch: Callable[[], None] = lambda: None
        """Somebody else who is quicker."""
        self.refused: tuple[str, ...] = ()
        """Methods that nobody may use."""
        self._version = 0

    def put(self, path: str, thing: dict[str, Any]) -> None:
        self._version += 1
        kept = copy.deepcopy(thing)
        name = path.rpartition("/")[2]
        kept.setdefault("metadata", {}).update(name=name, resourceVersion=str(self._version))
        self.objects[path] = kept

    def client(self) -> Client:
        return client(self._answer)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if request.method in self.refused:
            return _status(403)
        if request.method == "PATCH":
            return self._patch(path, json.loads(request.content))
        if path in self.objects:
            return httpx2.Response(200, json=self.objects[path])
        kind = path.rpartition("/")[2]
        listed = [o for p, o in self.objects.items() if p.split("/")[-2] == kind]
        if kind in ("nodes", "pods", "leaderworkersets", "controllerrevisions"):
            return httpx2.Response(200, json={"metadata": {}, "items": listed})
        return _status(404)

    def _patch(self, path: str, patch: dict[str, Any]) -> httpx2.Response:
        self.before_patch()
        if path not in self.objects:
            return _status(404)
        expected = patch.get("metadata", {}).pop("resourceVersion", None)
        if expected not in (None, self.objects[path]["metadata"]["resourceVersion"]):
            return _status(409)
        self.patches.append(path)
        self.put(path, _merged(self.objects[path], patch))
        return httpx2.Response(200, json=self.objects[path])


def _merged(thing: Any, patch: dict[str, Any]) -> dict[str, Any]:
    """RFC 7386: null removes, mappings merge, all else replaces."""
    result = dict(thing) if isinstance(thing, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = _merged(result.get(key), value)
        else:
            result[key] = value
    return result


def _status(code: int) -> httpx2.Response:
    reasons = {404: "not found", 409: "the object has been modified", 403: "forbidden"}
    return httpx2.Response(code, json={"code": code, "message": reasons[code]})
