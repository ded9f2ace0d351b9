/* M is block diagonal over movers, and diagonal for spheres: v = v_free + M^-1 (H r) then needs no Y = M^-1 H, which is
 * computed only if a method needs it. */
#include "problem/mass.h"

#include "linalg/dense.h"
#include "problem/round_rows.h"

#include <math.h>
#include <string.h>

/* ---- M ---- */

/* 1 / M of the movers where M is diagonal, without a zero there. */
static frix_status invert_diagonal(fx_arena *arena, const fx_sparse *M, fx_system *s) {
  double *mass = FX_TAKE_RAW(arena, double, s->dof_count), *inverse = FX_TAKE_RAW(arena, double, s->dof_count);
  if (!mass || !inverse) return FRIX_ERROR_MEMORY;
  for (int32_t c = 0; c < s->dof_count; c++) {
    bool alone = true;
    mass[c] = 0;
    for (int32_t k = M->p[c]; k < M->p[c + 1]; k++) {
      if (M->i[k] == c) mass[c] = M->x[k];
      alone &= M->i[k] == c || M->x[k] == 0;
    }
    inverse[c] = 1 / mass[c];
    if (!alone || !isfinite(inverse[c])) inverse[c] = 0;
  }
  s->diagonal_mass = true;
  for (int32_t m = 0; m < s->mover_count; m++) {
    bool good = true;
    for (int32_t k = s->dof[m]; k < s->dof[m + 1]; k++) good &= inverse[k] != 0;
    for (int32_t k = s->dof[m]; !good && k < s->dof[m + 1]; k++) inverse[k] = 0;
    s->diagonal_mass &= good;
  }
  s->mass = mass;
  s->inverse_mass = inverse;
  return FRIX_OK;
}

static frix_status find_offsets(fx_arena *arena, fx_system *s) {
  size_t *offset = FX_TAKE_RAW(arena, size_t, (size_t)s->mover_count + 1);
  if (!offset) return FRIX_ERROR_MEMORY;
  offset[0] = 0;
  for (int32_t m = 0; m < s->mover_count; m++) {
    size_t n = (size_t)(s->dof[m + 1] - s->dof[m]);
    offset[m + 1] = offset[m] + n * n;
  }
  s->M_offset = offset;
  return FRIX_OK;
}

static frix_status gather(fx_arena *arena, const fx_sparse *M, fx_system *s) {
  double *blocks = FX_TAKE(arena, double, s->M_offset[s->mover_count]);
  if (!blocks) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t first = s->dof[m], n = s->dof[m + 1] - first;
    double *block = blocks + s->M_offset[m];
    for (int32_t c = 0; c < n; c++)
      for (int32_t k = M->p[first + c]; k < M->p[first + c + 1]; k++)
        if (M->x[k] != 0) block[(M->i[k] - first) * n + c] = M->x[k];
  }
  s->M = blocks;
  return FRIX_OK;
}

const double *fx_system_mass(const fx_system *s) {
  if (s->M || s->response->M) return s->M ? s->M : s->response->M;
  double *blocks = FX_TAKE(s->response->arena, double, s->M_offset[s->mover_count]);
  for (int32_t m = 0; blocks && m < s->mover_count; m++) {
    int32_t first = s->dof[m], n = s->dof[m + 1] - first;
    for (int32_t k = 0; k < n; k++) blocks[s->M_offset[m] + (size_t)(k * n + k)] = s->mass[first + k];
  }
  return s->response->M = blocks;
}

/* ---- its inverse ---- */

static bool is_diagonal(const fx_system *s, int32_t m) {
  return s->dof[m] < s->dof[m + 1] && s->inverse_mass[s->dof[m]] != 0;
}

