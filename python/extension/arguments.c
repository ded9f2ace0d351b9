/* Arguments and results of the written functions. */
#include "binding.h"

#include <string.h>

bool fx_count(PyObject *args, Py_ssize_t count, const char *name) {
  if (PyTuple_Size(args) == count) return true;
  PyErr_Format(PyExc_TypeError, "%s: %zd arguments are needed, not %zd", name, count, PyTuple_Size(args));
  return false;
}

bool fx_take_double(PyObject *args, Py_ssize_t k, double *out) {
  *out = PyFloat_AsDouble(PyTuple_GetItem(args, k));
  return *out != -1 || !PyErr_Occurred();
}

bool fx_take_integer(PyObject *args, Py_ssize_t k, int64_t least, int64_t most, int64_t *out) {
  PyObject *number = PyNumber_Index(PyTuple_GetItem(args, k));
  if (!number) return false;
  *out = PyLong_AsLongLong(number);
  Py_DECREF(number);
  if (*out == -1 && PyErr_Occurred()) return false;
  if (*out >= least && *out <= most) return true;
  PyErr_Format(PyExc_OverflowError, "%lld is out of range", (long long)*out);
  return false;
}

bool fx_take_unsigned(PyObject *args, Py_ssize_t k, uint64_t *out) {
  PyObject *number = PyNumber_Index(PyTuple_GetItem(args, k));
  if (!number) return false;
  *out = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  return !PyErr_Occurred();
}

bool fx_take_bool(PyObject *args, Py_ssize_t k, bool *out) {
  int truth = PyObject_IsTrue(PyTuple_GetItem(args, k));
  *out = truth > 0;
  return truth >= 0;
}

bool fx_take_text(PyObject *args, Py_ssize_t k, const char **out) {
  PyObject *value = PyTuple_GetItem(args, k);
  if (value == Py_None) return *out = NULL, true;
  return (*out = PyBytes_AsString(value)) != NULL;
}

bool fx_take_struct(PyObject *args, Py_ssize_t k, const layout *l, void *out) {
  const void *data = fx_struct_data(PyTuple_GetItem(args, k), l);
  if (data) memcpy(out, data, l->size);
  return data != NULL;
}

bool fx_take_pointer(PyObject *args, Py_ssize_t k, const layout *l, void *out) {
  void *pointer;
  if (!fx_pointer_of(PyTuple_GetItem(args, k), l, &pointer)) return false;
  memcpy(out, &pointer, sizeof pointer);
  return true;
}

/* Names of files need not be UTF-8. */
PyObject *fx_give_text(const char *text) {
  if (!text) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject *fx_give_pointer(const void *pointer) {
  if (!pointer) Py_RETURN_NONE;
  return PyLong_FromVoidPtr((void *)(uintptr_t)pointer);
}
