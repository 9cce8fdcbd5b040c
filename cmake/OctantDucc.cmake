# Finds the source of DUCC, whose transforms are headers: where the environment variable OCTANT_DUCC
# points to, else version 0.42.0, fetched once into the user's cache. These headers, and the source
# below, are under the BSD 3-Clause Licence, as Octant is.
set(OCTANT_DUCC_VERSION 0.42.0)
if(DEFINED ENV{OCTANT_DUCC})
  set(ducc $ENV{OCTANT_DUCC})
else()
  if(DEFINED ENV{OCTANT_CACHE})
    set(cache $ENV{OCTANT_CACHE})
  elseif(DEFINED ENV{XDG_CACHE_HOME})
    set(cache $ENV{XDG_CACHE_HOME}/octant)
  else()
    set(cache $ENV{HOME}/.cache/octant)
  endif()
  set(ducc ${cache}/ducc-${OCTANT_DUCC_VERSION})
  set(python python3)
  if(DEFINED ENV{PYTHON})
    set(python $ENV{PYTHON})
  endif()
  execute_process(COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/fetch_source.py ducc ${ducc}
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "The source of DUCC could not be downloaded (see above).")
  endif()
endif()

# Its threads are not used: Octant's transform some lines each.
add_library(octant_ducc STATIC ${ducc}/src/ducc0/infra/threading.cc)
target_include_directories(octant_ducc SYSTEM PUBLIC ${ducc}/src)
target_compile_definitions(octant_ducc PUBLIC DUCC0_NO_LOWLEVEL_THREADING)
