#!/usr/bin/env bash
# All that a machine with a GPU has to show, from a built tree and nothing else but the standard
# library of Python:
#
#   tests/device/run.sh [--program build/cuda/octant] [--json FILE] [--quick] [PART...]
#
# PART is about, examples, schedules, sanitizer, profile or benches; all, if none is given. Results
# are kept in FILE (device.json) as they come, and telemetry for `octools roofline` beside it in
# profile/. An example or benchmark that went well is not done again: a run that was cut off goes
# on. The exit code is 1 if anything failed.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/run.py" "$@"
