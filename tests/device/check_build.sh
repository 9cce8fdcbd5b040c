#!/usr/bin/env bash
# Builds Octant for one NVIDIA Hopper GPU and looks for its kernels in the program. It needs the
# CUDA toolkit but no GPU, and takes about an hour on two cores, which is why the other tests leave
# it out. The exit code is 1 if anything is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$root/build/cuda/octant
launches=$(mktemp)
trap 'rm -f "$launches"' EXIT

OCTANT_PRESET=cuda "$root/octant" build

if ! grep -qa 'sm_90' "$program"; then
  echo "$program contains no code for sm_90; see Kokkos_ARCH_HOPPER90 of its Kokkos" >&2
  exit 1
fi
nm --demangle "$program" | grep 'cuda_parallel_launch' >"$launches" || true
for module in mesh pencil hydro gravity particles dns; do
  kernels=$(grep -c "octant::$module::" "$launches" || true)
  echo "src/$module: $kernels launches of kernels"
  if [[ $kernels == 0 ]]; then
    echo "$program launches no kernel of src/$module" >&2
    exit 1
  fi
done
