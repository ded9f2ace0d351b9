/* Answers beside an answer, to 30 digits: what derivatives are compared with.
 *
 *   F(r) = r / S - P(r / S - S (u + s(u) e_N)),   u = W r + q + R (r - r_c),   S_i = (mean diag W_ii)^-1/2
 *
 * Newton on the natural map from a given answer, F in quadruple precision, factors of its Jacobian in long double, from
 * differences contact by contact. Nothing is shared with src/. Of the data changed by t, the same with the factors of
 * the answer: central differences with t = 1e-9 are then good to 1e-18. Forces that are not unique stay where they are:
 * the null space of the Jacobian is left out. */
#ifndef FX_TEST_EXACT_ANSWER_H
#define FX_TEST_EXACT_ANSWER_H

#include "oracle.h"

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

static quad quad_abs(quad x) { return x < 0 ? -x : x; }
static quad quad_max(quad x, quad y) { return x > y ? x : y; }
static quad quad_root(quad x) {
  if (!(x > 0)) return 0;
  quad y = sqrtl((real)x);
  for (int k = 0; k < 2 && y > 0; k++) y = (y + x / y) / 2;
  return y;
}
static quad quad_norm(const quad *x, int n) { return n == 1 ? quad_abs(x[0]) : quad_root(x[0] * x[0] + x[1] * x[1]); }

/* Changes of the data; NULL: none. */
typedef struct exact_change {
  const double *f, *w, *b, *mu, *R, *r_c; /* w is of q in reduced form */
} exact_change;

typedef struct exact {
  oracle o;
  int32_t n, blocks, rank;
  int32_t *start;        /* blocks + 1: contacts, then joint rows */
  frix_contact *contact; /* of the data */
  real *W;               /* n x n, without R */
  real *S, *q;           /* scale by block, free velocities */
  quad *r;               /* answer */
  real *lu;              /* of the Jacobian at r, complete pivoting: row k is row at[k], column k is column from[k] */
  int32_t *at, *from;
  real beside;   /* residual of the last exact_beside */
  bool same;     /* whether its contacts are in the modes of the answer */
  uint8_t *mode; /* by block: of the answer */
  real residual; /* of r: the largest |F| over the size of its block */
  real *size;    /* by block: the largest |r / S|, |S q| of the blocks that W connects it with */
  real *sum;     /* by row: what u is the sum of, as sizes */
  real *work;    /* 8 n */
} exact;

/* Data moved by t along the change. */
typedef struct exact_data {
  const frix_contact *contact;
  const quad *mu, *q, *R, *r_c; /* R: NULL, none */
} exact_data;

static void exact_speeds(const exact *e, const exact_data *d, const quad *r, quad *u) {
  for (int32_t i = 0; i < e->n; i++) {
    u[i] = d->q[i];
    for (int32_t j = 0; j < e->n; j++) u[i] += (quad)e->W[(size_t)i * (size_t)e->n + (size_t)j] * r[j];
    if (d->R) u[i] += d->R[i] * (r[i] - d->r_c[i]);
  }
}

/* The projection onto r_N >= 0, |r_k| <= a_k r_N for discs k: active discs A, n = (x_N + sum_A a t) / (1 + sum_A a^2),
 * all choices of A tried. */
static void exact_discs(const quad *x, int discs, const int *size, const quad *a, quad *out) {
  quad t[2];
  for (int k = 0, row = 1; k < discs; row += size[k++]) t[k] = quad_norm(x + row, size[k]);
  for (int A = 0; A < 1 << discs; A++) {
    quad sum = x[0], over = 1;
    for (int k = 0; k < discs; k++)
      if (A >> k & 1) sum += a[k] * t[k], over += a[k] * a[k];
    quad n = sum / over;
    bool fits = n > 0;
    for (int k = 0; k < discs; k++) fits &= (A >> k & 1) ? t[k] > a[k] * n : t[k] <= a[k] * n;
    if (!fits) continue;
    out[0] = n;
    for (int k = 0, row = 1; k < discs; row += size[k++])
      for (int j = row; j < row + size[k]; j++) out[j] = (A >> k & 1) ? x[j] / t[k] * a[k] * n : x[j];
    return;
  }
  out[0] = 0;
  for (int k = 0, row = 1; k < discs; row += size[k++])
    for (int j = row; j < row + size[k]; j++) out[j] = 0;
}

