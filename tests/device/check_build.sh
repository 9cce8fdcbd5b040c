#!/usr/bin/env bash
# Builds Octant for one NVIDIA Hopper GPU and looks for its kernels in the program. It needs the CUDA
# toolkit but no GPU, and takes about an hour on two cores, which is why the other tests leave it
# out. The exit code is 1 if anything is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/cuda/octant

OCTANT_PRESET=cuda "$root/octant" build

cuobjdump --list-elf "$program" | grep -q 'sm_90' || {
  echo "$program holds no code for sm_90; see CMAKE_CUDA_ARCHITECTURES and Kokkos_ARCH_*" >&2
  exit 1
}
kernels=$(cuobjdump --dump-elf-symbols "$program" | grep -c 'STT_FUNC.*octant') || true
echo "$program: $kernels kernels for sm_90"
for room in hydro gravity particles mesh; do
  cuobjdump --dump-elf-symbols "$program" | grep 'STT_FUNC' | grep -q "octant.*$room" || {
    echo "$program holds no kernel of src/$room" >&2
    exit 1
  }
done