/* A rigid body: masses on the diagonal, and a block of inertia on its own. */
static bool is_rigid_block(int32_t n, const double *M) {
  if (n != 6 || !(M[0] != 0 && M[7] != 0 && M[14] != 0)) return false;
  double coupled = fabs(M[1]) + fabs(M[2]) + fabs(M[6]) + fabs(M[8]) + fabs(M[12]) + fabs(M[13]);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) coupled += fabs(M[r * 6 + 3 + c]) + fabs(M[(3 + r) * 6 + c]);
  return coupled == 0;
}

/* In the place of a pivot: what the block holds. */
enum { RIGID = -1, SYMMETRIC = -2 };

/* Its masses, and the factors of its inertia; false where it is none, or singular. The same bits as the factors of all
 * of it give, for a fifth of the work. */
static bool factor_rigid(int32_t n, const double *M, double *out, int32_t *pivot) {
  if (!is_rigid_block(n, M)) return false;
  for (int k = 0; k < 3; k++) out[k] = M[7 * k];
  for (int k = 0; k < 9; k++) out[3 + k] = M[(3 + k / 3) * 6 + 3 + k % 3];
  pivot[0] = RIGID;
  return fx_lu_factor(3, out + 3, pivot + 3);
}

static void solve_rigid(const double *factors, const int32_t *pivot, int32_t rows, const double *x, double *y) {
  double turn[3 * FRIX_MAX_DIM];
  for (int32_t r = 0; r < rows; r++)
    for (int k = 0; k < 3; k++) {
      y[6 * r + k] = x[6 * r + k] / factors[k];
      turn[3 * r + k] = x[6 * r + 3 + k];
    }
  fx_lu_solve_rows(3, factors + 3, pivot + 3, rows, turn);
  for (int32_t r = 0; r < rows; r++)
    for (int k = 0; k < 3; k++) y[6 * r + 3 + k] = turn[3 * r + k];
}

/* Trees are factored in this order too (tree_inertia.c). Where M has lost digits of light links, the velocities that a
 * solver sees then are those of the step. */
bool fx_factor_symmetric(int32_t n, const double *M, double *out) {
  for (int32_t r = 0; r < n; r++)
    for (int32_t c = 0; c < r; c++)
      if (M[r * n + c] != M[c * n + r]) return false;
  memcpy(out, M, (size_t)(n * n) * sizeof *out);
  for (int32_t i = n - 1; i >= 0; i--) {
    double *row = out + i * n;
    if (!(row[i] > 0)) return false;
    row[i] = 1 / row[i];
    for (int32_t j = 0; j < i; j++) {
      double a = row[j] * row[i];
      for (int32_t k = 0; a != 0 && k <= j; k++) out[j * n + k] -= a * row[k];
    }
    for (int32_t j = 0; j < i; j++) row[j] *= row[i];
  }
  return true;
}

static bool factor_symmetric(int32_t n, const double *M, double *out, int32_t *pivot) {
  if (!fx_factor_symmetric(n, M, out)) return false;
  pivot[0] = SYMMETRIC;
  return true;
}

static void solve_symmetric(int32_t n, const double *factors, double *b) {
  for (int32_t i = n - 1; i >= 0; i--)
    for (int32_t j = 0; b[i] != 0 && j < i; j++) b[j] -= factors[i * n + j] * b[i];
  for (int32_t i = 0; i < n; i++) {
    b[i] *= factors[i * n + i];
    for (int32_t j = i - 1; j >= 0; j--) b[i] -= factors[i * n + j] * b[j];
  }
}