/* The projection onto (t1 / m1)^2 + (t2 / m2)^2 <= n^2, n >= 0: outside of it and of its polar cone the point
 * x - lambda grad, n = x_n / (1 - lambda), t_k = x_k m_k^2 / (m_k^2 + lambda). The root in long double (oracle.h), then
 * two steps of Newton in n, which does not lose digits near lambda = 1:
 *
 *   f(n) = sum (x_k m_k / (m_k^2 + 1 - x_n / n))^2 - n^2 = 0 */
static void exact_ellipse(const frix_contact *c, const quad *x, quad *out) {
  quad m[2] = {c->mu, c->mu2}, cos = c->axis[0], sin = c->axis[1];
  quad t[2] = {cos * x[1] + sin * x[2], cos * x[2] - sin * x[1]}, n = 0, p[2] = {0, 0};
  if (m[0] == 0 || m[1] == 0) { /* a wedge */
    int flat = m[0] == 0 ? 0 : 1, size = 1;
    quad y[2] = {x[0], t[1 - flat]}, z[2];
    exact_discs(y, 1, &size, &m[1 - flat], z);
    n = z[0], p[1 - flat] = z[1];
  } else {
    quad inside = 0, polar = 0;
    for (int k = 0; k < 2; k++) inside += t[k] * t[k] / (m[k] * m[k]), polar += t[k] * t[k] * m[k] * m[k];
    if (x[0] <= 0 && x[0] * x[0] >= polar) {
      out[0] = out[1] = out[2] = 0;
      return;
    }
    if (x[0] >= 0 && x[0] * x[0] >= inside) {
      for (int k = 0; k < 3; k++) out[k] = x[k];
      return;
    }
    real near[FRIX_MAX_DIM] = {(real)x[0], (real)x[1], (real)x[2]}, from[FRIX_MAX_DIM];
    oracle_project(c, near, from);
    n = from[0];
    for (int round = 0; round < 3; round++) {
      quad f = -n * n, slope = -2 * n;
      for (int k = 0; k < 2; k++) {
        quad lower = m[k] * m[k] + 1 - x[0] / n, part = t[k] * m[k] / lower;
        f += part * part, slope -= 2 * part * part / lower * x[0] / (n * n);
        p[k] = t[k] * m[k] * m[k] / lower;
      }
      if (round < 2) n -= f / slope;
    }
  }
  out[0] = n, out[1] = cos * p[0] - sin * p[1], out[2] = sin * p[0] + cos * p[1];
}

/* The argument of the projection of one block, whose friction is mu, and its discs. */
static int exact_argument(const exact *e, const exact_data *d, int32_t k, const quad *r, const quad *u, quad *x,
                          quad a[2], int size[2]) {
  const frix_contact *c = &d->contact[k];
  quad S = e->S[k];
  int discs = c->cone == FRIX_CONE_ROLLING ? 2 : c->cone == FRIX_CONE_CIRCULAR || c->cone == FRIX_CONE_PLANAR ? 1 : 0;
  a[0] = d->mu[k], a[1] = c->mu_r;
  size[0] = c->cone == FRIX_CONE_PLANAR ? 1 : 2, size[1] = 2;
  for (int32_t j = 0; j < c->dim; j++) x[j] = r[j] / S - S * u[j];
  for (int m = 0, row = 1; m < discs; row += size[m++]) x[0] -= S * a[m] * quad_norm(u + row, size[m]);
  if (c->cone == FRIX_CONE_ELLIPTIC) {
    quad cos = c->axis[0], sin = c->axis[1], p = c->mu * (cos * u[1] + sin * u[2]),
         q = c->mu2 * (cos * u[2] - sin * u[1]);
    x[0] -= S * quad_root(p * p + q * q);
  }
  return discs;
}

