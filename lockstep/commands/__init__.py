"""Commands of `lockstep`; `cli` lists those that have HELP, configure(parser) and run(args)."""
