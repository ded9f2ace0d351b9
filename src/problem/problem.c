/* Problems: validation, copying, viewing. */
#include "base/abi.h"
#include "problem/problem_internal.h"

#include "problem/cone.h"

#include <math.h>
#include <string.h>

static frix_problem_data default_problem_data(void) {
  frix_problem_data data = {0};
  data.size = sizeof data;
  return data;
}

void frix_problem_data_init(frix_problem_data *out, size_t size) {
  frix_problem_data all = default_problem_data();
  fx_give_struct(out, size, &all, sizeof all);
}

frix_contact frix_contact_of_dim(int32_t dim, double mu, double mu_r) {
  frix_contact contact = {.dim = dim, .mu = mu};
  contact.cone = dim == 1   ? FRIX_CONE_FRICTIONLESS
                 : dim == 2 ? FRIX_CONE_PLANAR
                 : dim == 5 ? FRIX_CONE_ROLLING
                            : FRIX_CONE_CIRCULAR;
  if (dim == 1) contact.mu = 0;
  if (dim == 5) contact.mu_r = mu_r;
  return contact;
}

static frix_status check_contacts(frix_problem *p, const frix_problem_data *data) {
  if (data->contact_count < 0) return fx_fail(p->context, FRIX_ERROR_INPUT, "contact_count is negative");
  if (data->contact_count > 0 && !data->contact) return fx_fail(p->context, FRIX_ERROR_INPUT, "contact is NULL");
  p->contact_count = data->contact_count;
  p->contact = FX_NEW(p->context, frix_contact, p->contact_count);
  p->row = FX_NEW(p->context, int32_t, (size_t)p->contact_count + 1);
  if (!p->contact || !p->row) return FRIX_ERROR_MEMORY;
  int64_t rows = 0;
  for (int32_t i = 0; i < p->contact_count; i++) {
    p->contact[i] = data->contact[i];
    frix_status status = fx_cone_check(p->context, i, &p->contact[i]);
    if (status != FRIX_OK) return status;
    rows += p->contact[i].dim;
    if (rows > INT32_MAX / 2) return fx_fail(p->context, FRIX_ERROR_UNSUPPORTED, "more than %d rows", INT32_MAX / 2);
    p->row[i + 1] = (int32_t)rows;
  }
  p->row_count = (int32_t)rows;
  return FRIX_OK;
}

/* Copies count finite numbers; optional ones may be NULL. */
static frix_status take_vector(frix_problem *p, const char *name, const double *from, int32_t count, bool optional,
                               double **out) {
  if (!from && optional) return FRIX_OK;
  if (!from && count > 0) return fx_fail(p->context, FRIX_ERROR_INPUT, "%s is missing", name);
  double *to = FX_NEW(p->context, double, count);
  if (!to) return FRIX_ERROR_MEMORY;
  *out = to;
  for (int32_t k = 0; k < count; k++) {
    if (!isfinite(from[k])) return fx_fail(p->context, FRIX_ERROR_INPUT, "%s[%d] is not a finite number", name, k);
    to[k] = from[k];
  }
  return FRIX_OK;
}

/* How many entries a matrix stores, or -1 where its own pointers contradict each other. */
static int64_t stored_entries(const frix_matrix *a) {
  switch (a->format) {
    case FRIX_MATRIX_DENSE: {
      int64_t count = 0;
      for (int64_t k = 0; k < (int64_t)a->row_count * a->col_count; k++) count += a->x[k] != 0;
      return count;
    }
    case FRIX_MATRIX_CSC:
    case FRIX_MATRIX_CSR: {
      int32_t outer = a->format == FRIX_MATRIX_CSC ? a->col_count : a->row_count;
      if (a->p[0] != 0 || a->p[outer] != a->nonzero_count) return -1;
      for (int32_t k = 0; k < outer; k++)
        if (a->p[k + 1] < a->p[k]) return -1;
      return a->nonzero_count;
    }
    case FRIX_MATRIX_TRIPLET: return a->nonzero_count;
    case FRIX_MATRIX_NONE: break;
  }
  return -1;
}