frix_status fx_mass_build(fx_arena *arena, const frix_problem *p, fx_system *s, fx_mass *out) {
  frix_status status = find_offsets(arena, s);
  *out = (fx_mass){.system = s};
  if (status == FRIX_OK) status = invert_diagonal(arena, &p->M, s);
  if (status != FRIX_OK || s->diagonal_mass) return status;
  if ((status = gather(arena, &p->M, s)) != FRIX_OK) return status;
  out->lu = FX_TAKE_RAW(arena, double, s->M_offset[s->mover_count]);
  out->pivot = FX_TAKE_RAW(arena, int32_t, s->dof_count);
  if (!out->lu || !out->pivot) return FRIX_ERROR_MEMORY;
  for (int32_t m = 0; m < s->mover_count; m++) {
    int32_t n = s->dof[m + 1] - s->dof[m];
    const double *M = s->M + s->M_offset[m];
    double *lu = out->lu + s->M_offset[m];
    if (is_diagonal(s, m)) continue;
    if (factor_rigid(n, M, lu, out->pivot + s->dof[m])) continue;
    if (factor_symmetric(n, M, lu, out->pivot + s->dof[m])) continue;
    memcpy(lu, M, (size_t)(n * n) * sizeof *lu);
    if (!fx_lu_factor(n, lu, out->pivot + s->dof[m]))
      return fx_fail(arena->context, FRIX_ERROR_INPUT, "M is singular in the block of degrees of freedom %d to %d",
                     s->dof[m], s->dof[m + 1] - 1);
  }
  return FRIX_OK;
}

void fx_mass_solve(const fx_mass *f, int32_t m, int32_t rows, const double *x, double *y) {
  const fx_system *s = f->system;
  int32_t n = s->dof[m + 1] - s->dof[m];
  const double *mass = s->mass + s->dof[m];
  bool diagonal = is_diagonal(s, m);
  if (diagonal && n == 6) { /* a rigid body in its own axes, or a sphere */
    for (int32_t r = 0; r < rows; r++)
      for (int32_t k = 0; k < 6; k++) y[6 * r + k] = x[6 * r + k] / mass[k];
    return;
  }
  if (!diagonal && f->pivot[s->dof[m]] == RIGID) {
    solve_rigid(f->lu + s->M_offset[m], f->pivot + s->dof[m], rows, x, y);
    return;
  }
  for (int32_t r = 0; r < rows; r++)
    for (int32_t k = 0; k < n; k++) y[r * n + k] = diagonal ? x[r * n + k] / mass[k] : x[r * n + k];
  if (diagonal) return;
  const double *factors = f->lu + s->M_offset[m];
  if (f->pivot[s->dof[m]] != SYMMETRIC) {
    fx_lu_solve_rows(n, factors, f->pivot + s->dof[m], rows, y);
    return;
  }
  for (int32_t r = 0; r < rows; r++) solve_symmetric(n, factors, y + r * n);
}

/* y = x inverse for rows of n columns; inlined with constant sizes for rigid bodies. */
static inline void scale(int32_t rows, int32_t n, const double *inverse, const double *x, double *y) {
  for (int32_t r = 0; r < rows; r++)
    for (int32_t k = 0; k < n; k++) y[r * n + k] = x[r * n + k] * inverse[k];
}

void fx_mass_scale(const fx_system *s, int32_t m, int32_t rows, const double *x, double *y) {
  int32_t n = s->dof[m + 1] - s->dof[m];
  if (rows == 3 && n == 6)
    scale(3, 6, s->inverse_mass + s->dof[m], x, y);
  else
    scale(rows, n, s->inverse_mass + s->dof[m], x, y);
}

/* ---- Y = M^-1 H ---- */

static frix_status take_values(const fx_system *s) {
  s->response->Yt.x = FX_TAKE_RAW(s->response->arena, double, s->Ht.offset[s->Ht.start[s->contact_count]]);
  return s->response->Yt.x ? FRIX_OK : FRIX_ERROR_MEMORY;
}

/* Responses of contacts, which threads find part by part; mass NULL: M is diagonal. */
typedef struct responding {
  const fx_system *s;
  const fx_mass *mass;
} responding;

static void respond_some(int32_t part, int32_t first, int32_t end, void *user) {
  const responding *t = user;
  const fx_system *s = t->s;
  const fx_block_matrix *Y = &s->response->Yt;
  (void)part;
  for (int32_t i = first; i < end; i++)
    for (int32_t k = s->Ht.start[i]; k < s->Ht.start[i + 1]; k++)
      if (t->mass)
        fx_mass_solve(t->mass, s->Ht.index[k], s->contact[i].dim, fx_block(&s->Ht, k), fx_block(Y, k));
      else
        fx_mass_scale(s, s->Ht.index[k], s->contact[i].dim, fx_block(&s->Ht, k), fx_block(Y, k));
}