/* F of one block, whose friction is mu. */
static void exact_map(const exact *e, const exact_data *d, int32_t k, const quad *r, const quad *u, quad *F) {
  const frix_contact *c = &d->contact[k];
  quad x[FRIX_MAX_DIM] = {0}, S = e->S[k], a[2];
  int size[2], discs = exact_argument(e, d, k, r, u, x, a, size);
  for (int32_t j = 0; j < c->dim; j++) F[j] = 0;
  switch (c->cone) {
    case FRIX_CONE_BILATERAL:
      for (int32_t j = 0; j < c->dim; j++) F[j] = x[j];
      break;
    case FRIX_CONE_LIMIT:
    case FRIX_CONE_FRICTIONLESS: F[0] = quad_max(x[0], 0); break;
    case FRIX_CONE_ELLIPTIC: exact_ellipse(c, x, F); break;
    case FRIX_CONE_PYRAMID: {
      real y[FRIX_MAX_DIM] = {0}, z[FRIX_MAX_DIM] = {0};
      for (int32_t j = 1; j < c->dim; j++) y[j - 1] = -(real)u[j];
      x[0] -= S * oracle_support(c, y);
      for (int32_t j = 0; j < c->dim; j++) y[j] = (real)x[j];
      oracle_project(c, y, z);
      for (int32_t j = 0; j < c->dim; j++) F[j] = z[j];
      break;
    }
    default: exact_discs(x, discs, size, a, F);
  }
  for (int32_t j = 0; j < c->dim; j++) F[j] = r[j] / S - F[j];
}

/* Modes by block: 0 no force, else 1 and a bit for each disc (or ellipse) at whose edge the force is. Whether all are
 * as `as` says. */
static bool exact_modes(const exact *e, const exact_data *d, const quad *r, const quad *u, uint8_t *out,
                        const uint8_t *as) {
  bool same = true;
  for (int32_t k = 0; k < e->blocks; k++) {
    const frix_contact *c = &d->contact[k];
    quad x[FRIX_MAX_DIM] = {0}, F[FRIX_MAX_DIM], a[2];
    const quad *own = r + e->start[k], *speed = u + e->start[k];
    int size[2], discs = exact_argument(e, d, k, own, speed, x, a, size);
    uint8_t mode = 1;
    exact_map(e, d, k, own, speed, F);
    quad n = own[0] / e->S[k] - F[0]; /* of the projection */
    if (c->cone != FRIX_CONE_BILATERAL && !(n > 0)) mode = 0;
    for (int m = 0, row = 1; mode && m < discs; row += size[m++])
      if (quad_norm(x + row, size[m]) > a[m] * n) mode |= (uint8_t)(2 << m);
    if (mode && c->cone == FRIX_CONE_ELLIPTIC && (c->mu == 0 || c->mu2 == 0)) {
      quad cos = c->axis[0], sin = c->axis[1], t = c->mu == 0 ? cos * x[2] - sin * x[1] : cos * x[1] + sin * x[2];
      if (quad_abs(t) > (c->mu == 0 ? c->mu2 : c->mu) * n) mode |= 2;
    } else if (mode && c->cone == FRIX_CONE_ELLIPTIC && n != x[0]) {
      mode |= 2;
    }
    if (out) out[k] = mode;
    if (as) same &= as[k] == mode;
  }
  return same;
}

static real exact_residual(const exact *e, const exact_data *d, const quad *r, quad *u, quad *F) {
  quad most = 0;
  exact_speeds(e, d, r, u);
  for (int32_t k = 0; k < e->blocks; k++) {
    exact_map(e, d, k, r + e->start[k], u + e->start[k], F + e->start[k]);
    for (int32_t i = e->start[k]; i < e->start[k + 1]; i++) most = quad_max(most, quad_abs(F[i]) / e->size[k]);
  }
  return (real)most;
}

