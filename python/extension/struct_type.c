/* Structs of the headers as Python types. A field is read and written in place; a struct within a struct is a view that
 * keeps the outer one; what a pointer field refers to is kept as long as the struct lives. */
#include "binding.h"

#include <string.h>

static const char *const codes[FIELD_KIND_COUNT] = {"f8", "b1", "i4", "u4", "i8", "u8", "text", "pointer", "struct"};
static const size_t sizes[FIELD_KIND_COUNT] = {8, 1, 4, 4, 8, 8, sizeof(void *), sizeof(void *), 0};

static const layout *layout_of(PyTypeObject *type) {
  for (; type; type = PyType_GetSlot(type, Py_tp_base))
    for (int32_t k = 0; k < fx_layout_count; k++)
      if (*fx_layouts[k]->type == type) return fx_layouts[k];
  return NULL;
}

static PyTypeObject *base; /* of all struct types; it has no instances of its own */

static struct_object *as_struct(PyObject *object) {
  return PyObject_TypeCheck(object, base) ? (struct_object *)object : NULL;
}

static struct_object *allocate(PyTypeObject *type, const layout *l) {
  allocfunc call = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  struct_object *s = (struct_object *)call(type, 0);
  if (s) s->layout = l, s->data = (char *)(s + 1), s->count = 1;
  return s;
}

static PyObject *view(const layout *l, char *data, PyObject *owner) {
  struct_object *s = allocate(*l->type, l);
  if (!s) return NULL;
  s->data = data;
  Py_XINCREF(owner);
  s->owner = owner;
  return (PyObject *)s;
}

PyObject *fx_struct_new(const layout *l, const void *bytes) {
  struct_object *s = allocate(*l->type, l);
  if (s && bytes) memcpy(s->data, bytes, l->size);
  return (PyObject *)s;
}

/* ---- fields ---- */

static PyObject *load(struct_object *s, const field *f, char *at) {
  switch (f->kind) {
    case FIELD_DOUBLE: return PyFloat_FromDouble(*(double *)at);
    case FIELD_BOOL: return PyBool_FromLong(*(bool *)at);
    case FIELD_INT32: return PyLong_FromLong(*(int32_t *)at);
    case FIELD_UINT32: return PyLong_FromUnsignedLong(*(uint32_t *)at);
    case FIELD_INT64: return PyLong_FromLongLong(*(int64_t *)at);
    case FIELD_UINT64: return PyLong_FromUnsignedLongLong(*(uint64_t *)at);
    case FIELD_TEXT: return fx_give_text(*(const char **)at);
    case FIELD_POINTER: return fx_give_pointer(*(void **)at);
    default: return view(f->inner, at, (PyObject *)s);
  }
}

static size_t stride(const field *f) { return f->kind == FIELD_STRUCT ? f->inner->size : sizes[f->kind]; }

static PyObject *get(PyObject *self, void *closure) {
  struct_object *s = (struct_object *)self;
  const field *f = closure;
  if (!f->count) return load(s, f, s->data + f->offset);
  PyObject *out = PyTuple_New(f->count);
  for (int32_t k = 0; out && k < f->count; k++) {
    PyObject *item = load(s, f, s->data + f->offset + (size_t)k * stride(f));
    if (!item || PyTuple_SetItem(out, k, item)) Py_CLEAR(out);
  }
  return out;
}

static bool integer(PyObject *value, int64_t least, int64_t most, int64_t *out) {
  PyObject *number = PyNumber_Index(value);
  if (!number) return false;
  *out = PyLong_AsLongLong(number);
  Py_DECREF(number);
  if (*out == -1 && PyErr_Occurred()) return false;
  if (*out >= least && *out <= most) return true;
  PyErr_Format(PyExc_OverflowError, "%lld is out of range", (long long)*out);
  return false;
}

static bool keep(struct_object *s, const field *f, PyObject *value) {
  if (!s->kept && value != Py_None) s->kept = PyDict_New();
  return value == Py_None || (s->kept && !PyDict_SetItemString(s->kept, f->name, value));
}

