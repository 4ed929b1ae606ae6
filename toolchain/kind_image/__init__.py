"""kind's node image, built from Debian packages and Go modules; README.md says how and why."""
