"""What Volcano's scheduler really runs, as its own metrics report it.

Volcano counts, for each plugin and action, the scheduling sessions in which it ran. So two looks at
the counters show whether every session between them had the plugin `gang`, whatever the
configuration says. A process that was restarted counts from zero and has another start time.
"""

import asyncio
import base64
import contextlib
import gzip
import json
import os
import re
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
import yaml

from lockstep.kube import client as kube
from lockstep.kube.client import FAILURES, AsyncClient, explain
from lockstep.recording.client import LocalScheduler
from lockstep.recording.model import GANG_PLUGIN, UNREACHABLE, Change, Entry, Observation

PAUSE = 0.2
"""Seconds between two looks; a session begins every second."""
FIRST_LOOKS = 10
"""Looks until the recording begins without the scheduler: those during a session tell nothing."""
CHANGE_SESSIONS = 2
"""Sessions in which a plugin or an action must be missing, or new, to count as a change."""
TIMEOUT = 3.0
"""Seconds that a look may take: a scheduler that is stopped does not answer."""
NAMESPACE = "volcano-system"
LABELS: dict[str, Any] = {"app": "volcano-scheduler"}
CONFIG_MAP = "volcano-scheduler-configmap"
CONFIG_KEY = "volcano-scheduler.conf"
PORT = 8080

