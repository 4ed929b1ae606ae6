"""LWS's own words, from the log of a process and from that of a pod."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from lockstep import paths
from lockstep.drills.missing_rbac import LwsLog

WORDS = (
    'podgroups.scheduling.volcano.sh is forbidden: User "system:serviceaccount:lws-system:lws" '
    'cannot create resource "podgroups" in API group "scheduling.volcano.sh" in the namespace '
    '"lockstep-missing-rbac"'
)


def line(words: str = WORDS) -> str:
    escaped = words.replace('"', '\\"')
    return f'2026-01-01T00:00:00Z\tERROR\tReconciler error\t{{"pod": "x", "error": "{escaped}"}}\n'


def manager_log(folder: Path) -> Path:
    path = paths.program_log(folder, "lws-manager")
    path.parent.mkdir(parents=True)
    path.write_text("")
    return path


def test_words_of_a_process_are_read_from_its_log(tmp_path: Path) -> None:
    path = manager_log(tmp_path)
    log = LwsLog(cast("Any", None), tmp_path)
    assert log.refusal("lockstep-missing-rbac") is None
    path.write_text("2026\tINFO\tall is well\n" + line())
    assert log.refusal("lockstep-missing-rbac") == WORDS


def test_words_from_before_do_not_count(tmp_path: Path) -> None:
    path = manager_log(tmp_path)
    path.write_text(line())
    log = LwsLog(cast("Any", None), tmp_path)
    assert log.refusal("lockstep-missing-rbac") is None
    with path.open("a") as file:
        file.write(line())
    assert log.refusal("lockstep-missing-rbac") == WORDS


def test_words_about_another_namespace_do_not_count(tmp_path: Path) -> None:
    path = manager_log(tmp_path)
    log = LwsLog(cast("Any", None), tmp_path)
    path.write_text(line(WORDS.replace("lockstep-missing-rbac", "default")))
    assert log.refusal("lockstep-missing-rbac") is None


def test_log_that_was_started_again_is_read_from_its_start(tmp_path: Path) -> None:
    path = manager_log(tmp_path)
    path.write_text("old\n" * 1000)
    log = LwsLog(cast("Any", None), tmp_path)
    path.write_text(line())
    assert log.refusal("lockstep-missing-rbac") == WORDS


def test_words_of_a_pod_are_read_through_the_api(tmp_path: Path) -> None:
    class Client:
        def list(self, *_: Any, **where: Any) -> Any:
            assert where["namespace"] == "lws-system"
            return [SimpleNamespace(metadata=SimpleNamespace(name="lws-1"))]

        def log(self, name: str, **_: Any) -> Any:
            assert name == "lws-1"
            return [line()]

    log = LwsLog(cast("Any", Client()), tmp_path)
    assert log.refusal("lockstep-missing-rbac") == WORDS
