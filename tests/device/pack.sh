#!/usr/bin/env bash
# Gathers the built programs, without their symbols, and the libraries that a machine with a GPU,
# its driver and the CUDA toolkit may lack. For a program with MPI that is Open MPI whole, with the
# plugins that it loads at run time for ranks on one node:
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

# Copies the libraries that the files given need and the other machine may lack.
copy_libraries_of() {
  ldd "$@" | awk -v there="^($there)" '$2 == "=>" && $3 ~ /^\// && $1 !~ there { print $3 }' |
    sort -u | xargs -r cp -L -t "$folder/lib"
}

# Copies Open MPI's plugins, tools and messages to where session.py tells it to look for them.
copy_open_mpi() {
  local plugins texts plugin
  plugins=$(ompi_info --path pkglibdir --parsable | cut -d: -f3)
  texts=$(ompi_info --path pkgdatadir --parsable | cut -d: -f3)
  mkdir -p "$folder/openmpi/"{bin,etc,plugins}
  for plugin in "$plugins"/mca_*.so; do
    # Those of networks and schedulers are of no use on one node.
    case $(basename "$plugin") in
      *_ucx.so | *_ofi.so | *_psm*.so | *openib* | *slurm* | *flux* | *gridengine* | *memheap*) ;;
      *) cp "$plugin" "$folder/openmpi/plugins" ;;
    esac
  done
  cp -r "$texts" "$folder/openmpi/share"
  cp -L "$(command -v mpirun)" "$folder/openmpi/bin/mpirun"
  cp -L "$(command -v orted)" "$folder/openmpi/bin/orted"
  copy_libraries_of "$folder/openmpi/bin/"* "$folder/openmpi/plugins/"*
}

for program in octant octant-bench; do
  [[ -x $build/$program ]] || continue
  strip -o "$folder/$program" "$build/$program"
  copy_libraries_of "$build/$program"
done
[[ ! -e $folder/lib/libmpi.so.40 ]] || copy_open_mpi
du -sh "$folder"/*
