"""Plain Python behind the Pulumi program: toolchain, embedded cluster, recorder, judge, report."""