/* dF / d(r / S), in e->lu, factored. */
static void exact_factor(exact *e, const exact_data *d, const quad *r, const quad *u) {
  size_t n = (size_t)e->n;
  memset(e->lu, 0, n * n * sizeof *e->lu);
  for (int32_t k = 0; k < e->blocks; k++) {
    int32_t dim = d->contact[k].dim, row = e->start[k];
    for (int32_t a = 0; a < 2 * dim; a++) { /* by r, then by u */
      quad at[2 * FRIX_MAX_DIM], side[2][FRIX_MAX_DIM], unit = a < dim ? e->S[k] : 1 / (quad)e->S[k], near = 0;
      quad t = 1e-13L * unit * e->size[k]; /* within the mode */
      for (int32_t j = 0; j < dim; j++)
        near = quad_max(near, quad_max(quad_abs(r[row + j]) / e->S[k], quad_abs(u[row + j]) * e->S[k]));
      if (near > 0 && t > 1e-12L * unit * near) t = 1e-12L * unit * near;
      for (int s = 0; s < 2; s++) {
        for (int32_t j = 0; j < dim; j++) at[j] = r[row + j], at[dim + j] = u[row + j];
        at[a] += s ? t : -t;
        exact_map(e, d, k, at, at + dim, side[s]);
      }
      for (int32_t i = 0; i < dim; i++) {
        real slope = (real)((side[1][i] - side[0][i]) / (2 * t));
        real *to = e->lu + (size_t)(row + i) * n;
        if (a < dim) {
          to[row + a] += slope * e->S[k];
          continue;
        }
        int32_t by = row + a - dim; /* u_by = sum W r + R r */
        for (int32_t m = 0; m < e->blocks; m++)
          for (int32_t j = e->start[m]; j < e->start[m + 1]; j++)
            to[j] += slope * e->W[(size_t)by * n + (size_t)j] * e->S[m];
        if (d->R) to[by] += slope * (real)d->R[by] * e->S[k];
      }
    }
  }
  int32_t size = e->n;
  real *a = e->lu, largest = 0;
  for (int32_t k = 0; k < size; k++) e->at[k] = e->from[k] = k;
  for (e->rank = 0; e->rank < size; e->rank++) {
    int32_t k = e->rank, pr = k, pc = k;
    real most = 0;
    for (int32_t i = k; i < size; i++)
      for (int32_t j = k; j < size; j++)
        if (fabsl(a[(size_t)i * n + (size_t)j]) > most) most = fabsl(a[(size_t)i * n + (size_t)j]), pr = i, pc = j;
    if (k == 0) largest = fminl(most, 1);
    if (!(most > 1e-13L * largest)) break;
    for (int32_t j = 0; j < size && pr != k; j++) {
      real swap = a[(size_t)pr * n + (size_t)j];
      a[(size_t)pr * n + (size_t)j] = a[(size_t)k * n + (size_t)j], a[(size_t)k * n + (size_t)j] = swap;
    }
    for (int32_t i = 0; i < size && pc != k; i++) {
      real swap = a[(size_t)i * n + (size_t)pc];
      a[(size_t)i * n + (size_t)pc] = a[(size_t)i * n + (size_t)k], a[(size_t)i * n + (size_t)k] = swap;
    }
    int32_t old = e->at[k];
    e->at[k] = e->at[pr], e->at[pr] = old;
    old = e->from[k], e->from[k] = e->from[pc], e->from[pc] = old;
    for (int32_t i = k + 1; i < size; i++) {
      real ratio = a[(size_t)i * n + (size_t)k] /= a[(size_t)k * n + (size_t)k];
      for (int32_t j = k + 1; ratio != 0 && j < size; j++)
        a[(size_t)i * n + (size_t)j] -= ratio * a[(size_t)k * n + (size_t)j];
    }
  }
}

