"""Stories of gangs that compete: when each is created, placed, ended and recreated."""

from typing import Any

from tests.unit.lockstep.story import Story, gang_created, gang_placed, pods


def ended(story: Story, at: float, group: int, last: float = 0.3) -> Story:
    """A gang ends: its leader goes, then its workers and its PodGroup."""
    leader, *workers = pods(group)
    story.delete(at, leader)
    for index, name in enumerate(workers, start=1):
        story.delete(at + last * index / len(workers), name)
    return story.tell(at + last, "podgroup", "DELETED", f"gang-{group}-r1")


def turn(story: Story, at: float, group: int, work: float = 1.0, **facts: Any) -> Story:
    """A gang is placed, works, ends and is recreated."""
    gang_placed(story, at, group)
    ended(story, at + work, group)
    gang_created(story, at + work + 0.4, group, **facts)
    return story


def crowd(groups: int, **facts: Any) -> Story:
    """Some groups, all made at once."""
    story = Story()
    for group in range(groups):
        gang_created(story, 1.0 + 0.001 * group, group, **facts)
    return story


def taking_turns(groups: int = 3, **facts: Any) -> Story:
    """Each gang has its turn, one after the other; then the first runs again."""
    story = crowd(groups, **facts)
    for group in range(groups):
        turn(story, 2.0 + 3.0 * group, group, **facts)
    return gang_placed(story, 2.0 + 3.0 * groups, 0).until(4.0 + 3.0 * groups)


def deadlock(shares: tuple[int, ...] = (1, 1, 2), **facts: Any) -> Story:
    """Some pods of each gang are bound, and all others refused."""
    story = Story()
    for group, share in enumerate(shares):
        for index, name in enumerate(pods(group)):
            role = "worker" if index else "leader"
            story.pod(1.0, name, group, role=role, podGroup=None, **facts)
        story.bind(2.0, *pods(group)[:share])
        story.refuse_pod(2.1, *pods(group)[share:])
    return story
