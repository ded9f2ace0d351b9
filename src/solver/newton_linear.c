/* The linear systems of newton, admm and the conic methods. */
#include "solver/newton_linear.h"

#include "base/sort.h"
#include "linalg/dense.h"
#include "linalg/product.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

/* To round-off: sticking, separate and associated contacts are, slipping ones under Coulomb's law are not. */
static bool is_symmetric(int32_t n, const double *a) {
  for (int32_t r = 0; r < n; r++)
    for (int32_t c = r + 1; c < n; c++)
      if (fabs(a[r * n + c] - a[c * n + r]) > 1e-13 * (fabs(a[r * n + r]) + fabs(a[c * n + c]))) return false;
  return true;
}

static inline void multiply_sized(int32_t d, const double *X, const double *g, double *out) {
  for (int32_t r = 0; r < d; r++) {
    double sum = 0;
    for (int32_t c = 0; c < d; c++) sum += X[r * d + c] * g[c];
    out[r] = sum;
  }
}

/* out = X g for one block; inlined with the size of most contacts. */
static void multiply_block(int32_t d, const double *X, const double *g, double *out) {
  if (d == 3)
    multiply_sized(3, X, g, out);
  else
    multiply_sized(d, X, g, out);
}

/* ---- contact space ---- */

static bool operator_is_symmetric(const fx_block_matrix *a) {
  for (int32_t i = 0; i < a->row_blocks; i++)
    for (int32_t k = a->start[i]; k < a->start[i + 1]; k++) {
      int32_t j = a->index[k], m = fx_block_rows(a, i), n = fx_block_cols(a, k);
      const double *x = fx_block(a, k), *y = fx_block_at(a, j, i);
      for (int32_t r = 0; r < m; r++)
        for (int32_t c = 0; c < n; c++)
          if (!y || fabs(x[r * n + c] - y[c * m + r]) > 1e-13) return false; /* the scaled diagonal is about 1 */
    }
  return true;
}

static frix_status init_contact(fx_newton_linear *n, fx_arena *arena) {
  frix_status status = fx_scaled_operator(arena, n->s, n->S, &n->A);
  if (status == FRIX_OK)
    status = fx_block_from_pattern(arena, n->A.row_blocks, n->A.row, n->A.col_blocks, n->A.col, n->A.start, n->A.index,
                                   &n->N);
  if (status != FRIX_OK) return status;
  n->active = FX_TAKE(arena, int32_t, (size_t)n->s->contact_count + 1);
  if (!n->active) return FRIX_ERROR_MEMORY;
  n->N.row = n->N.col = n->active;
  n->fixed_symmetric = operator_is_symmetric(&n->A);
  return fx_block_lu_analyze(arena, &n->A, &n->lu);
}

/* Contacts with P != 0 keep their rows; D_symmetric tells whether all of them have P = I. */
static void select_active(fx_newton_linear *n, const double *P) {
  const fx_system *s = n->s;
  n->D_symmetric = true;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t d = s->contact[i].dim;
    const double *p = P ? P + s->diagonal[i] : NULL;
    bool zero = P != NULL, identity = true;
    for (int32_t k = 0; P && k < d * d; k++) {
      zero = zero && p[k] == 0;
      identity = identity && p[k] == (k % (d + 1) == 0);
    }
    n->active[i + 1] = n->active[i] + (zero ? 0 : d);
    n->D_symmetric = n->D_symmetric && (zero || identity);
  }
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = n->N.start[i]; k < n->N.start[i + 1]; k++)
      n->N.offset[k + 1] = n->N.offset[k] + (size_t)(fx_block_rows(&n->N, i) * fx_block_cols(&n->N, k));
}

/* Of the determinant of one block. */
static double sign_of(int32_t d, const double *B) {
  int32_t pivot[FRIX_MAX_DIM];
  double C[FRIX_MAX_DIM * FRIX_MAX_DIM];
  memcpy(C, B, (size_t)(d * d) * sizeof *C);
  return fx_lu_factor(d, C, pivot) ? fx_lu_sign(d, C, pivot) : 0;
}

