# The Python package octant: a module that any Python loads (OCTANT_PYTHON, which `pip install .`
# says; everything is then compiled to be part of one), or a Python of its own that has it built in
# (the target octant-python, of the libraries as they are).
set(stable_component)
set(stable_abi)
if(OCTANT_WHEEL)  # one module for all Pythons from 3.12; requires CMake 3.26
  set(stable_component Development.SABIModule)
  set(stable_abi STABLE_ABI)
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module
             OPTIONAL_COMPONENTS Development.Embed ${stable_component})
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "The package octant needs nanobind; to install it: "
                      "${Python_EXECUTABLE} -m pip install nanobind")
endif()
find_package(nanobind CONFIG REQUIRED)

if(OCTANT_PYTHON STREQUAL "module")
  nanobind_add_module(_octant NB_STATIC ${stable_abi} src/python/module.cpp)
  if(OCTANT_WHEEL)
    target_link_options(_octant PRIVATE LINKER:--exclude-libs,ALL)  # see OctantHdf5.cmake
  endif()
  target_link_libraries(_octant PRIVATE octant_program)
  install(TARGETS _octant LIBRARY DESTINATION octant)
else()
  nanobind_build_library(nanobind-static)
  add_executable(octant-python EXCLUDE_FROM_ALL apps/octant_python.cpp src/python/module.cpp)
  target_link_libraries(octant-python PRIVATE octant_program nanobind-static Python::Python)
  target_compile_definitions(octant-python PRIVATE
    OCTANT_PYTHON_EXECUTABLE="${Python_EXECUTABLE}"
    OCTANT_PYTHON_PACKAGES="${CMAKE_CURRENT_SOURCE_DIR}/python")
  # A rank's threads and other libraries' must not meet in symbols of the program.
  set_target_properties(octant-python PROPERTIES ENABLE_EXPORTS OFF)
endif()
