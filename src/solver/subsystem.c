/* Rows and columns of the operator, cut out block by block. */
#include "solver/subsystem.h"

#include "problem/mass.h"

#include <string.h>

/* The slice of each contact, -1 where it has none. */
static int32_t *slices_by_contact(fx_arena *arena, const fx_system *whole, int32_t count, const fx_slice *slice) {
  int32_t *of = FX_TAKE(arena, int32_t, whole->contact_count);
  for (int32_t i = 0; of && i < whole->contact_count; i++) of[i] = -1;
  for (int32_t k = 0; of && k < count; k++) of[slice[k].contact] = k;
  return of;
}

/* Blocks of the rows of `from` that the slices keep; columns too where column_slice maps contacts to slices, else as
 * they are. */
static frix_status cut(fx_arena *arena, const fx_block_matrix *from, const fx_system *part, const fx_slice *slice,
                       const int32_t *column_slice, fx_block_matrix *to) {
  int32_t n = part->contact_count;
  int32_t *start = FX_TAKE(arena, int32_t, (size_t)n + 1),
          *index = FX_TAKE(arena, int32_t, from->start[from->row_blocks]);
  if (!start || !index) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0, at = 0; k < n; k++) {
    int32_t i = slice[k].contact;
    for (int32_t b = from->start[i]; b < from->start[i + 1]; b++) {
      int32_t j = column_slice ? column_slice[from->index[b]] : from->index[b];
      if (j >= 0) index[at++] = j; /* slices stand in the order of their contacts, so these ascend */
    }
    start[k + 1] = at;
  }
  frix_status status = fx_block_from_pattern(arena, n, part->row, column_slice ? n : from->col_blocks,
                                             column_slice ? part->row : from->col, start, index, to);
  if (status != FRIX_OK) return status;
  for (int32_t k = 0; k < n; k++) {
    int32_t i = slice[k].contact, at = start[k];
    for (int32_t b = from->start[i]; b < from->start[i + 1]; b++) {
      int32_t j = column_slice ? column_slice[from->index[b]] : from->index[b];
      if (j < 0) continue;
      int32_t first = column_slice ? slice[j].first : 0, width = fx_block_cols(from, b), cols = fx_block_cols(to, at);
      double *block = fx_block(to, at++);
      for (int32_t r = 0; r < slice[k].count; r++)
        memcpy(block + r * cols, fx_block(from, b) + (slice[k].first + r) * width + first,
               (size_t)cols * sizeof *block);
    }
  }
  return FRIX_OK;
}

frix_status fx_subsystem(fx_arena *arena, const fx_system *whole, int32_t count, const fx_slice *slice,
                         fx_system *out) {
  *out = (fx_system){.contact_count = count, .joint_first = count, .mover_count = whole->mover_count};
  frix_contact *contact = FX_TAKE(arena, frix_contact, count);
  int32_t *row = FX_TAKE(arena, int32_t, (size_t)count + 1);
  int32_t *of = slices_by_contact(arena, whole, count, slice);
  if (!contact || !row || !of) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) {
    contact[k] = whole->contact[slice[k].contact];
    contact[k].cone = slice[k].cone;
    contact[k].dim = slice[k].count;
    row[k + 1] = row[k] + slice[k].count;
  }
  out->contact = contact;
  out->row = row;
  out->row_count = row[count];
  double *q = FX_TAKE(arena, double, out->row_count), *R = whole->R ? FX_TAKE(arena, double, out->row_count) : NULL;
  if (!q || (whole->R && !R)) return FRIX_ERROR_MEMORY;
  out->q = q;
  if (R) fx_subsystem_gather(whole, out, slice, whole->R, R);
  out->R = R;
  frix_status status;
  if (whole->has_W) {
    out->has_W = true;
    status = cut(arena, &whole->W, out, slice, of, &out->W);
  } else {
    out->has_velocity = true;
    out->dof = whole->dof;
    out->dof_count = whole->dof_count;
    out->M = whole->M;
    out->M_offset = whole->M_offset;
    out->w = q;
    out->v_free = FX_TAKE(arena, double, out->dof_count);
    if (!out->v_free) return FRIX_ERROR_MEMORY;
    out->mass = whole->mass;
    out->inverse_mass = whole->inverse_mass;
    out->diagonal_mass = whole->diagonal_mass;
    status = cut(arena, &whole->Ht, out, slice, NULL, &out->Ht);
    if (status == FRIX_OK) status = fx_response_build(arena, NULL, out);
    if (status == FRIX_OK && !out->diagonal_mass)
      status = cut(arena, &whole->response->Yt, out, slice, NULL, &out->response->Yt);
  }
  return status == FRIX_OK ? fx_system_diagonal(arena, out) : status;
}

void fx_subsystem_gather(const fx_system *whole, const fx_system *part, const fx_slice *slice, const double *from,
                         double *to) {
  for (int32_t k = 0; k < part->contact_count; k++)
    memcpy(to + part->row[k], from + whole->row[slice[k].contact] + slice[k].first,
           (size_t)slice[k].count * sizeof *to);
}

void fx_subsystem_scatter(const fx_system *whole, const fx_system *part, const fx_slice *slice, const double *from,
                          double *to) {
  for (int32_t k = 0; k < part->contact_count; k++)
    memcpy(to + whole->row[slice[k].contact] + slice[k].first, from + part->row[k],
           (size_t)slice[k].count * sizeof *to);
}
