"""What the simulated kubelets do to pods, as stages of KWOK.

KWOK's own stages take every finalizer off a pod that is being deleted. So a deletion in the
foreground, by which LWS recreates a group, would never wait for the group's other objects: the new
leader would meet the old PodGroup and the old workers. A kubelet leaves finalizers alone, and so do
these stages.
"""

from __future__ import annotations

from typing import Any

# Rendered by KWOK for each pod: Go's templates, with functions of its own for time and addresses.
_STATUS = """\
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name \
.metadata.namespace | Quote }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ range .spec.readinessGates }}
- {type: {{ .conditionType | Quote }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  started: true
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: true
  restartCount: 0
  state:
    terminated: {exitCode: 0, reason: Completed, finishedAt: {{ $now | Quote }}}
{{ end }}
"""


STOPPING = 500
"""Milliseconds from the deletion of a pod to its end. A kubelet stops containers first; a pod that
were gone at once could be made again before LWS has seen it go (lws#998)."""


# KWOK deletes by name. A pod without any grace left needs no more of it: it is gone, or will be as
# soon as no finalizer holds it, and its name may be another pod's by the time that KWOK acts.
_HAS_GRACE = ".metadata | select(.deletionGracePeriodSeconds != 0)"


def stages() -> list[dict[str, Any]]:
    """A bound pod runs at once; a deleted one stops, and is gone when no finalizer holds it."""
    new = {".metadata.deletionTimestamp": "DoesNotExist", ".status.podIP": "DoesNotExist"}
    leaving = {".metadata.deletionTimestamp": "Exists", _HAS_GRACE: "Exists"}
    return [
        _stage("pod-runs", new, {"statusTemplate": _STATUS}),
        _stage("pod-goes", leaving, {"delete": True}, STOPPING),
    ]


def _stage(name: str, when: dict[str, str], then: dict[str, Any], delay: int = 0) -> dict[str, Any]:
    conditions = [{"key": key, "operator": operator} for key, operator in when.items()]
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": conditions},
            "delay": {"durationMilliseconds": delay},
            "next": then,
        },
    }
