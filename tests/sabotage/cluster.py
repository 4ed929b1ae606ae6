"""An embedded cluster of the campaign: made by `pulumi up`, and restored after each round."""

import base64
import contextlib
import gzip
import json
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
import yaml

from lockstep import paths, processes, versions
from lockstep.local import control_plane, embedded_cluster, operators, ports
from lockstep.lws import config_text, names
from lockstep.wait import wait_until
from tests.e2e.conftest import LiveStack
from tests.sabotage.api import FAILURES, Api, Thing

Variant = tuple[str | None, bool]
"""Volcano's configuration (None: the chart's), and whether LWS makes PodGroups."""

SCHEDULER, MANAGER, API_SERVER = "vc-scheduler", "lws-manager", "kube-apiserver"
VOLCANO_CONFIG = "volcano-scheduler-configmap"
VOLCANO_KEY = "volcano-scheduler.conf"
COLLECTED_WITHIN = 90.0
HEALTHY_WITHIN = 30.0
_ONE_AT_A_TIME = threading.Lock()


class Cluster:
    """A cluster that one round after the other has for itself."""

    def __init__(self, number: int) -> None:
        self._stack = LiveStack(f"sabotage-{number}")
        self._originals: dict[str, str] = {}
        self._variant: Variant = (None, True)
        self.is_ready = False

    def prepare(self) -> None:
        """Deploy the platform without a scenario, and wait until the cluster has settled."""
        with _ONE_AT_A_TIME:  # they share a Pulumi backend, which the first creates
            self._stack.write_config("gang", {"scenarios": []})
            self._stack.select()
        self._stack.deploy()
        self.embedded = embedded_cluster.load(self.name)
        self.api = Api(self.embedded)
        self._originals = {"volcano": self.scheduler_text(), "lws": self.manager_text()}
        self._variant = (None, True)
        await_collector(self.api)
        self.is_ready = True

    def recreate(self) -> None:
        """Replace a cluster that could not be restored."""
        self.remove()
        self.__init__(int(self._stack.name.rpartition("-")[2]))  # type: ignore[misc]
        self.prepare()

    def remove(self) -> None:
        """End every process of the cluster and remove its folder."""
        with contextlib.suppress(AttributeError):
            self.api.close()
        control_plane.delete(self.name)

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self._stack.cluster_name()

    @property
    def folder(self) -> Path:
        """The cluster's folder."""
        return paths.cluster_dir(self.name)

    @property
    def conf_file(self) -> Path:
        """The file that the running scheduler reads its configuration from."""
        return self.folder / "operators" / "volcano" / "conf" / VOLCANO_KEY

    def process(self, name: str) -> psutil.Process:
        """The process of a program of the cluster."""
        found: list[psutil.Process] = wait_until(
            f"a process {name}", lambda: processes.named(self.folder, name), 10.0
        )
        return found[0]

    def become(self, variant: Variant) -> None:
        """Give the platform the configuration that a scenario asks for."""
        conf, gangs = variant
        lws = self._originals["lws"]
        kept = self._original_annotation()
        plain = config_text.original_text(lws, kept)
        if variant != self._variant:
            self._write_helm_record(conf or self._originals["volcano"])
        self.write_scheduler_text(conf or self._originals["volcano"])
        self.write_manager_text(lws if gangs else plain)
        self._variant = variant

    def _write_helm_record(self, text: str) -> None:
        """Have Helm's record of the release name a configuration, as if the stack had set it."""
        labels = "owner=helm,name=volcano,status=deployed"
        (secret,) = self.api.items("Secret", operators.VOLCANO_NAMESPACE, labels)
        packed = base64.b64decode(base64.b64decode(secret["data"]["release"]))
        record = json.loads(gzip.decompress(packed))
        things = list(yaml.load_all(record["manifest"], Loader=yaml.CSafeLoader))
        for thing in things:
            if thing and thing["metadata"]["name"] == VOLCANO_CONFIG:
                thing["data"][VOLCANO_KEY] = text
        record["manifest"] = yaml.dump_all(things, Dumper=yaml.CSafeDumper)
        again = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(record).encode())))
        change = {"data": {"release": again.decode()}}
        name = secret["metadata"]["name"]
        self.api.merge("Secret", name, change, operators.VOLCANO_NAMESPACE)

    def scheduler_text(self) -> str:
        """Volcano's configuration in its ConfigMap."""
        found = self.api.get("ConfigMap", VOLCANO_CONFIG, operators.VOLCANO_NAMESPACE)
        return str(found["data"][VOLCANO_KEY])

    def manager_text(self) -> str:
        """The configuration of LWS in its ConfigMap."""
        found = self.api.get("ConfigMap", names.CONFIG_MAP, names.NAMESPACE)
        return str(found["data"][names.CONFIG_KEY])

    def write_scheduler_text(self, text: str) -> None:
        """Change Volcano's ConfigMap and restart it, if that is a change."""
        if text == self.scheduler_text() == self.conf_file.read_text():
            return
        change = {"data": {VOLCANO_KEY: text}}
        self.api.merge("ConfigMap", VOLCANO_CONFIG, change, operators.VOLCANO_NAMESPACE)
        operators.start(self.embedded, "volcano", versions.VOLCANO_DEFAULT)

    def write_manager_text(self, text: str) -> None:
        """Change the ConfigMap of LWS and restart it, if that is a change."""
        if text == self.manager_text():
            return
        change = {"data": {names.CONFIG_KEY: text}}
        self.api.merge("ConfigMap", names.CONFIG_MAP, change, names.NAMESPACE)
        operators.start(self.embedded, "lws", versions.LWS_DEFAULT)

    def restore(self) -> None:
        """Bring all processes and the platform's configuration back to what the variant has."""
        for process in processes.of_cluster(self.folder):
            with contextlib.suppress(psutil.Error):
                if process.status() == psutil.STATUS_STOPPED:
                    process.resume()
        wait_until("the API server", self.api.is_ready, HEALTHY_WITHIN)
        self.become(self._variant)
        self.give_rights()
        wait_until("healthy operators", self.is_healthy, HEALTHY_WITHIN)
        lost = embedded_cluster.missing(self.name)
        if lost:
            raise RuntimeError(f"{self.name}: {lost}")

    def is_healthy(self) -> bool:
        """Whether all operators answer."""
        return all(
            ports.listens(self.embedded.ports[port])
            for operator in operators.OPERATORS.values()
            for port in (*(name for name, _ in operator.health), *operator.listens)
        )

    def take_rights(self) -> None:
        """Take away the permission of LWS to create PodGroups."""
        self._bind([])

    def give_rights(self) -> None:
        """Give LWS its permission back."""
        account = {"kind": "ServiceAccount", "name": names.MANAGER, "namespace": names.NAMESPACE}
        self._bind([account])

    def _bind(self, subjects: list[Thing]) -> None:
        name = f"{self.name}{names.RIGHTS_SUFFIX}"
        self.api.merge("ClusterRoleBinding", name, {"subjects": subjects})

    def restart_api_server(self) -> None:
        """Kill the API server; the supervisor starts it again."""
        processes.end([self.process(API_SERVER)], API_SERVER)

    def _original_annotation(self) -> str | None:
        found = self.api.get("ConfigMap", names.CONFIG_MAP, names.NAMESPACE)
        kept = (found["metadata"].get("annotations") or {}).get(names.ORIGINAL_ANNOTATION)
        return None if kept is None else str(kept)


def patiently(action: Callable[[], object], seconds: float = 20.0) -> None:
    """Repeat a request until the API server answers."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            action()
        except FAILURES:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


def await_collector(api: Api) -> None:
    """Wait until the garbage collector knows PodGroups, which takes half a minute."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": str(uuid.uuid4())}
    metadata = {"name": "sabotage-orphan", "namespace": "default", "ownerReferences": [owner]}
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    api.create({**group, "metadata": metadata, "spec": {"minMember": 1}})
    wait_until(
        "the garbage collector",
        lambda: api.find("PodGroup", "sabotage-orphan", "default") is None,
        COLLECTED_WITHIN,
        pause=0.5,
    )
