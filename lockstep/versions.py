"""The pinned version of every program; toolchain/modules/*/go.mod agree with it."""

from __future__ import annotations

import re

PULUMI = "3.259.0"
PULUMI_KUBERNETES = "4.27.0"
PULUMI_COMMAND = "1.1.3"

KUBERNETES = "1.34.4"
ETCD = "3.6.5"
KWOK = "0.7.0"
KIND = "0.33.0"
# In the node image that is built where none can be pulled; kubeadm names the first.
COREDNS = "1.12.1"
CRICTL = "1.34.0"

VOLCANO = "1.14.1"
LWS_DEFAULT = "0.8.0"
LWS_SUPPORTED = ("0.7.0", "0.8.0", "0.9.0")
VOLCANO_SUPPORTED = (VOLCANO,)
KUBERNETES_SUPPORTED = (KUBERNETES,)

VOLCANO_CHART_REPO = "https://volcano-sh.github.io/helm-charts"
VOLCANO_CHART = "volcano"
LWS_CHART = "oci://registry.k8s.io/lws/charts/lws"
WORKLOAD_IMAGE = (
    "registry.k8s.io/pause:3.10.1"
    "@sha256:278fb9dbcca9518083ad1e11276933a2e96f23de604a3a08cc3c80002767d24c"
)
# kind publishes node images per release, one patch level per minor: with kind 0.33.0, Kubernetes
# 1.34 is 1.34.11, whatever patch level the embedded cluster has.
KIND_NODE_IMAGE = (
    "kindest/node:v1.34.11@sha256:44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d"
)


def of_image(image: str) -> str | None:
    """Return the version in an image's tag, such as 1.34.11 in `kindest/node:v1.34.11@sha256:…`."""
    match = re.search(r":v?(\d+\.\d+\.\d+)", image)
    return match[1] if match else None
