/* Text problems (.dat): writer. Numbers are written so that they read back bit for bit: W in blocks where its pattern
 * is one of whole contact blocks, a full matrix dense, anything else sparse by columns. */
#include <math.h>

#include "base/arena.h"
#include "io/text.h"

/* Values with `width` on a line, a contact's rows together. */
static void put_reals(fx_buffer *out, const double *x, int64_t count, int64_t width) {
  for (int64_t k = 0; k < count; k++) {
    fx_buffer_real(out, x[k]);
    fx_buffer_text(out, (k + 1) % width == 0 || k + 1 == count ? "\n" : " ");
  }
}

static void put_line(fx_buffer *out, int64_t value) {
  fx_buffer_integer(out, value);
  fx_buffer_text(out, "\n");
}

static void put_integers(fx_buffer *out, const int32_t *x, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    fx_buffer_integer(out, x[k]);
    fx_buffer_text(out, k + 1 == count ? "" : " ");
  }
  fx_buffer_text(out, "\n");
}

static void put_matrix_head(fx_buffer *out, int storage, const frix_matrix *m) {
  put_line(out, storage);
  put_line(out, m->row_count);
  put_line(out, m->col_count);
}

static void put_dense(fx_buffer *out, const frix_matrix *m) {
  put_matrix_head(out, 0, m);
  put_integers(out, (const int32_t[]){m->row_count, m->col_count}, 2);
  put_reals(out, m->x, m->p[m->col_count], m->row_count);
}

static void put_sparse(fx_buffer *out, const frix_matrix *m) {
  double norm = 0.0;
  for (int32_t j = 0; j < m->col_count; j++) {
    double sum = 0.0;
    for (int32_t k = m->p[j]; k < m->p[j + 1]; k++) sum += fabs(m->x[k]);
    if (sum > norm) norm = sum;
  }
  int32_t count = m->p[m->col_count];
  put_matrix_head(out, 2, m);
  fx_buffer_text(out, "2\nCSparse Version 3 layout\n");
  fx_buffer_integer(out, m->row_count);
  fx_buffer_text(out, "-by-");
  fx_buffer_integer(out, m->col_count);
  fx_buffer_text(out, ", nzmax: ");
  fx_buffer_integer(out, count);
  fx_buffer_text(out, " nnz: ");
  fx_buffer_integer(out, count);
  fx_buffer_text(out, ", 1-norm: ");
  fx_buffer_real(out, norm);
  fx_buffer_text(out, "\n");
  for (int32_t j = 0; j < m->col_count; j++) {
    fx_buffer_text(out, "    col ");
    fx_buffer_integer(out, j);
    fx_buffer_text(out, " : locations ");
    fx_buffer_integer(out, m->p[j]);
    fx_buffer_text(out, " to ");
    put_line(out, (int64_t)m->p[j + 1] - 1);
    for (int32_t k = m->p[j]; k < m->p[j + 1]; k++) {
      fx_buffer_text(out, "      ");
      fx_buffer_integer(out, m->i[k]);
      fx_buffer_text(out, " : ");
      fx_buffer_real(out, m->x[k]);
      fx_buffer_text(out, "\n");
    }
  }
}

/* Whether every column of a block column holds the same whole, aligned blocks. */
static bool is_blocked(const frix_matrix *m, int32_t dim) {
  for (int32_t j = 0; j < m->col_count; j++) {
    int32_t lead = j - j % dim, length = m->p[j + 1] - m->p[j];
    if (length % dim != 0 || length != m->p[lead + 1] - m->p[lead]) return false;
    for (int32_t k = 0; k < length; k++) {
      int32_t row = m->i[m->p[j] + k];
      if (row != m->i[m->p[lead] + k] || row % dim != k % dim || (k % dim && row != m->i[m->p[j] + k - 1] + 1))
        return false;
    }
  }
  return true;
}

/* A block by its column and its place among the blocks of that column. */
typedef struct block {
  int32_t col, place;
} block;

static void put_block_values(fx_buffer *out, const frix_matrix *m, int32_t dim, block b) {
  for (int32_t c = 0; c < dim; c++) put_reals(out, m->x + m->p[b.col * dim + c] + b.place * dim, dim, dim);
}

