"""Times, in seconds, and counts that separate one verdict from another."""

BURST = 2.0
"""The longest that binding one gang may take. Measured with 100 gangs at once: Volcano 0.3 s at
most, while the default scheduler left gangs partly bound for 16 s in the median."""
CYCLES = 3
"""Scheduling cycles that must have refused the whole gang before it counts as held."""
STABLE = 3.0
"""How long a state without counted cycles must last: three of Volcano's periods."""
ENDING = 45.0
"""How long the end of a complete gang may take, from the first pod that terminates to the last:
Kubernetes gives a leader 30 s, and its workers end after it."""
SETTLE = 1.0
"""How long to wait for the watch of another kind: watches of two kinds are not in step."""
PATIENCE = 20.0
"""How long a gang may be held that should have been placed, before it is called held."""
LATE = 1.0
"""How late a change may be for its time to count as known."""
EVENTS = 10.0
"""How long to wait for what comes beside the pods: events, metrics of the scheduler, and groups
that LWS recreates."""
