"""Where the platform runs: one file per provider behind the interface in `base`."""