/* N = A P + B over the active contacts */
static bool factor_contact(fx_newton_linear *n, const double *P, const double *B) {
  const fx_system *s = n->s;
  select_active(n, P);
  n->sign = 1;
  if (!P) memcpy(n->N.x, n->A.x, n->A.offset[n->A.start[n->A.row_blocks]] * sizeof *n->N.x);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = n->A.start[i]; k < n->A.start[i + 1]; k++) {
      int32_t j = n->A.index[k], rows = fx_block_rows(&n->N, i), cols = fx_block_cols(&n->N, k);
      const double *a = fx_block(&n->A, k), *p = P ? P + s->diagonal[j] : NULL;
      double *to = fx_block(&n->N, k);
      if (rows == 0) {
        n->sign *= sign_of(s->contact[i].dim, B + s->diagonal[i]);
        break;
      }
      for (int32_t r = 0; P && r < rows; r++)
        for (int32_t c = 0; c < cols; c++) {
          double sum = 0;
          for (int32_t e = 0; e < cols; e++) sum += a[r * cols + e] * p[e * cols + c];
          to[r * cols + c] = sum;
        }
      if (i != j) continue;
      for (int32_t e = 0; e < rows * rows; e++) to[e] += B[s->diagonal[i] + (size_t)e];
      n->D_symmetric = n->D_symmetric && is_symmetric(rows, B + s->diagonal[i]);
    }
  return fx_block_lu_factor(&n->lu, &n->N, 0, n->fixed_symmetric && n->D_symmetric);
}

static void solve_contact(fx_newton_linear *n, const double *P, const double *B, const double *G, double *dx) {
  const fx_system *s = n->s;
  double *packed = n->row;
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = n->active[i]; k < n->active[i + 1]; k++) packed[k] = -G[s->row[i] + k - n->active[i]];
  fx_block_lu_solve(&n->lu, packed);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = 0; k < s->contact[i].dim; k++)
      dx[s->row[i] + k] = n->active[i + 1] > n->active[i] ? packed[n->active[i] + k] : 0;
  if (n->active[s->contact_count] == s->row_count) return;
  /* The others: B dx = -(G + A P dx). */
  for (int32_t i = 0; i < s->contact_count; i++)
    multiply_block(s->contact[i].dim, P + s->diagonal[i], dx + s->row[i], n->active_move + s->row[i]);
  for (int32_t i = 0; i < s->contact_count; i++) {
    if (n->active[i + 1] > n->active[i]) continue;
    int32_t d = s->contact[i].dim, pivot[FRIX_MAX_DIM];
    double *x = dx + s->row[i], C[FRIX_MAX_DIM * FRIX_MAX_DIM];
    for (int32_t r = 0; r < d; r++) x[r] = -G[s->row[i] + r];
    for (int32_t k = n->A.start[i]; k < n->A.start[i + 1]; k++) {
      int32_t j = n->A.index[k], w = s->contact[j].dim;
      if (n->active[j + 1] == n->active[j]) continue;
      const double *a = fx_block(&n->A, k), *z = n->active_move + s->row[j];
      for (int32_t r = 0; r < d; r++)
        for (int32_t c = 0; c < w; c++) x[r] -= a[r * w + c] * z[c];
    }
    memcpy(C, B + s->diagonal[i], (size_t)(d * d) * sizeof *C);
    if (fx_lu_factor(d, C, pivot)) fx_lu_solve(d, C, pivot, x);
  }
}

/* ---- velocity space ---- */

/* Multiplications of a factorisation, over the entries of K, from which iteration is faster: a pile of 3,000 spheres, a
 * wall of more than 10,000 bricks (docs/growth.md). */
static const double iteration_pays = 2500;

static void apply_velocity(void *user, const double *x, double *y);

static void precondition_velocity(void *user, const double *x, double *y) {
  const fx_newton_linear *n = user;
  fx_block_ilu_solve(&n->ilu, x, y);
}

