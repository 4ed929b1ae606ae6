"""Subcommands of `python -m lockstep`: each module has HELP, configure(parser) and run(args)."""
