"""KWOK stages: what the simulated kubelets do to their nodes and pods.

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

# A kubelet reports itself once; the controller manager expects no heartbeats (`command_lines`).
_NODE = """\
{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
addresses:
- {type: Hostname, address: {{ NodeName | Quote }}}
nodeInfo:
  architecture: {{ or .status.nodeInfo.architecture "amd64" }}
  operatingSystem: linux
  kubeletVersion: {{ printf "kwok-%s" Version | Quote }}
  kubeProxyVersion: {{ printf "kwok-%s" Version | Quote }}
  containerRuntimeVersion: {{ printf "kwok-%s" Version | Quote }}
  kernelVersion: ""
  osImage: ""
  bootID: ""
  machineID: ""
  systemUUID: ""
"""

STOPPING = 500
"""Milliseconds from the deletion of a pod to its end: a kubelet stops the containers first. A pod
that ended at once could be recreated before LWS has noticed the deletion (lws#998)."""


# A pod with a grace period of 0 is deleted already, or will be without its last finalizer. KWOK
# deletes by name: a second deletion could hit a new pod of the same name.
_HAS_GRACE = ".metadata | select(.deletionGracePeriodSeconds != 0)"


_READY = '.status.conditions.[] | select(.type == "Ready") | .status'


def stages() -> list[dict[str, Any]]:
    """Return the stages: a node gets ready; a bound pod runs at once; a deleted pod ends later."""
    unready = {"key": _READY, "operator": "NotIn", "values": ["True"]}
    new = [_exists(".metadata.deletionTimestamp", False), _exists(".status.podIP", False)]
    leaving = [_exists(".metadata.deletionTimestamp"), _exists(_HAS_GRACE)]
    return [
        _stage("node-runs", "Node", [unready], {"statusTemplate": _NODE}),
        _stage("pod-runs", "Pod", new, {"statusTemplate": _STATUS}),
        _stage("pod-goes", "Pod", leaving, {"delete": True}, STOPPING),
    ]


def _exists(key: str, wanted: bool = True) -> dict[str, Any]:
    return {"key": key, "operator": "Exists" if wanted else "DoesNotExist"}


def _stage(
    name: str, kind: str, when: list[dict[str, Any]], then: dict[str, Any], delay: int = 0
) -> dict[str, Any]:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": when},
            "delay": {"durationMilliseconds": delay},
            "next": then,
        },
    }
