# Apache Arrow and Parquet for telemetry: an installed one, else the headers and libraries that the
# Python package pyarrow brings along. OCTANT_PYARROW may name the folder of that package.
add_library(octant_arrow INTERFACE)
if(NOT OCTANT_TELEMETRY)
  return()
endif()

find_package(Arrow QUIET CONFIG)
find_package(Parquet QUIET CONFIG)
if(Arrow_FOUND AND Parquet_FOUND)
  target_link_libraries(octant_arrow INTERFACE Parquet::parquet_shared Arrow::arrow_shared)
  return()
endif()

# The first Python that has pyarrow, that of this clone's tools before the system's; or else pip
# puts it into the user's cache.
set(OCTANT_PYARROW "" CACHE PATH "Folder of the Python package pyarrow")
if(DEFINED ENV{OCTANT_CACHE})
  set(cache $ENV{OCTANT_CACHE}/pyarrow)
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(cache $ENV{XDG_CACHE_HOME}/octant/pyarrow)
else()
  set(cache $ENV{HOME}/.cache/octant/pyarrow)
endif()
foreach(python ${CMAKE_CURRENT_SOURCE_DIR}/.octant/venv/bin/python python3)
  if(OCTANT_PYARROW)
    break()
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${cache}
      ${python} -c "import pyarrow, os; print(os.path.dirname(pyarrow.__file__), end='')"
    OUTPUT_VARIABLE folder RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(OCTANT_PYARROW ${folder} CACHE PATH "Folder of the Python package pyarrow" FORCE)
  endif()
endforeach()
if(NOT OCTANT_PYARROW)
  message(STATUS "Fetching Apache Arrow (the Python package pyarrow) into ${cache}")
  # The version and the hashes that the Python tools are pinned to.
  file(READ ${CMAKE_CURRENT_SOURCE_DIR}/python/requirements.txt pinned)
  string(REGEX MATCH "\npyarrow==[^\n]*(\n +[^\n]*)*" pinned "${pinned}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/pyarrow.txt "${pinned}\n")
  execute_process(
    COMMAND python3 -m pip install --quiet --no-compile --no-deps --require-hashes --target ${cache}
            --requirement ${CMAKE_CURRENT_BINARY_DIR}/pyarrow.txt
    RESULT_VARIABLE failed)
  if(NOT failed)
    set(OCTANT_PYARROW ${cache}/pyarrow CACHE PATH "Folder of the Python package pyarrow" FORCE)
  endif()
endif()

# Libraries carry the version in their names, without the usual plain links beside them.
file(GLOB arrow_library ${OCTANT_PYARROW}/libarrow.so.[0-9]*)
file(GLOB parquet_library ${OCTANT_PYARROW}/libparquet.so.[0-9]*)
if(NOT OCTANT_PYARROW OR NOT arrow_library OR NOT parquet_library)
  message(FATAL_ERROR
    "Telemetry needs Apache Arrow: neither its CMake package nor the Python package pyarrow was "
    "found, and pip could not fetch the latter. Install one, name the folder of pyarrow in "
    "OCTANT_PYARROW, or build without telemetry: -DOCTANT_TELEMETRY=OFF")
endif()
list(GET arrow_library 0 arrow_library)
list(GET parquet_library 0 parquet_library)
target_include_directories(octant_arrow SYSTEM INTERFACE ${OCTANT_PYARROW}/include)
target_link_libraries(octant_arrow INTERFACE ${parquet_library} ${arrow_library})
