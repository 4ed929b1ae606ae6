"""`verify`: sets of any cluster, judged by their own spec."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockstep import cli
from lockstep.commands import verify
from lockstep.judge import verify as verification
from lockstep.judge.verify import BROKEN, CANNOT_TELL, HOLDS, GangReport
from tests.unit.lockstep.fake_api import POD_GROUPS, PODS, SETS, FakeApi, serving
from tests.unit.lockstep.story import Story, events_ran_out, gang_created, gang_placed, pods

LWS = "leaderworkerset.sigs.k8s.io"
Cluster = tuple[FakeApi, list[str]]
"""A served API, and the words of the command that watches it."""
Output = pytest.CaptureFixture[str]


def a_set(
    story: Story,
    replicas: int = 1,
    size: int = 4,
    name: str = "gang",
    kind: str = "LeaderWorkerSet",
    **facts: Any,
) -> Story:
    """A LeaderWorkerSet; the story's `kind` is taken by the observation's own."""
    data = {"replicas": replicas, "size": size, "startup": "LeaderCreated", **facts}
    story.tell(0.5, "workload", "ADDED", name, **data)
    *_, seen = story.recording.of("workload")
    seen.facts["kind"] = kind  # type: ignore[index]
    return story


def reported(story: Story, state: str, holds: bool | None, words: str = "") -> GangReport:
    """The only report of a story: its state, whether the gang holds, and words of the reason."""
    (report,) = verification.examine(story.recording)
    assert (report.state, report.holds) == (state, holds)
    assert words in report.reason
    return report


def test_placed_holds() -> None:
    report = reported(gang_placed(gang_created(a_set(Story()))), "placed", True)
    assert report == GangReport(
        namespace="lockstep-gang",
        workload="LeaderWorkerSet/gang",
        group="gang-0",
        size=4,
        bound=4,
        state="placed",
        holds=True,
        reason="all pods bound and running",
        bind_skew_seconds=0.03,
        pod_group="gang-0-r1",
    )


def test_bound_but_not_yet_running_holds() -> None:
    story = gang_created(a_set(Story())).bind(2.0, *pods()[1:]).bind(3.23456, "gang-0")
    report = reported(story, "bound", True)
    assert (report.reason, report.bind_skew_seconds) == ("all pods bound", 1.235)


def test_refused_holds() -> None:
    story = gang_created(a_set(Story()))
    for second in range(1, 5):
        story.refuse(1.0 + second, second)
    message = "4/4 tasks in gang unschedulable: 1 Insufficient cpu"
    assert reported(story, "held", True).reason == message
    story.delete(6.0, "gang-0-3")
    assert reported(story, "incomplete", None).reason == "3 of 4 pods exist"


def test_refused_earlier_holds_only_when_it_lasts() -> None:
    story = a_set(events_ran_out())
    reported(story.until(1.0), "pending", None)
    reported(story.look(3.0), "held", True)


def test_partly_bound_is_broken() -> None:
    story = gang_created(a_set(Story())).bind(2.0, "gang-0").until(9.0)
    report = reported(story, "partial", False, "1 of 4 pods of gang-0 bound for 7.0 s")
    assert report.bound == 1


def test_partly_bound_once_is_broken_though_it_is_complete_now() -> None:
    story = gang_created(a_set(Story())).bind(2.0, *pods()[:2]).bind(9.0, *pods()[2:])
    reported(story, "torn", False)


def test_partly_bound_just_now_is_not_clear() -> None:
    story = gang_created(a_set(Story())).bind(2.0, "gang-0").until(3.0)
    for count in (1, 2, 3):
        story.refuse(2.0 + 0.2 * count, count)
    reason = "1 of 4 pods bound for less than 2 s; watch longer"
    assert reported(story, "binding", None).reason == reason


def test_complete_without_a_pod_group_is_broken() -> None:
    story = a_set(Story()).members(1.0, podGroup=None)
    report = reported(
        gang_placed(story).until(9.0), "unmanaged", False, "no PodGroup was created for gang-0"
    )
    assert report.pod_group is None


def test_a_pod_group_of_an_earlier_leader_is_broken() -> None:
    story = gang_created(a_set(Story())).own(1.2, "earlier")
    reported(story.until(1.5), "pending", None)  # LWS may still be at it
    story = gang_placed(story).until(9.0)
    reported(story, "unmanaged", False, "is owned by a deleted leader")


def test_a_pod_group_that_the_scheduler_ignores_is_broken() -> None:
    story = gang_created(a_set(Story()), scheduler="default-scheduler")
    reported(gang_placed(story), "unmanaged", False, "ignores PodGroups")


def test_leader_first_promises_nothing() -> None:
    story = gang_placed(gang_created(a_set(Story(), startup="LeaderReady")))
    reason = "startupPolicy LeaderReady: the leader is bound alone, so gang-0 promises nothing"
    assert reported(story, "leader-first", None).reason == reason


def test_missing_pods_are_not_clear() -> None:
    story = a_set(Story(), replicas=2)
    story.pod(1.0, "gang-0").pod_group(1.0).pod_group(1.0, 1, minMember=1).until(9.0)
    states = [(r.state, r.holds, r.reason) for r in verification.examine(story.recording)]
    assert states == [
        ("incomplete", None, "1 of 4 pods exist"),
        ("absent", None, "gang-1 has no pods"),
    ]


def test_waiting_without_a_scheduler_is_not_clear() -> None:
    reason = "no pod bound, and the scheduler did not refuse the gang while watching"
    story = gang_created(a_set(Story())).until(30.0)
    assert reported(story, "pending", None).reason == reason


def test_a_new_pod_may_wait_a_second_for_its_pod_group() -> None:
    story = a_set(Story()).members(1.0, podGroup=None).delete(3.0, "gang-0-3")
    story.pod(5.0, "gang-0-3", podGroup=None).change(5.5, "gang-0", ready=False)
    reported(story.until(5.9), "pending", None)
    reported(story.until(6.0), "unmanaged", False)
    story = a_set(Story().members(0.0, podGroup=None, listed=True)).change(
        0.55, *pods(), ready=False
    )
    reported(story.until(0.6), "unmanaged", False)


def test_a_new_gang_with_a_wrong_pod_group_is_broken_at_once() -> None:
    story = a_set(Story()).members(1.0).pod_group(1.0, minMember=1)
    reason = "PodGroup gang-0-r1 has minMember 1, not 4"
    assert reported(story, "unmanaged", False).reason == reason


def test_sets_are_reported_by_namespace_and_name() -> None:
    story = a_set(a_set(Story(), name="z"), name="y", size=2, replicas=2)
    a_set(story, name="x", namespace="a-namespace")
    a_set(story, name="web", kind="Deployment")
    a_set(story, name="gone").tell(2.0, "workload", "DELETED", "gone")
    found = [
        (r.namespace, r.workload, r.group, r.size) for r in verification.examine(story.recording)
    ]
    assert found == [
        ("a-namespace", "LeaderWorkerSet/x", "x-0", 4),
        ("lockstep-gang", "LeaderWorkerSet/y", "y-0", 2),
        ("lockstep-gang", "LeaderWorkerSet/y", "y-1", 2),
        ("lockstep-gang", "LeaderWorkerSet/z", "z-0", 4),
    ]


def test_a_group_that_still_runs_after_a_scale_down_is_judged_by_itself() -> None:
    story = gang_placed(gang_created(a_set(Story())))
    gang_created(story, group=1).bind(2.0, "gang-1")
    gang_created(story, group=2).until(9.0)
    found = [(r.group, r.state, r.bound) for r in verification.examine(story.recording)]
    assert found == [("gang-0", "placed", 4), ("gang-1", "partial", 1), ("gang-2", "pending", 0)]
    a_set(story, replicas=4)
    assert [report.group for report in verification.examine(story.recording)][-1] == "gang-3"


def test_each_group_of_each_set_is_reported_and_scaled_down_ones_are_not() -> None:
    story = gang_placed(gang_created(a_set(Story(), replicas=1)))
    gang_created(story, at=1.0, group=1)
    story.delete(2.0, *pods(1))
    a_set(story, name="other")
    assert [r.group for r in verification.examine(story.recording)] == ["gang-0", "other-0"]


@pytest.mark.parametrize(
    ("holds", "code"),
    [
        ([True, True], HOLDS),
        ([True, None], CANNOT_TELL),
        ([None, False, True], BROKEN),
        ([], CANNOT_TELL),
    ],
)
def test_exit_code(holds: list[bool | None], code: int) -> None:
    reports = [GangReport("n", "w", "g", 4, 4, "placed", one, "", None, None) for one in holds]
    assert verification.exit_code(reports) == code


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with serving(tmp_path) as (api, config):
        yield api, ["verify", "--kubeconfig", str(config), "-n", "test", "--for", "0.3s"]


def deploy(api: FakeApi, bound: int = 2, size: int = 2) -> None:
    """A set whose pods are there already, as on a cluster of another owner."""
    labels = {f"{LWS}/name": "gang", f"{LWS}/group-index": "0"}
    api.put("gang", SETS, spec={"replicas": 1, "leaderWorkerTemplate": {"size": size}})
    api.put("gang-0-r1", POD_GROUPS, spec={"minMember": size})
    for index in range(size):
        name = f"gang-0-{index}"
        spec = {"schedulerName": "volcano", **({"nodeName": "w1"} if index < bound else {})}
        api.put(name, spec=spec, status={"phase": "Running" if index < bound else "Pending"})
        metadata = api.objects[PODS][name]["metadata"]
        metadata["labels"] = labels
        metadata["annotations"] = {"scheduling.k8s.io/group-name": "gang-0-r1"}


def test_verify_holds(cluster: Cluster, capsys: Output) -> None:
    api, words = cluster
    deploy(api)
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    assert "gang-0" in out
    assert "2/2" in out
    assert "holds: every gang is bound whole or not at all" in out


def test_verify_json(cluster: Cluster, capsys: Output) -> None:
    api, words = cluster
    deploy(api, bound=1)
    assert cli.main([*words, "--for", "2.2s", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["result"] == "broken"
    assert document["seconds"] >= 2.2
    (gang,) = document["gangs"]
    assert (gang["state"], gang["bound"], gang["size"]) == ("partial", 1, 2)
    assert gang["bindSkewSeconds"] is None


def test_verify_without_sets_does_not_wait(cluster: Cluster, capsys: Output) -> None:
    _, words = cluster
    assert cli.main([*words, "--for", "10m"]) == 2
    assert "there is no LeaderWorkerSet in namespace test" in capsys.readouterr().out


def test_verify_of_a_set_without_replicas(cluster: Cluster, capsys: Output) -> None:
    api, words = cluster
    api.put("gang", SETS, spec={"replicas": 0, "leaderWorkerTemplate": {"size": 2}})
    assert cli.main(words) == 2
    assert "every LeaderWorkerSet has replicas 0 in namespace test" in capsys.readouterr().out


def test_verify_without_lws(cluster: Cluster, capsys: Output) -> None:
    api, words = cluster
    api.statuses[SETS] = 404
    assert cli.main(words) == 2
    assert "nothing to verify: LWS is not installed" in capsys.readouterr().err


def test_verify_in_all_namespaces(cluster: Cluster, capsys: Output) -> None:
    api, words = cluster
    for path in list(api.objects):
        api.objects[path.replace("/namespaces/test", "")] = api.objects[path]
    deploy(api)
    words = [word for word in words if word not in ("-n", "test")]
    assert cli.main([*words, "--all-namespaces"]) == 0
    assert "gang-0" in capsys.readouterr().out


def test_verify_of_a_cluster_that_is_not_there(cluster: Cluster, capsys: Output) -> None:
    api, words = cluster
    api.cut(down=True)
    assert cli.main(words) == 2
    err = capsys.readouterr().err
    assert err.startswith("lockstep: cannot watch the cluster")
    assert err.count("\n") == 1


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("2m", 120), ("1.5", 1.5)])
def test_duration(text: str, seconds: float) -> None:
    assert verify.duration(text) == seconds


def test_bad_duration(capsys: Output) -> None:
    with pytest.raises(SystemExit):
        cli.main(["verify", "--for", "soon"])
    assert "'soon' is not a time such as 30s or 2m" in capsys.readouterr().err


def test_group_that_was_torn_and_is_scaled_away_is_broken() -> None:
    story = gang_placed(gang_created(a_set(Story())))
    gang_created(story, 3.0, 1).bind(4.0, *pods(1)[:2]).delete(9.0, *pods(1))
    story.tell(9.1, "podgroup", "DELETED", "gang-1-r1")
    states = [(one.group, one.holds) for one in verification.examine(story.recording)]
    assert states == [("gang-0", True), ("gang-1", False)]


def test_group_that_is_scaled_away_is_not_blamed_for_another() -> None:
    story = gang_created(gang_placed(gang_created(a_set(Story())), 2.0, 0), 3.0, 1)
    gang_placed(story, 4.0, 1).delete(5.0, *pods(1)).delete(6.0, "gang-0-1").until(60.0)
    assert [one.group for one in verification.examine(story.recording)] == ["gang-0"]


def test_refused_earlier_holds_also_where_the_scheduler_is_not_asked() -> None:
    story = a_set(events_ran_out())
    seen = story.recording.observations
    story.recording.observations = [one for one in seen if one.kind != "scheduler"]
    reported(story.until(3.0), "held", True)
