// Volcano's scheduler, which serves its metrics on a unix-domain socket instead of a port.
//
// Volcano's own command serves them to everybody on the machine. Everything else is the same: the
// options, the actions and plugins, and the scheduler itself.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	componentbaseoptions "k8s.io/component-base/config/options"
	"k8s.io/klog/v2"

	"volcano.sh/volcano/cmd/scheduler/app"
	"volcano.sh/volcano/cmd/scheduler/app/options"
	commonutil "volcano.sh/volcano/pkg/util"
	"volcano.sh/volcano/pkg/version"

	_ "volcano.sh/volcano/pkg/scheduler/actions"
	_ "volcano.sh/volcano/pkg/scheduler/plugins"
)

func main() {
	klog.InitFlags(nil)
	_ = flag.Set("logtostderr", "true")
	option := options.NewServerOption()
	option.AddFlags(pflag.CommandLine)
	utilfeature.DefaultMutableFeatureGate.AddFlag(pflag.CommandLine)
	commonutil.LeaderElectionDefault(&option.LeaderElection)
	option.LeaderElection.ResourceName = commonutil.GenerateComponentName(option.SchedulerNames)
	componentbaseoptions.BindLeaderElectionFlags(&option.LeaderElection, pflag.CommandLine)
	option.RegisterOptions()
	socket := pflag.String("metrics-socket", "", "The unix-domain socket that serves the metrics.")
	cliflag.InitFlags()
	if option.PrintVersion {
		version.PrintVersionAndExit()
	}
	if err := run(option, *socket); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(option *options.ServerOption, socket string) error {
	if err := option.CheckOptionOrDie(); err != nil {
		return err
	}
	if socket != "" {
		if err := serveMetrics(socket); err != nil {
			return err
		}
	}
	return app.Run(option)
}

func serveMetrics(socket string) error {
	// What an earlier process left, which was killed.
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.Handle("/metrics", commonutil.PromHandler())
	go func() { klog.Errorf("the metrics are no longer served: %v", http.Serve(listener, routes)) }()
	return nil
}
