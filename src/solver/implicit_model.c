/* The implicit method's equation and its linear model.
 *
 * The step (J'J + lambda I) dx = -J' w res has the pattern of W^2. Written with y as
 *
 *   [ a I   J  ] [y ]   [-w res]
 *   [ J'  -a I ] [dx] = [  0   ],   a = sqrt(lambda),
 *
 * it keeps the pattern of W, is quasi-definite (any order of pivots exists), and its condition is |J| / a instead of
 * the square of that. Reference for the equation: E. Todorov, Implicit nonlinear complementarity, ICRA 2010. */
#include "solver/implicit_model.h"

#include <math.h>
#include <string.h>

/* ---- contacts and their scales ---- */

static void add_disc(fx_implicit_contact *c, int32_t first, int32_t size, double mu) {
  c->disc[c->disc_count++] = (fx_implicit_disc){first, size, mu};
}

static double scale_of(const double *D, int32_t dim, int32_t first, int32_t last) {
  double trace = 0;
  for (int32_t k = first; k < last; k++) trace += D[k * dim + k];
  return trace > 0 ? sqrt((last - first) / trace) : 1;
}

/* The two tangents of an ellipse with half axes m1, m2: axes turned and stretched so that a disc of radius mu remains.
 * A tangent without friction gets a zero column: no impulse, whatever f is. */
static double elliptic(const frix_contact *k, double scale, double *T) {
  double mu = k->mu > 0 && k->mu2 > 0 ? sqrt(k->mu * k->mu2) : k->mu > k->mu2 ? k->mu : k->mu2;
  double a = mu > 0 ? k->mu / mu : 1, b = mu > 0 ? k->mu2 / mu : 1;
  T[4] = scale * a * k->axis[0];
  T[7] = scale * a * k->axis[1];
  T[5] = -scale * b * k->axis[1];
  T[8] = scale * b * k->axis[0];
  return mu;
}

static void describe(const frix_contact *k, const double *D, fx_implicit_contact *c, double *T) {
  int32_t d = k->dim, plain = k->cone == FRIX_CONE_ROLLING ? 3 : d;
  *c = (fx_implicit_contact){.dim = d, .unilateral = k->cone != FRIX_CONE_BILATERAL};
  double scale = scale_of(D, d, 0, plain), roll = plain < d ? scale_of(D, d, plain, d) : 1;
  for (int32_t a = 0; a < d; a++) T[a * d + a] = a < plain ? scale : roll;
  switch (k->cone) {
    case FRIX_CONE_CIRCULAR: add_disc(c, 1, 2, k->mu); break;
    case FRIX_CONE_PLANAR: add_disc(c, 1, 1, k->mu); break;
    case FRIX_CONE_ELLIPTIC: add_disc(c, 1, 2, elliptic(k, scale, T)); break;
    case FRIX_CONE_ROLLING:
      add_disc(c, 1, 2, k->mu);
      add_disc(c, 3, 2, k->mu_r * scale / roll);
      break;
    case FRIX_CONE_FRICTIONLESS:
      if (d > 1) add_disc(c, 1, d - 1, 0);
      break;
    default: break;
  }
}

/* ---- the operator ---- */

/* Pattern of W + W' + I. */
static frix_status pattern(fx_arena *arena, const fx_block_matrix *W, int32_t **start, int32_t **index) {
  int32_t n = W->row_blocks, *first = NULL, *list = NULL;
  frix_status status = fx_block_columns(arena, W, &first, &list);
  if (status != FRIX_OK) return status;
  int64_t most = 2 * (int64_t)W->start[n] + n;
  if (most > INT32_MAX) return fx_fail(arena->context, FRIX_ERROR_UNSUPPORTED, "implicit: W has too many blocks");
  *start = FX_TAKE(arena, int32_t, (size_t)n + 1);
  *index = FX_TAKE(arena, int32_t, most);
  if (!*start || !*index) return FRIX_ERROR_MEMORY;
  int32_t at = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t a = W->start[i], b = first[i];
    bool own = false;
    while (!own || a < W->start[i + 1] || b < first[i + 1]) {
      int32_t next = own ? INT32_MAX : i;
      if (a < W->start[i + 1] && W->index[a] < next) next = W->index[a];
      if (b < first[i + 1] && list[b] < next) next = list[b];
      while (a < W->start[i + 1] && W->index[a] == next) a++;
      while (b < first[i + 1] && list[b] == next) b++;
      own |= next == i;
      (*index)[at++] = next;
    }
    (*start)[i + 1] = at;
  }
  return FRIX_OK;
}

/* out = L' X R, X m x n, L m x m, R n x n */
static void congruence(int32_t m, int32_t n, const double *L, const double *X, const double *R, double *out) {
  double half[FRIX_MAX_DIM * FRIX_MAX_DIM];
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) {
      half[i * n + j] = 0;
      for (int32_t e = 0; e < n; e++) half[i * n + j] += X[i * n + e] * R[e * n + j];
    }
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) {
      out[i * n + j] = 0;
      for (int32_t e = 0; e < m; e++) out[i * n + j] += L[e * m + i] * half[e * n + j];
    }
}

