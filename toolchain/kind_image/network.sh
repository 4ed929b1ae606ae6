#!/bin/sh
# Connects the pods of a kind cluster; runs on every node, in the network of the node.
#
# The node gives its pods addresses of its own range (podCIDR), sends packets for the range of another
# node to that node, and masquerades packets that leave the cluster. All nodes are on one bridge, so
# no tunnel is needed. kind never removes a node, so no route is removed.
set -u
config=/etc/cni/net.d/10-kind-network.conflist

# The service address of the API server works only once kube-proxy runs; kind sets this one.
export KUBERNETES_SERVICE_HOST="${CONTROL_PLANE_ENDPOINT%:*}"
export KUBERNETES_SERVICE_PORT="${CONTROL_PLANE_ENDPOINT##*:}"
fields='{.metadata.name},{.spec.podCIDR},{.status.addresses[?(@.type=="InternalIP")].address}{"\n"}'

masquerade() {
  rule="POSTROUTING --source $1 ! --destination $POD_SUBNET --jump MASQUERADE"
  # shellcheck disable=SC2086 # the rule is several words
  iptables --wait --table nat --check $rule 2>/dev/null || iptables --wait --table nat --append $rule
}

write_config() {
  [ -e "$config" ] && return
  # containerd reads the folder at any moment, and only names that end in .conflist.
  cat >"$config.new" <<EOF
{"cniVersion": "0.3.1", "name": "kind-network", "plugins": [
  {"type": "ptp", "mtu": $(cat /sys/class/net/eth0/mtu), "ipam": {
    "type": "host-local", "dataDir": "/run/cni-ipam-state",
    "ranges": [[{"subnet": "$1"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
EOF
  mv "$config.new" "$config"
  echo "pods of this node get addresses of $1"
}

while :; do
  # The watch is ended and started again every minute, which repeats a step that failed.
  timeout 60 kubectl get nodes --watch --output "jsonpath=$fields" |
    while IFS=, read -r name range address; do
      if [ -z "$range" ] || [ -z "$address" ]; then
        continue # assigned a moment later, which is another event
      elif [ "$name" = "$NODE_NAME" ]; then
        masquerade "$range" && write_config "$range"
      else
        ip route replace "$range" via "$address"
      fi
    done
  sleep 1
done
