"""The pinned version of every program; the files toolchain/modules/*/go.mod have the same."""

import re

# The oldest Go that builds every program.
GO = "1.26"

PULUMI = "3.259.0"
# The versions of the plugins that the pinned Python SDKs ask for.
PULUMI_KUBERNETES = "4.27.0"
PULUMI_COMMAND = "1.1.3"
# The code that the language host and the plugins are built from, where no release can be used: the
# newest that Go's module proxy has. Only the Kubernetes plugin's code is that of its version.
PULUMI_PYTHON_CODE = "3.0.0-20250806165243-bee5e4fa4815"
PULUMI_KUBERNETES_CODE = "4.0.0-20260304044920-867400a6a208"
PULUMI_COMMAND_CODE = "0.0.0-20240112221901-2fe00b62fa4d"

KUBERNETES = "1.34.4"
KUBERNETES_MAJOR, KUBERNETES_MINOR, _ = KUBERNETES.split(".")
ETCD = "3.6.5"
KWOK = "0.7.0"
KIND = "0.33.0"
# Only in kind's node image, which is built where none can be pulled. kubeadm asks for this CoreDNS.
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


_OUT_OF_SUPPORT = {
    "Kubernetes": ("1.35.8", ("1.33.",)),
    "Volcano": ("1.15.1", ("1.14.",)),
    "LWS": ("0.9.0", ("0.7.", "0.8.")),
}
"""For each part, what to use instead of the versions that begin like these."""


def out_of_support(kubernetes: str | None, volcano: str | None, lws: str | None) -> list[str]:
    """Return a clause for each version that its project no longer supports; None: not known."""
    chosen = {"Kubernetes": kubernetes, "Volcano": volcano, "LWS": lws}
    return [
        f"{part} {version} is out of support: use {newest}"
        for part, (newest, old) in _OUT_OF_SUPPORT.items()
        if (version := chosen[part]) and version.startswith(old)
    ]
