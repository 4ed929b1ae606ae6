"""KWOK stages: what the simulated kubelets do to pods.

KWOK's default stages remove every finalizer from a pod that is being deleted. Then the foreground
deletion by which LWS recreates a group would not wait for the group's other objects, and the new
leader would find the old PodGroup and the old workers. These stages keep finalizers, as a kubelet
does.
"""

from typing import Any

# A Go template that KWOK renders for each pod, with KWOK's functions for time and addresses.
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
"""Milliseconds from the deletion of a pod to its end: a kubelet stops the containers first. A pod
that ended at once could be recreated before LWS has noticed the deletion (lws#998)."""


# A pod with a grace period of 0 is deleted already, or will be without its last finalizer. KWOK
# deletes by name: a second deletion could hit a new pod of the same name.
_HAS_GRACE = ".metadata | select(.deletionGracePeriodSeconds != 0)"


def stages() -> list[dict[str, Any]]:
    """Return the stages: a bound pod runs at once; a deleted pod ends after a pause."""
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
