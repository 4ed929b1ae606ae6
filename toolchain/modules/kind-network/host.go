package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"strings"
)

const (
	// The folder of the node that containerd reads; no pod starts before this file is there.
	configFolder = "/etc/cni/net.d"
	configName   = "10-kind-network.conflist"
	// Marks our routes in the node's table, so that those of a node that left are found again.
	routeProtocol = "104"
)

// host is the node that this program runs on.
type host struct {
	name      string
	podSubnet string
}

// apply makes this node's network fit the nodes of the cluster.
func (h host) apply(nodes map[string]node) error {
	own := nodes[h.name]
	if own.podCIDR == "" {
		return nil // the controller manager will give it a range; that is a change like any other
	}
	if err := h.masquerade(own.podCIDR); err != nil {
		return err
	}
	if err := h.route(nodes); err != nil {
		return err
	}
	return configure(own)
}

// route sends what is for another node's pods to that node.
func (h host) route(nodes map[string]node) error {
	wanted := map[string]bool{}
	for _, other := range nodes {
		if other.name == h.name || other.podCIDR == "" || other.address == "" {
			continue
		}
		wanted[other.podCIDR] = true
		if _, err := run("ip", "route", "replace", other.podCIDR, "via", other.address,
			"proto", routeProtocol); err != nil {
			return err
		}
	}
	known, err := run("ip", "-json", "route", "show", "proto", routeProtocol)
	if err != nil {
		return err
	}
	var routes []struct {
		Destination string `json:"dst"`
	}
	if err := json.Unmarshal(known, &routes); err != nil {
		return err
	}
	for _, route := range routes {
		if wanted[route.Destination] {
			continue
		}
		if _, err := run("ip", "route", "delete", route.Destination); err != nil {
			return err
		}
	}
	return nil
}

// masquerade gives what pods send out of the cluster the node's address, which others can answer.
func (h host) masquerade(podCIDR string) error {
	rule := []string{"POSTROUTING", "--source", podCIDR, "!", "--destination", h.podSubnet,
		"--match", "comment", "--comment", "kind-network", "--jump", "MASQUERADE"}
	table := []string{"--wait", "--table", "nat"}
	if _, err := run("iptables", append(append(table, "--check"), rule...)...); err == nil {
		return nil
	}
	_, err := run("iptables", append(append(table, "--append"), rule...)...)
	return err
}

// configure tells containerd how to connect a pod: a cable to the node, an address of its range.
func configure(own node) error {
	size, err := mtu(own.address)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(map[string]any{
		"cniVersion": "0.3.1",
		"name":       "kind-network",
		"plugins": []any{
			map[string]any{
				"type": "ptp",
				"mtu":  size,
				"ipam": map[string]any{
					"type":    "host-local",
					"dataDir": "/run/cni-ipam-state",
					"ranges":  []any{[]any{map[string]string{"subnet": own.podCIDR}}},
					"routes":  []any{map[string]string{"dst": "0.0.0.0/0"}},
				},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]bool{"portMappings": true}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	file := configFolder + "/" + configName
	if present, err := os.ReadFile(file); err == nil && bytes.Equal(present, text) {
		return nil
	}
	// containerd reads the folder at any moment, and takes names that end in .conflist only.
	if err := os.WriteFile(file+".new", text, 0o644); err != nil {
		return err
	}
	log.Printf("pods of this node get addresses of %s", own.podCIDR)
	return os.Rename(file+".new", file)
}

// mtu is the packet size of the interface that has this address: a pod must not send larger ones.
func mtu(address string) (int, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return 0, err
	}
	for _, candidate := range interfaces {
		addresses, err := candidate.Addrs()
		if err != nil {
			return 0, err
		}
		for _, held := range addresses {
			if network, ok := held.(*net.IPNet); ok && network.IP.String() == address {
				return candidate.MTU, nil
			}
		}
	}
	return 0, fmt.Errorf("no interface has this node's address %q", address)
}

func run(name string, args ...string) ([]byte, error) {
	said, err := exec.Command(name, args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = errors.New(strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return said, nil
}
