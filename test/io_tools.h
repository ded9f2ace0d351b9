/* What the tests of readers and writers share: contexts that keep their log, comparison bit for bit. */
#ifndef FX_TEST_IO_TOOLS_H
#define FX_TEST_IO_TOOLS_H

#include <frix/frix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#ifdef FRIX_HAVE_HDF5
#include "fclib_file.h"
#endif

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void keep_log(frix_log_level level, const char *text, void *user) {
  (void)level;
  snprintf(user, 512, "%s", text);
}

static inline frix_context *make_context(char log[512]) {
  frix_context_config config = frix_context_default();
  log[0] = 0;
  config.log = keep_log;
  config.user = log;
  frix_context *context = NULL;
  frix_context_create(&config, &context);
  return context;
}

static inline bool same_reals(const double *a, const double *b, int64_t count) {
  return !a == !b && (!a || count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static inline bool same_matrix(const frix_matrix *a, const frix_matrix *b) {
  if (a->format == FRIX_MATRIX_NONE || b->format == FRIX_MATRIX_NONE) return a->format == b->format;
  size_t count = (size_t)a->nonzero_count;
  return a->row_count == b->row_count && a->col_count == b->col_count && a->nonzero_count == b->nonzero_count &&
         memcmp(a->p, b->p, ((size_t)a->col_count + 1) * sizeof *a->p) == 0 &&
         (count == 0 || memcmp(a->i, b->i, count * sizeof *a->i) == 0) && same_reals(a->x, b->x, a->nonzero_count);
}

static inline bool same_contacts(const frix_problem_data *a, const frix_problem_data *b) {
  if (a->contact_count != b->contact_count) return false;
  for (int32_t k = 0; k < a->contact_count; k++) {
    const frix_contact *c = &a->contact[k], *d = &b->contact[k];
    if (c->cone != d->cone || c->dim != d->dim || c->facets != d->facets || !same_reals(&c->mu, &d->mu, 1) ||
        !same_reals(&c->mu2, &d->mu2, 1) || !same_reals(&c->mu_r, &d->mu_r, 1) || !same_reals(c->axis, d->axis, 2))
      return false;
  }
  return true;
}

/* NULL, or the first thing that differs by a bit. */
static inline const char *difference(const frix_problem *p, const frix_problem *q, bool with_guess) {
  frix_problem_data a, b;
  frix_problem_view(p, &a);
  frix_problem_view(q, &b);
  if (a.form != b.form || a.row_count != b.row_count || a.dof_count != b.dof_count || a.joint_count != b.joint_count)
    return "sizes";
  if (!same_contacts(&a, &b)) return "contacts";
  if (!same_matrix(&a.W, &b.W)) return "W";
  if (!same_matrix(&a.M, &b.M)) return "M";
  if (!same_matrix(&a.H, &b.H)) return "H";
  if (!same_matrix(&a.G, &b.G)) return "G";
  if (!same_reals(a.q, b.q, a.row_count)) return "q";
  if (!same_reals(a.f, b.f, a.dof_count)) return "f";
  if (!same_reals(a.w, b.w, a.row_count)) return "w";
  if (!same_reals(a.b, b.b, a.joint_count)) return "b";
  if (!same_reals(a.R, b.R, a.row_count)) return "R";
  if (!same_reals(a.r_c, b.r_c, a.row_count)) return "r_c";
  if (with_guess && !same_reals(a.guess, b.guess, a.row_count)) return "guess";
  return NULL;
}

static inline frix_problem *read_text(fx_test *t, frix_context *context, const char *name, const char *text,
                                      frix_text_kind kind) {
  frix_read_config config = frix_read_default();
  config.kind = kind;
  frix_problem *problem = NULL;
  frix_status status = frix_problem_read_memory(context, name, text, strlen(text), &config, &problem);
  if (status) fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  return problem;
}

/* Writes and reads back; the new problem replaces the old. */
static inline void pass_through(fx_test *t, frix_context *context, frix_problem **problem, const char *path) {
  frix_problem *again = NULL;
  if (frix_problem_write(*problem, path, NULL) || frix_problem_read(context, path, NULL, &again)) {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    return;
  }
  frix_problem_destroy(*problem);
  *problem = again;
}

/* A block on a slope with a joint. */
static const char joined[] =
    "{\"contacts\": [{\"cone\": \"circular\", \"mu\": 0.5}], \"M\": {\"diagonal\": [2, 2, 2, 0.1]},\n"
    " \"H\": [[0,1,0],[0,0,1],[1,0,0],[0.5,0,0]], \"f\": [0, 1.5, -9.81, 0], \"w\": [0, 0.25, 0],\n"
    " \"G\": {\"rows\": 4, \"cols\": 1, \"p\": [0, 2], \"i\": [0, 3], \"x\": [1, -1]}, \"b\": [0.125]}";

#endif
