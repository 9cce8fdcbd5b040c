# Writes VERSION_OUT from VERSION_IN with the git revision of the folder SOURCES. An unchanged file
# keeps its time, so that nothing is compiled again.
execute_process(COMMAND git describe --always --dirty
  WORKING_DIRECTORY ${SOURCES}
  OUTPUT_VARIABLE OCTANT_GIT_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT OCTANT_GIT_REVISION)
  set(OCTANT_GIT_REVISION "no git")
endif()
configure_file(${VERSION_IN} ${VERSION_OUT})
