/* The problem library: all families in order, problems by name, and the two shapes most of them share. */
#include "base/option.h"
#include "mcp/library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fx_mcp_spec *const families[] = {
    fx_library_harker, fx_library_scarf, fx_library_control, fx_library_classic,  fx_library_nash,
    fx_library_linear, fx_library_sized, fx_library_kehoe,   fx_library_colville,
};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

static const fx_mcp_spec *spec_at(int32_t k) {
  for (int32_t f = 0; f < FAMILY_COUNT && k >= 0; f++)
    for (const fx_mcp_spec *spec = families[f]; spec->entry.name; spec++)
      if (k-- == 0) return spec;
  return NULL;
}

const frix_mcp_entry *frix_mcp_library(int32_t k) {
  const fx_mcp_spec *spec = spec_at(k);
  return spec ? &spec->entry : NULL;
}

/* "control-20" names "control" with size 20; false when the name is another one or the tail is no number. */
static bool matches(const frix_mcp_entry *entry, const char *name, int64_t *size) {
  size_t length = strlen(entry->name);
  *size = entry->size;
  if (strncmp(name, entry->name, length) != 0) return false;
  if (name[length] == 0) return true;
  if (!entry->sized || name[length] != '-') return false;
  const char *digits = name + length + 1;
  size_t count = strspn(digits, "0123456789");
  if (count == 0 || count > 9 || digits[count] != 0) return false;
  *size = strtol(digits, NULL, 10);
  return true;
}

frix_status frix_mcp_create_named(frix_context *context, const char *name, frix_mcp **out) {
  if (!context || !name || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  const char *nearest = "";
  int best = 1000;
  for (int32_t k = 0; spec_at(k); k++) {
    const fx_mcp_spec *spec = spec_at(k);
    int64_t size = 0;
    if (matches(&spec->entry, name, &size)) {
      if (spec->entry.sized && (size < spec->entry.minimum || size > spec->entry.maximum))
        return fx_fail(context, FRIX_ERROR_INPUT, "%s: the size must lie between %d and %d", name,
                       (int)spec->entry.minimum, (int)spec->entry.maximum);
      return spec->create(context, spec, (int32_t)size, out);
    }
    int distance = fx_text_distance(name, spec->entry.name);
    if (distance < best) {
      best = distance;
      nearest = spec->entry.name;
    }
  }
  return fx_fail(context, FRIX_ERROR_INPUT, "unknown problem '%s'; did you mean '%s'?", name, nearest);
}

/* ---- full Jacobians */

frix_status fx_library_dense(frix_context *context, const frix_mcp_data *data, frix_mcp **out) {
  int32_t n = data->count;
  frix_mcp_data full = *data;
  int32_t *column = FX_NEW(context, int32_t, n + 1), *row = FX_NEW(context, int32_t, (int64_t)n * n);
  frix_status status = FRIX_ERROR_MEMORY;
  if (column && row) {
    for (int32_t j = 0; j <= n; j++) column[j] = j * n;
    for (int32_t k = 0; k < n * n; k++) row[k] = k % n;
    full.column = column;
    full.row = row;
    status = frix_mcp_create(context, &full, out);
  } else if (data->release) {
    data->release(data->user);
  }
  fx_free(context, column);
  fx_free(context, row);
  return status;
}

/* ---- affine problems */

typedef struct affine {
  frix_context *context;
  fx_sparse M;
  double *q;
} affine;

static bool affine_function(const double *x, double *F, void *user) {
  const affine *a = user;
  memcpy(F, a->q, (size_t)a->M.row_count * sizeof *F);
  for (int32_t j = 0; j < a->M.col_count; j++)
    for (int32_t k = a->M.p[j]; k < a->M.p[j + 1]; k++) F[a->M.i[k]] += a->M.x[k] * x[j];
  return true;
}

static bool affine_jacobian(const double *x, double *value, void *user) {
  const affine *a = user;
  (void)x;
  memcpy(value, a->M.x, (size_t)a->M.p[a->M.col_count] * sizeof *value);
  return true;
}

static void affine_release(void *user) {
  affine *a = user;
  frix_context *context = a->context;
  fx_sparse_free(context, &a->M);
  fx_free(context, a->q);
  fx_free(context, a);
}

frix_status fx_library_affine(frix_context *context, const frix_mcp_data *data, fx_triplets entries, const double *q,
                              frix_mcp **out) {
  affine *a = FX_NEW(context, affine, 1);
  if (!a) return FRIX_ERROR_MEMORY;
  a->context = context;
  a->q = FX_NEW(context, double, data->count);
  frix_status status =
      a->q ? fx_sparse_from_triplets(context, data->count, data->count, entries, &a->M) : FRIX_ERROR_MEMORY;
  if (status != FRIX_OK) {
    affine_release(a);
    return status;
  }
  memcpy(a->q, q, (size_t)data->count * sizeof *q);
  frix_mcp_data full = *data;
  full.linear = true;
  full.function = affine_function;
  full.jacobian = affine_jacobian;
  full.column = a->M.p;
  full.row = a->M.i;
  full.user = a;
  full.release = affine_release;
  return frix_mcp_create(context, &full, out);
}