/* r -= S K^-1 F */
static void exact_correct(const exact *e, const quad *F, quad *r) {
  size_t n = (size_t)e->n;
  real *y = e->work;
  for (int32_t k = 0; k < e->n; k++) y[k] = (real)F[e->at[k]];
  for (int32_t i = 1; i < e->n; i++)
    for (int32_t j = 0; j < i && j < e->rank; j++) y[i] -= e->lu[(size_t)i * n + (size_t)j] * y[j];
  for (int32_t i = e->rank; i < e->n; i++) y[i] = 0;
  for (int32_t i = e->rank - 1; i >= 0; i--) {
    for (int32_t j = i + 1; j < e->rank; j++) y[i] -= e->lu[(size_t)i * n + (size_t)j] * y[j];
    y[i] /= e->lu[(size_t)i * n + (size_t)i];
  }
  for (int32_t m = 0; m < e->blocks; m++)
    for (int32_t i = e->start[m]; i < e->start[m + 1]; i++) e->work[e->n + i] = e->S[m];
  for (int32_t k = 0; k < e->n; k++) r[e->from[k]] -= y[k] * e->work[e->n + e->from[k]];
}

static void exact_close(exact *e) {
  oracle_free(&e->o);
  free(e->start), free(e->contact), free(e->W), free(e->S), free(e->r), free(e->q), free(e->lu), free(e->at),
      free(e->from), free(e->work), free(e->size), free(e->sum), free(e->mode);
}

static void exact_sizes(exact *e) {
  int32_t *root = calloc((size_t)e->blocks + 1, sizeof *root);
  e->size = calloc((size_t)e->blocks + 1, sizeof *e->size);
  for (int32_t k = 0; k < e->blocks; k++) root[k] = k;
  for (int32_t k = 0; k < e->blocks; k++)
    for (int32_t m = 0; m < k; m++)
      for (int32_t i = e->start[k]; i < e->start[k + 1]; i++)
        for (int32_t j = e->start[m]; j < e->start[m + 1]; j++)
          if (e->W[(size_t)i * (size_t)e->n + (size_t)j] != 0) root[oracle_root(root, k)] = oracle_root(root, m);
  for (int32_t k = 0; k < e->blocks; k++)
    for (int32_t i = e->start[k]; i < e->start[k + 1]; i++) {
      real *to = &e->size[oracle_root(root, k)];
      bool opens = e->contact[k].cone != FRIX_CONE_BILATERAL && e->q[e->start[k]] > 0; /* a gap says nothing */
      *to = fmaxl(*to, fmaxl(fabsl((real)e->r[i]) / e->S[k], opens ? 0 : fabsl(e->q[i]) * e->S[k]));
    }
  for (int32_t k = 0; k < e->blocks; k++) e->size[k] = fmaxl(e->size[oracle_root(root, k)], 1e-300L);
  free(root);
}

static quad *exact_quads(const double *x, int32_t count, int32_t n) {
  quad *out = calloc((size_t)n + 1, sizeof *out);
  for (int32_t k = 0; x && k < count; k++) out[k] = x[k];
  return out;
}

/* The data moved by t along the change (NULL: as they are), to be freed. */
static exact_data exact_move(exact *e, const exact_change *by, quad t) {
  static const exact_change none = {0};
  const frix_problem_data *p = &e->o.data;
  int32_t n = e->n, rows = e->o.row_count;
  bool global = p->form == FRIX_FORM_GLOBAL;
  quad *q = calloc((size_t)n + 1, sizeof *q), *mu = calloc((size_t)e->blocks + 1, sizeof *mu);
  quad *R = p->R ? exact_quads(p->R, rows, n) : NULL, *r_c = exact_quads(p->r_c, rows, n);
  if (!by) by = &none;
  memset(e->o.v, 0, (size_t)p->dof_count * sizeof *e->o.v);
  for (int32_t k = 0; by->f && k < p->dof_count; k++) e->o.v[k] = by->f[k];
  if (global) oracle_mass_solve(&e->o.mass, e->o.v, e->o.work);
  for (int32_t i = 0; i < n; i++) {
    real slope = i < rows ? (by->w ? by->w[i] : 0) : by->b ? by->b[i - rows] : 0, constant;
    int32_t column;
    if (global && by->f) {
      const frix_matrix *A = oracle_column(&e->o, i, &column, &constant);
      slope += oracle_column_dot(A, column, e->o.v);
    }
    q[i] = e->q[i] + t * slope;
    if (i < rows && by->R && R) R[i] += t * by->R[i];
    if (i < rows && by->r_c) r_c[i] += t * by->r_c[i];
  }
  for (int32_t k = 0; k < e->blocks; k++)
    mu[k] = e->contact[k].mu + (by->mu && k < p->contact_count ? t * by->mu[k] : 0);
  return (exact_data){e->contact, mu, q, R, r_c};
}

