/* SimCore: the base of frix.Sim. It holds the sim of the library and its handle, takes steps with the interpreter's
 * lock released, and refuses all use of a sim while it is at work. */
#include "binding.h"

typedef struct sim_object {
  PyObject_HEAD frix_sim *pointer;
  PyObject *handle; /* keeps the sim */
  PyObject *raised; /* an exception of a callback, which comes out of the step */
  bool busy;
} sim_object;

static PyTypeObject *report_type; /* frix.Report */

static bool usable(sim_object *s) {
  if (s->pointer && !s->busy) return true;
  PyErr_SetString(PyExc_RuntimeError, s->pointer ? "the sim is at work in another thread" : "the sim was not made");
  return false;
}

/* _open(address, handle) */
static PyObject *open_sim(PyObject *self, PyObject *args) {
  sim_object *s = (sim_object *)self;
  void *pointer;
  if (!fx_count(args, 2, "_open") || !fx_take_pointer(args, 0, NULL, &pointer)) return NULL;
  if (s->busy && !usable(s)) return NULL;
  PyObject *old = s->handle;
  s->pointer = pointer, s->handle = PyTuple_GetItem(args, 1);
  Py_INCREF(s->handle);
  Py_XDECREF(old);
  Py_RETURN_NONE;
}

static PyObject *pointer_of(PyObject *self, PyObject *unused) {
  sim_object *s = (sim_object *)self;
  (void)unused;
  return usable(s) ? PyLong_FromVoidPtr(s->pointer) : NULL;
}

/* A new report; most calls make one of frix.Report, whose layout is that of its base. */
static frix_step_report *new_report(PyObject **out) {
  *out = report_type ? fx_struct_create(&fx_layout_frix_step_report, report_type, NULL, NULL)
                     : fx_struct_new(&fx_layout_frix_step_report, NULL);
  return *out ? (frix_step_report *)(void *)((struct_object *)*out)->data : NULL;
}

/* Behind a step: its report, or what went wrong. */
static PyObject *end_step(sim_object *s, frix_status status, PyObject *report) {
  s->busy = false;
  if (status == FRIX_OK && !s->raised) return report;
  Py_DECREF(report);
  PyObject *result = PyObject_CallMethod((PyObject *)s, "_fail", "i", (int)status);
  Py_XDECREF(result);
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "the step failed");
  return NULL;
}

static PyObject *step(PyObject *self, PyObject *argument) {
  sim_object *s = (sim_object *)self;
  double h = PyFloat_AsDouble(argument);
  PyObject *out;
  if ((h == -1 && PyErr_Occurred()) || !usable(s)) return NULL;
  frix_step_report *report = new_report(&out);
  if (!report) return NULL;
  s->busy = true;
  PyThreadState *lock = PyEval_SaveThread();
  frix_status status = frix_sim_step(s->pointer, h, report);
  PyEval_RestoreThread(lock);
  return end_step(s, status, out);
}

static PyObject *step_within(PyObject *self, PyObject *args, PyObject *names) {
  sim_object *s = (sim_object *)self;
  static char *keys[] = {"h", "microseconds", NULL};
  double h, microseconds;
  PyObject *out;
  if (!PyArg_ParseTupleAndKeywords(args, names, "dd", keys, &h, &microseconds) || !usable(s)) return NULL;
  frix_step_report *report = new_report(&out);
  if (!report) return NULL;
  s->busy = true;
  PyThreadState *lock = PyEval_SaveThread();
  frix_status status = frix_sim_step_within(s->pointer, h, microseconds, report);
  PyEval_RestoreThread(lock);
  return end_step(s, status, out);
}

/* _contacts(array): the contacts of the last step into an array of as many rows. */
static PyObject *contacts(PyObject *self, PyObject *args) {
  sim_object *s = (sim_object *)self;
  void *pointer;
  int64_t count;
  if (!fx_count(args, 2, "_contacts") || !fx_take_pointer(args, 0, NULL, &pointer) ||
      !fx_take_integer(args, 1, 0, INT32_MAX, &count) || !usable(s))
    return NULL;
  frix_contact_report *row = pointer;
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < count && status == FRIX_OK; k++) status = frix_sim_contact(s->pointer, k, &row[k]);
  return PyLong_FromLong(status);
}

static PyObject *get_busy(PyObject *self, void *closure) {
  (void)closure;
  return PyBool_FromLong(((sim_object *)self)->busy);
}

static int set_busy(PyObject *self, PyObject *value, void *closure) {
  int truth = value ? PyObject_IsTrue(value) : -1;
  (void)closure;
  if (truth >= 0) ((sim_object *)self)->busy = truth != 0;
  return truth >= 0 ? 0 : -1;
}

static PyObject *get_raised(PyObject *self, void *closure) {
  PyObject *raised = ((sim_object *)self)->raised;
  (void)closure;
  if (!raised) Py_RETURN_NONE;
  Py_INCREF(raised);
  return raised;
}

static int set_raised(PyObject *self, PyObject *value, void *closure) {
  sim_object *s = (sim_object *)self;
  PyObject *old = s->raised;
  (void)closure;
  s->raised = value == Py_None ? NULL : value;
  Py_XINCREF(s->raised);
  Py_XDECREF(old);
  return 0;
}

static PyObject *get_handle(PyObject *self, void *closure) {
  PyObject *handle = ((sim_object *)self)->handle;
  (void)closure;
  if (!handle) Py_RETURN_NONE;
  Py_INCREF(handle);
  return handle;
}

/* _reports(type): steps give reports of this type, a class over frix_step_report. */
static PyObject *reports(PyObject *self, PyObject *type) {
  (void)self;
  if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, *fx_layout_frix_step_report.type)) {
    PyErr_SetString(PyExc_TypeError, "a class over frix_step_report is needed");
    return NULL;
  }
  Py_INCREF(type);
  report_type = (PyTypeObject *)type;
  Py_RETURN_NONE;
}

static void release(PyObject *self) {
  sim_object *s = (sim_object *)self;
  PyTypeObject *type = Py_TYPE(self);
  Py_CLEAR(s->handle);
  Py_CLEAR(s->raised);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"step", step, METH_O, "step($self, h, /)\n--\n\nOne step of h seconds; the report says whether it is certified."},
    {"step_within", (PyCFunction)(void (*)(void))step_within, METH_VARARGS | METH_KEYWORDS,
     "step_within($self, h, microseconds)\n--\n\nThe best answer after so many microseconds of solving."},
    {"_open", open_sim, METH_VARARGS, "The address of the sim, and the handle that keeps it."},
    {"_pointer", pointer_of, METH_NOARGS, "The address of the sim, which must not be at work."},
    {"_contacts", contacts, METH_VARARGS, "The contacts of the last step into an array."},
    {"_reports", reports, METH_O | METH_STATIC, "The class of reports."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef fields[] = {{"_busy", get_busy, set_busy, "Whether the sim is at work.", NULL},
                               {"_raised", get_raised, set_raised, "An exception of a callback.", NULL},
                               {"_handle", get_handle, NULL, "What keeps the sim.", NULL},
                               {NULL, NULL, NULL, NULL, NULL}};

bool fx_sim_type(PyObject *module) {
  PyType_Slot slots[] = {{Py_tp_dealloc, (void *)release},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, fields},
                         {Py_tp_doc, "A sim of the library: steps, with the interpreter's lock released."},
                         {0, NULL}};
  PyType_Spec spec = {"frix._frix.SimCore", sizeof(sim_object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return fx_add_type(module, &spec, NULL) != NULL;
}
