"""The product's own steps, run as the program runs them."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.sabotage.cluster import Cluster
from tests.sabotage.plan import Round
from tests.sabotage.workload import Update
from tests.unit.conftest import PROJECT_DIR

PATIENCE = "12"
"""Seconds until a judge gives up in a sabotaged round; clean runs have the product's default."""
LONGEST = 240.0
"""Seconds after which a step that does not end is killed."""
CLOCK = Path(__file__).parent / "clock"
_OBSERVED = re.compile(r"expected \S+, observed (\S+?):")


class Steps:
    """Runs `lockstep step record` and `judge` of one round."""

    def __init__(self, cluster: Cluster, plan: Round, scratch: Path, proxy: int) -> None:
        self._cluster, self._plan, self._scratch = cluster, plan, scratch
        self._write_kubeconfig(proxy)

    def run(self, words: str, update: Update, is_last: bool) -> tuple[str, str]:
        """Return `ok` or the observed verdict of a judge, nothing of another step; and why."""
        own = update.record if words == "record" else update.judge
        environment = {
            **os.environ,
            **own,
            "LOCKSTEP_CLUSTER_DIR": str(self._cluster.folder),
            "LOCKSTEP_KUBECONFIG": str(self._cluster.embedded.kubeconfig),
            "LOCKSTEP_RECEIPTS": str(self._scratch / "receipts"),
            **(self._changed(words, is_last) if self._plan.sabotage else {}),
        }
        code, text = _run(words, environment)
        reason = " ".join(text.split())[-500:]
        if code == 0:
            return "ok" if words == "judge" else "", reason
        observed = _OBSERVED.search(reason)
        return observed[1] if observed else "error", reason

    def _changed(self, words: str, is_last: bool) -> Mapping[str, str]:
        """What is different in a sabotaged round."""
        if words == "judge":
            return {"LOCKSTEP_PATIENCE": PATIENCE} if is_last else {}
        changed = {"LOCKSTEP_KUBECONFIG": str(self._scratch / "kubeconfig")}
        if self._plan.sabotage == "wall clock moved":
            path = f"{CLOCK}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
            changed |= {"PYTHONPATH": path, "SABOTAGE_CLOCK": str(self._scratch / "clock")}
        return changed

    def _write_kubeconfig(self, port: int) -> None:
        """Write the recorder's kubeconfig, which reaches the API server through the proxy."""
        config = yaml.safe_load(self._cluster.embedded.kubeconfig.read_text())
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
        file = self._scratch / "kubeconfig"
        file.touch(0o600)
        file.write_text(yaml.safe_dump(config))


def _run(words: str, environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a step; return its exit code and what it wrote to stderr."""
    with subprocess.Popen(
        [sys.executable, "-m", "lockstep", "step", words],
        cwd=PROJECT_DIR,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            _, reason = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            return 1, f"no end of `lockstep step {words}` in {LONGEST:.0f} s"
    return process.returncode, reason