/* Lists the entries of any storage as triplets. */
static void list_entries(const frix_matrix *a, int32_t *row, int32_t *col, double *x) {
  int64_t at = 0;
  if (a->format == FRIX_MATRIX_DENSE) {
    for (int32_t c = 0; c < a->col_count; c++)
      for (int32_t r = 0; r < a->row_count; r++) {
        double value = a->x[(int64_t)c * a->row_count + r];
        if (value == 0) continue;
        row[at] = r;
        col[at] = c;
        x[at++] = value;
      }
    return;
  }
  if (a->format == FRIX_MATRIX_TRIPLET) {
    for (; at < a->nonzero_count; at++) {
      row[at] = a->i[at];
      col[at] = a->p[at];
      x[at] = a->x[at];
    }
    return;
  }
  bool by_column = a->format == FRIX_MATRIX_CSC;
  int32_t outer = by_column ? a->col_count : a->row_count;
  for (int32_t o = 0; o < outer; o++)
    for (int32_t k = a->p[o]; k < a->p[o + 1]; k++, at++) {
      row[at] = by_column ? a->i[k] : o;
      col[at] = by_column ? o : a->i[k];
      x[at] = a->x[k];
    }
}

/* Columns in ascending order without duplicates, all within range and finite: what most callers give, and what is kept.
 */
static bool is_canonical(const frix_matrix *a) {
  bool good = a->format == FRIX_MATRIX_CSC;
  for (int32_t c = 0; good && c < a->col_count; c++) {
    int32_t before = -1;
    for (int32_t k = a->p[c]; k < a->p[c + 1]; k++) {
      good &= a->i[k] > before && isfinite(a->x[k]);
      before = a->i[k];
    }
    good &= before < a->row_count;
  }
  return good;
}

static frix_status copy_canonical(frix_context *context, const frix_matrix *a, int64_t count, fx_sparse *out) {
  *out = (fx_sparse){.row_count = a->row_count, .col_count = a->col_count};
  if (count > INT32_MAX)
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "a matrix with more than %d entries", INT32_MAX);
  out->p = fx_alloc_raw(context, (size_t)a->col_count + 1, sizeof *out->p);
  out->i = fx_alloc_raw(context, (size_t)count, sizeof *out->i);
  out->x = fx_alloc_raw(context, (size_t)count, sizeof *out->x);
  if (!out->p || !out->i || !out->x) {
    fx_sparse_free(context, out);
    return FRIX_ERROR_MEMORY;
  }
  memcpy(out->p, a->p, ((size_t)a->col_count + 1) * sizeof *out->p);
  if (count > 0) {
    memcpy(out->i, a->i, (size_t)count * sizeof *out->i);
    memcpy(out->x, a->x, (size_t)count * sizeof *out->x);
  }
  return FRIX_OK;
}

frix_status fx_matrix_take(frix_context *context, const char *name, const frix_matrix *a, int32_t row_count,
                           int32_t col_count, fx_sparse *out) {
  if (a->format == FRIX_MATRIX_NONE) return fx_fail(context, FRIX_ERROR_INPUT, "matrix %s is missing", name);
  if (a->row_count != row_count || a->col_count != col_count)
    return fx_fail(context, FRIX_ERROR_INPUT, "matrix %s is %d x %d, expected %d x %d", name, a->row_count,
                   a->col_count, row_count, col_count);
  bool sparse = a->format != FRIX_MATRIX_DENSE;
  bool empty = sparse ? a->nonzero_count == 0 : row_count == 0 || col_count == 0;
  if (sparse && a->nonzero_count < 0) return fx_fail(context, FRIX_ERROR_INPUT, "matrix %s: nonzero_count < 0", name);
  if ((!empty && (!a->x || (sparse && !a->i))) || (sparse && !a->p && !(empty && a->format == FRIX_MATRIX_TRIPLET)))
    return fx_fail(context, FRIX_ERROR_INPUT, "matrix %s has a NULL array", name);
  int64_t count = stored_entries(a);
  if (count < 0) return fx_fail(context, FRIX_ERROR_INPUT, "matrix %s: column pointers are not increasing", name);

  if (is_canonical(a)) return copy_canonical(context, a, count, out);

  frix_status status = FRIX_ERROR_MEMORY;
  int32_t *row = FX_NEW(context, int32_t, count), *col = FX_NEW(context, int32_t, count);
  double *x = FX_NEW(context, double, count);
  if (!row || !col || !x) goto cleanup;
  list_entries(a, row, col, x);
  for (int64_t k = 0; k < count; k++) {
    if (row[k] < 0 || row[k] >= row_count || col[k] < 0 || col[k] >= col_count) {
      status = fx_fail(context, FRIX_ERROR_INPUT, "matrix %s: entry %lld at (%d, %d) is outside %d x %d", name,
                       (long long)k, row[k], col[k], row_count, col_count);
      goto cleanup;
    }
    if (!isfinite(x[k])) {
      status =
          fx_fail(context, FRIX_ERROR_INPUT, "matrix %s: entry (%d, %d) is not a finite number", name, row[k], col[k]);
      goto cleanup;
    }
  }
  status = fx_sparse_from_triplets(context, row_count, col_count,
                                   (fx_triplets){.count = count, .row = row, .col = col, .x = x}, out);
cleanup:
  fx_free(context, row);
  fx_free(context, col);
  fx_free(context, x);
  return status;
}