static void fill_operator(const fx_system *s, fx_implicit *m) {
  double zero[FRIX_MAX_DIM * FRIX_MAX_DIM] = {0};
  for (int32_t i = 0; i < m->contact_count; i++) {
    const double *Ti = m->T + m->diagonal[i];
    int32_t d = m->contact[i].dim;
    for (int32_t k = m->A.start[i]; k < m->A.start[i + 1]; k++) {
      int32_t j = m->A.index[k];
      const double *w = i == j ? s->D + s->diagonal[i] : fx_block_at(&s->W, i, j);
      congruence(d, m->contact[j].dim, Ti, w ? w : zero, m->T + m->diagonal[j], fx_block(&m->A, k));
    }
    for (int32_t a = 0; a < d; a++) {
      m->q[m->row[i] + a] = 0;
      bool empty = true;
      for (int32_t e = 0; e < d; e++) {
        m->q[m->row[i] + a] += Ti[e * d + a] * s->q[m->row[i] + e];
        empty &= Ti[e * d + a] == 0;
      }
      if (empty) fx_block_at(&m->A, i, i)[a * d + a] = 1; /* v = f in that direction, so x = 0 */
    }
  }
}

frix_status fx_implicit_build(fx_arena *arena, const fx_system *s, fx_implicit *m) {
  int32_t n = s->contact_count;
  *m = (fx_implicit){.contact_count = n, .row_count = s->row_count, .row = s->row, .diagonal = s->diagonal};
  m->contact = FX_TAKE(arena, fx_implicit_contact, n);
  m->double_row = FX_TAKE(arena, int32_t, (size_t)n + 1);
  m->weight = FX_TAKE(arena, double, n);
  double **rows[] = {&m->q, &m->f, &m->z}, **blocks[] = {&m->T, &m->P, &m->B};
  for (int k = 0; k < 3; k++)
    if (!(*rows[k] = FX_TAKE(arena, double, s->row_count)) || !(*blocks[k] = FX_TAKE(arena, double, s->diagonal[n])))
      return FRIX_ERROR_MEMORY;
  double **twice[] = {&m->both, &m->right, &m->step};
  for (int k = 0; k < 3; k++)
    if (!(*twice[k] = FX_TAKE(arena, double, 2 * (size_t)s->row_count))) return FRIX_ERROR_MEMORY;
  if (!m->contact || !m->double_row || !m->weight) return FRIX_ERROR_MEMORY;
  for (int32_t i = 0; i < n; i++) {
    describe(&s->contact[i], s->D + s->diagonal[i], &m->contact[i], m->T + s->diagonal[i]);
    m->double_row[i + 1] = 2 * s->row[i + 1];
    m->weight[i] = 1;
  }
  int32_t *start = NULL, *index = NULL;
  frix_status status = pattern(arena, &s->W, &start, &index);
  if (status == FRIX_OK) status = fx_block_from_pattern(arena, n, s->row, n, s->row, start, index, &m->A);
  if (status == FRIX_OK) status = fx_block_from_pattern(arena, n, s->row, n, s->row, start, index, &m->J);
  if (status == FRIX_OK) status = fx_block_from_pattern(arena, n, m->double_row, n, m->double_row, start, index, &m->K);
  if (status == FRIX_OK) status = fx_block_lu_analyze(arena, &m->K, &m->lu);
  if (status != FRIX_OK) return status;
  fill_operator(s, m);
  for (int32_t k = 0; k < m->row_count; k++)
    if (fabs(m->q[k]) > m->size) m->size = fabs(m->q[k]);
  return FRIX_OK;
}

/* ---- residual and slopes ---- */

double fx_implicit_residual(fx_implicit *m, const double *x, double *res) {
  double sum = 0;
  for (int32_t i = 0; i < m->contact_count; i++) fx_implicit_force(&m->contact[i], x + m->row[i], m->f + m->row[i]);
  for (int32_t k = 0; k < m->row_count; k++) res[k] = m->q[k] - x[k] - m->f[k];
  fx_block_multiply_add(&m->A, m->f, res);
  for (int32_t i = 0; i < m->contact_count; i++)
    for (int32_t k = m->row[i]; k < m->row[i + 1]; k++) sum += m->weight[i] * m->weight[i] * (res[k] * res[k]);
  return 0.5 * sum;
}

void fx_implicit_weigh(fx_implicit *m, const double *res, double *rho, double *z) {
  for (int32_t i = 0; i < m->contact_count; i++)
    for (int32_t k = m->row[i]; k < m->row[i + 1]; k++) rho[k] = m->weight[i] * m->weight[i] * res[k];
  for (int32_t k = 0; k < m->row_count; k++) z[k] = -rho[k];
  fx_block_transpose_multiply_add(&m->A, rho, z);
}

/* c = a b, row-major, a m x n, b n x n */
static void multiply(int32_t m, int32_t n, const double *a, const double *b, double *c) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t j = 0; j < n; j++) {
      double sum = 0;
      for (int32_t e = 0; e < n; e++) sum += a[i * n + e] * b[e * n + j];
      c[i * n + j] = sum;
    }
}

