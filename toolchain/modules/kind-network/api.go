package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	account = "/var/run/secrets/kubernetes.io/serviceaccount"
	// The API server ends a watch after this; a new one starts from a fresh list.
	watchFor = 300
)

// node is what there is to know about a node here.
type node struct {
	name    string
	address string
	podCIDR string
}

// api reads nodes. Two requests do not need a client library that weighs forty megabytes.
type api struct {
	client *http.Client
	url    string
}

func newAPI() (*api, error) {
	authority, err := os.ReadFile(account + "/ca.crt")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, errors.New("the service account has no certificate authority")
	}
	// kind names its control plane: the service address works only once kube-proxy does.
	endpoint := os.Getenv("CONTROL_PLANE_ENDPOINT")
	if endpoint == "" {
		endpoint = net.JoinHostPort(
			os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	}
	transport := &http.Transport{
		TLSClientConfig:       &tls.Config{RootCAs: pool},
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: 10 * time.Second,
	}
	client := &http.Client{Transport: transport, Timeout: (watchFor + 30) * time.Second}
	return &api{client: client, url: "https://" + endpoint + "/api/v1/nodes"}, nil
}

// object is the part of a Node that matters.
type object struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		PodCIDR string `json:"podCIDR"`
	} `json:"spec"`
	Status struct {
		Addresses []struct {
			Type    string `json:"type"`
			Address string `json:"address"`
		} `json:"addresses"`
	} `json:"status"`
}

func (o object) node() node {
	found := node{name: o.Metadata.Name, podCIDR: o.Spec.PodCIDR}
	for _, address := range o.Status.Addresses {
		if address.Type == "InternalIP" {
			found.address = address.Address
			break
		}
	}
	return found
}

// list returns the nodes by name, and the version of the cluster's state that they are from.
func (a *api) list(ctx context.Context) (map[string]node, string, error) {
	body, err := a.get(ctx, a.url)
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	var answer struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []object `json:"items"`
	}
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return nil, "", err
	}
	nodes := map[string]node{}
	for _, item := range answer.Items {
		nodes[item.Metadata.Name] = item.node()
	}
	return nodes, answer.Metadata.ResourceVersion, nil
}

// watch reports each change after that version, and returns when the API server ends the watch.
func (a *api) watch(ctx context.Context, version string, report func(node, bool) error) error {
	url := fmt.Sprintf("%s?watch=1&resourceVersion=%s&timeoutSeconds=%d", a.url, version, watchFor)
	body, err := a.get(ctx, url)
	if err != nil {
		return fmt.Errorf("cannot watch the nodes: %w", err)
	}
	defer body.Close()
	events := json.NewDecoder(body)
	for {
		var event struct {
			Type   string `json:"type"`
			Object object `json:"object"`
		}
		switch err := events.Decode(&event); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the watch broke: %w", err)
		case event.Type == "ERROR":
			return nil // too old a version: the next list has a new one
		}
		if err := report(event.Object.node(), event.Type == "DELETED"); err != nil {
			return err
		}
	}
}

func (a *api) get(ctx context.Context, url string) (io.ReadCloser, error) {
	token, err := os.ReadFile(account + "/token") // it is renewed every hour
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+string(token))
	answer, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, errors.New(answer.Status)
	}
	return answer.Body, nil
}
