"""Names of the objects of LWS, and the annotations that Lockstep puts on them.

The chart derives these names from the release's name `lws`; the plain manifests use the same.
"""

NAMESPACE = "lws-system"
MANAGER = "lws-controller-manager"
"""The manager's Deployment, and its service account."""
CONFIG_MAP = "lws-manager-config"
CONFIG_KEY = "controller_manager_config.yaml"

RIGHTS_SUFFIX = "-lws-podgroups"
"""Ends the names of the ClusterRole that lets LWS create PodGroups, and of its binding."""

CONFIG_ANNOTATION = "lockstep.dev/config"
"""On pods: the hash of the config that they must have read; a change restarts them."""
ORIGINAL_ANNOTATION = "lockstep.dev/original-config"
"""On the ConfigMap: its text before Lockstep changed it."""
REVISION_ANNOTATION = "lockstep.dev/release-revision"
"""On the ConfigMap: the revision of the Helm release that the patch was made for."""
