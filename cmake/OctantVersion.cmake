# The header core/version.hpp: which sources a program was built from, as outputs record it.
execute_process(COMMAND git describe --always --dirty
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
  OUTPUT_VARIABLE OCTANT_GIT_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT OCTANT_GIT_REVISION)
  set(OCTANT_GIT_REVISION "no git")
endif()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/cmake/version.hpp.in
  ${CMAKE_BINARY_DIR}/generated/core/version.hpp)

add_library(octant_version INTERFACE)
target_include_directories(octant_version INTERFACE ${CMAKE_BINARY_DIR}/generated)
