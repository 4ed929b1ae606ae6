import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lockstep.lws import post_renderer
from lockstep.lws.post_renderer import CannotRewriteError, rewrite

CRD = """---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  conversion:
    service:
      name: not-a-webhook-configuration
      path: /kept
"""
WEBHOOKS = """---
# Source: lws/templates/webhook/webhook.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: lws-mutating-webhook-configuration
webhooks:
  - admissionReviewVersions:
      - v1
    clientConfig:
      service:
        name: lws-webhook-service
        namespace: lws-system
        path: /mutate-set
    failurePolicy: Fail
    name: mleaderworkerset.kb.io
  - clientConfig:
      service:
        path: "/mutate--v1-pod"
        name: lws-webhook-service
        namespace: lws-system
    name: mpod.kb.io
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
webhooks:
  - name: vpod.kb.io
    clientConfig:
      service:
        name: lws-webhook-service
        namespace: lws-system
        path: /validate--v1-pod"""
DEPLOYMENT = """---
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    metadata:
      annotations:
        lockstep.dev/webhook-ca: Q0E9PQ==
        lockstep.dev/webhook-url: https://127.0.0.1:9443/
"""
MANIFESTS = f"{CRD}{DEPLOYMENT}{WEBHOOKS}"
ODD = DEPLOYMENT.replace("lockstep.dev/webhook-ca", "other")


def test_definitions_are_left_out_of_the_release() -> None:
    """Helm deletes what a release had and the next one has not."""
    kinds = [document["kind"] for document in yaml.safe_load_all(rewrite(MANIFESTS)) if document]
    assert "CustomResourceDefinition" not in kinds
    assert len(kinds) == 3


def test_webhooks_stay_where_the_manager_runs_in_the_cluster() -> None:
    assert rewrite(f"{CRD}{WEBHOOKS}") == WEBHOOKS


def test_webhooks_call_the_url_with_its_authority_and_no_service() -> None:
    configurations = [d for d in yaml.safe_load_all(rewrite(MANIFESTS)) if "webhooks" in d]
    configs = [hook["clientConfig"] for d in configurations for hook in d["webhooks"]]
    assert configs == [
        {"url": f"https://127.0.0.1:9443{path}", "caBundle": "Q0E9PQ=="}
        for path in ("/mutate-set", "/mutate--v1-pod", "/validate--v1-pod")
    ]


def test_all_else_stays_to_the_byte() -> None:
    assert rewrite(MANIFESTS).startswith(DEPLOYMENT)
    kept = [line for line in rewrite(MANIFESTS).splitlines() if "url:" not in line]
    service = ("service:", "name: lws-webhook", "namespace: lws", "path:")
    assert [line for line in WEBHOOKS.splitlines() if not line.strip().startswith(service)] == [
        line for line in kept[len(DEPLOYMENT.splitlines()) - 1 :] if "caBundle" not in line
    ]


@pytest.mark.parametrize(
    ("manifests", "fault"),
    [
        (f"{ODD}{WEBHOOKS}", "no manifest has the annotation lockstep.dev/webhook-ca"),
        (MANIFESTS.replace("        path: /mutate-set\n", ""), "has no path"),
        (
            f"{DEPLOYMENT}---\nkind: MutatingWebhookConfiguration\nwebhooks:\n"
            "- clientConfig:\n    service: {name: a, path: /b}\n",
            "not in the expected form",
        ),
    ],
)
def test_manifests_in_another_form_are_refused(manifests: str, fault: str) -> None:
    with pytest.raises(CannotRewriteError, match=fault):
        rewrite(manifests)


def started(manifests: str) -> subprocess.CompletedProcess[str]:
    """As Helm starts it: no arguments, and no way to our packages."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(Path(post_renderer.__file__))],
        input=manifests,
        capture_output=True,
        text=True,
        check=False,
    )


def test_program_reads_and_writes_manifests_with_the_standard_library_only() -> None:
    done = started(MANIFESTS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == rewrite(MANIFESTS)


def test_program_says_in_one_line_what_it_cannot_do() -> None:
    done = started(ODD)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("lockstep: cannot fit what Helm rendered: ")
    assert done.stderr.count("\n") == 1
