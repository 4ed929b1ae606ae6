"""Moves the wall clock of one Python process.

Python imports a module of this name at its start when its folder is in PYTHONPATH; the campaign
puts it there for the recorder only. The file that SABOTAGE_CLOCK names holds the seconds by which
`time.time`, `time.time_ns` and Lockstep's `datetime.now` are wrong; without the file they are
right. The monotonic clock is not touched: no administrator can move it. Other packages keep the
real `datetime`, as they decode into that very class.
"""

import builtins
import datetime
import os
import time
import types
from typing import Any

_FILE = os.environ.get("SABOTAGE_CLOCK", "")
_time, _time_ns, _import = time.time, time.time_ns, builtins.__import__


def _offset() -> float:
    try:
        with open(_FILE) as file:
            return float(file.read() or 0)
    except (OSError, ValueError):
        return 0.0


class _Moved(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_Moved":
        return cls.fromtimestamp(_time() + _offset(), tz)


def _moved_import(name: str, *rest: Any, **options: Any) -> Any:
    importer = rest[0] if rest else None
    if name == "datetime" and str((importer or {}).get("__name__", "")).startswith("lockstep"):
        return types.SimpleNamespace(**{**vars(datetime), "datetime": _Moved})
    return _import(name, *rest, **options)


if _FILE:
    time.time = lambda: _time() + _offset()
    time.time_ns = lambda: _time_ns() + int(_offset() * 1e9)
    builtins.__import__ = _moved_import
