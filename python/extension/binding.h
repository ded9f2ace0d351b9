/* The extension module frix._frix: structs of the C headers as Python types, every public function, objects of the
 * library with their owners, and the step. It keeps to the limited API of CPython 3.9, so that one binary serves all
 * later ones. tools/make_binding writes the tables of layouts and functions from the headers; the compiler fills in
 * sizes and offsets. */
#ifndef FRIX_PYTHON_BINDING_H
#define FRIX_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <examples/examples.h>
#include <examples/scene.h>
#include <frix/frix.h>
#include <stddef.h>

/* ---- layouts ---- */
typedef enum field_kind {
  FIELD_DOUBLE,
  FIELD_BOOL,
  FIELD_INT32, /* enums too */
  FIELD_UINT32,
  FIELD_INT64,
  FIELD_UINT64,
  FIELD_TEXT,    /* const char * */
  FIELD_POINTER, /* as an address */
  FIELD_STRUCT,
  FIELD_KIND_COUNT
} field_kind;

typedef struct layout layout;

typedef struct field {
  const char *name;
  field_kind kind;
  size_t offset;
  int32_t count;       /* of an array within the struct, 0: a single one */
  const layout *inner; /* of FIELD_STRUCT */
} field;

struct layout {
  const char *name;
  size_t size;
  const field *fields;
  int32_t field_count;
  newfunc create;
  PyTypeObject **type; /* made when the module is loaded */
};

/* Out-parameters of one number or address: `value` holds it. */
typedef struct cell_pointer {
  void *value;
} cell_pointer;
typedef struct cell_int32 {
  int32_t value;
} cell_int32;
typedef struct cell_int64 {
  int64_t value;
} cell_int64;
typedef struct cell_uint64 {
  uint64_t value;
} cell_uint64;

/* ---- structs ---- */

/* A struct of the headers, or several in a row. Its bytes follow the object, or belong to `owner`. */
typedef struct struct_object {
  PyObject_HEAD const layout *layout;
  char *data;
  PyObject *owner; /* NULL: own bytes, or memory of the library that outlives all */
  PyObject *kept;  /* what pointer fields refer to, by name; NULL: nothing */
  Py_ssize_t count;
  PyObject *array; /* the bytes of several, NULL: one struct */
} struct_object;

/* A new struct of this layout, a copy of `bytes` (NULL: zeros). */
PyObject *fx_struct_new(const layout *l, const void *bytes);
PyObject *fx_struct_create(const layout *l, PyTypeObject *type, PyObject *args, PyObject *names);
/* Its bytes; NULL with an exception where it is something else. */
void *fx_struct_data(PyObject *object, const layout *l);
bool fx_struct_types(PyObject *module);

/* ---- arguments of the written functions ---- */
bool fx_count(PyObject *args, Py_ssize_t count, const char *name);
bool fx_take_double(PyObject *args, Py_ssize_t k, double *out);
bool fx_take_integer(PyObject *args, Py_ssize_t k, int64_t least, int64_t most, int64_t *out);
bool fx_take_unsigned(PyObject *args, Py_ssize_t k, uint64_t *out);
bool fx_take_bool(PyObject *args, Py_ssize_t k, bool *out);
bool fx_take_text(PyObject *args, Py_ssize_t k, const char **out);
bool fx_take_struct(PyObject *args, Py_ssize_t k, const layout *l, void *out);
/* An address: None, a number, bytes, a numpy array, or a struct (of layout l where that is known). */
bool fx_take_pointer(PyObject *args, Py_ssize_t k, const layout *l, void *out);
bool fx_pointer_of(PyObject *value, const layout *l, void **out);

PyObject *fx_give_text(const char *text);
PyObject *fx_give_pointer(const void *pointer);

/* ---- written by tools/make_binding ---- */
extern const layout *const fx_layouts[];
extern const int32_t fx_layout_count;
extern PyMethodDef fx_functions[];
typedef struct destroy_row {
  const char *name;
  void (*call)(void *);
} destroy_row;
extern const destroy_row fx_destroys[]; /* ends with a NULL name */
bool fx_constants(PyObject *module);
extern const layout fx_layout_frix_step_report, fx_layout_frix_contact_report, fx_layout_frix_contact_pair,
    fx_layout_frix_contact_law, fx_layout_frix_sim_config, fx_layout_frix_contact_hooks, fx_layout_frix_mcp_data,
    fx_layout_frix_sensitivity_config;

/* ---- types ---- */
bool fx_handle_type(PyObject *module);
bool fx_sim_type(PyObject *module);
/* frix._frix.listen(struct, listener, names): callbacks of a config become calls of methods of `listener`. */
PyObject *fx_listen(PyObject *module, PyObject *args);

/* A heap type of this spec (base: NULL for object), as an attribute of the module. */
PyTypeObject *fx_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base);

#endif
