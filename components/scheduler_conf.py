"""Volcano's scheduler configuration where it is not the chart's own."""

PREEMPTION = """\
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
    arguments:
      overcommit-factor: 10.0
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
    enableJobEnqueued: false
  - name: nodeorder
  - name: binpack
"""
"""The chart's configuration with preemption, which takes three changes.

The action `preempt`, which the chart leaves out. A way into the queue for a gang that does not fit:
only admitted gangs preempt, and both `overcommit` and `proportion` would keep it out of a full
cluster. And, as in the chart, no veto of the gang plugin: it protects every gang whose minMember is
its size, so no gang of LWS could ever be preempted; that none is left in part is then up to LWS,
which ends a group that lost a pod.
"""
