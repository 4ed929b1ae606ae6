"""The embedded cluster: a real control plane and real operators as processes of this machine."""
