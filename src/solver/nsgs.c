/* nsgs: block Gauss-Seidel with an exact solve of one contact at a time.
 *
 *   for each contact i:  q_i = (W r + q)_i - W_ii r_i;   r_i := exact solution of u = (W_ii + R_i) r_i + q_i, Coulomb
 *
 * Reference: M. Jean, The non-smooth contact dynamics method, 1999. In the local form q_i is a row of W; in the
 * velocity form it is read off v, which every change of r_i updates. */
#include "problem/cone.h"
#include "solver/one_contact.h"
#include "solver/solver.h"

#include <string.h>

enum { RELAXATION, SYMMETRIC };

static const frix_option_info options[] = {
    {"relaxation", FRIX_OPTION_REAL, 1, 0.05, 1.95, NULL, "r := (1 - x) old + x new, projected on the cone"},
    {"symmetric", FRIX_OPTION_BOOLEAN, 0, 0, 1, NULL, "sweep forward and backward in turn"},
};

typedef struct state {
  const fx_system *s;
  const fx_block_matrix *Y; /* velocity form */
  fx_one_contact *one;
  double *r, *v;
  double relaxation;
  /* Off-diagonal blocks of W in sweep order, values contiguous and column-major: what a sweep reads. */
  int32_t *start, *from, *width; /* blocks of contact i; first row and number of columns of each block */
  size_t *offset;
  double *x;
  double change, size; /* squares of |dr| and |r| over the last sweep */
} state;

/* Two doubles at once, at any address. */
typedef double pair __attribute__((vector_size(16), aligned(8)));

/* q += X r for one column-major block of 3 rows. */
static inline const double *add_columns(const double *x, const double *r, int32_t columns, pair *ab, double *c) {
  for (int32_t e = 0; e < columns; e++, x += 3) {
    *ab += *(const pair *)x * r[e];
    *c += x[2] * r[e];
  }
  return x;
}

/* q_i from the row of W. */
static void gather_local(const state *t, int32_t i, double *q) {
  const fx_system *s = t->s;
  int32_t d = s->row[i + 1] - s->row[i];
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
  for (int32_t k = t->start[i]; k < t->start[i + 1]; k++)
    for (int32_t e = 0; e < t->width[k]; e++, x += d)
      for (int32_t a = 0; a < d; a++) q[a] += x[a] * t->r[t->from[k] + e];
}

/* q += H' v for one row-major block, and v += Y r; fixed sizes let the compiler unroll the common case of rigid bodies.
 */
static inline void add_rows(int32_t d, int32_t n, const double *h, const double *v, double *q) {
  for (int32_t a = 0; a < d; a++, h += n) {
    double sum = 0;
    for (int32_t b = 0; b < n; b++) sum += h[b] * v[b];
    q[a] += sum;
  }
}

static inline void add_transposed(int32_t d, int32_t n, const double *y, const double *r, double *v) {
  for (int32_t a = 0; a < d; a++, y += n)
    for (int32_t b = 0; b < n; b++) v[b] += y[b] * r[a];
}

/* q_i = H_i' v + w_i + R_i r_i - D_i r_i */
static void gather_velocity(const state *t, int32_t i, double *q) {
  const fx_system *s = t->s;
  int32_t d = s->contact[i].dim, row = s->row[i];
  const double *D = s->D + s->diagonal[i], *r = t->r + row;
  for (int32_t a = 0; a < d; a++) {
    q[a] = s->w[row + a] + (s->R ? s->R[row + a] * r[a] : 0);
    for (int32_t b = 0; b < d; b++) q[a] -= D[a * d + b] * r[b];
  }
  for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++) {
    const double *h = fx_block(&s->Ht, k), *v = t->v + s->dof[s->Ht.index[k]];
    int32_t n = fx_block_cols(&s->Ht, k);
    if (d == 3 && n == 6)
      add_rows(3, 6, h, v, q);
    else
      add_rows(d, n, h, v, q);
  }
}

