#!/usr/bin/env bash
# Gathers the built programs, without their symbols, and the libraries that a machine with a GPU,
# its driver and the CUDA toolkit may lack:
#
#   tests/device/pack.sh [BUILD [FOLDER]]       (build/cuda-alone and build/device)
#
# With FOLDER in a clone on that machine: tests/device/run.sh --program FOLDER/octant
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$root/build/cuda-alone}
folder=${2:-$root/build/device}

# What comes with the system, the driver or the toolkit.
there='lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+]|cuda|cufft|cudart)[.]so'

[[ -x $build/octant ]] || {
  echo "$build/octant is not built: OCTANT_PRESET=$(basename "$build") ./octant build" >&2
  exit 2
}
rm -rf "$folder"
mkdir -p "$folder/lib"
for program in octant octant-bench; do
  [[ -x $build/$program ]] || continue
  strip -o "$folder/$program" "$build/$program"
  ldd "$build/$program" | awk -v there="^($there)" '$2 == "=>" && $1 !~ there { print $3 }' |
    xargs -r cp -L -t "$folder/lib"
done
du -sh "$folder"/*