static void exact_drop(const exact_data *d) {
  free((void *)d->mu), free((void *)d->q), free((void *)d->R), free((void *)d->r_c);
}

/* The answer nearest to (r, lambda). False where Newton does not come to one. */
static bool exact_open(exact *e, const frix_problem *problem, const double *r, const double *lambda) {
  *e = (exact){.o = oracle_new(problem)};
  const frix_problem_data *p = &e->o.data;
  bool global = p->form == FRIX_FORM_GLOBAL;
  int32_t n = e->n = e->o.total, joints = n - e->o.row_count;
  e->blocks = p->contact_count + joints;
  e->start = calloc((size_t)e->blocks + 1, sizeof *e->start);
  e->contact = calloc((size_t)e->blocks + 1, sizeof *e->contact);
  e->W = calloc((size_t)n * (size_t)n + 1, sizeof *e->W), e->lu = calloc((size_t)n * (size_t)n + 1, sizeof *e->lu);
  e->S = calloc((size_t)e->blocks + 1, sizeof *e->S);
  e->r = exact_quads(r, e->o.row_count, n), e->q = calloc((size_t)n + 1, sizeof *e->q),
  e->work = calloc(8 * (size_t)n + 8, sizeof *e->work);
  e->at = calloc((size_t)n + 1, sizeof *e->at), e->from = calloc((size_t)n + 1, sizeof *e->from);
  for (int32_t k = 0; k < joints; k++) e->r[e->o.row_count + k] = lambda ? lambda[k] : 0;
  for (int32_t k = 0; k < e->blocks; k++) {
    e->contact[k] = k < p->contact_count ? p->contact[k] : (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = 1};
    e->start[k + 1] = e->start[k] + e->contact[k].dim;
  }
  memcpy(e->q, e->o.q, (size_t)n * sizeof *e->q);
  for (int32_t j = 0; j < n; j++) { /* columns of W */
    int32_t column;
    real constant;
    if (global) {
      const frix_matrix *A = oracle_column(&e->o, j, &column, &constant);
      memset(e->o.v, 0, (size_t)p->dof_count * sizeof *e->o.v);
      for (int32_t q = A->p[column]; q < A->p[column + 1]; q++) e->o.v[A->i[q]] = A->x[q];
      oracle_mass_solve(&e->o.mass, e->o.v, e->o.work);
      for (int32_t i = 0; i < n; i++) {
        const frix_matrix *B = oracle_column(&e->o, i, &column, &constant);
        e->W[(size_t)i * (size_t)n + (size_t)j] = oracle_column_dot(B, column, e->o.v);
      }
    } else {
      for (int32_t q = p->W.p[j]; q < p->W.p[j + 1]; q++) e->W[(size_t)p->W.i[q] * (size_t)n + (size_t)j] += p->W.x[q];
    }
  }
  for (int32_t k = 0; k < e->blocks; k++) {
    real trace = 0;
    for (int32_t i = e->start[k]; i < e->start[k + 1]; i++) trace += e->W[(size_t)i * (size_t)(n + 1)];
    e->S[k] = trace > 0 ? sqrtl(e->contact[k].dim / trace) : 1;
  }
  exact_sizes(e);
  exact_data here = exact_move(e, NULL, 0);
  quad *u = calloc(2 * (size_t)n + 2, sizeof *u), *F = u + n + 1;
  e->residual = INFINITY;
  for (int round = 0; round < 16; round++) {
    real now = exact_residual(e, &here, e->r, u, F);
    if (now < e->residual) e->residual = now;
    exact_factor(e, &here, e->r, u);
    if (now <= 1e-28L) break;
    exact_correct(e, F, e->r);
  }
  e->mode = calloc((size_t)e->blocks + 1, sizeof *e->mode);
  exact_residual(e, &here, e->r, u, F);
  exact_modes(e, &here, e->r, u, e->mode, NULL);
  e->sum = calloc((size_t)n + 1, sizeof *e->sum);
  for (int32_t i = 0; i < n; i++) {
    e->sum[i] = fabsl(e->q[i]) + (here.R ? fabsl((real)(here.R[i] * e->r[i])) : 0);
    for (int32_t j = 0; j < n; j++) e->sum[i] += fabsl(e->W[(size_t)i * (size_t)n + (size_t)j] * (real)e->r[j]);
  }
  exact_drop(&here);
  free(u);
  return e->residual <= (e->rank < n ? 1e-11L : 1e-16L);
}

