"""The one exception that a user sees: a line that says what is wrong and what to do."""


class LockstepError(Exception):
    """A fault with a one-line message; the command line prints it and exits with 2."""
