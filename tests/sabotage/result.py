"""What a round showed, and whether that is a violation."""

from dataclasses import dataclass, field

from tests.sabotage.oracle import Must
from tests.sabotage.plan import Round


@dataclass
class Result:
    """What a round showed."""

    round: Round
    said: str = ""
    """`ok`, the observed verdict, or `error`."""
    reason: str = ""
    must: Must = Must.OK
    why: str = ""
    missed: str = ""
    """Why the sabotage did not strike before the verdict; empty if it did."""
    contradictions: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def is_false_pass(self) -> bool:
        """Whether the judge said ok and should not have."""
        if self.said != "ok":
            return False
        return bool(self.contradictions) or (self.must == Must.FAIL and not self.missed)

    @property
    def is_false_alarm(self) -> bool:
        """Whether a clean run failed."""
        return not self.round.sabotage and self.said != "ok"
