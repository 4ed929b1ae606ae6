"""Any Kubernetes cluster: client, kubeconfig, quantities, nodes, taints, CRDs."""