static frix_status put_blocks(fx_buffer *out, const frix_matrix *m, int32_t dim) {
  int32_t count = m->row_count / dim, total = m->p[m->col_count] / (dim * dim);
  fx_arena arena;
  fx_arena_init(&arena, out->context);
  int32_t *start = FX_TAKE(&arena, int32_t, count + 2), *end = FX_TAKE(&arena, int32_t, count);
  int32_t *index = FX_TAKE(&arena, int32_t, total);
  block *list = FX_TAKE(&arena, block, total);
  if (!start || !end || !index || !list) {
    fx_arena_free(&arena);
    return FRIX_ERROR_MEMORY;
  }
  /* Block rows from block columns: count, sum up, distribute; start[i + 1] runs ahead while filling. */
  for (int32_t j = 0; j < count; j++)
    for (int32_t k = m->p[j * dim]; k < m->p[j * dim + 1]; k += dim) start[m->i[k] / dim + 2]++;
  for (int32_t i = 0; i < count; i++) start[i + 2] += start[i + 1];
  for (int32_t j = 0; j < count; j++)
    for (int32_t k = m->p[j * dim], place = 0; k < m->p[j * dim + 1]; k += dim, place++) {
      int32_t at = start[m->i[k] / dim + 1]++;
      list[at] = (block){j, place};
      index[at] = j;
    }
  for (int32_t i = 0; i < count; i++) end[i] = (i + 1) * dim;
  put_matrix_head(out, 1, m);
  put_line(out, total);
  put_line(out, count);
  put_line(out, count);
  put_integers(out, end, count);
  put_integers(out, end, count);
  put_line(out, count + 1);
  put_line(out, total);
  put_integers(out, start, count + 1);
  put_integers(out, index, total);
  for (int32_t k = 0; k < total; k++) {
    put_line(out, k);
    put_block_values(out, m, dim, list[k]);
  }
  fx_arena_free(&arena);
  return FRIX_OK;
}

static frix_status put_matrix(fx_buffer *out, const frix_matrix *m, int32_t dim) {
  if (fx_matrix_full(m))
    put_dense(out, m);
  else if (dim > 1 && m->col_count > 0 && is_blocked(m, dim))
    return put_blocks(out, m, dim);
  else
    put_sparse(out, m);
  return FRIX_OK;
}

frix_status fx_text_write(const char *path, const frix_problem_data *data, const frix_result *result, fx_buffer *out) {
  frix_context *context = out->context;
  if (result)
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED,
                   "%s: the text format has no place for a solution; use .json or .hdf5", path);
  bool local = data->form == FRIX_FORM_LOCAL;
  fx_obstacle obstacle = fx_obstacle_of(data, FX_FILE_CONES | (local ? 1u << FRIX_CONE_LIMIT : 0));
  const char *what = obstacle.text[0] ? obstacle.text : data->joint_count > 0 ? "joints (G, b)" : NULL;
  if (what)
    return fx_fail(context, FRIX_ERROR_UNSUPPORTED, "%s: the text format has no place for %s; use .json", path, what);
  int32_t count = data->contact_count, dim = count ? data->contact[0].dim : 3;
  if (data->guess) fx_log(context, FRIX_LOG_WARNING, "%s: the text format has no place for a guess; left out", path);
  if (dim > 1) put_line(out, dim);
  put_line(out, count);
  frix_status status = FRIX_OK;
  if (local) {
    status = put_matrix(out, &data->W, dim);
    put_reals(out, data->q, data->row_count, dim);
  } else {
    status = put_matrix(out, &data->M, 1);
    if (!status) status = put_matrix(out, &data->H, 1);
    put_reals(out, data->f, data->dof_count, 6);
    put_reals(out, data->w, data->row_count, dim);
  }
  for (int32_t k = 0; k < count && dim > 1; k++) put_reals(out, &data->contact[k].mu, 1, 1);
  for (int32_t k = 0; k < count && dim == 5; k++) put_reals(out, &data->contact[k].mu_r, 1, 1);
  return status;
}
