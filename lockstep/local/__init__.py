"""Clusters on this machine: the embedded control plane, operators, supervision, kind."""
