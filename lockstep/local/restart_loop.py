"""`python restart_loop.py LOG COMMAND…`: run a command, and run it again whenever it ends.

Run as a file and without imports of Lockstep, so that it is small and starts quickly.
"""

import os
import subprocess
import sys
import threading
import time

LARGEST_LOG = 20 * 2**20
LOG_CHECK_SECONDS = 10.0
STABLE_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


def main(log: str, command: list[str]) -> None:
    """Restart the command for ever; the log is this process's own output."""
    os.umask(0o077)
    threading.Thread(target=limit_size, args=(log,), daemon=True).start()
    pause = FIRST_PAUSE
    while True:
        started = time.monotonic()
        subprocess.run(command, check=False)
        is_stable = time.monotonic() - started > STABLE_SECONDS
        pause = FIRST_PAUSE if is_stable else min(2 * pause, LONGEST_PAUSE)
        time.sleep(pause)


def limit_size(log: str) -> None:
    """Empty the log when it has grown too large; the program appends, so it goes on at the top."""
    while True:
        if os.path.getsize(log) > LARGEST_LOG:
            os.truncate(log, 0)
        time.sleep(LOG_CHECK_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