# Without one of these, the plugin `gang` does not hold a gang together although it runs.
_NEEDED = ("enableJobReady", "enableJobPipelined")
# What reading Helm's record of a release may fail with, besides the request.
_UNREADABLE_RECORD = (
    yaml.YAMLError,
    zlib.error,
    EOFError,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
)
_COUNTER = re.compile(
    r"^volcano_(?P<kind>plugin|action)_scheduling_latency_milliseconds_count"
    r"\{(?P<labels>[^}]*)\} (?P<count>\S+)$",
    re.MULTILINE,
)
_DONE = re.compile(
    r"^volcano_e2e_scheduling_latency_milliseconds_count (?P<value>\S+)$", re.MULTILINE
)
_START = re.compile(r"^process_start_time_seconds (?P<value>\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Counters:
    """The counters of one process at one time."""

    process: str
    """When the process started, as it reports it."""
    plugins: Mapping[str, int]
    """Sessions that each plugin has opened."""
    actions: Mapping[str, int]
    """Sessions in which each action has run."""

    done: int
    """Sessions that have ended."""

    @property
    def opened(self) -> int:
        """Sessions that have begun."""
        return max(self.plugins.values(), default=0)


def parse(text: str) -> Counters:
    """Read the counters from the text of the metrics."""
    counts: dict[str, dict[str, int]] = {"plugin": {}, "action": {}}
    for match in _COUNTER.finditer(text):
        labels = dict(re.findall(r'(\w+)="([^"]*)"', match["labels"]))
        if labels.get("OnSession", "OnSessionOpen") == "OnSessionOpen":
            counts[match["kind"]][labels[match["kind"]]] = int(float(match["count"]))
    start, done = _START.search(text), _DONE.search(text)
    return Counters(
        start["value"] if start else "",
        counts["plugin"],
        counts["action"],
        int(float(done["value"])) if done else 0,
    )


def effective(before: Counters | None, now: Counters) -> tuple[list[str], list[str]] | None:
    """The actions and plugins that ran in every session between two looks; None: unknown.

    Without a look before, the counters speak for the time since the start of the process, unless
    they differ: then the configuration was changed, and it is not known when.
    """
    opened = now.opened - (before.opened if before else 0)
    actions, plugins = (
        {name: count - earlier.get(name, 0) for name, count in counts.items()}
        for counts, earlier in (
            (now.actions, before.actions if before else {}),
            (now.plugins, before.plugins if before else {}),
        )
    )
    changed = before is None and {*actions.values(), *plugins.values()} != {opened}
    if opened <= 0 or changed:
        return None
    return _always(actions, opened), _always(plugins, opened)


def _always(ran: Mapping[str, int], sessions: int) -> list[str]:
    # More than the sessions: the last look came between a session and the counter of a name.
    return sorted(name for name, count in ran.items() if count >= sessions)


def configured(text: str) -> dict[str, Any] | None:
    """The actions, the plugins and the disabled parts of `gang` of a configuration's text."""
    try:
        document = yaml.safe_load(text) or {}
        tiers = document.get("tiers") or ()
        plugins = [plugin for tier in tiers for plugin in tier.get("plugins") or ()]
        return {
            "actions": sorted(part.strip() for part in str(document["actions"]).split(",")),
            "plugins": sorted(plugin["name"] for plugin in plugins),
            "disabled": [
                key
                for plugin in plugins
                for key in _NEEDED
                if plugin["name"] == GANG_PLUGIN and plugin.get(key) is False
            ],
        }
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        return None


def _with_disabled(
    asked: dict[str, Any] | None, current: dict[str, Any] | None
) -> dict[str, Any] | None:
    """What was asked for, with the parts of `gang` that the current configuration disables.

    The scheduler reads its configuration again whenever it changes.
    """
    return {**(asked or current), "disabled": current["disabled"]} if current else asked


def _installed(release: str) -> str | None:
    """The scheduler's configuration in Helm's own record of a release."""
    record = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(release))))
    things = yaml.load_all(record["manifest"], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for thing in things:
        if thing and thing["kind"] == "ConfigMap" and thing["metadata"]["name"] == CONFIG_MAP:
            return str(thing["data"][CONFIG_KEY])
    return None


@contextlib.asynccontextmanager
async def _direct(local: LocalScheduler | None) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client for the metrics of a scheduler that is not asked through the API server."""
    socket = local.socket if local else None
    if socket is None:
        async with httpx2.AsyncClient(trust_env=False) as client:
            yield client
        return
    folder = os.open(socket.parent, os.O_PATH)  # the path of a socket may be too long
    try:
        transport = httpx2.AsyncHTTPTransport(uds=f"/proc/self/fd/{folder}/{socket.name}")
        async with httpx2.AsyncClient(transport=transport) as client:
            yield client
    finally:
        os.close(folder)


@dataclass
class _Process:
    """What is known of one process of the scheduler."""

    asked: dict[str, Any] | None
    last: Counters | None = None
    ran: tuple[list[str], list[str]] | None = None


@dataclass
class SchedulerProbe:
    """Asks the scheduler again and again, and emits what it answers."""

    client: AsyncClient
    local: LocalScheduler | None
    """None: the scheduler runs in pods, which are asked through the API server."""
    emit: Callable[[Entry], None]
    clock: Callable[[], float]
    _looks: int = 0
    _silent: str = ""
    _processes: dict[str, _Process] = field(default_factory=dict)

    async def establish(self) -> None:
        """Take a first look, before the workload is created: later looks are compared with it."""
        async with _direct(self.local) as direct:
            for _ in range(FIRST_LOOKS):
                await self._ask(direct)
                if self._looks:
                    return
                await asyncio.sleep(PAUSE)

    async def follow(self) -> None:
        """Ask until cancelled."""
        async with _direct(self.local) as direct:
            while True:
                await self._ask(direct)
                await asyncio.sleep(PAUSE)

    async def _ask(self, direct: httpx2.AsyncClient) -> None:
        began = self.clock()
        try:
            async with asyncio.timeout(TIMEOUT):
                await (self._ask_process(direct) if self.local else self._ask_pods())
        except (*FAILURES, TimeoutError) as error:
            reason = explain(error) if str(error) else "no answer"
            if reason != self._silent:
                self._tell(began, "scheduler", UNREACHABLE, {"reason": reason})
            self._silent = reason
        else:
            self._silent = ""

    async def _ask_process(self, direct: httpx2.AsyncClient) -> None:
        assert self.local is not None  # noqa: S101 - the caller has looked
        began = self.clock()
        url = "http://localhost/metrics" if self.local.socket else self.local.metrics
        answer = await direct.get(url)
        answer.raise_for_status()
        counters = parse(answer.text)
        if counters.process not in self._processes:
            self._processes[counters.process] = _Process(await self._asked(NAMESPACE))
        known = self._processes[counters.process]
        current = configured(self.local.conf.read_text()) if self.local.conf else None
        known.asked = _with_disabled(known.asked, current)
        self._compare(began, "vc-scheduler", counters.process, counters)

    async def _ask_pods(self) -> None:
        pods = [
            pod async for pod in self.client.list(kube.Pod, namespace=kube.ALL_NS, labels=LABELS)
        ]
        running = [pod for pod in pods if (pod.get("status") or {}).get("phase") == "Running"]
        if not running:
            raise httpx2.RequestError(
                "no pod with the label app=volcano-scheduler runs (LOCKSTEP_SCHEDULER_METRICS may "
                "name the address of its metrics)"
            )
        missed: Exception | None = None
        for pod in running:
            try:
                await self._ask_pod(pod)
            except FAILURES as error:
                missed = error
        if missed:
            raise missed

    async def _ask_pod(self, pod: Mapping[str, Any]) -> None:
        began, metadata = self.clock(), pod["metadata"]
        name, namespace = metadata["name"], metadata["namespace"]
        path = f"/api/v1/namespaces/{namespace}/pods/{name}:{PORT}/proxy/metrics"
        try:
            counters = parse(await kube.get_text(self.client, path))
        except FAILURES as error:
            if any(metadata["uid"] in known for known in self._processes):
                raise  # it has answered before: the ConfigMap would look like another process
            await self._tell_config_map(began, pod, explain(error))
            return
        uid = f"{metadata['uid']} {counters.process}"
        if uid not in self._processes:
            self._processes[uid] = _Process(await self._asked(namespace))
        known = self._processes[uid]
        known.asked = _with_disabled(known.asked, await self._config_map(namespace))
        self._compare(began, name, uid, counters)

    def _compare(self, began: float, name: str, uid: str, counters: Counters) -> None:
        """Emit what has run since the last look, and in how many sessions `gang` was missing.

        A look in the middle of a session is left out, as its actions have not all run yet. And the
        counters of one look are not of one moment: a change counts when it shows in two sessions.
        """
        known = self._processes[uid]
        if counters.done != counters.opened:
            return
        ran = effective(known.last, counters)
        sessions = counters.opened - (known.last.opened if known.last else 0)
        if ran and known.ran and ran != known.ran and sessions < CHANGE_SESSIONS:
            return  # the next look is compared with the same earlier one
        known.ran = ran or known.ran
        known.last = counters
        facts = {
            "source": "metrics",
            "sessions": counters.opened,
            "withoutGang": counters.opened - counters.plugins.get(GANG_PLUGIN, 0),
            "actions": known.ran[0] if known.ran else None,
            "plugins": known.ran[1] if known.ran else None,
            "asked": known.asked,
        }
        self._tell(began, name, uid, facts)

    async def _tell_config_map(self, began: float, pod: Mapping[str, Any], reason: str) -> None:
        """Emit the configuration of a scheduler whose metrics cannot be reached."""
        metadata = pod["metadata"]
        current = await self._config_map(metadata["namespace"])
        if current is None:
            raise httpx2.RequestError(f"{reason}; and its ConfigMap cannot be read")
        starts = [
            str(((one.get("state") or {}).get("running") or {}).get("startedAt"))
            for one in (pod.get("status") or {}).get("containerStatuses") or ()
        ]
        has_gang = GANG_PLUGIN in current["plugins"]
        facts = {
            "source": "ConfigMap",
            "reason": reason,
            "sessions": 0,
            "withoutGang": 0 if has_gang else 1,
            "actions": current["actions"],
            "plugins": current["plugins"],
            "asked": _with_disabled(await self._asked(metadata["namespace"]), current),
        }
        self._tell(began, metadata["name"], f"{metadata['uid']} {' '.join(starts)}", facts)

    async def _asked(self, namespace: str) -> dict[str, Any] | None:
        """The configuration that Helm installed, or else that of the ConfigMap."""
        labels: dict[str, Any] = {"owner": "helm", "name": "volcano", "status": "deployed"}
        try:
            found = self.client.list(kube.Secret, namespace=namespace, labels=labels)
            texts = [text async for one in found if (text := _installed(one["data"]["release"]))]
            if texts:
                return configured(texts[-1])
        except (*FAILURES, *_UNREADABLE_RECORD):
            pass  # no permission to read Secrets, or not installed by Helm
        return await self._config_map(namespace)

    async def _config_map(self, namespace: str) -> dict[str, Any] | None:
        try:
            one: Any = await self.client.get(kube.ConfigMap, CONFIG_MAP, namespace=namespace)
            return configured(one["data"][CONFIG_KEY])
        except (*FAILURES, KeyError):
            return None

    def _tell(self, began: float, name: str, uid: str, facts: dict[str, Any]) -> None:
        self._looks += 1
        at = self.clock()
        change: Change = "ADDED" if self._looks == 1 else "MODIFIED"
        version, late = str(self._looks), round(at - began, 6)
        self.emit(Observation(at, "scheduler", change, "", name, uid, version, facts, late=late))
