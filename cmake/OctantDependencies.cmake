# Third-party libraries, each behind one target that the modules link to.
include(OctantKokkos)

# octant_headers(<package> <target> <header> [<definitions>...])
#
# Finds a library by its CMake package, or else uses its headers alone, so that a machine without
# packages needs only a folder of headers in CMAKE_PREFIX_PATH.
function(octant_headers package target header)
  find_package(${package} QUIET GLOBAL)
  if(NOT TARGET ${target})
    find_path(${package}_HEADERS ${header} REQUIRED)
    add_library(octant_${package} INTERFACE)
    target_include_directories(octant_${package} SYSTEM INTERFACE ${${package}_HEADERS})
    target_compile_definitions(octant_${package} INTERFACE ${ARGN})
    add_library(${target} ALIAS octant_${package})
  endif()
endfunction()

octant_headers(fmt fmt::fmt fmt/format.h FMT_HEADER_ONLY)
octant_headers(spdlog spdlog::spdlog spdlog/spdlog.h FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
octant_headers(tomlplusplus tomlplusplus::tomlplusplus toml++/toml.h TOML_HEADER_ONLY=1)
octant_headers(CLI11 CLI11::CLI11 CLI/CLI.hpp)

add_library(octant_muparser INTERFACE)
if(OCTANT_MUPARSER)
  find_path(MUPARSER_HEADERS muParser.h REQUIRED)
  find_library(MUPARSER_LIBRARY muparser REQUIRED)
  target_include_directories(octant_muparser SYSTEM INTERFACE ${MUPARSER_HEADERS})
  target_link_libraries(octant_muparser INTERFACE ${MUPARSER_LIBRARY})
  target_compile_definitions(octant_muparser INTERFACE OCTANT_MUPARSER)
endif()

add_library(octant_mpi INTERFACE)
if(OCTANT_MPI)
  set(MPI_DETERMINE_LIBRARY_VERSION ON)
  find_package(MPI REQUIRED COMPONENTS C)
  target_link_libraries(octant_mpi INTERFACE MPI::MPI_C)
  target_compile_definitions(octant_mpi INTERFACE OCTANT_MPI OMPI_SKIP_MPICXX)
endif()

add_library(octant_hdf5 INTERFACE)
if(OCTANT_HDF5)
  set(HDF5_PREFER_PARALLEL ON)
  # A static one where there is one, of which only what is called comes along: Debian's shared one
  # brings libcurl and thirty other libraries into every process, 6.6 MB, for files in clouds. A
  # Python module cannot have it, and shares its process with the HDF5 of others anyway.
  if(NOT OCTANT_PYTHON STREQUAL "module")
    set(HDF5_USE_STATIC_LIBRARIES ON)
    target_link_options(octant_hdf5 INTERFACE LINKER:--as-needed)
  endif()
  find_package(HDF5 REQUIRED COMPONENTS C)
  target_include_directories(octant_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(octant_hdf5 INTERFACE ${HDF5_C_LIBRARIES} octant_mpi)  # it includes mpi.h
  target_compile_definitions(octant_hdf5 INTERFACE OCTANT_HDF5)
endif()

add_library(octant_zlib INTERFACE)
if(OCTANT_ZLIB)
  find_package(ZLIB REQUIRED)
  target_link_libraries(octant_zlib INTERFACE ZLIB::ZLIB)
  target_compile_definitions(octant_zlib INTERFACE OCTANT_ZLIB)
endif()

# The one-dimensional transforms: DUCC on CPUs, and the library of a GPU.
include(OctantDucc)
add_library(octant_fft INTERFACE)
target_link_libraries(octant_fft INTERFACE octant_ducc)
if(OCTANT_CUDA)
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(octant_fft INTERFACE CUDA::cufft)
  target_compile_definitions(octant_fft INTERFACE OCTANT_CUFFT)
elseif(OCTANT_HIPFFT)
  find_package(hipfft REQUIRED)
  target_link_libraries(octant_fft INTERFACE hip::hipfft)
  target_compile_definitions(octant_fft INTERFACE OCTANT_HIPFFT)
endif()