static bool store(struct_object *s, const field *f, char *at, PyObject *value) {
  int64_t number = 0;
  switch (f->kind) {
    case FIELD_DOUBLE: {
      double x = PyFloat_AsDouble(value);
      if (x == -1 && PyErr_Occurred()) return false;
      *(double *)at = x;
      return true;
    }
    case FIELD_BOOL: {
      int truth = PyObject_IsTrue(value);
      if (truth >= 0) *(bool *)at = truth != 0;
      return truth >= 0;
    }
    case FIELD_INT32:
      if (!integer(value, INT32_MIN, INT32_MAX, &number)) return false;
      *(int32_t *)at = (int32_t)number;
      return true;
    case FIELD_UINT32:
      if (!integer(value, 0, UINT32_MAX, &number)) return false;
      *(uint32_t *)at = (uint32_t)number;
      return true;
    case FIELD_INT64:
      if (!integer(value, INT64_MIN, INT64_MAX, &number)) return false;
      *(int64_t *)at = number;
      return true;
    case FIELD_UINT64: {
      PyObject *whole = PyNumber_Index(value);
      uint64_t x = whole ? PyLong_AsUnsignedLongLong(whole) : 0;
      Py_XDECREF(whole);
      if (PyErr_Occurred()) return false;
      *(uint64_t *)at = x;
      return true;
    }
    case FIELD_TEXT:
    case FIELD_POINTER: {
      void *pointer;
      if (f->kind == FIELD_TEXT && value != Py_None && !PyBytes_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "bytes are needed for a text");
        return false;
      }
      if (!fx_pointer_of(value, NULL, &pointer) || !keep(s, f, value)) return false;
      *(void **)at = pointer;
      return true;
    }
    default: {
      void *data = fx_struct_data(value, f->inner);
      if (!data || !keep(s, f, value)) return false;
      memmove(at, data, f->inner->size);
      return true;
    }
  }
}

