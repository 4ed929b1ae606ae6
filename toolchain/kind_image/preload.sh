#!/bin/sh
# Imports container images, a docker archive on stdin, into the node that this runs in. The arguments
# are pairs: a name in the archive, and the name under which pods ask for the image.
# Without unpacking, as kind does it: a snapshot cannot be created inside an image layer.
set -eu
containerd </dev/null >/tmp/containerd.log 2>&1 &
until ctr version >/dev/null 2>&1; do
  kill -0 $! || { cat /tmp/containerd.log; exit 1; }
  sleep 0.1
done
images() { ctr --namespace k8s.io images "$@"; }
images import --all-platforms --no-unpack -
while [ $# -gt 0 ]; do
  images tag --force "$1" "$2"
  shift 2
done
images list --quiet | grep /kind-part: | xargs ctr --namespace k8s.io images remove
kill $!
wait $! || true
rm /tmp/containerd.log
