/* The module frix._frix. */
#include "binding.h"

#include <string.h>

PyMODINIT_FUNC PyInit__frix(void);

PyTypeObject *fx_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base) {
  PyObject *bases = base ? PyTuple_Pack(1, (PyObject *)base) : NULL;
  PyObject *type = base && !bases ? NULL : PyType_FromSpecWithBases(spec, bases);
  Py_XDECREF(bases);
  if (!type) return NULL;
  Py_INCREF(type); /* the module has one reference, the tables of this file's readers the other */
  if (!PyModule_AddObject(module, strrchr(spec->name, '.') + 1, type)) return (PyTypeObject *)type;
  Py_DECREF(type);
  Py_DECREF(type);
  return NULL;
}

/* bytes_at(address, size): a copy of memory of the library. */
static PyObject *bytes_at(PyObject *module, PyObject *args) {
  void *pointer;
  int64_t size;
  (void)module;
  if (!fx_count(args, 2, "bytes_at") || !fx_take_pointer(args, 0, NULL, &pointer) ||
      !fx_take_integer(args, 1, 0, PY_SSIZE_T_MAX, &size))
    return NULL;
  return PyBytes_FromStringAndSize(pointer, (Py_ssize_t)size);
}

static PyMethodDef functions[] = {
    {"listen", fx_listen, METH_VARARGS, "listen(config, listener, name): a callback calls listener.name."},
    {"bytes_at", bytes_at, METH_VARARGS, "A copy of memory of the library."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_frix",
                                        "The C interface of frix, as the package frix uses it.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__frix(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  if (fx_struct_types(module) && fx_handle_type(module) && fx_sim_type(module) && fx_constants(module) &&
      !PyModule_AddFunctions(module, fx_functions))
    return module;
  Py_DECREF(module);
  return NULL;
}
