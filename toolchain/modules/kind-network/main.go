// Kind-network lets the pods of a kind cluster talk to each other, whichever node they are on.
//
// Nodes of kind share one bridge, so this takes no tunnel: each node routes the pods of another
// node through that node's address, gives its own pods addresses of its own range, and rewrites the
// source of what leaves the cluster. It runs once per node, in the node's network.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const retry = time.Second

func main() {
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	api, err := newAPI()
	if err != nil {
		log.Fatal(err)
	}
	host := host{name: need("NODE_NAME"), podSubnet: need("POD_SUBNET")}
	for ctx.Err() == nil {
		if err := follow(ctx, api, host); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
}

// follow sets the network up for the nodes that there are, then for each change, until the watch ends.
func follow(ctx context.Context, api *api, host host) error {
	nodes, version, err := api.list(ctx)
	if err != nil {
		return fmt.Errorf("cannot list the nodes: %w", err)
	}
	if err := host.apply(nodes); err != nil {
		return err
	}
	return api.watch(ctx, version, func(changed node, gone bool) error {
		before := nodes[changed.name]
		if gone {
			delete(nodes, changed.name)
		} else {
			nodes[changed.name] = changed
		}
		if nodes[changed.name] == before {
			return nil // a heartbeat
		}
		return host.apply(nodes)
	})
}

func need(name string) string {
	value := os.Getenv(name)
	if value == "" {
		log.Fatalf("the environment has no %s", name)
	}
	return value
}