/* Factors where they are affordable, else iteration; the choice depends on the graph alone. */
static frix_status choose_method(fx_newton_linear *n, fx_arena *arena, fx_linear_choice choice) {
  double entries = (double)n->K.offset[n->K.start[n->K.row_blocks]];
  double most = choice == FX_LINEAR_AUTO ? iteration_pays * entries : choice == FX_LINEAR_DIRECT ? INFINITY : -1;
  frix_status status = FRIX_OK;
  if (most > 0) status = fx_block_lu_analyze_within(arena, &n->K, FX_ORDER_OWN, most, &n->lu);
  n->lu.threads = n->s->threads;
  if (status != FRIX_OK || n->lu.L) return status;
  n->by_iteration = true;
  n->jacobi = choice == FX_LINEAR_JACOBI;
  n->right = FX_TAKE(arena, double, n->s->dof_count);
  if (!n->right) return FRIX_ERROR_MEMORY;
  if ((status = fx_block_ilu_take(arena, &n->K, &n->ilu)) != FRIX_OK) return status;
  if ((status = fx_krylov_take(arena, n->s->dof_count, &n->krylov)) != FRIX_OK) return status;
  n->krylov.apply = apply_velocity;
  n->krylov.precondition = precondition_velocity;
  n->krylov.user = n;
  const char *by = n->jacobi ? "diagonal blocks" : "incomplete factors";
  if (most > 0)
    fx_log(arena->context, FRIX_LOG_INFO,
           "newton: %d contacts, %d bodies: factors would take %.2g multiplications, %.2g pay: iteration with %s",
           n->s->contact_count, n->s->mover_count, n->lu.cost, most, by);
  else
    fx_log(arena->context, FRIX_LOG_INFO, "newton: %d contacts, %d bodies: iteration with %s, as asked",
           n->s->contact_count, n->s->mover_count, by);
  return FRIX_OK;
}

/* Movers that share a contact, and the place in K of every pair of movers of every contact. */
static frix_status init_velocity(fx_newton_linear *n, fx_arena *arena, fx_linear_choice choice) {
  const fx_system *s = n->s;
  const fx_block_matrix *H = &s->Ht;
  int32_t *first = NULL, *list = NULL, movers = s->mover_count;
  frix_status status = fx_block_columns(arena, H, &first, &list);
  if (status != FRIX_OK) return status;
  int32_t *seen = FX_TAKE(arena, int32_t, movers), *start = FX_TAKE(arena, int32_t, (size_t)movers + 1), *index = NULL;
  if (!seen || !start) return FRIX_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) { /* count, then list */
    memset(seen, 0, (size_t)movers * sizeof *seen);
    for (int32_t m = 0; m < movers; m++) {
      int32_t count = 1;
      seen[m] = m + 1;
      if (pass) index[start[m]] = m;
      for (int32_t e = first[m]; e < first[m + 1]; e++)
        for (int32_t k = H->start[list[e]]; k < H->start[list[e] + 1]; k++) {
          if (seen[H->index[k]] == m + 1) continue;
          seen[H->index[k]] = m + 1;
          if (pass) index[start[m] + count] = H->index[k];
          count++;
        }
      if (pass)
        fx_sort(index + start[m], (size_t)count);
      else
        start[m + 1] = start[m] + count;
    }
    if (!pass && !(index = FX_TAKE(arena, int32_t, start[movers]))) return FRIX_ERROR_MEMORY;
  }
  status = fx_block_from_pattern(arena, movers, s->dof, movers, s->dof, start, index, &n->K);
  if (status != FRIX_OK) return status;

  n->target_start = FX_TAKE(arena, size_t, (size_t)s->contact_count + 1);
  if (!n->target_start) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    size_t c = (size_t)(H->start[i + 1] - H->start[i]);
    n->target_start[i + 1] = n->target_start[i] + c * c;
  }
  n->target = FX_TAKE(arena, int32_t, n->target_start[s->contact_count]);
  if (!n->target) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t *to = n->target + n->target_start[i];
    for (int32_t a = H->start[i]; a < H->start[i + 1]; a++)
      for (int32_t b = H->start[i]; b < H->start[i + 1]; b++) {
        int32_t k = n->K.start[H->index[a]];
        while (n->K.index[k] != H->index[b]) k++;
        *to++ = k;
      }
  }
  int32_t widest = 1;
  for (int32_t m = 0; m < movers; m++)
    if (s->dof[m + 1] - s->dof[m] > widest) widest = s->dof[m + 1] - s->dof[m];
  n->fixed_symmetric = true;
  for (int32_t m = 0; m < movers; m++)
    n->fixed_symmetric = n->fixed_symmetric && is_symmetric(s->dof[m + 1] - s->dof[m], n->M + s->M_offset[m]);
  size_t blocks = s->diagonal[s->contact_count];
  n->C_inverse = FX_TAKE(arena, double, blocks);
  n->D = FX_TAKE(arena, double, blocks);
  n->product = FX_TAKE(arena, double, FRIX_MAX_DIM *(size_t)widest);
  if (!n->C_inverse || !n->D || !n->product) return FRIX_ERROR_MEMORY;
  return choose_method(n, arena, choice);
}

