option(OCTANT_UNITY "Compile sources in batches, which takes half as long" ON)

# octant_batches(<result> <target> <size> <sources>... [APART <sources>...])
#
# Lists what to compile instead of the sources: files that include so many of them, which read the
# headers of Kokkos and fmt once for all, and the sources that stand apart. Includes are relative to
# the root, so that clones share a compiler cache. Every source still compiles alone, and does where
# OCTANT_UNITY is off.
function(octant_batches result target size)
  cmake_parse_arguments(batch "" "" "APART" ${ARGN})
  set(sources ${batch_UNPARSED_ARGUMENTS})
  if(NOT OCTANT_UNITY)
    set(${result} ${sources} PARENT_SCOPE)
    return()
  endif()
  set(files ${batch_APART})
  if(batch_APART)
    list(REMOVE_ITEM sources ${batch_APART})
  endif()
  list(LENGTH sources left)
  math(EXPR batches "(${left} + ${size} - 1) / ${size}")
  set(number 0)
  while(number LESS batches)  # of equal sizes
    list(LENGTH sources left)
    math(EXPR share "(${left} + ${batches} - ${number} - 1) / (${batches} - ${number})")
    list(SUBLIST sources 0 ${share} batch)
    list(REMOVE_ITEM sources ${batch})
    list(TRANSFORM batch REPLACE "^${PROJECT_SOURCE_DIR}/(.*)" "#include \"\\1\"\n")
    list(JOIN batch "" includes)
    set(file ${PROJECT_BINARY_DIR}/batches/${target}_${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${includes}" @ONLY)
    list(APPEND files ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# octant_room(<name> [FOLDER <folder>] [BATCH <size>] [APART <sources>...]
#             USES <targets>... [PASSES_ON <targets>...])
#
# Declares the library octant_<name> from every source file of src/<name> (or FOLDER). A room
# without source files is a header-only library. What a room passes on is used by its headers, and
# not by its own source files.
function(octant_room name)
  cmake_parse_arguments(room "" "FOLDER;BATCH" "APART;USES;PASSES_ON" ${ARGN})
  if(NOT room_FOLDER)
    set(room_FOLDER src/${name})
  endif()
  if(NOT room_BATCH)
    set(room_BATCH 8)
  endif()
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${room_FOLDER})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(sources)
    list(TRANSFORM room_APART PREPEND ${folder}/)
    octant_batches(files octant_${name} ${room_BATCH} ${sources} APART ${room_APART})
    add_library(octant_${name} STATIC ${files})
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
