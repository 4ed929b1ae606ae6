"""`python -m tests.faults.update VERB STACK FILE`: what `lockstep up` or `down` does.

A process of its own, so that all of an update can be killed; it writes its result to the file.
"""

import json
import sys
from pathlib import Path

from lockstep.errors import LockstepError
from lockstep.walk.stack import Stack


def main(verb: str, name: str, file: Path) -> None:
    """Run the update."""
    stack = Stack(name)
    result: dict[str, object] = {"reason": "", "verdicts": {}}
    try:
        if verb == "up":
            update = stack.up()
            result = {"reason": update.reason, "verdicts": update.events.outputs.get("verdicts")}
        else:
            stack.down()
            stack.forget()
    except LockstepError as error:
        result["reason"] = str(error) or "an error without a reason"
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(result))
    fresh.replace(file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
