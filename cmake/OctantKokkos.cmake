# Finds Kokkos, or builds it: the one that the environment variable OCTANT_KOKKOS points to, else an
# installed one, else version 4.5.1 built once into the user's cache. Its processor is Octant's: a
# portable build takes its own.
if(OCTANT_CUDA)
  set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # Kokkos's; a second one would not share its state
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 has nvcc know C++17 at most
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3")
endif()

if(OCTANT_HIP AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR
    "AMD's GPUs need clang, and CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER}. Set CXX=amdclang++ of "
    "ROCm, or CXX=clang++-16 with Debian's rocm-device-libs and libamdhip64-dev.")
endif()

if(NOT OCTANT_PORTABLE)
  if(DEFINED ENV{OCTANT_KOKKOS})
    set(Kokkos_ROOT $ENV{OCTANT_KOKKOS})
  endif()
  find_package(Kokkos 4.5 QUIET)
endif()

# An installed Kokkos without CUDA is of no use to a CUDA build, and neither is one that sends all
# sources to nvcc by its wrapper.
if(Kokkos_FOUND AND OCTANT_CUDA AND NOT Kokkos_COMPILE_LANGUAGE STREQUAL "CUDA")
  message(FATAL_ERROR
    "The Kokkos in ${Kokkos_DIR} was built without CUDA, or with nvcc_wrapper. Point OCTANT_KOKKOS "
    "to one with Kokkos_ENABLE_CUDA and Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE, or hide this one "
    "to have one built.")
endif()

if(Kokkos_FOUND AND OCTANT_HIP AND NOT "HIP" IN_LIST Kokkos_DEVICES)
  message(FATAL_ERROR
    "The Kokkos in ${Kokkos_DIR} was built without HIP. Point OCTANT_KOKKOS to one with "
    "Kokkos_ENABLE_HIP, or hide this one to have one built.")
endif()

if(NOT Kokkos_FOUND)
  if(OCTANT_CUDA)
    set(kind cuda)
  elseif(OCTANT_HIP)
    set(kind hip)
  elseif(OCTANT_PORTABLE)
    set(kind portable)
  else()
    set(kind cpu)
  endif()
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/build_kokkos.sh ${kind} ${CMAKE_CXX_COMPILER}
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "Kokkos >= 4.5 is neither installed nor could it be built (see above).")
  endif()
  find_package(Kokkos 4.5 REQUIRED PATHS ${prefix} NO_DEFAULT_PATH)
endif()

add_library(octant_kokkos INTERFACE)
target_link_libraries(octant_kokkos INTERFACE Kokkos::kokkos)
if(OCTANT_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES ${Kokkos_CUDA_ARCHITECTURES}-real)
  set(options
    --expt-relaxed-constexpr                # kernels may call constexpr functions,
    --Werror=cross-execution-space-call     # and no other functions of the host;
    --diag-suppress=1675)                   # it need not say that it skips pragmas of g++
  if(OCTANT_SAME_BITS_AS_HOST)
    list(APPEND options -fmad=false)        # the device's own contraction
  endif()
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND options --compress-mode=size)  # a ninth of the size
  endif()
  target_compile_options(octant_kokkos INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:${options}>)
  # Kokkos names the driver's library, and calls nothing of it: a program that is linked to it
  # could not say that there is none.
  target_link_options(octant_kokkos INTERFACE LINKER:--as-needed)
endif()