frix_status fx_response_build(fx_arena *arena, const fx_mass *mass, fx_system *s) {
  s->response = FX_TAKE(arena, fx_response, 1);
  if (!s->response) return FRIX_ERROR_MEMORY;
  *s->response = (fx_response){.arena = arena, .Yt = s->Ht};
  s->response->Yt.x = NULL;
  if (s->diagonal_mass) return FRIX_OK;
  if (take_values(s) != FRIX_OK) return FRIX_ERROR_MEMORY;
  responding t = {s, mass};
  if (mass) fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, respond_some, &t);
  return FRIX_OK;
}

const fx_block_matrix *fx_system_response(const fx_system *s) {
  const fx_block_matrix *Y = &s->response->Yt;
  if (Y->x) return Y;
  if (take_values(s) != FRIX_OK) return NULL;
  responding t = {s, NULL};
  fx_parallel_range(s->threads, s->contact_count, FX_LEAST_CONTACTS, respond_some, &t);
  return Y;
}

/* ---- motion ---- */

void fx_motion_begin(const fx_system *s, int32_t first, int32_t end, double *v) {
  size_t bytes = (size_t)(s->dof[end] - s->dof[first]) * sizeof *v;
  if (s->diagonal_mass)
    memset(v + s->dof[first], 0, bytes);
  else
    memcpy(v + s->dof[first], s->v_free + s->dof[first], bytes);
}

void fx_motion_add(const fx_system *s, int32_t first, int32_t end, const double *r, double *v) {
  fx_block_transpose_multiply_add_rows(s->diagonal_mass ? &s->Ht : &s->response->Yt, first, end, r, v);
}

void fx_motion_end(const fx_system *s, int32_t first, int32_t end, double *v) {
  for (int32_t k = s->dof[first]; s->diagonal_mass && k < s->dof[end]; k++)
    v[k] = s->v_free[k] + v[k] * s->inverse_mass[k];
}

/* Each thread moves some of the movers, and looks at all contacts for that. */
typedef struct motion {
  const fx_system *s;
  const double *r;
  double *v;
  int32_t parts;
  bool round; /* by the numbers of spheres */
} motion;

static void move_some(int32_t part, void *user) {
  const motion *m = user;
  const fx_system *s = m->s;
  int32_t first = (int32_t)((int64_t)s->mover_count * part / m->parts);
  int32_t end = (int32_t)((int64_t)s->mover_count * (part + 1) / m->parts);
  fx_motion_begin(s, first, end, m->v);
  if (m->round)
    fx_round_motion(s, 0, s->contact_count, (fx_mover_range){first, end}, m->r, m->v);
  else
    fx_block_transpose_multiply_add_cols(s->diagonal_mass ? &s->Ht : &s->response->Yt, first, end, m->r, m->v);
  fx_motion_end(s, first, end, m->v);
}

enum { MANY = 1000 }; /* contacts from which threads pay */

static void move_all(const fx_system *s, bool round, const double *r, double *v) {
  bool divided = s->threads.count > 1 && s->contact_count >= MANY;
  motion m = {s, r, v, divided ? s->threads.count : 1, round};
  if (divided || round) {
    fx_parallel(s->threads.context, m.parts, m.parts, move_some, &m);
    return;
  }
  fx_motion_begin(s, 0, s->mover_count, v);
  fx_motion_add(s, 0, s->contact_count, r, v);
  fx_motion_end(s, 0, s->mover_count, v);
}

void fx_system_motion(const fx_system *s, const double *r, double *v) { move_all(s, false, r, v); }

void fx_system_motion_fast(const fx_system *s, const double *r, double *v) { move_all(s, s->round != NULL, r, v); }
