# Finds Kokkos, or builds it: the one that the environment variable OCTANT_KOKKOS points to, else an
# installed one, else version 4.5.1 built once into the user's cache. Its processor is Octant's: a
# portable build takes its own.
if(NOT OCTANT_PORTABLE)
  if(DEFINED ENV{OCTANT_KOKKOS})
    set(Kokkos_ROOT $ENV{OCTANT_KOKKOS})
  endif()
  find_package(Kokkos 4.5 QUIET)
endif()

# An installed Kokkos without CUDA is of no use to a CUDA build.
if(Kokkos_FOUND AND OCTANT_CUDA AND NOT "CUDA" IN_LIST Kokkos_DEVICES)
  message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} was built without CUDA. Point OCTANT_KOKKOS to "
                      "one with CUDA, or hide this one to have one built.")
endif()

if(NOT Kokkos_FOUND)
  if(OCTANT_CUDA)
    set(kind cuda)
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

# Whoever links to this is compiled for the device.
add_library(octant_kokkos INTERFACE)
target_link_libraries(octant_kokkos INTERFACE Kokkos::kokkos)
if(OCTANT_CUDA)
  target_compile_options(octant_kokkos INTERFACE
    -fmad=false                             # the device's own contraction
    --expt-relaxed-constexpr                # kernels may call constexpr functions,
    --Werror=cross-execution-space-call)    # and no other functions of the host
endif()
