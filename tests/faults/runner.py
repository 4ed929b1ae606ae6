"""Play the chapters on several clusters at once."""

import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path

from lockstep.walk import orphans
from tests.faults.plan import Round
from tests.faults.result import Result
from tests.faults.round import Chapter
from tests.sabotage.workload import Update, update_of
from tests.unit.conftest import PROJECT_DIR


def updates_of(chapters: list[list[Round]]) -> dict[str, Update]:
    """What every scenario deploys, by the program on mocks; `churn` has three gangs and room."""
    names = {one.scenario for rounds in chapters for one in rounds if one.scenario} | {"gang"}
    known = {name: update_of(name) for name in sorted(names)}
    return known | {"churn": update_of("gang", groups=3, workersPerScenario=7)}


class Runner:
    """A campaign's clusters and its results."""

    def __init__(self, clusters: int, scratch: Path, say: Callable[[str], None]) -> None:
        self._clusters, self._scratch, self._say = clusters, scratch, say
        self._over = threading.Event()
        self._playing: dict[str, Chapter] = {}
        self.results: list[Result] = []

    def play(self, chapters: list[list[Round]], deadline: float) -> None:
        """Play chapters until none is left; begin none after the deadline."""
        updates = updates_of(chapters)
        waiting, finished = list(enumerate(chapters)), queue.Queue[Result | BaseException | None]()
        total, started, lock = sum(map(len, chapters)), time.monotonic(), threading.Lock()

        def work() -> None:
            try:
                while not self._over.is_set() and time.monotonic() < deadline:
                    with lock:
                        if not waiting:
                            break
                        number, rounds = waiting.pop(0)
                    name = f"faults-{number}"
                    chapter = Chapter(name, updates, self._scratch / name, self._over)
                    self._playing[name] = chapter
                    chapter.play(rounds, finished.put)
                    del self._playing[name]
            except BaseException as error:
                finished.put(error)
            finished.put(None)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(self._clusters)]
        for thread in threads:
            thread.start()
        running = len(threads)
        while running:
            answer = finished.get()
            if answer is None:
                running -= 1
            elif isinstance(answer, BaseException):
                raise answer
            else:
                self.results.append(answer)
                self._say(_line(answer, len(self.results), total, time.monotonic() - started))

    def remove(self, names: list[str]) -> None:
        """End what still runs, and remove the clusters."""
        from lockstep.local import control_plane

        self._over.set()
        for chapter in list(self._playing.values()):
            chapter.end()
        for name in names:
            control_plane.delete(f"lockstep-{name}")
        orphans.end(PROJECT_DIR)


def _line(result: Result, done: int, total: int, elapsed: float) -> str:
    one, minutes = result.round, f"{int(elapsed) // 60}:{int(elapsed) % 60:02}"
    back = "" if result.recovery is None else f", back after {result.recovery:.1f} s"
    said = f", update: {result.struck[:150]}" if result.struck else ""
    if result.lost_pod_groups:
        said += f", {result.lost_pod_groups} groups lost their PodGroup (lws#1054)"
    missed = f", missed: {result.missed}" if result.missed else ""
    wrong = "".join(f"\n    VIOLATION {text}" for text in result.violations)
    return (
        f"[{done}/{total}, {minutes}] round {one.number}: {one.name}{back}{said}{missed}, "
        f"{result.seconds:.0f} s{wrong}"
    )
