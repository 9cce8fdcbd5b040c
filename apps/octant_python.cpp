// Python interpreter that contains the package octant, built from the program's own libraries, for
// scripts and tests. `pip install .` builds a module for any Python instead.
#include <Python.h>

#include <cstdlib>
#include <string>

extern "C" PyObject* PyInit__octant();

namespace {

// Python's own modules are those of the interpreter that Octant was built with; the package's
// modules are in its source directory.
PyStatus initialise(PyConfig& config, int argc, char** argv) {
  PyStatus status = PyConfig_SetBytesArgv(&config, argc, argv);
  if (!PyStatus_Exception(status))
    status = PyConfig_SetBytesString(&config, &config.executable, OCTANT_PYTHON_EXECUTABLE);
  return PyStatus_Exception(status) ? status : Py_InitializeFromConfig(&config);
}

}  // namespace

int main(int argc, char** argv) {
  std::string path = OCTANT_PYTHON_PACKAGES;
  if (const char* given = std::getenv("PYTHONPATH")) path += std::string(":") + given;
  setenv("PYTHONPATH", path.c_str(), 1);
  PyImport_AppendInittab("_octant", PyInit__octant);
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  const PyStatus status = initialise(config, argc, argv);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
  return Py_RunMain();
}
