"""One chapter: the life of a cluster, and one fault after the other in it."""

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockstep import paths
from lockstep.walk.stack import Stack
from tests.faults import checks
from tests.faults.churn import Churn
from tests.faults.observer import TOLERATED, Observer
from tests.faults.plan import SUPERVISED, Round
from tests.faults.result import Result
from tests.faults.victims import MARK, Victims, kill
from tests.sabotage.round import DRILL_SECONDS
from tests.sabotage.workload import Update
from tests.unit.conftest import PROJECT_DIR

LONGEST = 240.0
"""Seconds after which an update that does not end is killed."""
BACK_WITHIN, LOOKED_FOR = 10.0, 60.0
BINDERS = ("etcd", "kube-apiserver", "vc-scheduler", "reboot")
"""Without them, no pod can be bound."""
KILLED = "killed"
CHURN_SECONDS = 3.0


@dataclass(frozen=True)
class Ended:
    """How an update ended."""

    said: str
    """ok, killed, or the reason of its failure."""
    verdicts: Mapping[str, Any]
    began: float


class Chapter:
    """Plays the rounds of a chapter on a stack of its own."""

    def __init__(
        self, name: str, updates: Mapping[str, Update], scratch: Path, over: threading.Event
    ) -> None:
        self._name, self._updates, self._scratch, self._over = name, updates, scratch, over
        self._stack = Stack(name)
        cluster = f"lockstep-{name}"
        self._victims = Victims(cluster, paths.cluster_dir(cluster), name)
        self._observer = Observer(cluster)
        self._scenario = ""
        self._verdicts: Mapping[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self.seconds_of_clean_up = 0.0

    def play(self, rounds: list[Round], done: Callable[[Result], None]) -> None:
        """Play the rounds; what cannot go on is removed, and the next round has a new cluster."""
        self._scratch.mkdir(parents=True)
        self._observer.start()
        try:
            for one in rounds:
                if self._over.is_set():
                    return
                done(self._round(one))
            self._remove()
        finally:
            self._observer.stop()
            shutil.rmtree(self._scratch, ignore_errors=True)

    def end(self) -> None:
        """End the update that runs."""
        kill(self._victims.marked())

    def _round(self, one: Round) -> Result:
        result, started = Result(one), time.monotonic()
        self._rng = random.Random(f"{one.number} {one.fraction}")
        self._result, self._one = result, one
        self._observer.outages = []
        try:
            if one.moment not in ("up", "judge", "drill") and not self._scenario:
                self._deploy("gang")
            result.scenario = one.scenario or self._scenario
            {"churn": self._churn, "destroy": self._destroy}.get(one.moment, self._update)()
        except Exception as error:  # the campaign goes on
            if self._over.is_set():
                raise
            result.violations.append(f"{type(error).__name__}: {error}")
        self._check_gangs(started)
        if result.violations and one.moment != "destroy":
            self._keep()
            self._remove()
        result.seconds = time.monotonic() - started
        return result

    # The moments.

    def _update(self) -> None:
        """A fault in an update: the update may fail, the next one must not."""
        one = self._one
        before = self._pods(one.scenario)
        self._configure(one.scenario)
        first = self._run("up", self._strike)
        self._result.struck = first.said
        if first.said == "ok":
            self._check_verdict(first.verdicts, first.began)
        left = self._pods(one.scenario) - before
        second = self._deploy(one.scenario)
        is_same = bool(left & self._pods(one.scenario))
        self._check_verdict(second.verdicts, first.began if is_same else second.began)
        self._check_up()

    def _churn(self) -> None:
        """A fault while no update runs: nothing that was there may change."""
        observer, namespace = self._observer, self._namespace(self._scenario)
        life, calm, api = observer.life, self._pods(self._scenario), observer.api
        assert life
        assert api
        churn = Churn(self._updates["churn"], self._victims.cluster, api, self._rng)
        churn.start()
        try:
            time.sleep(CHURN_SECONDS * (0.5 + self._one.fraction))
            self._strike_now()
            if self._one.fault == "reboot":
                self._deploy(self._scenario)
            time.sleep(CHURN_SECONDS)
        finally:
            churn.stop()
        self._result.violations += churn.unsettled(observer)
        self._result.lost_pod_groups = churn.lost_pod_groups
        churn.remove()
        after = {str(pod["metadata"]["uid"]) for pod in api.items("Pod", namespace)}
        if after != calm:
            self._wrong(f"{len(calm - after)} pods are gone, {len(after - calm)} are new")
        before = self._verdicts
        again = self._deploy(self._scenario)
        if again.verdicts != before:
            self._wrong("the verdict was lost: the next up has another one")
        self._check_up()

    def _destroy(self) -> None:
        """A fault in `down`: the next one removes what is left."""
        first = self._run("down", self._strike)
        self._result.struck = first.said
        self._remove()

    def _remove(self) -> None:
        """Remove the stack; nothing may be left."""
        if not self._stack.path.exists():
            self._configure("gang")
        last = self._run("down")
        if last.said != "ok":
            self._wrong(f"the stack cannot be removed: {last.said}")
        self._scenario, self._verdicts = "", {}
        for wrong in checks.settled(
            lambda: checks.nothing(self._victims, self._name, self._scratch / "tmp")
        ):
            self._wrong(f"after down: {wrong}")

    # Updates.

    def _configure(self, scenario: str) -> None:
        self._stack.write_config(scenario)
        self._scenario = scenario

    def _deploy(self, scenario: str) -> Ended:
        """An update that must succeed."""
        self._configure(scenario)
        ended = self._run("up")
        self._verdicts = ended.verdicts
        verdict = ended.verdicts.get(scenario) or {}
        if ended.said != "ok" or not verdict.get("ok"):
            raise RuntimeError(f"the next up failed: {ended.said} {verdict.get('reason', '')}")
        return ended

    def _run(self, verb: str, strike: Callable[[], None] | None = None) -> Ended:
        """Run an update, and strike it meanwhile."""
        file = self._scratch / "result.json"
        file.unlink(missing_ok=True)
        temporary = self._scratch / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            MARK: self._name,
            "TMPDIR": str(temporary),
            "LOCKSTEP_RECEIPTS": str(self._scratch / "receipts"),
        }
        began = time.monotonic()
        with (self._scratch / "update.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.update", verb, self._name, str(file)],
                cwd=PROJECT_DIR,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if strike:
            strike()
        try:
            self._process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            kill(self._victims.marked())
            self._process.wait()
            self._wrong(f"{verb} did not end in {LONGEST:.0f} s")
            return Ended("no end", {}, began)
        if not file.exists():
            if not strike or self._one.fault not in ("update", "reboot") or self._result.missed:
                tail = (self._scratch / "update.log").read_text(errors="replace")[-300:]
                self._wrong(f"{verb} ended without a result: {tail}")
            return Ended(KILLED, {}, began)
        said = json.loads(file.read_text())
        return Ended(said["reason"] or "ok", said["verdicts"] or {}, began)

    # The fault.

    def _strike(self) -> None:
        """Wait for the moment and kill; a fault whose moment does not come is missed."""
        assert self._process
        one, find = self._one, self._victims.find
        is_judged = one.moment in ("judge", "drill")
        if is_judged and not self._await(lambda: self._victims.steps("judge")):
            self._result.missed = "there was no judge"
            return
        delay = one.fraction * self._span()
        due = time.monotonic() + delay if is_judged else None
        while self._process.poll() is None and not self._over.is_set():
            found = find(one.fault, self._rng)
            if found and due is None:
                due = time.monotonic() + delay
            in_time = one.moment == "up" and self._victims.steps("judge")
            if found and due is not None and (time.monotonic() >= due or in_time):
                self._kill(found)
                return
            time.sleep(0.03)
        self._result.missed = "the update was quicker"

    def _span(self) -> float:
        """Seconds in which the fault may strike, once its moment has come."""
        one = self._one
        if one.moment == "drill":
            return DRILL_SECONDS.get(one.scenario, 9.0)
        if one.fault in ("step", "plugin"):
            return 1.0
        return {"up": 8.0, "judge": 1.0, "destroy": 3.0}[one.moment]

    def _strike_now(self) -> None:
        found = self._victims.find(self._one.fault, self._rng)
        if not found:
            self._result.missed = "it did not run"
            return
        self._kill(found)

    def _kill(self, found: list[int]) -> None:
        one, observer, victims = self._one, self._observer, self._victims
        life = observer.life
        system = life.system if life else None
        struck = time.monotonic()
        if one.fault == "reboot":
            # A process that is started meanwhile, by the supervisor, dies as well.
            while pids := victims.find(one.fault, self._rng):
                kill(pids)
                time.sleep(0.01)
        else:
            kill(found)
        if one.fault in BINDERS:
            observer.outages.append((struck, float("inf")))
        if one.moment == "destroy" or one.fault not in (*SUPERVISED, "reboot"):
            return
        if one.fault == "reboot":
            threading.Thread(target=self._await_outage_end, args=(struck,), daemon=True).start()
            return
        is_back = self._await(lambda: victims.is_back(one.fault, found, observer.api), LOOKED_FOR)
        seconds = time.monotonic() - struck
        observer.outages = [(struck, time.monotonic())] if one.fault in BINDERS else []
        self._result.recovery = round(seconds, 2)
        if not is_back or seconds > BACK_WITHIN:
            self._wrong(f"{one.fault} was not back after {seconds:.1f} s")
        self._check_system(system)

    def _await_outage_end(self, struck: float) -> None:
        """A reboot ends when the next update has started the cluster."""
        observer = self._observer
        while not self._victims.is_all_back(observer.api) and not self._over.wait(0.1):
            pass
        observer.outages = [(struck, time.monotonic())]

    def _await(self, reached: Callable[[], object], seconds: float = LONGEST) -> bool:
        """Wait while the update runs, or for some seconds where none runs."""
        deadline = time.monotonic() + seconds
        while not reached():
            is_over = seconds == LONGEST and self._process and self._process.poll() is not None
            if is_over or time.monotonic() > deadline or self._over.is_set():
                return bool(reached())
            time.sleep(0.03)
        return True

    # The checks.

    def _check_system(self, before: str | None) -> None:
        """The cluster must be the same, with what was in it."""
        life = self._observer.life
        if before and life:
            with contextlib.suppress(Exception):
                now = life.api.get("Namespace", "kube-system")["metadata"]["uid"]
                if now != before:
                    self._wrong("the cluster is another one")

    def _check_verdict(self, verdicts: Mapping[str, Any], since: float) -> None:
        """An ok verdict must agree with the observer."""
        verdict = verdicts.get(self._scenario)
        if not verdict or not verdict.get("ok"):
            self._wrong("an update succeeded without an ok verdict")
            return
        expectation = self._updates[self._scenario].expectation
        found = self._observer.contradictions(expectation, self._namespace(self._scenario), since)
        for one in found:
            self._wrong(f"FALSE PASS: {one}")
        receipts = self._scratch / "receipts"
        if not any(self._scenario in file.name for file in receipts.glob("*.json")):
            self._wrong("the verdict has no receipt")

    def _check_up(self) -> None:
        """What must be so in a stack that is up."""
        api = self._observer.api
        assert api
        update = self._updates[self._scenario]
        for wrong in (
            *checks.settled(lambda: checks.running(self._victims)),
            *checks.settled(lambda: checks.nodes_and_notes(api, update)),
            *checks.locks(self._name),
        ):
            self._wrong(wrong)

    def _check_gangs(self, since: float) -> None:
        for key, seconds in self._observer.torn(since):
            self._result.longest_part = round(max(self._result.longest_part, seconds), 2)
            if seconds > TOLERATED:
                self._wrong(f"{key} was partly bound for {seconds:.1f} s")

    def _wrong(self, text: str) -> None:
        self._result.violations.append(text)

    def _keep(self) -> None:
        """Keep the logs of a violation."""
        folder = PROJECT_DIR / "out" / "faults" / f"{self._name}-{self._one.number}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in (*self._scratch.glob("*.log"), *self._victims.folder.rglob("*.log")):
            shutil.copy(file, folder)
        (folder / "result.txt").write_text(f"{self._result}\n")

    # What is there.

    def _namespace(self, scenario: str) -> str:
        return str(self._updates[scenario].namespace["metadata"]["name"])

    def _pods(self, scenario: str) -> set[str]:
        return self._observer.uids(self._namespace(scenario))
