"""One round: an update, or two, by the product's own steps, and the sabotage at its moment."""

import contextlib
import random
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.sabotage import oracle, tidy
from tests.sabotage.api import FAILURES, Refused
from tests.sabotage.cluster import Cluster
from tests.sabotage.gangs import Facts
from tests.sabotage.oracle import Must
from tests.sabotage.plan import Round
from tests.sabotage.proxy import Proxy
from tests.sabotage.result import Result
from tests.sabotage.steps import LONGEST, Steps
from tests.sabotage.strikes import STRIKES, Field, Missed
from tests.sabotage.truth import Truth
from tests.sabotage.workload import Update

SETTLED_WITHIN = 15.0
DRILL_SECONDS = {"recovery": 14.0, "rolling-update": 14.0, "scale": 10.0, "preemption": 6.0}
"""How long a drill takes, for a strike at a random moment of it; 9 s where it is not named."""


class Player:
    """Plays one round on a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        plan: Round,
        updates: list[Update],
        keep: Path,
        over: threading.Event,
    ) -> None:
        self._cluster, self._plan, self._keep, self._over = cluster, plan, keep, over
        suffix = f"r{plan.number}"
        self._updates = [update.renamed(cluster.name, suffix) for update in updates]
        self._rng = random.Random(plan.seed)
        self._scratch = cluster.folder.parent.parent / f"round-{plan.number}"
        self._began = 0.0
        self._struck: float | None = None
        self.result = Result(plan)

    def play(self) -> Result:
        """Deploy, sabotage, judge, and compare with what really happened."""
        started = time.monotonic()
        self._scratch.mkdir()
        self._cluster.become(self._updates[0].variant)
        api = self._cluster.api
        first = self._updates[0]
        for thing in (first.namespace, *first.nodes):
            api.apply(thing)
        truth = Truth(api, str(first.namespace["metadata"]["name"]))
        truth.start()
        proxy = Proxy(self._cluster.embedded.ports["apiserver"])
        self._field = Field(
            cluster=self._cluster,
            update=self._updates[-1],
            truth=truth,
            proxy=proxy,
            clock=self._scratch / "clock",
            recording=self._cluster.folder / "recordings" / f"{self._plan.scenario}.jsonl",
            rng=self._rng,
        )
        self._steps = Steps(self._cluster, self._plan, self._scratch, proxy.port)
        try:
            self._play(truth)
        finally:
            with contextlib.ExitStack() as stack:
                stack.callback(shutil.rmtree, self._scratch, ignore_errors=True)
                stack.callback(tidy.after_round, self._cluster, first)
                stack.callback(proxy.close)
                stack.callback(truth.stop)
                stack.callback(self._field.undo.close)
        self.result.seconds = time.monotonic() - started
        return self.result

    def _play(self, truth: Truth) -> None:
        plan = self._plan
        if len(self._updates) > 1:
            self._update(self._updates[0], "")
            if self.result.said != "ok":
                self.result.missed = f"the first update failed: {self.result.reason}"
                self.result.said = "error"
                return
        since = self._began if plan.case != "constrained-released" else 0.0
        if plan.moment == "between":
            self._strike()
        now = time.monotonic()
        self._update(self._updates[-1], plan.moment)
        judged = time.monotonic()
        time.sleep(0.3)  # for what the observer has not received yet
        facts = Facts(truth, self._updates[-1].expectation, judged)
        if len(self._updates) > 1 and plan.case != "constrained-released":
            since = now
        self._compare(facts, since)

    def _compare(self, facts: Facts, since: float) -> None:
        result, plan = self.result, self._plan
        result.contradictions = facts.contradictions(since)
        if plan.sabotage:
            entry = oracle.entry(plan.sabotage, plan.moment, plan.case)
            assert entry
            result.must, result.why = entry.must, entry.why
            if self._struck is None:
                result.missed = result.missed or "the verdict came first"
            elif plan.sabotage.startswith("tear") and not result.contradictions:
                result.missed = "no gang was torn"
            elif entry.later_fail is not None and facts.bound_after(
                self._struck + entry.later_fail
            ):
                result.must = Must.FAIL
        if result.is_false_pass or result.is_false_alarm:
            self._save()

    def _save(self) -> None:
        """Keep the recording and the receipt of a violation."""
        folder = self._keep / self._plan.seed.replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        for file in self._field.recording.parent.glob(f"{self._plan.scenario}.*"):
            shutil.copy(file, folder)
        if (self._scratch / "receipts").exists():
            shutil.copytree(self._scratch / "receipts", folder / "receipts", dirs_exist_ok=True)
        (folder / "result.txt").write_text(f"{self.result}\n")

    def _update(self, update: Update, moment: str) -> None:
        """What `pulumi up` does, in its order."""
        self._began = self._began or time.monotonic()
        if moment == "before":
            self._strike()
        if self._field.records_again and not self._step("record", update):
            return
        try:
            before = self._updates[0] if update is not self._updates[0] else None
            for node, taints in update.taints.items():
                if before and before.taints.get(node) == taints:
                    continue  # Pulumi does not touch what has not changed
                thing = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}}
                spec = {"taints": taints}
                self._cluster.api.apply({**thing, "spec": spec}, manager=f"pulumi-{node}")
            with self._striking(moment):
                for thing in update.workload:
                    if before and thing in before.workload:
                        continue
                    for change in self._field.changes:
                        change(thing)
                    self._cluster.api.apply(thing)
                self._field.is_applied = True
                if moment == "verdict" and not update.has_drill:
                    self._await_settled(update)
                    self._strike()
                self._step("judge", update)
        except (*FAILURES, Refused) as error:
            self.result.said, self.result.reason = "error", f"the update failed: {error}"

    @contextlib.contextmanager
    def _striking(self, moment: str) -> Iterator[None]:
        """Strike in the background while the update goes on, when the moment has come."""
        over = threading.Event()
        drilled = moment == "verdict" and self._updates[-1].has_drill
        if moment not in ("creation", "burst") and not drilled:
            yield
            return
        thread = threading.Thread(target=self._await_moment, args=(moment, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            with self._field.truth.changed:
                self._field.truth.changed.notify_all()
            thread.join()

    def _await_moment(self, moment: str, over: threading.Event) -> None:
        truth, update = self._field.truth, self._updates[-1]
        since = time.monotonic() if len(self._updates) > 1 else 0.0
        held = update.expectation["verdict"] == "held"

        def reached() -> bool:
            new = [one for one in truth.pods if one.at > since]
            if moment == "creation":
                return bool(new)
            return any(one.is_refused if held else one.node for one in new)

        truth.await_(lambda: over.is_set() or reached(), LONGEST)
        if moment == "verdict" and not over.is_set():
            seconds = DRILL_SECONDS.get(update.scenario, 9.0)
            over.wait(self._rng.uniform(0.2, seconds))
        if not over.is_set():
            self._strike()

    def _await_settled(self, update: Update) -> None:
        """Wait until all pods are bound, or some are refused where not all can be."""
        expectation = update.expectation
        wanted = expectation["size"] * expectation.get("groups", 1)

        def settled() -> bool:
            pods = self._field.truth.latest()
            bound = [one for one in pods if one.node]
            refused = [one for one in pods if one.is_refused and not one.node]
            if expectation["verdict"] in ("held", "partial"):
                return bool(len(pods) >= wanted and len(bound) + len(refused) >= wanted)
            return bool(len(bound) >= wanted)

        self._field.truth.await_(settled, SETTLED_WITHIN)

    def _strike(self) -> None:
        try:
            STRIKES[self._plan.sabotage](self._field)
            self._struck = time.monotonic()
        except (Missed, *FAILURES, Refused) as error:
            self.result.missed = str(error)

    def _step(self, words: str, update: Update) -> bool:
        """Run a step of the product; only a judge says something when it succeeds."""
        if self._over.is_set():
            raise RuntimeError("the campaign is over")
        is_last = update is self._updates[-1]
        self.result.said, self.result.reason = self._steps.run(words, update, is_last)
        return self.result.said in ("", "ok")
