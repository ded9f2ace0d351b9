/* Global to reduced form: W = [H G]' M^-1 [H G], joints as bilateral contacts. */
#include "problem/system.h"

#include <string.h>

static frix_status list_blocks(fx_arena *arena, const fx_block_matrix *a, frix_matrix *out) {
  size_t count = a->offset[a->start[a->row_blocks]];
  int32_t *row = FX_TAKE(arena, int32_t, count), *col = FX_TAKE(arena, int32_t, count);
  double *x = FX_TAKE(arena, double, count);
  if (!row || !col || !x) return FRIX_ERROR_MEMORY;
  size_t at = 0;
  for (int32_t i = 0; i < a->row_blocks; i++)
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
      int32_t n = fx_block_cols(a, k);
      for (int32_t e = 0; e < fx_block_rows(a, i) * n; e++, at++) {
        row[at] = a->row[i] + e / n;
        col[at] = a->col[a->index[k]] + e % n;
        x[at] = fx_block(a, k)[e];
      }
    }
  *out = (frix_matrix){.format = FRIX_MATRIX_TRIPLET,
                       .row_count = a->row[a->row_blocks],
                       .col_count = a->col[a->col_blocks],
                       .nonzero_count = (int64_t)count,
                       .p = col,
                       .i = row,
                       .x = x};
  return FRIX_OK;
}

/* A row vector extended by zeros over the joint rows; NULL stays NULL. */
static double *extend(fx_arena *arena, const double *from, int32_t count, int32_t total) {
  if (!from) return NULL;
  double *to = FX_TAKE(arena, double, total);
  if (to) memcpy(to, from, (size_t)count * sizeof *to);
  return to;
}

frix_status frix_problem_reduce(const frix_problem *p, frix_problem **out) {
  if (!p || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  frix_problem_data data;
  frix_problem_view(p, &data);
  if (p->form == FRIX_FORM_LOCAL) return frix_problem_create(p->context, &data, out);

  fx_arena arena;
  fx_arena_init(&arena, p->context);
  fx_system s;
  frix_status status = fx_system_build(&arena, p, FRIX_FORM_LOCAL, &s);
  if (status == FRIX_OK) {
    double *q = FX_TAKE(&arena, double, s.row_count); /* without -R r_c, which stays with R */
    data = frix_problem_data_default();
    data.form = FRIX_FORM_LOCAL;
    data.contact_count = s.contact_count;
    data.contact = s.contact;
    data.R = extend(&arena, p->R, p->row_count, s.row_count);
    data.r_c = extend(&arena, p->r_c, p->row_count, s.row_count);
    data.guess = extend(&arena, p->guess, p->row_count, s.row_count);
    data.title = p->title;
    status = list_blocks(&arena, &s.W, &data.W);
    if (!q || (p->R && !data.R) || (p->r_c && !data.r_c) || (p->guess && !data.guess)) status = FRIX_ERROR_MEMORY;
    if (status == FRIX_OK) {
      memcpy(q, p->w, (size_t)p->row_count * sizeof *q);
      if (p->joint_count) memcpy(q + p->row_count, p->b, (size_t)p->joint_count * sizeof *q);
      fx_block_multiply_add(&s.Ht, s.v_free, q);
      data.q = q;
      status = frix_problem_create(p->context, &data, out);
    }
  }
  fx_arena_free(&arena);
  return status;
}
