/* Handle: an object of the library, destroyed when Python refers to it no more. It keeps the handles of what it needs
 * (its context, its model): these are destroyed after it, whatever order the collector of cycles takes, because a
 * handle is no part of a cycle itself. */
#include "binding.h"

#include <string.h>

typedef struct handle {
  PyObject_HEAD void *pointer;
  void (*destroy)(void *); /* NULL: something else owns it */
  PyObject *owners;        /* a tuple of handles */
} handle;

static PyTypeObject *type;

/* Handle(address, name of the function that destroys it or None, owners) */
static PyObject *create(PyTypeObject *of, PyObject *args, PyObject *names) {
  (void)names;
  void *pointer;
  const char *name;
  PyObject *address, *owners;
  bool good = true;
  if (!PyArg_ParseTuple(args, "OzO!:Handle", &address, &name, &PyTuple_Type, &owners) ||
      !fx_pointer_of(address, NULL, &pointer))
    return NULL;
  for (Py_ssize_t k = 0; good && k < PyTuple_Size(owners); k++)
    good = PyObject_TypeCheck(PyTuple_GetItem(owners, k), type);
  const destroy_row *row = fx_destroys;
  while (name && row->name && strcmp(row->name, name) != 0) row++;
  if (!good || (name && !row->name)) {
    PyErr_SetString(PyExc_TypeError, "Handle: an address, a function that destroys it, and a tuple of handles");
    return NULL;
  }
  handle *h = (handle *)((allocfunc)PyType_GetSlot(of, Py_tp_alloc))(of, 0);
  if (!h) return NULL;
  h->pointer = pointer, h->destroy = name ? row->call : NULL, h->owners = owners;
  Py_INCREF(owners);
  return (PyObject *)h;
}

static void release(PyObject *self) {
  handle *h = (handle *)self;
  PyTypeObject *of = Py_TYPE(self);
  if (h->destroy && h->pointer) h->destroy(h->pointer);
  Py_CLEAR(h->owners);
  ((freefunc)PyType_GetSlot(of, Py_tp_free))(self);
  Py_DECREF(of);
}

static PyObject *pointer_of(PyObject *self, void *closure) {
  (void)closure;
  return fx_give_pointer(((handle *)self)->pointer);
}

static PyGetSetDef fields[] = {{"pointer", pointer_of, NULL, "Its address.", NULL}, {NULL, NULL, NULL, NULL, NULL}};

bool fx_handle_type(PyObject *module) {
  PyType_Slot slots[] = {{Py_tp_new, (void *)create},
                         {Py_tp_dealloc, (void *)release},
                         {Py_tp_getset, fields},
                         {Py_tp_doc, "An object of the library, destroyed when Python refers to it no more."},
                         {0, NULL}};
  PyType_Spec spec = {"frix._frix.Handle", sizeof(handle), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return (type = fx_add_type(module, &spec, NULL)) != NULL;
}
