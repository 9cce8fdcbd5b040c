# Finds HDF5, parallel with MPI and serial without, for the target octant_hdf5.
#
# A static library is preferred, of which only the functions that Octant calls are linked: Debian's
# shared one loads libcurl and thirty other libraries (6.6 MB) into every process, for files in
# object stores. A Python module on the machine that builds it uses the shared library; a wheel
# contains the static one.
set(HDF5_PREFER_PARALLEL ${OCTANT_MPI})
if(OCTANT_WHEEL OR NOT OCTANT_PYTHON STREQUAL "module")
  set(HDF5_USE_STATIC_LIBRARIES ON)
  target_link_options(octant_hdf5 INTERFACE LINKER:--as-needed)
endif()
find_package(HDF5 REQUIRED COMPONENTS C)
if(HDF5_IS_PARALLEL AND NOT OCTANT_MPI)
  message(FATAL_ERROR
    "The HDF5 in ${HDF5_C_INCLUDE_DIRS} is parallel, and OCTANT_MPI is OFF. Install a serial HDF5 "
    "(Debian: libhdf5-dev), or set OCTANT_HDF5=OFF.")
endif()

# octant_hdf5_for_module(<list of libraries>)
#
# Replaces a static HDF5 in the list by a copy that a shared library can contain. Debian compiles
# its static HDF5 for executables (-fPIE). Such code is position-independent except for variables of
# the C library, stdout and stderr, which it addresses directly; the copy reads two pointers of its
# own instead (hdf5_streams.c). Symbols of HDF5 must be hidden in the shared library
# (--exclude-libs), which also separates them from the HDF5 of other Python packages.
function(octant_hdf5_for_module list)
  set(libraries)
  foreach(library ${${list}})
    if(library MATCHES "/libhdf5[^/]*\\.a$")
      set(copy ${PROJECT_BINARY_DIR}/libhdf5_for_module.a)
      execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stdout=octant_hdf5_stdout
        --redefine-sym stderr=octant_hdf5_stderr ${library} ${copy}
        ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
      add_library(octant_hdf5_streams STATIC ${PROJECT_SOURCE_DIR}/cmake/hdf5_streams.c)
      set(library ${copy} octant_hdf5_streams)
    endif()
    list(APPEND libraries ${library})
  endforeach()
  if(NOT TARGET octant_hdf5_streams)
    message(FATAL_ERROR "OCTANT_WHEEL requires a static HDF5; found ${${list}}.")
  endif()
  set(${list} ${libraries} PARENT_SCOPE)
endfunction()

if(OCTANT_WHEEL)
  octant_hdf5_for_module(HDF5_C_LIBRARIES)
endif()
target_include_directories(octant_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(octant_hdf5 INTERFACE ${HDF5_C_LIBRARIES} octant_mpi)  # hdf5.h includes mpi.h
target_compile_definitions(octant_hdf5 INTERFACE OCTANT_HDF5)
