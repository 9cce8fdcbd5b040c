#!/usr/bin/env bash
# Builds Kokkos 4.5.1 for this machine (portable: for any x86-64 processor with AVX2) into a cache
# of the user, so that every clone shares it, and prints where it is.
#
#   build_kokkos.sh cpu|portable|cuda|hip COMPILER
#
# The cache is ${OCTANT_CACHE:-${XDG_CACHE_HOME:-~/.cache}/octant}.
set -euo pipefail
kind=$1 compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
cache=${OCTANT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/octant}

# Kokkos is built for the very processor and compilers, which may differ between users of one cache.
machine=$({
  "$compiler" --version | sed 's/^[^ ]* //;q'
  [[ $kind != cuda ]] || nvcc --version
  uname -m
  grep -m 1 flags /proc/cpuinfo || true
} | sha256sum | cut -c 1-8)
prefix=$cache/kokkos-4.5.1-$kind-$machine

mkdir -p "$cache"
exec 9> "$prefix.lock"
flock 9
if [[ -e $prefix/lib/cmake/Kokkos/KokkosConfig.cmake ]]; then
  echo "$prefix"
  exit
fi

work=$(mktemp -d "$cache/kokkos-build.XXXXXX")
trap 'rm -rf "$work"' EXIT
echo "Building Kokkos 4.5.1 ($kind) into $prefix; this takes about half a minute, once." >&2
"${PYTHON:-python3}" "$here/fetch_source.py" kokkos "$work/source"

# Without headers that Octant does not use, which saves time in every source.
options=(-DKokkos_ENABLE_SERIAL=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20
  -DKokkos_ENABLE_IMPL_MDSPAN=OFF -DKokkos_ENABLE_DEPRECATED_CODE_4=OFF
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib
  -DCMAKE_CXX_COMPILER="$compiler")
if [[ $kind == cuda ]]; then
  if (($(nvcc --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p') >= 13)); then
    patch --silent -p1 -d "$work/source" < "$here/patches/kokkos-4.5.1-cuda13.patch"
  fi
  # As CMake's language CUDA, so that nvcc gets the sources with kernels and no others.
  options+=(-DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE=ON)
  options+=(-DKokkos_ARCH_HOPPER90=ON -DCMAKE_CUDA_STANDARD=20)
  options+=(-DCMAKE_CUDA_HOST_COMPILER="$compiler")
elif [[ $kind == hip ]]; then
  # Without rocThrust, whose sorting Octant does not use, and Debian does not have.
  options+=(-DKokkos_ENABLE_HIP=ON -DKokkos_ARCH_AMD_GFX90A=ON -DKokkos_ENABLE_ROCTHRUST=OFF)
else
  architecture=NATIVE
  [[ $kind != portable ]] || architecture=HSW
  options+=(-DKokkos_ENABLE_OPENMP=ON -DKokkos_ARCH_$architecture=ON)
  # In two batches of sources, which saves time.
  options+=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=10)
fi

build() {
  cmake -S "$work/source" -B "$work/build" -G Ninja "${options[@]}" &&
    cmake --build "$work/build" --parallel "${OCTANT_JOBS:-$(nproc)}" &&
    cmake --install "$work/build" --prefix "$work/installed"
}
if ! build > "$prefix.log" 2>&1; then
  tail -n 30 "$prefix.log" >&2
  echo "Kokkos does not build here; the whole log is $prefix.log" >&2
  exit 1
fi
rm -rf "$prefix"
mv "$work/installed" "$prefix"
echo "$prefix"
