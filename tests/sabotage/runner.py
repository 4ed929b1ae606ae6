"""Play all rounds on several clusters at once, show the progress, and leave nothing behind."""

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lockstep.walk import orphans
from tests.sabotage.cluster import Cluster, Variant
from tests.sabotage.plan import Round
from tests.sabotage.result import Result
from tests.sabotage.round import Player
from tests.sabotage.workload import Update, update_of
from tests.unit.conftest import PROJECT_DIR

RESIZED = ("gang", "no-gang", "recovery")
"""Scenarios whose second update has smaller groups; the others are only judged once more."""
ENDED_WITHIN = 20.0
"""Seconds that a round may take to notice that the campaign is over."""
_BUSY = "import os\nwhile os.getppid() == {parent}:\n    for _ in range(10**6): pass\n"


class Updates:
    """The updates of every case; the program runs once for each, before any round."""

    def __init__(self, rounds: Sequence[Round]) -> None:
        self._known: dict[tuple[str, int], Update] = {}
        for one in rounds:
            self.of(one)

    def of(self, one: Round) -> list[Update]:
        """Return the updates of a round: the last is the one that is judged."""
        if one.case == "constrained-released":
            return [self._update("constrained"), self._update("constrained", released=True)]
        if one.moment != "between":
            return [self._update(one.scenario)]
        resized = one.scenario in RESIZED and one.sabotage != "judged again"
        return [self._update(one.scenario), self._update(one.scenario, resized=resized)]

    def _update(self, scenario: str, released: bool = False, resized: bool = False) -> Update:
        key = scenario, released + 2 * resized
        if key not in self._known:
            changes = {"taintedWorkers": 1} if released else {}
            changes |= {"groupSize": 3} if resized else {}
            self._known[key] = update_of(scenario, **changes)
        return self._known[key]


class Runner:
    """A campaign's clusters and its rounds."""

    def __init__(self, clusters: int, keep: Path, say: Callable[[str], None]) -> None:
        self._clusters = [Cluster(number) for number in range(clusters)]
        self._keep, self._say = keep, say
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.results: list[Result] = []

    def remove(self) -> None:
        """Remove the clusters, whatever state they are in, and end the rounds."""
        self._over.set()
        for cluster in self._clusters:
            cluster.remove()
        for thread in self._threads:
            thread.join(ENDED_WITHIN)
        for cluster in self._clusters:
            cluster.remove()  # what a round has started meanwhile
        orphans.end(PROJECT_DIR)

    def play(self, rounds: Sequence[Round], updates: Updates, deadline: float) -> None:
        """Play rounds until none is left or the time is over."""
        started, total, done = time.monotonic(), len(rounds), 0
        waiting = _Waiting(rounds, updates)
        finished: queue.Queue[Result | BaseException] = queue.Queue()
        for cluster in self._clusters:
            arguments = (cluster, waiting, updates, deadline, finished)
            self._threads.append(threading.Thread(target=self._work, args=arguments, daemon=True))
            self._threads[-1].start()
        running = len(self._clusters)
        while running:
            answer = finished.get()
            if isinstance(answer, _End):
                running -= 1
                continue
            if isinstance(answer, BaseException):
                raise answer
            done += 1
            self.results.append(answer)
            self._say(_line(answer, done, total, time.monotonic() - started))

    def _work(
        self,
        cluster: Cluster,
        waiting: "_Waiting",
        updates: Updates,
        deadline: float,
        finished: "queue.Queue[Result | BaseException]",
    ) -> None:
        variant: Variant = (None, True)
        try:
            if not cluster.is_ready and not self._over.is_set():
                started = time.monotonic()
                cluster.prepare()
                self._say(f"{cluster.name} is ready after {time.monotonic() - started:.0f} s")
            while not self._over.is_set() and time.monotonic() < deadline:
                one = waiting.take(variant)
                if one is None:
                    break
                known = updates.of(one)
                variant = known[0].variant
                finished.put(self._one(cluster, one, known))
        except BaseException as error:  # it is raised in the main thread
            finished.put(error)
        finished.put(_End())

    def _one(self, cluster: Cluster, one: Round, updates: list[Update]) -> Result:
        """Play a round; a cluster that cannot be used or restored is replaced."""
        player = Player(cluster, one, updates, self._keep, self._over)
        try:
            return player.play()
        except Exception as error:  # the campaign goes on
            if self._over.is_set():
                raise
            self._say(
                f"{cluster.name} is replaced after {one.name}: {type(error).__name__}: {error}"
            )
            cluster.recreate()
            if not player.result.said:
                player.result.said = "error"
                player.result.missed = f"the round could not be played: {error}"
            return player.result


class _End(Exception):  # noqa: N818
    """A worker has ended."""


class _Waiting:
    """The rounds that are still to be played; a cluster keeps its variant as long as it can."""

    def __init__(self, rounds: Sequence[Round], updates: Updates) -> None:
        self._rounds = list(rounds)
        self._updates = updates
        self._lock = threading.Lock()

    def take(self, variant: object) -> Round | None:
        """Return the next round, preferably of a variant; None if there is no more."""
        with self._lock:
            if not self._rounds:
                return None
            same = [one for one in self._rounds if self._updates.of(one)[0].variant == variant]
            chosen = (same or self._rounds)[0]
            self._rounds.remove(chosen)
            return chosen


@contextlib.contextmanager
def load() -> Iterator[None]:
    """Keep every core busy meanwhile; the processes also end when this one is killed."""
    code = _BUSY.format(parent=os.getpid())
    busy = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def _line(result: Result, done: int, total: int, elapsed: float) -> str:
    left = elapsed / done * (total - done)
    mark = ""
    if result.is_false_pass:
        mark = "  FALSE PASS"
    elif result.is_false_alarm:
        mark = "  FALSE ALARM"
    if result.is_false_pass or result.said == "error":
        mark += f"  {'; '.join(result.contradictions) or result.reason or result.why}"[:300]
    missed = f" (missed: {result.missed[:80]})" if result.missed else ""
    return (
        f"[{done}/{total}, {_minutes(elapsed)} gone, {_minutes(left)} left] "
        f"{result.round.name}: {result.said}, must be {result.must}{missed}, "
        f"{result.seconds:.0f} s{mark}"
    )


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
