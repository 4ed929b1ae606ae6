"""What a round showed."""

from dataclasses import dataclass, field

from tests.faults.plan import Round


@dataclass
class Result:
    """What a round showed."""

    round: Round
    scenario: str = ""
    """What was deployed."""
    missed: str = ""
    """Why nothing was killed; empty if something was."""
    struck: str = ""
    """How the update ended that was struck: ok, killed, or the reason of its failure."""
    recovery: float | None = None
    """Seconds until the killed process worked again; None where it is not started again."""
    longest_part: float = 0.0
    """Seconds for which a gang was certainly partly bound, outages not counted."""
    lost_pod_groups: int = 0
    """Groups that have lost their PodGroup and waited as a whole, by a known error (lws#1054)."""
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0