static int set(PyObject *self, PyObject *value, void *closure) {
  struct_object *s = (struct_object *)self;
  const field *f = closure;
  if (!value) {
    PyErr_Format(PyExc_TypeError, "'%s' cannot be deleted", f->name);
    return -1;
  }
  if (!f->count) return store(s, f, s->data + f->offset, value) ? 0 : -1;
  if (PySequence_Size(value) != f->count) {
    if (!PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s: %d numbers are needed", f->name, (int)f->count);
    return -1;
  }
  for (int32_t k = 0; k < f->count; k++) {
    PyObject *item = PySequence_GetItem(value, k);
    bool done = item && store(s, f, s->data + f->offset + (size_t)k * stride(f), item);
    Py_XDECREF(item);
    if (!done) return -1;
  }
  return 0;
}

/* ---- the types ---- */

/* frix_vec3(1, 2, 3), frix_ray_hit(), frix_frame(size=...), or a copy: Certificate(other). */
PyObject *fx_struct_create(const layout *l, PyTypeObject *type, PyObject *args, PyObject *names) {
  struct_object *s = allocate(type, l);
  if (!s) return NULL;
  Py_ssize_t given = args ? PyTuple_Size(args) : 0, place = 0;
  PyObject *first = given == 1 ? PyTuple_GetItem(args, 0) : NULL, *key, *value;
  struct_object *other = first ? as_struct(first) : NULL;
  bool done = true;
  if (other && other->layout == l) {
    memcpy(s->data, other->data, l->size);
    Py_XINCREF(other->kept);
    s->kept = other->kept;
    given = 0;
  }
  if (given > l->field_count) {
    PyErr_Format(PyExc_TypeError, "%s: at most %d values", l->name, (int)l->field_count);
    done = false;
  }
  for (Py_ssize_t k = 0; done && k < given; k++)
    done = !set((PyObject *)s, PyTuple_GetItem(args, k), (void *)(uintptr_t)&l->fields[k]);
  while (done && names && PyDict_Next(names, &place, &key, &value)) done = !PyObject_SetAttr((PyObject *)s, key, value);
  if (!done) Py_CLEAR(s);
  return (PyObject *)s;
}

static void release(PyObject *self) {
  struct_object *s = (struct_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_CLEAR(s->owner);
  Py_CLEAR(s->kept);
  Py_CLEAR(s->array);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* type.array(n): n structs in a row, zeros. */
static PyObject *array(PyObject *type, PyObject *argument) {
  const layout *l = layout_of((PyTypeObject *)type);
  int64_t count;
  if (!l || !integer(argument, 0, PY_SSIZE_T_MAX / (int64_t)l->size - 64, &count)) return NULL;
  PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((size_t)count * l->size));
  struct_object *s = bytes ? allocate((PyTypeObject *)type, l) : NULL;
  if (!s) {
    Py_XDECREF(bytes);
    return NULL;
  }
  s->array = bytes, s->data = PyBytes_AsString(bytes), s->count = (Py_ssize_t)count;
  memset(s->data, 0, (size_t)count * l->size);
  return (PyObject *)s;
}

/* type.at(address, owner): a view of memory of the library. */
static PyObject *at(PyObject *type, PyObject *args) {
  const layout *l = layout_of((PyTypeObject *)type);
  void *pointer;
  if (!l || !fx_count(args, 2, "at") || !fx_take_pointer(args, 0, NULL, &pointer)) return NULL;
  if (!pointer) {
    PyErr_SetString(PyExc_ValueError, "no address");
    return NULL;
  }
  return view(l, pointer, PyTuple_GetItem(args, 1));
}

static Py_ssize_t length(PyObject *self) { return ((struct_object *)self)->count; }

static PyObject *item(PyObject *self, Py_ssize_t k) {
  struct_object *s = (struct_object *)self;
  if (k < 0 || k >= s->count) {
    PyErr_SetString(PyExc_IndexError, "behind the last struct");
    return NULL;
  }
  return view(s->layout, s->data + (size_t)k * s->layout->size, self);
}

static int set_item(PyObject *self, Py_ssize_t k, PyObject *value) {
  struct_object *s = (struct_object *)self;
  void *data = value ? fx_struct_data(value, s->layout) : NULL;
  if (!value || k < 0 || k >= s->count) PyErr_SetString(PyExc_IndexError, "behind the last struct");
  if (PyErr_Occurred()) return -1;
  memmove(s->data + (size_t)k * s->layout->size, data, s->layout->size);
  return 0;
}

static int truth(PyObject *self) { return (void)self, 1; } /* also an empty array is something */

static PyMethodDef methods[] = {{"array", array, METH_O | METH_CLASS, "So many structs in a row."},
                                {"at", at, METH_VARARGS | METH_CLASS, "A view of memory that an owner keeps."},
                                {NULL, NULL, 0, NULL}};

/* _fields_: (name, code or type, offset, count) of every field; _size_: bytes. */
static bool describe(PyTypeObject *type, const layout *l) {
  PyObject *rows = PyTuple_New(l->field_count);
  for (int32_t k = 0; rows && k < l->field_count; k++) {
    const field *f = &l->fields[k];
    PyObject *row = f->kind == FIELD_STRUCT
                        ? Py_BuildValue("(sOni)", f->name, *f->inner->type, (Py_ssize_t)f->offset, (int)f->count)
                        : Py_BuildValue("(ssni)", f->name, codes[f->kind], (Py_ssize_t)f->offset, (int)f->count);
    if (!row || PyTuple_SetItem(rows, k, row)) Py_CLEAR(rows);
  }
  PyObject *size = PyLong_FromSize_t(l->size);
  bool done = rows && size && !PyObject_SetAttrString((PyObject *)type, "_fields_", rows) &&
              !PyObject_SetAttrString((PyObject *)type, "_size_", size);
  Py_XDECREF(rows);
  Py_XDECREF(size);
  return done;
}

static PyObject *refuse(PyTypeObject *type, PyObject *args, PyObject *names) {
  (void)args, (void)names;
  PyErr_Format(PyExc_TypeError, "%R has no instances", (PyObject *)type);
  return NULL;
}

static bool add_base(PyObject *module) {
  PyType_Slot slots[] = {{Py_tp_new, (void *)refuse},
                         {Py_tp_dealloc, (void *)release},
                         {Py_tp_methods, methods},
                         {Py_sq_length, (void *)length},
                         {Py_sq_item, (void *)item},
                         {Py_sq_ass_item, (void *)set_item},
                         {Py_nb_bool, (void *)truth},
                         {Py_tp_doc, "A struct of the C headers, or several in a row."},
                         {0, NULL}};
  PyType_Spec spec = {"frix._frix.Struct", sizeof(struct_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return (base = fx_add_type(module, &spec, NULL)) != NULL;
}

static bool add(PyObject *module, const layout *l) {
  /* lives as long as the type: for ever */
  PyGetSetDef *rows = PyMem_Calloc((size_t)l->field_count + 1, sizeof *rows);
  char *name = PyMem_Malloc(strlen(l->name) + sizeof "frix._frix.");
  if (!rows || !name) return PyErr_NoMemory(), false;
  strcpy(name, "frix._frix.");
  strcat(name, l->name);
  for (int32_t k = 0; k < l->field_count; k++)
    rows[k] = (PyGetSetDef){l->fields[k].name, get, set, NULL, (void *)(uintptr_t)&l->fields[k]};
  PyType_Slot slots[] = {{Py_tp_new, (void *)l->create}, {Py_tp_getset, rows}, {0, NULL}};
  PyType_Spec spec = {name, (int)(sizeof(struct_object) + l->size), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return (*l->type = fx_add_type(module, &spec, base)) != NULL;
}

bool fx_struct_types(PyObject *module) {
  if (!add_base(module)) return false;
  for (int32_t k = 0; k < fx_layout_count; k++)
    if (!add(module, fx_layouts[k])) return false;
  for (int32_t k = 0; k < fx_layout_count; k++)
    if (!describe(*fx_layouts[k]->type, fx_layouts[k])) return false;
  return true;
}

/* ---- from and to arguments ---- */

void *fx_struct_data(PyObject *object, const layout *l) {
  struct_object *s = as_struct(object);
  if (s && s->layout == l) return s->data;
  PyErr_Format(PyExc_TypeError, "%s is needed, not %R", l->name, (PyObject *)Py_TYPE(object));
  return NULL;
}

/* Where the numbers of a numpy array are; its memory must be in one piece. */
static bool array_data(PyObject *value, void **out) {
  PyObject *face = PyObject_GetAttrString(value, "__array_interface__");
  PyObject *pair = face ? PyMapping_GetItemString(face, "data") : NULL;
  PyObject *number = pair ? PySequence_GetItem(pair, 0) : NULL;
  if (number) *out = PyLong_AsVoidPtr(number);
  Py_XDECREF(number);
  Py_XDECREF(pair);
  Py_XDECREF(face);
  if (!PyErr_Occurred()) return true;
  PyErr_Format(PyExc_TypeError, "an array, bytes, a struct or an address is needed, not %R",
               (PyObject *)Py_TYPE(value));
  return false;
}

bool fx_pointer_of(PyObject *value, const layout *l, void **out) {
  if (value == Py_None) return *out = NULL, true;
  if (PyLong_Check(value)) {
    *out = PyLong_AsVoidPtr(value);
    return !PyErr_Occurred();
  }
  if (PyBytes_Check(value)) return *out = PyBytes_AsString(value), true;
  struct_object *s = as_struct(value);
  if (!s) return array_data(value, out);
  if (l && s->layout != l) {
    PyErr_Format(PyExc_TypeError, "%s is needed, not %s", l->name, s->layout->name);
    return false;
  }
  *out = s->data;
  return true;
}
