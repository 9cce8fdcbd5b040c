#!/usr/bin/env bash
# What the images of containers run as root in a bare Debian: installs what is missing, builds the
# program and its tools.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/octant" check "$root/examples/sedov.toml" > /dev/null
"$root/octant" plot --help > /dev/null
apt-get clean
rm -rf /var/lib/apt/lists/*
