"""The text of kind's cluster config; pure, so that the Pulumi program can import it quickly."""

import yaml


def config(cluster_name: str, image: str, workers: int) -> str:
    """Return the config of a cluster of one control plane and some workers."""
    roles = ["control-plane", *["worker"] * workers]
    cluster = {"kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4", "name": cluster_name}
    nodes = [{"role": role, "image": image} for role in roles]
    return yaml.safe_dump({**cluster, "nodes": nodes}, sort_keys=False)
