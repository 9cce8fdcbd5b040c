# The texts of core/version.hpp: which sources a program was built from, as outputs record it, and
# with what, as `octant --version` says.
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

# Every build reads the revision, not only a configuration: it changes with a pull or a commit.
set(version ${CMAKE_BINARY_DIR}/version.cpp)
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/version.cpp.in ${version}.in @ONLY)
add_custom_target(octant_revision
  COMMAND ${CMAKE_COMMAND} -D SOURCES=${CMAKE_CURRENT_SOURCE_DIR}
          -D VERSION_IN=${version}.in -D VERSION_OUT=${version}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_revision.cmake
  BYPRODUCTS ${version}
  COMMENT "Read the git revision" VERBATIM)

add_library(octant_version STATIC ${version})
add_dependencies(octant_version octant_revision)
target_include_directories(octant_version PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/src)
