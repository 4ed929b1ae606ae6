"""Every version that Lockstep pins and is not a Python package; tools/*/go.mod agree with it."""

PULUMI = "3.259.0"
PULUMI_KUBERNETES = "4.27.0"
PULUMI_COMMAND = "1.1.3"

KUBERNETES = "1.34.4"
ETCD = "3.6.4"
KWOK = "0.7.0"
KIND = "0.33.0"

VOLCANO = "1.14.1"
LWS_DEFAULT = "0.8.0"
LWS_SUPPORTED = ("0.7.0", "0.8.0", "0.9.0")
VOLCANO_SUPPORTED = (VOLCANO,)
KUBERNETES_SUPPORTED = (KUBERNETES,)