/* C^-1 and D = P C^-1 of contact i; false where C is singular. */
static bool invert_contact(fx_newton_linear *n, int32_t i, const double *P, const double *B) {
  const fx_system *s = n->s;
  int32_t d = s->contact[i].dim, pivot[FRIX_MAX_DIM];
  double C[FRIX_MAX_DIM * FRIX_MAX_DIM], *inverse = n->C_inverse + s->diagonal[i], *D = n->D + s->diagonal[i];
  memcpy(C, B, (size_t)(d * d) * sizeof *C);
  for (int32_t a = 0; s->R && a < d; a++) {
    double compliance = s->R[s->row[i] + a] * n->S[s->row[i]] * n->S[s->row[i]];
    for (int32_t b = 0; b < d; b++) C[a * d + b] += compliance * (P ? P[a * d + b] : a == b);
  }
  bool symmetric = !P && is_symmetric(d, C);
  if (!fx_lu_factor(d, C, pivot)) return false;
  n->sign *= fx_lu_sign(d, C, pivot);
  double column[FRIX_MAX_DIM * FRIX_MAX_DIM];
  for (int32_t k = 0; k < d * d; k++) column[k] = k % (d + 1) == 0;
  fx_lu_solve_rows(d, C, pivot, d, column);
  for (int32_t r = 0; r < d; r++)
    for (int32_t c = 0; c < d; c++) inverse[r * d + c] = column[c * d + r];
  if (!P) { /* what is symmetric is so to the last bit */
    for (int32_t r = 0; r < d && symmetric; r++)
      for (int32_t c = 0; c < r; c++)
        inverse[r * d + c] = inverse[c * d + r] = 0.5 * (inverse[r * d + c] + inverse[c * d + r]);
    memcpy(D, inverse, (size_t)(d * d) * sizeof *D);
    n->D_symmetric = n->D_symmetric && symmetric;
    return true;
  }
  for (int32_t r = 0; r < d; r++)
    for (int32_t c = 0; c < d; c++) {
      double sum = 0;
      for (int32_t e = 0; e < d; e++) sum += P[r * d + e] * inverse[e * d + c];
      D[r * d + c] = sum;
    }
  n->D_symmetric = n->D_symmetric && is_symmetric(d, D);
  return true;
}

/* to += h' g, h d x m, g d x w, for rigid bodies, two columns at a time, g in registers. */
static void add_outer_rigid(const double *h, const double *g, double *to) {
  enum { D = 3, M = 6 };
  typedef double pair __attribute__((vector_size(16), aligned(8)));
  for (int32_t b = 0; b < M; b += 2) {
    pair part[D];
    for (int32_t e = 0; e < D; e++) part[e] = *(const pair *)(g + e * M + b);
    for (int32_t a = 0; a < M; a++) {
      pair sum = *(const pair *)(to + a * M + b);
      for (int32_t e = 0; e < D; e++) sum += h[e * M + a] * part[e];
      *(pair *)(to + a * M + b) = sum;
    }
  }
}

/* g := scale D h for a contact on a rigid body. */
static void scale_rigid(double scale, const double *restrict D, const double *restrict h, double *restrict g) {
  enum { D_ROWS = 3, W = 6 };
  for (int32_t r = 0; r < D_ROWS; r++, g += W) {
    for (int32_t c = 0; c < W; c++) g[c] = 0;
    for (int32_t e = 0; e < D_ROWS; e++)
      for (int32_t c = 0; c < W; c++) g[c] += D[r * D_ROWS + e] * h[e * W + c];
    for (int32_t c = 0; c < W; c++) g[c] *= scale;
  }
}

/* K += H S D S H' for contact i. */
static void add_contact(fx_newton_linear *n, int32_t i) {
  const fx_system *s = n->s;
  const fx_block_matrix *H = &s->Ht;
  int32_t d = s->contact[i].dim, first = H->start[i], count = H->start[i + 1] - first;
  double square = n->S[s->row[i]] * n->S[s->row[i]];
  const double *D = n->D + s->diagonal[i];
  for (int32_t b = 0; b < count; b++) {
    const double *h = fx_block(H, first + b);
    int32_t w = fx_block_cols(H, first + b);
    double *g = n->product;
    if (d == 3 && w == 6)
      scale_rigid(square, D, h, g);
    else
      fx_scale_rows(d, d, w, square, D, h, g);
    for (int32_t a = 0; a < count; a++) {
      double *to = fx_block(&n->K, n->target[n->target_start[i] + (size_t)(a * count + b)]);
      int32_t m = fx_block_cols(H, first + a);
      if (d == 3 && m == 6 && w == 6)
        add_outer_rigid(fx_block(H, first + a), g, to);
      else
        fx_add_outer(d, m, w, fx_block(H, first + a), g, to, w);
    }
  }
}