static frix_status take_local(frix_problem *p, const frix_problem_data *data) {
  p->dof_count = p->row_count;
  frix_status status = fx_matrix_take(p->context, "W", &data->W, p->row_count, p->row_count, &p->W);
  if (status == FRIX_OK) status = take_vector(p, "q", data->q, p->row_count, false, &p->q);
  return status;
}

static frix_status take_global(frix_problem *p, const frix_problem_data *data) {
  p->dof_count = data->dof_count ? data->dof_count : data->M.row_count;
  if (p->dof_count < 0) return fx_fail(p->context, FRIX_ERROR_INPUT, "dof_count is negative");
  bool joints = data->G.format != FRIX_MATRIX_NONE;
  p->joint_count = joints ? data->G.col_count : 0;
  if (p->joint_count < 0) return fx_fail(p->context, FRIX_ERROR_INPUT, "matrix G has a negative size");
  if (!joints && data->joint_count > 0) return fx_fail(p->context, FRIX_ERROR_INPUT, "matrix G is missing");
  frix_status status = fx_matrix_take(p->context, "M", &data->M, p->dof_count, p->dof_count, &p->M);
  if (status == FRIX_OK) status = fx_matrix_take(p->context, "H", &data->H, p->dof_count, p->row_count, &p->H);
  if (status == FRIX_OK && joints)
    status = fx_matrix_take(p->context, "G", &data->G, p->dof_count, p->joint_count, &p->G);
  if (status == FRIX_OK) status = take_vector(p, "f", data->f, p->dof_count, false, &p->f);
  if (status == FRIX_OK) status = take_vector(p, "w", data->w, p->row_count, false, &p->w);
  if (status == FRIX_OK && joints) status = take_vector(p, "b", data->b, p->joint_count, false, &p->b);
  return status;
}

static frix_status take_extras(frix_problem *p, const frix_problem_data *data) {
  frix_status status = take_vector(p, "R", data->R, p->row_count, true, &p->R);
  if (status == FRIX_OK) status = take_vector(p, "r_c", data->r_c, p->row_count, true, &p->r_c);
  if (status == FRIX_OK) status = take_vector(p, "guess", data->guess, p->row_count, true, &p->guess);
  if (status != FRIX_OK) return status;
  if (p->r_c && !p->R) return fx_fail(p->context, FRIX_ERROR_INPUT, "r_c is given without R");
  for (int32_t k = 0; p->R && k < p->row_count; k++)
    if (p->R[k] < 0) return fx_fail(p->context, FRIX_ERROR_INPUT, "R[%d] is negative", k);
  if (data->title && !(p->title = fx_copy_text(p->context, data->title))) return FRIX_ERROR_MEMORY;
  return FRIX_OK;
}

frix_status frix_problem_create(frix_context *context, const frix_problem_data *data, frix_problem **out) {
  if (!context || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  FX_WHOLE(frix_problem_data, data, frix_problem_data_default());
  if (!data || data->size != sizeof *data)
    return fx_fail(context, FRIX_ERROR_INPUT, "problem data does not come from frix_problem_data_default()");
  frix_problem *p = FX_NEW(context, frix_problem, 1);
  if (!p) return FRIX_ERROR_MEMORY;
  p->context = context;
  p->form = data->form;

  frix_status status = check_contacts(p, data);
  if (status == FRIX_OK) {
    if (data->row_count && data->row_count != p->row_count)
      status = fx_fail(context, FRIX_ERROR_INPUT, "row_count is %d, but the contacts have %d rows", data->row_count,
                       p->row_count);
    else if (data->form == FRIX_FORM_LOCAL)
      status = take_local(p, data);
    else if (data->form == FRIX_FORM_GLOBAL)
      status = take_global(p, data);
    else
      status = fx_fail(context, FRIX_ERROR_INPUT, "form must be local or global");
  }
  if (status == FRIX_OK) status = take_extras(p, data);
  if (status != FRIX_OK) {
    frix_problem_destroy(p);
    return status;
  }
  *out = p;
  return FRIX_OK;
}

void frix_problem_destroy(frix_problem *p) {
  if (!p) return;
  frix_context *context = p->context;
  void *owned[] = {p->contact, p->row, p->q, p->f, p->w, p->b, p->R, p->r_c, p->guess, p->limit, p->motion, p->title};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) fx_free(context, owned[k]);
  fx_sparse_free(context, &p->W);
  fx_sparse_free(context, &p->M);
  fx_sparse_free(context, &p->H);
  fx_sparse_free(context, &p->G);
  fx_free(context, p);
}

