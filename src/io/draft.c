/* What readers and writers share: memory within a limit, contacts of one kind, and the last step to a problem. */
#include "io/draft.h"

#include <stdio.h>
#include <string.h>

void fx_draft_init(fx_draft *draft, frix_context *context, const char *name, int64_t max_bytes) {
  memset(draft, 0, sizeof *draft);
  draft->context = context;
  draft->name = name;
  draft->left = max_bytes;
  draft->data = frix_problem_data_default();
  fx_arena_init(&draft->arena, context);
}

void fx_draft_free(fx_draft *draft) { fx_arena_free(&draft->arena); }

void *fx_draft_take(fx_draft *draft, int64_t count, size_t size) {
  if (count < 0 || (size && count > draft->left / (int64_t)size)) {
    fx_fail(draft->context, FRIX_ERROR_MEMORY, "%s: needs more memory than the limit allows: %lld x %zu bytes",
            draft->name, (long long)count, size);
    return NULL;
  }
  draft->left -= count * (int64_t)size;
  return fx_arena_take(&draft->arena, (size_t)count, size);
}

frix_status fx_draft_contacts(fx_draft *draft, int32_t dim, int32_t count, const double *mu, const double *mu_r) {
  frix_contact *contact = FX_DRAFT_TAKE(draft, frix_contact, count);
  if (!contact) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) {
    if (dim == 1)
      contact[k] = (frix_contact){.cone = FRIX_CONE_LIMIT, .dim = 1};
    else
      contact[k] = frix_contact_of_dim(dim, mu[k], mu_r ? mu_r[k] : 0.0);
  }
  draft->data.contact = contact;
  draft->data.contact_count = count;
  draft->data.row_count = dim * count;
  return FRIX_OK;
}

/* Row and column of entry k; *slice remembers the compressed row or column the walk is in. */
static void entry_place(const frix_matrix *m, int64_t k, int32_t *slice, int32_t *row, int32_t *col) {
  if (m->format == FRIX_MATRIX_TRIPLET) {
    *row = m->i[k];
    *col = m->p[k];
    return;
  }
  while (m->p[*slice + 1] <= k) ++*slice;
  *row = m->format == FRIX_MATRIX_CSC ? m->i[k] : *slice;
  *col = m->format == FRIX_MATRIX_CSC ? *slice : m->i[k];
}

frix_status fx_draft_mirror(fx_draft *draft, const char *where, frix_matrix *m) {
  int64_t above = 0, below = 0;
  int32_t slice = 0, i, j;
  for (int64_t k = 0; k < m->nonzero_count; k++) {
    entry_place(m, k, &slice, &i, &j);
    if (m->x[k] == 0.0) continue;
    above += j > i;
    below += i > j;
  }
  if ((above == 0) == (below == 0)) return FRIX_OK;
  int64_t room = 2 * m->nonzero_count, count = 0;
  int32_t *row = FX_DRAFT_TAKE(draft, int32_t, room), *col = FX_DRAFT_TAKE(draft, int32_t, room);
  double *x = FX_DRAFT_TAKE(draft, double, room);
  if (!row || !col || !x) return FRIX_ERROR_MEMORY;
  slice = 0;
  for (int64_t k = 0; k < m->nonzero_count; k++) {
    entry_place(m, k, &slice, &i, &j);
    for (int side = 0; side < (i == j ? 1 : 2); side++, count++) {
      row[count] = side ? j : i;
      col[count] = side ? i : j;
      x[count] = m->x[k];
    }
  }
  *m = (frix_matrix){FRIX_MATRIX_TRIPLET, m->row_count, m->col_count, count, col, row, x};
  fx_log(draft->context, FRIX_LOG_WARNING, "%s:%s: only the %s triangle is stored; the other one is its mirror image",
         draft->name, where, above ? "upper" : "lower");
  return FRIX_OK;
}

frix_status fx_draft_finish(fx_draft *draft, frix_problem **out) {
  frix_status status = frix_problem_create(draft->context, &draft->data, out);
  if (status == FRIX_OK || status == FRIX_ERROR_MEMORY) return status;
  char text[768];
  snprintf(text, sizeof text, "%s", frix_error_text(draft->context));
  return fx_fail(draft->context, status == FRIX_ERROR_INPUT ? FRIX_ERROR_FORMAT : status, "%s: %s", draft->name, text);
}

bool fx_matrix_full(const frix_matrix *m) {
  int64_t count = m->p[m->col_count];
  if (count == 0 || count != (int64_t)m->row_count * m->col_count) return false;
  for (int64_t k = 0; k < count; k++)
    if (m->x[k] == 0.0) return false;
  return true;
}

fx_obstacle fx_obstacle_of(const frix_problem_data *data, uint32_t cones) {
  fx_obstacle obstacle = {""};
  for (int32_t k = 0; k < data->contact_count && !obstacle.text[0]; k++) {
    frix_cone cone = data->contact[k].cone;
    if (!(cones >> cone & 1))
      snprintf(obstacle.text, sizeof obstacle.text, "%s cones", frix_cone_table((int32_t)cone)->name);
    else if (cone != data->contact[0].cone)
      snprintf(obstacle.text, sizeof obstacle.text, "mixed cones");
  }
  if (!obstacle.text[0] && (data->R || data->r_c)) snprintf(obstacle.text, sizeof obstacle.text, "compliance (R)");
  return obstacle;
}

fx_word fx_word_of(const char *bytes, size_t count) {
  fx_word word;
  size_t kept = count < 32 ? count : 32;
  for (size_t k = 0; k < kept; k++) {
    unsigned char c = (unsigned char)bytes[k];
    word.text[k] = c < 32 || c > 126 ? '?' : (char)c;
  }
  memcpy(word.text + kept, kept < count ? "..." : "", kept < count ? 4 : 1);
  return word;
}