/* K = M */
static void begin_velocity(fx_newton_linear *n) {
  const fx_system *s = n->s;
  n->D_symmetric = true;
  n->sign = 1;
  memset(n->K.x, 0, n->K.offset[n->K.start[s->mover_count]] * sizeof *n->K.x);
  for (int32_t m = 0; m < s->mover_count; m++)
    memcpy(fx_block_at(&n->K, m, m), n->M + s->M_offset[m], (s->M_offset[m + 1] - s->M_offset[m]) * sizeof *n->M);
}

static bool end_velocity(fx_newton_linear *n) {
  if (n->by_iteration) return fx_block_ilu_factor(&n->ilu, n->jacobi);
  return fx_block_lu_factor(&n->lu, &n->K, 0, n->fixed_symmetric && n->D_symmetric);
}

bool fx_newton_factor_slopes(fx_newton_linear *n, const double *D) {
  const fx_system *s = n->s;
  begin_velocity(n);
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t d = s->contact[i].dim;
    const double *from = D + s->diagonal[i];
    double *to = n->D + s->diagonal[i], square = n->S[s->row[i]] * n->S[s->row[i]], sum = 0;
    for (int32_t k = 0; k < d * d; k++) {
      to[k] = from[k] / square;
      sum += fabs(from[k]);
    }
    if (sum == 0) continue; /* an open contact */
    n->D_symmetric = n->D_symmetric && is_symmetric(d, from);
    add_contact(n, i);
  }
  return end_velocity(n);
}

static bool factor_velocity(fx_newton_linear *n, const double *P, const double *B) {
  const fx_system *s = n->s;
  begin_velocity(n);
  for (int32_t i = 0; i < s->contact_count; i++) {
    if (!invert_contact(n, i, P ? P + s->diagonal[i] : NULL, B + s->diagonal[i])) return false;
    add_contact(n, i);
  }
  return end_velocity(n);
}

/* y := (M + H S D S H') x, without the matrix */
static void apply_velocity(void *user, const double *x, double *y) {
  fx_newton_linear *n = user;
  const fx_system *s = n->s;
  for (int32_t m = 0; m < s->mover_count; m++)
    multiply_block(s->dof[m + 1] - s->dof[m], n->M + s->M_offset[m], x + s->dof[m], y + s->dof[m]);
  memset(n->row, 0, (size_t)s->row_count * sizeof *n->row);
  fx_block_multiply_add(&s->Ht, x, n->row);
  for (int32_t i = 0; i < s->contact_count; i++) {
    double part[FRIX_MAX_DIM], square = n->S[s->row[i]] * n->S[s->row[i]];
    int32_t d = s->contact[i].dim;
    multiply_block(d, n->D + s->diagonal[i], n->row + s->row[i], part);
    for (int32_t k = 0; k < d; k++) n->row[s->row[i] + k] = square * part[k];
  }
  fx_block_transpose_multiply_add(&s->Ht, n->row, y);
}

/* v := K^-1 v */
static void iterate_velocity(fx_newton_linear *n, double *v) {
  memcpy(n->right, v, (size_t)n->s->dof_count * sizeof *v);
  fx_krylov_end end = n->fixed_symmetric && n->D_symmetric ? fx_krylov_symmetric(&n->krylov, n->right, v)
                                                           : fx_krylov_general(&n->krylov, n->right, v);
  n->krylov_iterations += end.iterations;
  n->krylov_solves++;
}

void fx_newton_solve_motion(fx_newton_linear *n, double *v) {
  if (n->by_iteration)
    iterate_velocity(n, v);
  else
    fx_block_lu_solve(&n->lu, v);
}

static void solve_velocity(fx_newton_linear *n, const double *G, double *dx) {
  const fx_system *s = n->s;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i], d = s->contact[i].dim;
    multiply_block(d, n->D + s->diagonal[i], G + row, n->row + row);
    for (int32_t k = row; k < row + d; k++) n->row[k] *= -n->S[k];
  }
  memset(n->v, 0, (size_t)s->dof_count * sizeof *n->v);
  fx_block_transpose_multiply_add(&s->Ht, n->row, n->v);
  fx_newton_solve_motion(n, n->v);
  memset(n->row, 0, (size_t)s->row_count * sizeof *n->row);
  fx_block_multiply_add(&s->Ht, n->v, n->row);
  for (int32_t k = 0; k < s->row_count; k++) n->row[k] = -(G[k] + n->S[k] * n->row[k]);
  for (int32_t i = 0; i < s->contact_count; i++)
    multiply_block(s->contact[i].dim, n->C_inverse + s->diagonal[i], n->row + s->row[i], dx + s->row[i]);
}

