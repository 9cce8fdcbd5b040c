# The texts of core/version.hpp: which sources a program was built from, as outputs record it, and
# with what, as `octant --version` says.
execute_process(COMMAND git describe --always --dirty
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
  OUTPUT_VARIABLE OCTANT_GIT_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT OCTANT_GIT_REVISION)
  set(OCTANT_GIT_REVISION "no git")
endif()

string(REPLACE ";" ", " devices "${Kokkos_DEVICES}")
string(TOLOWER "${devices}" devices)
set(tools "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
  "Kokkos ${Kokkos_VERSION} (${devices})")
if(OCTANT_MPI)
  string(REGEX MATCH "^[A-Za-z ]+v?[0-9][0-9a-z.]*" mpi "${MPI_C_LIBRARY_VERSION_STRING}")
  if(NOT mpi)
    set(mpi "MPI ${MPI_C_VERSION}")
  endif()
  string(REPLACE " v" " " mpi "${mpi}")
  list(APPEND tools "${mpi}")
endif()
if(OCTANT_HDF5)
  list(APPEND tools "HDF5 ${HDF5_VERSION}")
endif()
list(APPEND tools "DUCC ${OCTANT_DUCC_VERSION}")
list(JOIN tools ", " OCTANT_TOOLS)

if(OCTANT_CUDA OR OCTANT_HIP)
  set(OCTANT_PROCESSOR "one GPU")
elseif(OCTANT_PORTABLE)
  set(OCTANT_PROCESSOR "any x86-64 processor with AVX2")
else()
  set(OCTANT_PROCESSOR "the processor it was built on")
endif()

configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/version.cpp.in
  ${CMAKE_BINARY_DIR}/version.cpp)

add_library(octant_version STATIC ${CMAKE_BINARY_DIR}/version.cpp)
target_include_directories(octant_version PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/src)
