# octant_room(<name> [FOLDER <folder>] USES <targets>... [PASSES_ON <targets>...])
#
# Declares the library octant_<name> from every source file of src/<name> (or FOLDER). A room
# without source files is a header-only library. What a room passes on is used by its headers, and
# not by its own source files.
function(octant_room name)
  cmake_parse_arguments(room "" "FOLDER" "USES;PASSES_ON" ${ARGN})
  if(NOT room_FOLDER)
    set(room_FOLDER src/${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room_FOLDER}/*.cpp)
  if(sources)
    add_library(octant_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(octant_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(octant_${name} ${scope}
    ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(octant_${name} ${scope} octant_flags ${room_USES})
  target_link_libraries(octant_${name} INTERFACE ${room_PASSES_ON})
endfunction()
