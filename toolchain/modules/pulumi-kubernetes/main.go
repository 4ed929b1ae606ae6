// Command pulumi-resource-kubernetes serves the Kubernetes provider.
//
// The provider's own main embeds two files that its release generates, so it cannot be built from
// the module alone. The toolchain puts their sources from the module beside this file at build time.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}