static void scatter_velocity(const state *t, int32_t i, const double *change) {
  const fx_system *s = t->s;
  int32_t d = s->contact[i].dim;
  for (int32_t k = t->Y->start[i]; k < t->Y->start[i + 1]; k++) {
    const double *y = fx_block(t->Y, k);
    double *v = t->v + s->dof[t->Y->index[k]];
    int32_t n = fx_block_cols(t->Y, k);
    if (d == 3 && n == 6)
      add_transposed(3, 6, y, change, v);
    else
      add_transposed(d, n, y, change, v);
  }
}

static void visit(state *t, int32_t i) {
  const fx_system *s = t->s;
  int32_t d = s->contact[i].dim;
  double q[FRIX_MAX_DIM], fresh[FRIX_MAX_DIM], change[FRIX_MAX_DIM];
  double *r = t->r + s->row[i];
  if (s->has_velocity)
    gather_velocity(t, i, q);
  else
    gather_local(t, i, q);
  if (s->contact[i].cone == FRIX_CONE_CIRCULAR)
    fx_disc3_solve(&t->one[i].disc, q, fresh);
  else
    fx_one_contact_solve(&t->one[i], q, fresh);
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
  if (s->has_velocity) scatter_velocity(t, i, change);
}

static void sweep(state *t, bool backward) {
  t->change = t->size = 0;
  int32_t n = t->s->contact_count;
  if (backward)
    for (int32_t i = n - 1; i >= 0; i--) visit(t, i);
  else
    for (int32_t i = 0; i < n; i++) visit(t, i);
}

/* Copies W without its diagonal. */
static frix_status pack(fx_arena *arena, state *t) {
  const fx_system *s = t->s;
  int32_t n = s->contact_count, blocks = s->W.start[n];
  t->start = FX_TAKE(arena, int32_t, (size_t)n + 1);
  t->from = FX_TAKE(arena, int32_t, blocks);
  t->width = FX_TAKE(arena, int32_t, blocks);
  t->offset = FX_TAKE(arena, size_t, (size_t)n + 1);
  t->x = FX_TAKE(arena, double, s->W.offset[blocks]);
  if (!t->start || !t->from || !t->width || !t->offset || !t->x) return FRIX_ERROR_MEMORY;
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

static frix_status solve(fx_call *call) {
  const fx_system *s = call->system;
  state t = {.s = s, .r = call->r, .relaxation = call->option[RELAXATION]};
  t.one = FX_TAKE(call->arena, fx_one_contact, s->contact_count);
  t.v = FX_TAKE(call->arena, double, s->dof_count);
  if (!t.one || !t.v) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    frix_status status = fx_one_contact_prepare(call->arena, &s->contact[i], s->D + s->diagonal[i], &t.one[i]);
    if (status != FRIX_OK) return status;
  }
  frix_status status = s->has_velocity ? FRIX_OK : pack(call->arena, &t);
  if (status != FRIX_OK) return status;
  if (s->has_velocity && !(t.Y = fx_system_response(s))) return FRIX_ERROR_MEMORY;
  if (s->has_velocity) fx_system_motion(s, t.r, t.v);

  fx_monitor_begin(call->monitor, 100000);
  for (int64_t k = 1;; k++) {
    sweep(&t, call->option[SYMMETRIC] != 0 && k % 2 == 0);
    double step = sqrt(t.change / (t.size > 0 ? t.size : 1));
    if (!fx_monitor_due(call->monitor, k, step)) continue;
    if (fx_monitor_check(call->monitor, k, t.r)) return FRIX_OK;
    if (s->has_velocity) memcpy(t.v, call->monitor->v, (size_t)s->dof_count * sizeof *t.v); /* no drift by round-off */
  }
}

const fx_solver fx_solver_nsgs = {
    .info = {.name = "nsgs",
             .summary = "block Gauss-Seidel, each contact solved exactly in turn",
             .coulomb = true,
             .cones = FX_ALL_CONES,
             .option = options,
             .option_count = sizeof options / sizeof *options},
    .solve = solve,
};
