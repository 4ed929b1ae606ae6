"""The pinned version of every program; the files toolchain/modules/*/go.mod have the same."""

import re

# The oldest Go that builds every program, and the one that is downloaded where there is none.
GO = "1.26"
GO_DOWNLOADED = "1.27.3"

PULUMI = "3.259.0"
# The versions of the plugins that the pinned Python SDKs ask for.
PULUMI_KUBERNETES = "4.27.0"
PULUMI_COMMAND = "1.1.3"
# The code that the language host and the plugins are built from, where no release can be used: the
# newest that Go's module proxy has. Only the Kubernetes plugin's code is that of its version.
PULUMI_PYTHON_CODE = "3.0.0-20250806165243-bee5e4fa4815"
PULUMI_KUBERNETES_CODE = "4.0.0-20260304044920-867400a6a208"
PULUMI_COMMAND_CODE = "0.0.0-20240112221901-2fe00b62fa4d"

KUBERNETES = "1.35.8"
KUBERNETES_MAJOR, KUBERNETES_MINOR, _ = KUBERNETES.split(".")
# What kubeadm of this Kubernetes starts.
ETCD = "3.6.6"
KWOK = "0.8.0"
KIND = "0.33.0"
# Only in kind's node image, which is built where none can be pulled. kubeadm asks for this CoreDNS;
# Go's module proxy does not have crictl 1.35.
COREDNS = "1.13.1"
CRICTL = "1.36.0"

VOLCANO_DEFAULT = "1.15.1"
VOLCANO_SUPPORTED = ("1.14.1", "1.15.1")
LWS_DEFAULT = "0.9.0"
LWS_SUPPORTED = ("0.7.0", "0.8.0", "0.9.0")
KUBERNETES_SUPPORTED = (KUBERNETES,)

VOLCANO_CHART_REPO = "https://volcano-sh.github.io/helm-charts"
VOLCANO_CHART = "volcano"
LWS_CHART = "oci://registry.k8s.io/lws/charts/lws"
WORKLOAD_IMAGE = (
    "registry.k8s.io/pause:3.10.1"
    "@sha256:278fb9dbcca9518083ad1e11276933a2e96f23de604a3a08cc3c80002767d24c"
)
# kind publishes node images per release, one patch level per minor; this one is of kind 0.33.0.
KIND_NODE_IMAGE = (
    "kindest/node:v1.35.8@sha256:07b2536e30b803ed61d1677a79df6115f798ce64c80f9e22f6ed45afd09323c0"
)

# Older ones get no more corrections since October 2026.
OLDEST_KUBERNETES = "1.35"
# The newest Kubernetes that a minor version of Volcano supports, by Volcano's own table.
VOLCANO_SUPPORTS = {"1.14": "1.34", "1.15": "1.35"}


def out_of_support(kubernetes: str | None, volcano: str | None, lws: str | None) -> list[str]:
    """Return a line for each version that is superseded or not supported with the others.

    None stands for a part that the stack does not install.
    """
    lines = []
    if kubernetes and _numbers(minor(kubernetes)) < _numbers(OLDEST_KUBERNETES):
        lines.append(f"Kubernetes {kubernetes} is out of support; the default is {KUBERNETES}")
    newest = VOLCANO_SUPPORTS.get(minor(volcano)) if volcano else None
    if newest and kubernetes and _numbers(minor(kubernetes)) > _numbers(newest):
        lines.append(
            f"Volcano {volcano} supports Kubernetes up to {newest}, not {kubernetes}; "
            f"the default is Volcano {VOLCANO_DEFAULT}"
        )
    if lws and _numbers(lws) < _numbers(LWS_DEFAULT):
        lines.append(f"LeaderWorkerSet {lws} is superseded by {LWS_DEFAULT}, the default")
    return lines


def minor(version: str) -> str:
    """Return the first two numbers of a version, such as 1.35 of 1.35.8."""
    return ".".join(version.split(".")[:2])


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def of_image(image: str) -> str | None:
    """Return the version in an image's tag, such as 1.35.8 in `kindest/node:v1.35.8@sha256:…`."""
    match = re.search(r":v?(\d+\.\d+\.\d+)", image)
    return match[1] if match else None
