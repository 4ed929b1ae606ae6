"""Commands of `lockstep`; `cli` lists those that have HELP, configure(parser) and run(args)."""

EXIT_FAILED = 1
"""Exit code of a command whose verdicts, or one of them, failed."""