/* r and u (n each) of the data changed by t; false where the residual stays above 1e-16 (1e-11 where rows depend on
 * each other). */
static bool exact_beside(exact *e, const exact_change *by, real t, quad *r, quad *u) {
  int32_t n = e->n;
  exact_data there = exact_move(e, by, t);
  quad *F = calloc((size_t)n + 1, sizeof *F);
  real best = INFINITY;
  memcpy(r, e->r, (size_t)n * sizeof *r);
  for (int round = 0; round < 60; round++) {
    real now = exact_residual(e, &there, r, u, F);
    if (round > 6 && now >= 0.5L * best && now <= 1e-13L) break; /* few rounds leave errors in proportion to t */
    if (now < best) best = now;
    if (now > 1e3L * best + 1) break;
    exact_correct(e, F, r);
  }
  best = e->beside = exact_residual(e, &there, r, u, F);
  e->same = exact_modes(e, &there, r, u, NULL, e->mode);
  exact_drop(&there);
  free(F);
  return best <= (e->rank < n ? 1e-11L : 1e-16L);
}

/* v = M^-1 (by f + H r), the change of the velocity that goes with a change r of the impulses. */
static void exact_velocity(exact *e, const exact_change *by, const real *r, real *v) {
  const frix_problem_data *p = &e->o.data;
  for (int32_t k = 0; k < p->dof_count; k++) e->o.v[k] = by->f ? by->f[k] : 0;
  oracle_add_product(&p->H, r, e->o.v);
  if (e->n > e->o.row_count) oracle_add_product(&p->G, r + e->o.row_count, e->o.v);
  oracle_mass_solve(&e->o.mass, e->o.v, e->o.work);
  memcpy(v, e->o.v, (size_t)p->dof_count * sizeof *v);
}

/* out = |M^-1| |M| |v|: what rounding of M does to v, over that rounding. */
static void exact_mass_rounding(exact *e, const real *v, real *out) {
  const frix_matrix *M = &e->o.data.M;
  int32_t n = e->o.data.dof_count;
  real *x = calloc(2 * (size_t)n + 2, sizeof *x), *product = x + n + 1;
  for (int32_t c = 0; c < n; c++)
    for (int32_t k = M->p[c]; k < M->p[c + 1]; k++) product[M->i[k]] += fabsl(M->x[k] * v[c]);
  memset(out, 0, (size_t)n * sizeof *out);
  for (int32_t c = 0; c < n; c++) {
    memset(x, 0, (size_t)n * sizeof *x);
    x[c] = product[c];
    oracle_mass_solve(&e->o.mass, x, e->o.work);
    for (int32_t k = 0; k < n; k++) out[k] += fabsl(x[k]);
  }
  free(x);
}

#endif
