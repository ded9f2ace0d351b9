/* Callbacks of the library become calls of methods of a Python object, whose address is the callback's `user`. The
 * object must live as long as the callback may come. Python gets copies of what a callback shows: they may be kept. */
#include "binding.h"

#include <string.h>

/* Calls a method; false where it raised, which is reported and goes no further. */
static PyObject *call(void *user, const char *name, PyObject *args) {
  PyObject *method = args ? PyObject_GetAttrString(user, name) : NULL;
  PyObject *result = method ? PyObject_CallObject(method, args) : NULL;
  Py_XDECREF(method);
  Py_XDECREF(args);
  if (!result) PyErr_WriteUnraisable(user);
  return result;
}

static void force(frix_sim *sim, double time, void *user) {
  PyGILState_STATE lock = PyGILState_Ensure();
  (void)sim;
  Py_XDECREF(call(user, "force", Py_BuildValue("(d)", time)));
  PyGILState_Release(lock);
}

static bool filter(const frix_sim *sim, const frix_contact_pair *pair, void *user) {
  PyGILState_STATE lock = PyGILState_Ensure();
  (void)sim;
  PyObject *answer = call(user, "filter", Py_BuildValue("(N)", fx_struct_new(&fx_layout_frix_contact_pair, pair)));
  bool there = !answer || PyObject_IsTrue(answer) != 0;
  Py_XDECREF(answer);
  PyGILState_Release(lock);
  return there;
}

static void modify(const frix_sim *sim, const frix_contact_pair *pair, frix_contact_law *law, void *user) {
  PyGILState_STATE lock = PyGILState_Ensure();
  (void)sim;
  PyObject *changed = fx_struct_new(&fx_layout_frix_contact_law, law);
  PyObject *args = changed ? Py_BuildValue("(NO)", fx_struct_new(&fx_layout_frix_contact_pair, pair), changed) : NULL;
  PyObject *answer = call(user, "modify", args);
  if (answer) memcpy(law, ((struct_object *)changed)->data, sizeof *law);
  Py_XDECREF(answer);
  Py_XDECREF(changed);
  PyGILState_Release(lock);
}

static bool evaluate(void *user, const char *name, const double *x, double *out) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *answer = call(user, name, Py_BuildValue("(NN)", fx_give_pointer(x), fx_give_pointer(out)));
  bool good = answer && PyObject_IsTrue(answer) > 0;
  Py_XDECREF(answer);
  PyGILState_Release(lock);
  return good;
}

static bool function(const double *x, double *F, void *user) { return evaluate(user, "function", x, F); }
static bool jacobian(const double *x, double *value, void *user) { return evaluate(user, "jacobian", x, value); }

/* Python gives the address of a model that the library is to own. */
static frix_status build(frix_context *context, const double *parameter, frix_model **out, void *user) {
  PyGILState_STATE lock = PyGILState_Ensure();
  void *model = NULL;
  (void)context;
  PyObject *answer = call(user, "build", Py_BuildValue("(N)", fx_give_pointer(parameter)));
  if (answer && answer != Py_None && !fx_pointer_of(answer, NULL, &model)) PyErr_Clear();
  Py_XDECREF(answer);
  PyGILState_Release(lock);
  *out = model;
  return model ? FRIX_OK : FRIX_ERROR_INPUT;
}

static frix_status drive(frix_sim *sim, double h, const double *parameter, void *user) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *answer = call(user, "drive", Py_BuildValue("(NdN)", fx_give_pointer(sim), h, fx_give_pointer(parameter)));
  bool good = answer && PyObject_IsTrue(answer) > 0;
  Py_XDECREF(answer);
  PyGILState_Release(lock);
  return good ? FRIX_OK : FRIX_ERROR_INPUT;
}

typedef struct callback_row {
  const layout *layout;
  const char *name;
  size_t place, user; /* offsets of the pointer and of its user */
  void (*call)(void);
} callback_row;

static const callback_row rows[] = {
    {&fx_layout_frix_sim_config, "force", offsetof(frix_sim_config, force), offsetof(frix_sim_config, user),
     (void (*)(void))force},
    {&fx_layout_frix_contact_hooks, "filter", offsetof(frix_contact_hooks, filter), offsetof(frix_contact_hooks, user),
     (void (*)(void))filter},
    {&fx_layout_frix_contact_hooks, "modify", offsetof(frix_contact_hooks, modify), offsetof(frix_contact_hooks, user),
     (void (*)(void))modify},
    {&fx_layout_frix_mcp_data, "function", offsetof(frix_mcp_data, function), offsetof(frix_mcp_data, user),
     (void (*)(void))function},
    {&fx_layout_frix_mcp_data, "jacobian", offsetof(frix_mcp_data, jacobian), offsetof(frix_mcp_data, user),
     (void (*)(void))jacobian},
    {&fx_layout_frix_sensitivity_config, "build", offsetof(frix_sensitivity_config, build),
     offsetof(frix_sensitivity_config, user), (void (*)(void))build},
    {&fx_layout_frix_sensitivity_config, "drive", offsetof(frix_sensitivity_config, drive),
     offsetof(frix_sensitivity_config, user), (void (*)(void))drive},
};

PyObject *fx_listen(PyObject *module, PyObject *args) {
  PyObject *config, *listener;
  const char *name;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOs", &config, &listener, &name)) return NULL;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    if (strcmp(rows[k].name, name) != 0) continue;
    char *data = fx_struct_data(config, rows[k].layout);
    if (!data) return NULL;
    memcpy(data + rows[k].place, &rows[k].call, sizeof rows[k].call);
    memcpy(data + rows[k].user, &listener, sizeof listener);
    Py_RETURN_NONE;
  }
  PyErr_Format(PyExc_ValueError, "no callback '%s'", name);
  return NULL;
}
