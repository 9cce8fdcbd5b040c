option(OCTANT_UNITY "Compile sources in batches, which takes half as long" ON)

# octant_batches(<result> <target> <size> <sources>... [APART <sources>...])
#
# Lists what to compile instead of the sources: files that include so many of them, which read the
# headers of Kokkos and fmt once for all, and the sources that stand apart. Includes are relative to
# the root, so that clones share a compiler cache. Every source still compiles alone, and does where
# OCTANT_UNITY is off. For a GPU, sources that know Kokkos are in batches of their own: for one of
# NVIDIA they are CUDA's, and all others go to the host's compiler, which is several times as fast;
# for one of AMD Kokkos makes all sources HIP's, and those others are C++ again.
function(octant_batches result target size)
  cmake_parse_arguments(batch "" "" "APART" ${ARGN})
  set(host ${batch_UNPARSED_ARGUMENTS})
  set(device)
  if(OCTANT_CUDA OR OCTANT_HIP)
    octant_filter_kokkos(device ${host})
    list(REMOVE_ITEM host ${device})
  endif()
  octant_pack(files ${target} ${size} "${host}" "${batch_APART}")
  octant_pack(device_files ${target}_device ${size} "${device}" "${batch_APART}")
  if(OCTANT_CUDA)
    set_source_files_properties(${device_files} PROPERTIES LANGUAGE CUDA)
  elseif(OCTANT_HIP)
    set_source_files_properties(${files} PROPERTIES COMPILE_OPTIONS -xc++)
  endif()
  set(${result} ${files} ${device_files} PARENT_SCOPE)
endfunction()

# octant_pack(<result> <name> <size> <list of sources> <list of those that stand apart, and others>)
function(octant_pack result name size sources apart)
  if(NOT OCTANT_UNITY)
    set(${result} ${sources} PARENT_SCOPE)
    return()
  endif()
  set(files)
  foreach(source ${apart})
    if(source IN_LIST sources)
      list(APPEND files ${source})
      list(REMOVE_ITEM sources ${source})
    endif()
  endforeach()
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
    set(file ${PROJECT_BINARY_DIR}/batches/${name}_${number}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${includes}" @ONLY)
    list(APPEND files ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# octant_filter_kokkos(<result> <sources>...): those that include Kokkos, be it through headers.
function(octant_filter_kokkos result)
  set(found)
  foreach(source ${ARGN})
    octant_includes_kokkos(included ${source})
    if(included)
      list(APPEND found ${source})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# octant_for_gpu(<sources>...): those that know Kokkos are CUDA's, where kernels are for a GPU of
# NVIDIA.
function(octant_for_gpu)
  if(OCTANT_CUDA)
    list(FILTER ARGN INCLUDE REGEX "\\.cpp$")
    octant_filter_kokkos(device ${ARGN})
    set_source_files_properties(${device} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()

function(octant_includes_kokkos result file)
  get_property(known GLOBAL PROPERTY octant_includes_kokkos_${file})
  if("${known}" STREQUAL "")
    set(known NO)
    file(STRINGS ${file} lines REGEX "^#include")
    get_filename_component(beside ${file} DIRECTORY)
    foreach(line ${lines})
      if(line MATCHES "<Kokkos_")
        set(known YES)
      elseif(line MATCHES "\"(.+)\"")
        foreach(folder ${beside} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
          if(EXISTS ${folder}/${CMAKE_MATCH_1})
            octant_includes_kokkos(known ${folder}/${CMAKE_MATCH_1})
            break()
          endif()
        endforeach()
      endif()
      if(known)
        break()
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY octant_includes_kokkos_${file} ${known})
  endif()
  set(${result} ${known} PARENT_SCOPE)
endfunction()

# octant_module(<name> [STRICT] [INFREQUENT] [FOLDERS <folders>...] [BATCH <size>]
#             [APART <sources>...] USES <targets>... [PRIVATE_TO_SOURCES <targets>...]
#             [FOR_HEADERS <targets>...])
#
# Declares the library octant_<name> from every source file of src/<name> (or FOLDERS, where APART
# is relative to src/). A module
# without source files is a header-only library. Libraries PRIVATE_TO_SOURCES are used by the source
# files of the module alone: others compile to the same objects with and without them. Libraries
# FOR_HEADERS are used by its headers, and not by its own source files. Code that runs INFREQUENTly,
# once per step or output, is compiled with -O2: -O3 takes a seventh longer. There, g++ 12 would
# vectorise products of complex numbers and then fuse their additions with the multiplications
# (vfmaddsub), in spite of -ffp-contract. STRICT modules are free of implicit conversions that may
# change a value, and of shadowed names; signed indices of standard containers are not reported.
function(octant_module name)
  cmake_parse_arguments(
    module "STRICT;INFREQUENT" "BATCH" "FOLDERS;APART;USES;PRIVATE_TO_SOURCES;FOR_HEADERS" ${ARGN})
  if(module_FOLDERS)
    list(TRANSFORM module_APART PREPEND ${PROJECT_SOURCE_DIR}/src/)
  else()
    set(module_FOLDERS src/${name})
    list(TRANSFORM module_APART PREPEND ${PROJECT_SOURCE_DIR}/src/${name}/)
  endif()
  if(NOT module_BATCH)
    set(module_BATCH 8)
  endif()
  set(sources)
  foreach(folder ${module_FOLDERS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    octant_batches(files octant_${name} ${module_BATCH} ${sources} APART ${module_APART})
    add_library(octant_${name} STATIC ${files})
    set(scope PUBLIC)
    target_link_libraries(octant_${name} PRIVATE ${module_PRIVATE_TO_SOURCES})
    if(module_STRICT)
      target_compile_options(octant_${name} PRIVATE
        $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wshadow;-Wconversion;-Wno-sign-conversion>)
    endif()
    if(module_INFREQUENT)
      target_compile_options(octant_${name} PRIVATE
        $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-O2
        -fno-tree-slp-vectorize>)
    endif()
  else()
    add_library(octant_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(octant_${name} ${scope}
    ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(octant_${name} ${scope} octant_flags ${module_USES})
  target_link_libraries(octant_${name} INTERFACE ${module_FOR_HEADERS})
endfunction()
