/* Exact sweeps. */
#include "solver/exact_sweep.h"

#include "problem/cone.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Two doubles at once, at any address. */
typedef double pair __attribute__((vector_size(16), aligned(8)));

/* q += X r for one column-major block of 3 rows. */
INLINE const double *add_columns(const double *x, const double *r, int32_t columns, pair *ab, double *c) {
  for (int32_t e = 0; e < columns; e++, x += 3) {
    *ab += *(const pair *)x * r[e];
    *c += x[2] * r[e];
  }
  return x;
}

/* q_i from the row of W. */
INLINE void gather_local(const fx_exact_sweep *t, int32_t i, int32_t d, double *q) {
  const fx_system *s = t->s;
  const double *x = t->x + t->offset[i];
  memcpy(q, s->q + s->row[i], (size_t)d * sizeof *q);
  if (d == 3) {
    pair ab = {q[0], q[1]};
    double c = q[2];
    for (int32_t k = t->start[i]; k < t->start[i + 1]; k++) {
      const double *r = t->r + t->from[k];
      x = t->width[k] == 3 ? add_columns(x, r, 3, &ab, &c) : add_columns(x, r, t->width[k], &ab, &c);
    }
    q[0] = ab[0];
    q[1] = ab[1];
    q[2] = c;
    return;
  }
  if (d == 2) {
    pair ab = {q[0], q[1]};
    for (int32_t k = t->start[i]; k < t->start[i + 1]; k++) {
      const double *r = t->r + t->from[k];
      for (int32_t e = 0; e < t->width[k]; e++, x += 2) ab += *(const pair *)x * r[e];
    }
    q[0] = ab[0];
    q[1] = ab[1];
    return;
  }
  for (int32_t k = t->start[i]; k < t->start[i + 1]; k++)
    for (int32_t e = 0; e < t->width[k]; e++, x += d)
      for (int32_t a = 0; a < d; a++) q[a] += x[a] * t->r[t->from[k] + e];
}

/* The same from the blocks of W as they are. */
INLINE void gather_blocks(const fx_exact_sweep *t, int32_t i, int32_t d, double *q) {
  const fx_system *s = t->s;
  memcpy(q, s->q + s->row[i], (size_t)d * sizeof *q);
  for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
    if (s->W.index[k] == i) continue;
    const double *block = fx_block(&s->W, k), *r = t->r + s->row[s->W.index[k]];
    int32_t columns = fx_block_cols(&s->W, k);
    for (int32_t a = 0; a < d; a++, block += columns)
      for (int32_t e = 0; e < columns; e++) q[a] += block[e] * r[e];
  }
}

/* q += H' v for one row-major block, and v += Y r. */
INLINE void add_rows(int32_t d, int32_t n, const double *h, const double *v, double *q) {
  for (int32_t a = 0; a < d; a++, h += n) {
    double sum = 0;
    for (int32_t b = 0; b < n; b++) sum += h[b] * v[b];
    q[a] += sum;
  }
}

INLINE void add_transposed(int32_t d, int32_t n, const double *y, const double *r, double *v) {
  for (int32_t a = 0; a < d; a++, y += n)
    for (int32_t b = 0; b < n; b++) v[b] += y[b] * r[a];
}

INLINE void add_scaled(int32_t d, int32_t n, const double *h, const double *inverse, const double *r, double *v) {
  for (int32_t a = 0; a < d; a++, h += n)
    for (int32_t b = 0; b < n; b++) v[b] += h[b] * inverse[b] * r[a];
}

/* Degrees of freedom of a rigid body, in space and in the plane. */
INLINE int32_t body_dofs(int32_t d) { return d == 2 ? 3 : 6; }

/* q_i = H_i' v + w_i + R_i r_i - D_i r_i */
INLINE void gather_velocity(const fx_exact_sweep *t, int32_t i, int32_t d, double *q) {
  const fx_system *s = t->s;
  int32_t row = s->row[i];
  const double *D = s->D + s->diagonal[i], *r = t->r + row;
  for (int32_t a = 0; a < d; a++) {
    q[a] = s->w[row + a] + (s->R ? s->R[row + a] * r[a] : 0);
    for (int32_t b = 0; b < d; b++) q[a] -= D[a * d + b] * r[b];
  }
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
    const double *h = fx_block(&s->Ht, k), *v = t->v + s->dof[s->Ht.index[k]];
    int32_t n = fx_block_cols(&s->Ht, k);
    if (n == body_dofs(d))
      add_rows(d, body_dofs(d), h, v, q);
    else
      add_rows(d, n, h, v, q);
  }
}

