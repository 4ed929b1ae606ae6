"""The text of kind's cluster config; pure, so that the Pulumi program can import it quickly."""

import yaml

# Since Kubernetes 1.35 a kubelet refuses to start on cgroup v1, unless this is set; it has no
# effect on cgroup v2. It is in every config, because what matters is the container engine's
# machine, which may be another one, and because a config that depends on the machine would
# recreate the cluster.
KUBELET = "{kind: KubeletConfiguration, failCgroupV1: false}"


def config(cluster_name: str, image: str, workers: int) -> str:
    """Return the config of a cluster of one control plane and some workers."""
    roles = ["control-plane", *["worker"] * workers]
    cluster = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "name": cluster_name,
        "kubeadmConfigPatches": [KUBELET],
    }
    nodes = [{"role": role, "image": image} for role in roles]
    return yaml.safe_dump({**cluster, "nodes": nodes}, sort_keys=False)