frix_status fx_problem_columns(fx_arena *arena, const frix_problem *p, fx_sparse *out) {
  const fx_block_matrix *a = p->blocks;
  *out = (fx_sparse){.row_count = p->dof_count, .col_count = p->row_count};
  out->p = FX_TAKE_RAW(arena, int32_t, (size_t)p->row_count + 1);
  out->i = FX_TAKE_RAW(arena, int32_t, a->offset[a->start[a->row_blocks]]);
  out->x = FX_TAKE_RAW(arena, double, a->offset[a->start[a->row_blocks]]);
  if (!out->p || !out->i || !out->x) return FRIX_ERROR_MEMORY;
  int32_t at = out->p[0] = 0;
  for (int32_t b = 0; b < a->row_blocks; b++)
    for (int32_t r = 0; r < fx_block_rows(a, b); r++) {
      for (int32_t k = a->start[b]; k < a->start[b + 1]; k++) {
        int32_t n = fx_block_cols(a, k), first = a->col[a->index[k]];
        const double *x = fx_block(a, k) + r * n;
        for (int32_t c = 0; c < n; c++)
          if (x[c] != 0) {
            out->i[at] = first + c;
            out->x[at++] = x[c];
          }
      }
      out->p[a->row[b] + r + 1] = at;
    }
  return FRIX_OK;
}

frix_status fx_problem_take_limit(frix_problem *p, const frix_problem *from) {
  size_t count = (size_t)from->row_count + (size_t)from->joint_count;
  if (!from->limit || !count) return FRIX_OK;
  p->limit = fx_alloc_raw(p->context, count, sizeof *p->limit);
  if (!p->limit) return fx_fail(p->context, FRIX_ERROR_MEMORY, "out of memory");
  memcpy(p->limit, from->limit, count * sizeof *p->limit);
  if (!from->motion) return FRIX_OK;
  p->motion = fx_alloc_raw(p->context, (size_t)from->dof_count, sizeof *p->motion);
  if (!p->motion) return fx_fail(p->context, FRIX_ERROR_MEMORY, "out of memory");
  memcpy(p->motion, from->motion, (size_t)from->dof_count * sizeof *p->motion);
  return FRIX_OK;
}

static frix_matrix view_matrix(const fx_sparse *s) {
  if (!s->p) return (frix_matrix){.format = FRIX_MATRIX_NONE};
  return (frix_matrix){.format = FRIX_MATRIX_CSC,
                       .row_count = s->row_count,
                       .col_count = s->col_count,
                       .nonzero_count = s->p[s->col_count],
                       .p = s->p,
                       .i = s->i,
                       .x = s->x};
}

static void view_problem(const frix_problem *p, frix_problem_data *out) {
  *out = frix_problem_data_default();
  if (!p) return;
  out->form = p->form;
  out->contact_count = p->contact_count;
  out->contact = p->contact;
  out->row_count = p->row_count;
  out->dof_count = p->dof_count;
  out->joint_count = p->joint_count;
  out->W = view_matrix(&p->W);
  out->M = view_matrix(&p->M);
  out->H = view_matrix(&p->H);
  out->G = view_matrix(&p->G);
  out->q = p->q;
  out->f = p->f;
  out->w = p->w;
  out->b = p->b;
  out->R = p->R;
  out->r_c = p->r_c;
  out->guess = p->guess;
  out->title = p->title;
}

void frix_problem_view_sized(const frix_problem *p, frix_problem_data *out, size_t size) {
  frix_problem_data all;
  view_problem(p, &all);
  fx_give_struct(out, size, &all, sizeof all);
}

frix_status frix_problem_with_pyramids(const frix_problem *p, int32_t facets, frix_problem **out) {
  if (!p || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  frix_contact *contact = FX_NEW(p->context, frix_contact, p->contact_count);
  if (!contact) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < p->contact_count; i++) {
    contact[i] = p->contact[i];
    if (contact[i].cone != FRIX_CONE_CIRCULAR) continue;
    contact[i].cone = FRIX_CONE_PYRAMID;
    contact[i].facets = facets;
  }
  frix_problem_data data;
  frix_problem_view(p, &data);
  data.contact = contact;
  frix_status status = frix_problem_create(p->context, &data, out);
  fx_free(p->context, contact);
  return status;
}
