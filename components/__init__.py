"""The system as typed Pulumi components; plain Python that needs no engine is in `lockstep`."""
