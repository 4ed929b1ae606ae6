#!/usr/bin/env python3
"""A Helm post-renderer: LWS's manifests without CustomResourceDefinitions, and webhooks at hand.

The definitions are `lockstep.kube.crds`'s: in a release, the next one could delete them. Where the
manager runs on the host, its webhooks are called by URL instead of a Service. Helm starts this
without arguments, in whatever environment the Pulumi plugin has, so it finds the URL and its CA in
the manifests themselves (annotations of the operator's pod), and needs the standard library only.
"""

import itertools
import re
import sys

URL_ANNOTATION = "lockstep.dev/webhook-url"
CA_ANNOTATION = "lockstep.dev/webhook-ca"

_DEFINITION = re.compile(r"^kind: CustomResourceDefinition\s*$", re.MULTILINE)
_WEBHOOKS = re.compile(r"^kind: (?:Mutating|Validating)WebhookConfiguration\s*$", re.MULTILINE)
_SERVICE = re.compile(
    r"^(?P<indent> +)service: *\n(?P<body>(?:(?P=indent) +[^\n]*(?:\n|\Z))+)", re.MULTILINE
)
_PATH = re.compile(r"^ +path: *[\"']?(?P<path>/[^\s\"']*)[\"']? *$", re.MULTILINE)
_SEPARATOR = re.compile(r"^---", re.MULTILINE)


class CannotRewriteError(Exception):
    """The manifests are not what this program knows how to rewrite."""


def rewrite(manifests: str) -> str:
    """Drop definitions, point webhooks to the host if asked; leave all else, to the byte."""
    starts = [0, *(match.start() for match in _SEPARATOR.finditer(manifests)), len(manifests)]
    documents = [manifests[a:b] for a, b in itertools.pairwise(starts)]
    kept = [document for document in documents if not _DEFINITION.search(document)]
    if URL_ANNOTATION not in manifests:
        return "".join(kept)
    url, ca = annotation(manifests, URL_ANNOTATION), annotation(manifests, CA_ANNOTATION)
    return "".join(
        to_url(document, url, ca) if _WEBHOOKS.search(document) else document for document in kept
    )


def annotation(manifests: str, key: str) -> str:
    """Find the value of an annotation that the chart wrote on a line of its own."""
    found = re.search(rf"^ +{re.escape(key)}: *[\"']?([^\s\"']+)[\"']? *$", manifests, re.MULTILINE)
    if found is None:
        raise CannotRewriteError(f"no manifest has the annotation {key}")
    return found[1]


def to_url(document: str, url: str, ca: str) -> str:
    """Replace the Service of each webhook in one configuration."""

    def client_config(match: re.Match[str]) -> str:
        path = _PATH.search(match["body"])
        if path is None:
            raise CannotRewriteError("a webhook's service has no path")
        indent = match["indent"]
        return f"{indent}url: {url.rstrip('/')}{path['path']}\n{indent}caBundle: {ca}\n"

    rewritten = _SERVICE.sub(client_config, document)
    if re.search(r"^ *service:", rewritten, re.MULTILINE):
        raise CannotRewriteError("a webhook's service is not in the expected form")
    return rewritten


def main() -> int:
    """Read manifests, write manifests."""
    try:
        sys.stdout.write(rewrite(sys.stdin.read()))
    except CannotRewriteError as error:
        print(f"lockstep: cannot fit what Helm rendered: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