/* Where M is diagonal Y is H, which is at hand, times its inverse. */
INLINE void scatter_velocity(const fx_exact_sweep *t, int32_t i, int32_t d, const double *change) {
  const fx_system *s = t->s;
  const fx_block_matrix *Y = s->diagonal_mass ? &s->Ht : &s->response->Yt;
  for (int32_t k = Y->start[i]; k < Y->start[i + 1]; k++) {
    const double *y = fx_block(Y, k);
    int32_t n = fx_block_cols(Y, k), first = s->dof[Y->index[k]];
    double *v = t->v + first;
    if (s->diagonal_mass && n == body_dofs(d))
      add_scaled(d, body_dofs(d), y, s->inverse_mass + first, change, v);
    else if (s->diagonal_mass)
      add_scaled(d, n, y, s->inverse_mass + first, change, v);
    else if (n == body_dofs(d))
      add_transposed(d, body_dofs(d), y, change, v);
    else
      add_transposed(d, n, y, change, v);
  }
}

INLINE void visit(fx_exact_sweep *t, int32_t i, int32_t d, fx_one_contact *one) {
  const fx_system *s = t->s;
  double q[FRIX_MAX_DIM], fresh[FRIX_MAX_DIM], change[FRIX_MAX_DIM];
  double *r = t->r + s->row[i];
  if (!s->has_W)
    gather_velocity(t, i, d, q);
  else if (t->x)
    gather_local(t, i, d, q);
  else
    gather_blocks(t, i, d, q);
  if (s->contact[i].cone == FRIX_CONE_CIRCULAR)
    fx_disc3_solve(&one->disc, q, fresh);
  else
    fx_one_contact_solve(one, q, fresh);
  if (t->relaxation != 1) {
    for (int32_t k = 0; k < d; k++) fresh[k] = r[k] + t->relaxation * (fresh[k] - r[k]);
    if (t->relaxation > 1) fx_cone_project(&s->contact[i], fresh, fresh);
  }
  for (int32_t k = 0; k < d; k++) {
    change[k] = fresh[k] - r[k];
    t->change += change[k] * change[k];
    t->size += fresh[k] * fresh[k];
    r[k] = fresh[k];
  }
  if (!s->has_W) scatter_velocity(t, i, d, change);
}

/* Sizes known to the compiler for the common cones. */
void fx_exact_sweep_visit(fx_exact_sweep *t, int32_t i, fx_one_contact *one) {
  switch (t->s->contact[i].dim) {
    case 2: visit(t, i, 2, one); break;
    case 3: visit(t, i, 3, one); break;
    default: visit(t, i, t->s->contact[i].dim, one); break;
  }
}

frix_status fx_exact_sweep_pack(fx_arena *arena, fx_exact_sweep *t) {
  const fx_system *s = t->s;
  int32_t n = s->contact_count, blocks = s->W.start[n];
  t->start = FX_TAKE_RAW(arena, int32_t, (size_t)n + 1);
  t->from = FX_TAKE_RAW(arena, int32_t, blocks);
  t->width = FX_TAKE_RAW(arena, int32_t, blocks);
  t->offset = FX_TAKE_RAW(arena, size_t, (size_t)n + 1);
  t->x = FX_TAKE_RAW(arena, double, s->W.offset[blocks]);
  if (!t->start || !t->from || !t->width || !t->offset || !t->x) return FRIX_ERROR_MEMORY;
  t->start[0] = 0;
  t->offset[0] = 0;
  int32_t at = 0;
  size_t used = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t d = fx_block_rows(&s->W, i);
    for (int32_t k = s->W.start[i]; k < s->W.start[i + 1]; k++) {
      if (s->W.index[k] == i) continue;
      int32_t columns = fx_block_cols(&s->W, k);
      const double *block = fx_block(&s->W, k);
      for (int32_t e = 0; e < columns; e++)
        for (int32_t a = 0; a < d; a++) t->x[used++] = block[a * columns + e];
      t->from[at] = s->row[s->W.index[k]];
      t->width[at++] = columns;
    }
    t->start[i + 1] = at;
    t->offset[i + 1] = used;
  }
  return FRIX_OK;
}

void fx_exact_sweep_share(const fx_exact_sweep *from, fx_exact_sweep *t) {
  t->start = from->start, t->from = from->from, t->width = from->width;
  t->offset = from->offset;
  t->x = from->x;
}