void fx_implicit_jacobian(fx_implicit *m) {
  for (int32_t i = 0; i < m->contact_count; i++) {
    int32_t d = m->contact[i].dim;
    for (int32_t k = m->J.start[i]; k < m->J.start[i + 1]; k++) {
      int32_t j = m->J.index[k], n = m->contact[j].dim;
      double slope[FRIX_MAX_DIM * FRIX_MAX_DIM], *block = fx_block(&m->J, k);
      const double *B = m->B + m->diagonal[j];
      multiply(n, n, m->P + m->diagonal[j], B, slope); /* P B */
      multiply(d, n, fx_block(&m->A, k), slope, block);
      for (int32_t e = 0; e < d * n; e++) {
        if (i == j) block[e] += B[e] - slope[e];
        block[e] *= -m->weight[i];
      }
    }
  }
}

/* ---- the damped step ---- */

static void fill_augmented(fx_implicit *m, double a) {
  for (int32_t i = 0; i < m->contact_count; i++) {
    int32_t d = m->contact[i].dim;
    for (int32_t k = m->K.start[i]; k < m->K.start[i + 1]; k++) {
      int32_t j = m->K.index[k], n = m->contact[j].dim;
      double *block = fx_block(&m->K, k);
      const double *J = fx_block(&m->J, k), *Jt = i == j ? J : fx_block_at(&m->J, j, i);
      memset(block, 0, (size_t)(4 * d * n) * sizeof *block);
      for (int32_t r = 0; r < d; r++)
        for (int32_t c = 0; c < n; c++) {
          block[r * 2 * n + n + c] = J[r * n + c];
          block[(d + r) * 2 * n + c] = Jt[c * d + r];
        }
      for (int32_t r = 0; i == j && r < d; r++) {
        block[r * 2 * d + r] = a;
        block[(d + r) * 2 * d + d + r] = -a;
      }
    }
  }
}

/* One step of refinement: what the factors lost to a small pivot comes back. */
static void refine(fx_implicit *m) {
  size_t count = 2 * (size_t)m->row_count;
  for (size_t k = 0; k < count; k++) m->step[k] = -m->both[k];
  fx_block_multiply_add(&m->K, m->step, m->right);
  fx_block_lu_solve(&m->lu, m->right);
  for (size_t k = 0; k < count; k++) m->both[k] += m->right[k];
}

bool fx_implicit_step(fx_implicit *m, double lambda, const double *res, double *dx) {
  fill_augmented(m, sqrt(lambda));
  /* K is symmetric, but its halves factored apart keep digits that small pivots lose otherwise. */
  if (!fx_block_lu_factor(&m->lu, &m->K, 0, false)) return false;
  for (int32_t i = 0; i < m->contact_count; i++)
    for (int32_t e = 0, d = m->contact[i].dim; e < d; e++) {
      m->both[m->double_row[i] + e] = -m->weight[i] * res[m->row[i] + e];
      m->both[m->double_row[i] + d + e] = 0;
    }
  memcpy(m->right, m->both, 2 * (size_t)m->row_count * sizeof *m->right);
  fx_block_lu_solve(&m->lu, m->both);
  refine(m);
  bool finite = true;
  for (int32_t i = 0; i < m->contact_count; i++)
    for (int32_t e = 0, d = m->contact[i].dim; e < d; e++) {
      dx[m->row[i] + e] = m->both[m->double_row[i] + d + e];
      finite &= isfinite(dx[m->row[i] + e]);
    }
  return finite;
}

/* ---- between x and impulses ---- */

void fx_implicit_impulse(const fx_implicit *m, const double *x, double least, double *r) {
  for (int32_t i = 0; i < m->contact_count; i++) {
    double f[FRIX_MAX_DIM];
    int32_t d = m->contact[i].dim;
    fx_implicit_force(&m->contact[i], x + m->row[i], f);
    if (m->contact[i].unilateral && f[0] <= least * m->size) memset(f, 0, sizeof f);
    for (int32_t a = 0; a < d; a++) {
      r[m->row[i] + a] = 0;
      for (int32_t b = 0; b < d; b++) r[m->row[i] + a] += m->T[m->diagonal[i] + (size_t)(a * d + b)] * f[b];
    }
  }
}

/* T has orthogonal columns: T^-1 r = (T'r)_b / |T_b|^2. */
void fx_implicit_warm(const fx_implicit *m, const double *r, const double *u, double *x) {
  for (int32_t i = 0; i < m->contact_count; i++) {
    int32_t d = m->contact[i].dim, row = m->row[i];
    const double *T = m->T + m->diagonal[i];
    for (int32_t b = 0; b < d; b++) {
      double size = 0, force = 0, velocity = 0;
      for (int32_t a = 0; a < d; a++) {
        size += T[a * d + b] * T[a * d + b];
        force += T[a * d + b] * r[row + a];
        velocity += T[a * d + b] * u[row + a];
      }
      x[row + b] = size > 0 ? velocity - force / size : 0;
    }
  }
}