/* ---- either ---- */

static frix_status init(fx_newton_linear *n, fx_arena *arena, const fx_system *s, fx_linear_choice choice) {
  *n = (fx_newton_linear){.s = s, .by_velocity = s->has_velocity, .S = fx_scaling(arena, s)};
  n->v = FX_TAKE(arena, double, s->dof_count);
  n->row = FX_TAKE(arena, double, s->row_count);
  n->moved = FX_TAKE(arena, double, s->row_count);
  n->rest = FX_TAKE(arena, double, s->row_count);
  n->active_move = FX_TAKE(arena, double, s->row_count);
  if (!n->S || !n->v || !n->row || !n->moved || !n->rest || !n->active_move) return FRIX_ERROR_MEMORY;
  if (n->by_velocity && (!(n->Y = fx_system_response(s)) || !(n->M = fx_system_mass(s)))) return FRIX_ERROR_MEMORY;
  return n->by_velocity ? init_velocity(n, arena, choice) : init_contact(n, arena);
}

fx_newton_linear *fx_newton_linear_create_as(fx_arena *arena, const fx_system *s, fx_linear_choice choice,
                                             frix_status *status) {
  fx_newton_linear *n = FX_TAKE(arena, fx_newton_linear, 1);
  *status = n ? init(n, arena, s, choice) : FRIX_ERROR_MEMORY;
  return *status == FRIX_OK ? n : NULL;
}

fx_newton_linear *fx_newton_linear_create(fx_arena *arena, const fx_system *s, frix_status *status) {
  return fx_newton_linear_create_as(arena, s, FX_LINEAR_AUTO, status);
}

void fx_newton_apply(const fx_newton_linear *n, const double *z, double *out) {
  const fx_system *s = n->s;
  memset(out, 0, (size_t)s->row_count * sizeof *out);
  if (!n->by_velocity) {
    fx_block_multiply_add(&n->A, z, out);
    return;
  }
  for (int32_t k = 0; k < s->row_count; k++) n->row[k] = n->S[k] * z[k];
  memset(n->v, 0, (size_t)s->dof_count * sizeof *n->v);
  fx_block_transpose_multiply_add(n->Y, n->row, n->v);
  fx_block_multiply_add(&s->Ht, n->v, out);
  for (int32_t k = 0; k < s->row_count; k++) out[k] = n->S[k] * (out[k] + (s->R ? s->R[k] * n->row[k] : 0));
}

bool fx_newton_factor(fx_newton_linear *n, const double *P, const double *B) {
  return n->by_velocity ? factor_velocity(n, P, B) : factor_contact(n, P, B);
}

double fx_newton_sign(const fx_newton_linear *n) { return n->sign * fx_block_lu_sign(&n->lu); }

void fx_newton_solve_once(fx_newton_linear *n, const double *P, const double *B, const double *G, double *dx) {
  if (n->by_velocity)
    solve_velocity(n, G, dx);
  else
    solve_contact(n, P, B, G, dx);
}

void fx_newton_solve(fx_newton_linear *n, const double *P, const double *B, const double *G, double *dx) {
  const fx_system *s = n->s;
  fx_newton_solve_once(n, P, B, G, dx);
  if (n->by_iteration) return; /* as exact as was asked for */
  /* What is left of the equation, G + A P dx + B dx, is solved for once more. */
  for (int32_t i = 0; i < s->contact_count; i++)
    multiply_block(s->contact[i].dim, P + s->diagonal[i], dx + s->row[i], n->moved + s->row[i]);
  fx_newton_apply(n, n->moved, n->rest);
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t row = s->row[i], d = s->contact[i].dim;
    double part[FRIX_MAX_DIM];
    multiply_block(d, B + s->diagonal[i], dx + row, part);
    for (int32_t k = 0; k < d; k++) n->rest[row + k] += G[row + k] + part[k];
  }
  fx_newton_solve_once(n, P, B, n->rest, n->moved);
  for (int32_t k = 0; k < s->row_count; k++) dx[k] += n->moved[k];
}
