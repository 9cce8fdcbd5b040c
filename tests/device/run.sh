#!/usr/bin/env bash
# All that a machine with a GPU has to show, from a built tree and nothing else but the standard
# library of Python:
#
#   tests/device/run.sh [--program build/cuda/octant] [--host build/release/octant]
#                       [--json FILE] [--minutes 9] [--quick] [PART...]
#
# PART is about, examples, ranks, restarts, gas, grids, flows, cosmology, profile, schedules,
# sanitizer or others; all, if none is given, in this order: each in a time of its own first, then
# what is left of each while there are minutes. Results are kept in FILE (device.json) as they come,
# its `goals` set the numbers that matter beside those that are wanted, and health.json and
# profile_*.tar.gz lie beside it for `octools roofline`. What went well is not done again: a run
# that was cut off goes on, also on another machine that is given FILE. The exit code is 1 if
# anything failed.
exec python3 "$(dirname "${BASH_SOURCE[0]}")/run.py" "$@"
