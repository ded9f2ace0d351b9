/* The certificate once more, from its formulas alone: what test_certificate.c compares the library with.
 *
 * Nothing is shared with src/: sparse products are plain loops over the problem's view, M is factorised densely by
 * connected component with partial pivoting, and every cone K = { r_N >= 0, r_T in r_N E } is projected onto in the
 * same naive way, by bisection on the normal component s of the answer: with p(s) the point of s E nearest to x_T,
 *
 *   g(s) = s - x_N - sigma_E(x_T - p(s))   grows with s, and g = 0 at the projection; g(0) >= 0: the projection is 0
 *
 * (half the squared distance to x has derivative g). All in long double, so that what differs is the library's error.
 */
#ifndef FX_TEST_ORACLE_H
#define FX_TEST_ORACLE_H

#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

/* ---- the friction set E of a contact: support function and projection onto s E ---- */

static real oracle_norm(const real *x, int n) {
  real sum = 0;
  for (int k = 0; k < n; k++) sum += x[k] * x[k];
  return sqrtl(sum);
}

/* Unit axes of an elliptic contact. */
static void oracle_axes(const frix_contact *c, real e[2], real o[2]) {
  real length = sqrtl((real)c->axis[0] * c->axis[0] + (real)c->axis[1] * c->axis[1]);
  e[0] = c->axis[0] / length, e[1] = c->axis[1] / length;
  o[0] = -e[1], o[1] = e[0];
}

static void oracle_corner(const frix_contact *c, int k, real d[2]) {
  real angle = 2 * 3.14159265358979323846264338327950288L * (k % c->facets) / c->facets;
  d[0] = c->mu * cosl(angle), d[1] = c->mu * sinl(angle);
}

/* max { y . d : d in E } over the tangential rows. */
static real oracle_support(const frix_contact *c, const real *y) {
  switch (c->cone) {
    case FRIX_CONE_CIRCULAR: return c->mu * oracle_norm(y, 2);
    case FRIX_CONE_PLANAR: return c->mu * fabsl(y[0]);
    case FRIX_CONE_ROLLING: return c->mu * oracle_norm(y, 2) + c->mu_r * oracle_norm(y + 2, 2);
    case FRIX_CONE_ELLIPTIC: {
      real e[2], o[2];
      oracle_axes(c, e, o);
      real z[2] = {c->mu * (e[0] * y[0] + e[1] * y[1]), c->mu2 * (o[0] * y[0] + o[1] * y[1])};
      return oracle_norm(z, 2);
    }
    case FRIX_CONE_PYRAMID: {
      real best = -INFINITY, d[2];
      for (int k = 0; k < c->facets; k++) {
        oracle_corner(c, k, d);
        best = fmaxl(best, d[0] * y[0] + d[1] * y[1]);
      }
      return best;
    }
    default: return 0;
  }
}

static void oracle_clip(const real *x, int n, real radius, real *p) {
  real length = oracle_norm(x, n), factor = length > radius ? radius / length : 1;
  for (int k = 0; k < n; k++) p[k] = factor * x[k];
}

/* Nearest point of the ellipse with half axes a: y_k a_k^2 / (a_k^2 + t), the multiplier t by bisection. */
static void oracle_ellipse(const real y[2], const real a[2], real p[2]) {
  for (int k = 0; k < 2; k++)
    if (a[k] == 0) {
      p[k] = 0;
      p[1 - k] = fmaxl(-a[1 - k], fminl(a[1 - k], y[1 - k]));
      return;
    }
  real low = 0, high = fmaxl(a[0], a[1]) * oracle_norm(y, 2);
  p[0] = y[0], p[1] = y[1];
  if ((y[0] / a[0]) * (y[0] / a[0]) + (y[1] / a[1]) * (y[1] / a[1]) <= 1) return;
  for (int round = 0; round < 300; round++) {
    real t = (low + high) / 2;
    if (t == low || t == high) break;
    real g0 = a[0] * y[0] / (a[0] * a[0] + t), g1 = a[1] * y[1] / (a[1] * a[1] + t);
    if (g0 * g0 + g1 * g1 > 1)
      low = t;
    else
      high = t;
  }
  for (int k = 0; k < 2; k++) p[k] = y[k] * a[k] * a[k] / (a[k] * a[k] + high);
}

/* Nearest point of a polygon: the point itself where no edge sees it outside; its foot on an edge that sees it outside;
 * else the corner that both its edges run away from. Decided by signs: distances to a far point all look the same. */
static void oracle_polygon(const frix_contact *c, const real y[2], real s, real p[2]) {
  real a[2], b[2], z[2];
  bool inside = true;
  p[0] = p[1] = 0;
  if (!(s * c->mu > 0)) return;
  for (int k = 0; k < c->facets; k++) {
    oracle_corner(c, k + c->facets - 1, z);
    oracle_corner(c, k, a);
    oracle_corner(c, k + 1, b);
    for (int j = 0; j < 2; j++) a[j] *= s, b[j] *= s, z[j] *= s;
    real edge[2] = {b[0] - a[0], b[1] - a[1]}, back[2] = {z[0] - a[0], z[1] - a[1]};
    real from[2] = {y[0] - a[0], y[1] - a[1]};
    real square = edge[0] * edge[0] + edge[1] * edge[1], t = (edge[0] * from[0] + edge[1] * from[1]) / square;
    bool outside = edge[0] * from[1] - edge[1] * from[0] < 0;
    if (outside && t >= 0 && t <= 1) {
      p[0] = a[0] + t * edge[0], p[1] = a[1] + t * edge[1];
      return;
    }
    if (outside) inside = false;
    if (t <= 0 && back[0] * from[0] + back[1] * from[1] <= 0) p[0] = a[0], p[1] = a[1];
  }
  if (inside) p[0] = y[0], p[1] = y[1];
}

static void oracle_project_set(const frix_contact *c, const real *y, real s, real *p) {
  switch (c->cone) {
    case FRIX_CONE_CIRCULAR: oracle_clip(y, 2, c->mu * s, p); break;
    case FRIX_CONE_PLANAR: oracle_clip(y, 1, c->mu * s, p); break;
    case FRIX_CONE_ROLLING:
      oracle_clip(y, 2, c->mu * s, p);
      oracle_clip(y + 2, 2, c->mu_r * s, p + 2);
      break;
    case FRIX_CONE_ELLIPTIC: {
      real e[2], o[2], z[2], half[2] = {c->mu * s, c->mu2 * s};
      oracle_axes(c, e, o);
      real local[2] = {e[0] * y[0] + e[1] * y[1], o[0] * y[0] + o[1] * y[1]};
      oracle_ellipse(local, half, z);
      for (int k = 0; k < 2; k++) p[k] = z[0] * e[k] + z[1] * o[k];
      break;
    }
    case FRIX_CONE_PYRAMID: oracle_polygon(c, y, s, p); break;
    default:
      for (int k = 0; k + 1 < c->dim; k++) p[k] = 0;
  }
}

/* g(s) of the head comment; p is filled. */
static real oracle_slope(const frix_contact *c, const real *x, real s, real *p) {
  real miss[FRIX_MAX_DIM] = {0};
  oracle_project_set(c, x + 1, s, p);
  for (int k = 0; k + 1 < c->dim; k++) miss[k] = x[k + 1] - p[k];
  return s - x[0] - oracle_support(c, miss);
}

/* P_K(x); x may be its own answer. */
static void oracle_project(const frix_contact *c, const real *x, real *out) {
  real p[FRIX_MAX_DIM] = {0}, low = 0, high = fmaxl(x[0], 0) + oracle_support(c, x + 1);
  if (c->cone == FRIX_CONE_BILATERAL) {
    memmove(out, x, (size_t)c->dim * sizeof *x);
    return;
  }
  if (oracle_slope(c, x, 0, p) >= 0) {
    for (int k = 0; k < c->dim; k++) out[k] = 0;
    return;
  }
  /* support may be asked of both signs of a pyramid: make sure the root is inside */
  while (oracle_slope(c, x, high, p) < 0) high = 2 * high + 1e-300L;
  for (int round = 0; round < 400; round++) {
    real s = (low + high) / 2;
    if (s == low || s == high) break;
    if (oracle_slope(c, x, s, p) < 0)
      low = s;
    else
      high = s;
  }
  oracle_project_set(c, x + 1, high, p);
  out[0] = high;
  for (int k = 1; k < c->dim; k++) out[k] = p[k - 1];
}

/* ---- M^-1 by connected component, dense, partial pivoting ---- */

typedef struct oracle_mass {
  int32_t dof_count, part_count;
  int32_t *order; /* degrees of freedom, part by part */
  int32_t *start; /* part_count + 1 */
  size_t *offset; /* of the part's factor in lu */
  int32_t *pivot; /* per degree of freedom, inside its part */
  real *lu;
} oracle_mass;

static int32_t oracle_root(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static void oracle_factorise(real *a, int32_t *pivot, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    int32_t best = k;
    for (int32_t i = k + 1; i < n; i++)
      if (fabsl(a[i * n + k]) > fabsl(a[best * n + k])) best = i;
    pivot[k] = best;
    for (int32_t j = 0; j < n; j++) {
      real swap = a[k * n + j];
      a[k * n + j] = a[best * n + j];
      a[best * n + j] = swap;
    }
    for (int32_t i = k + 1; i < n; i++) {
      real factor = a[i * n + k] /= a[k * n + k];
      if (factor != 0)
        for (int32_t j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
}

static void oracle_solve_part(const real *a, const int32_t *pivot, int32_t n, real *x) {
  for (int32_t k = 0; k < n; k++) {
    real swap = x[k];
    x[k] = x[pivot[k]];
    x[pivot[k]] = swap;
  }
  for (int32_t k = 0; k < n; k++)
    for (int32_t j = 0; j < k; j++) x[k] -= a[k * n + j] * x[j];
  for (int32_t k = n - 1; k >= 0; k--) {
    for (int32_t j = k + 1; j < n; j++) x[k] -= a[k * n + j] * x[j];
    x[k] /= a[k * n + k];
  }
}

static oracle_mass oracle_mass_new(const frix_matrix *M) {
  int32_t n = M->row_count;
  oracle_mass m = {.dof_count = n};
  int32_t *parent = calloc((size_t)n + 1, sizeof *parent), *place = calloc((size_t)n + 1, sizeof *place);
  m.order = calloc((size_t)n + 1, sizeof *m.order);
  m.start = calloc((size_t)n + 2, sizeof *m.start);
  m.offset = calloc((size_t)n + 2, sizeof *m.offset);
  m.pivot = calloc((size_t)n + 1, sizeof *m.pivot);
  for (int32_t k = 0; k < n; k++) parent[k] = k;
  for (int32_t j = 0; j < n; j++)
    for (int32_t p = M->p[j]; p < M->p[j + 1]; p++)
      if (M->x[p] != 0.0) parent[oracle_root(parent, M->i[p])] = oracle_root(parent, j);
  /* list the members of every root, in order of the root */
  int32_t *count = calloc((size_t)n + 1, sizeof *count), *part = calloc((size_t)n + 1, sizeof *part);
  for (int32_t k = 0; k < n; k++) count[oracle_root(parent, k)]++;
  for (int32_t k = 0; k < n; k++)
    if (count[k]) {
      part[k] = m.part_count;
      m.start[m.part_count + 1] = m.start[m.part_count] + count[k];
      m.offset[m.part_count + 1] = m.offset[m.part_count] + (size_t)count[k] * (size_t)count[k];
      m.part_count++;
    }
  memset(count, 0, (size_t)n * sizeof *count);
  for (int32_t k = 0; k < n; k++) {
    int32_t root = oracle_root(parent, k);
    place[k] = count[root]++;
    m.order[m.start[part[root]] + place[k]] = k;
  }
  m.lu = calloc(m.offset[m.part_count] + 1, sizeof *m.lu);
  for (int32_t j = 0; j < n; j++)
    for (int32_t p = M->p[j]; p < M->p[j + 1]; p++) {
      int32_t q = part[oracle_root(parent, j)], size = m.start[q + 1] - m.start[q];
      if (M->x[p] != 0.0) m.lu[m.offset[q] + (size_t)place[M->i[p]] * (size_t)size + (size_t)place[j]] += M->x[p];
    }
  for (int32_t q = 0; q < m.part_count; q++)
    oracle_factorise(m.lu + m.offset[q], m.pivot + m.start[q], m.start[q + 1] - m.start[q]);
  free(parent), free(place), free(count), free(part);
  return m;
}

static void oracle_mass_free(oracle_mass *m) {
  free(m->order), free(m->start), free(m->offset), free(m->pivot), free(m->lu);
}

/* x := M^-1 x; parts where x vanishes are passed over. */
static void oracle_mass_solve(const oracle_mass *m, real *x, real *work) {
  for (int32_t q = 0; q < m->part_count; q++) {
    int32_t from = m->start[q], size = m->start[q + 1] - from;
    bool any = false;
    for (int32_t k = 0; k < size; k++) any = (work[k] = x[m->order[from + k]]) != 0 || any;
    if (!any) continue;
    oracle_solve_part(m->lu + m->offset[q], m->pivot + from, size, work);
    for (int32_t k = 0; k < size; k++) x[m->order[from + k]] = work[k];
  }
}

/* ---- the problem as u = W z + q over contact rows, then joint rows ---- */

typedef struct oracle {
  frix_problem_data data;
  int32_t row_count, total; /* contact rows; with joint rows */
  oracle_mass mass;
  real *diagonal; /* of W, without R */
  real *q;        /* u at z = 0, without R (0 - r_c) */
  real *v, *work;
  real carried; /* sqrt(v_free' M v_free); 0 in the local form */
} oracle;

static void oracle_add_product(const frix_matrix *A, const real *x, real *y) {
  for (int32_t j = 0; j < A->col_count; j++)
    for (int32_t p = A->p[j]; p < A->p[j + 1]; p++) y[A->i[p]] += A->x[p] * x[j];
}

static real oracle_column_dot(const frix_matrix *A, int32_t j, const real *y) {
  real sum = 0;
  for (int32_t p = A->p[j]; p < A->p[j + 1]; p++) sum += A->x[p] * y[A->i[p]];
  return sum;
}

/* Column k of [H G] and the constant of its row. */
static const frix_matrix *oracle_column(const oracle *o, int32_t k, int32_t *column, real *constant) {
  bool joint = k >= o->row_count;
  *column = joint ? k - o->row_count : k;
  *constant = joint ? o->data.b[*column] : o->data.w[*column];
  return joint ? &o->data.G : &o->data.H;
}

/* v = M^-1 (f + H z + G z_b), z = NULL: without contact. */
static void oracle_velocity(oracle *o, const real *z) {
  for (int32_t k = 0; k < o->data.dof_count; k++) o->v[k] = o->data.f[k];
  if (z) {
    oracle_add_product(&o->data.H, z, o->v);
    if (o->data.joint_count) oracle_add_product(&o->data.G, z + o->row_count, o->v);
  }
  oracle_mass_solve(&o->mass, o->v, o->work);
}

static void oracle_set_global(oracle *o) {
  const frix_matrix *A;
  int32_t column;
  real constant;
  o->mass = oracle_mass_new(&o->data.M);
  oracle_velocity(o, NULL);
  for (int32_t k = 0; k < o->data.dof_count; k++) o->carried += o->v[k] * o->data.f[k];
  o->carried = sqrtl(fmaxl(o->carried, 0));
  for (int32_t k = 0; k < o->total; k++) {
    A = oracle_column(o, k, &column, &constant);
    o->q[k] = oracle_column_dot(A, column, o->v) + constant;
  }
  for (int32_t k = 0; k < o->total; k++) {
    A = oracle_column(o, k, &column, &constant);
    memset(o->v, 0, (size_t)o->data.dof_count * sizeof *o->v);
    for (int32_t p = A->p[column]; p < A->p[column + 1]; p++) o->v[A->i[p]] = A->x[p];
    oracle_mass_solve(&o->mass, o->v, o->work);
    o->diagonal[k] = oracle_column_dot(A, column, o->v);
  }
}

static oracle oracle_new(const frix_problem *problem) {
  oracle o = {0};
  frix_problem_view(problem, &o.data);
  o.row_count = o.data.row_count;
  bool global = o.data.form == FRIX_FORM_GLOBAL;
  o.total = o.row_count + (global ? o.data.joint_count : 0);
  o.diagonal = calloc((size_t)o.total + 1, sizeof *o.diagonal);
  o.q = calloc((size_t)o.total + 1, sizeof *o.q);
  o.v = calloc((size_t)o.data.dof_count + 1, sizeof *o.v);
  o.work = calloc((size_t)o.data.dof_count + 1, sizeof *o.work);
  if (global) {
    oracle_set_global(&o);
    return o;
  }
  for (int32_t j = 0; j < o.total; j++) {
    o.q[j] = o.data.q[j];
    for (int32_t p = o.data.W.p[j]; p < o.data.W.p[j + 1]; p++)
      if (o.data.W.i[p] == j) o.diagonal[j] += o.data.W.x[p];
  }
  return o;
}

static void oracle_free(oracle *o) {
  oracle_mass_free(&o->mass);
  free(o->diagonal), free(o->q), free(o->v), free(o->work);
}

/* u over all rows, compliance included; leaves v in the oracle. */
static inline void oracle_apply(oracle *o, const real *z, real *u) {
  if (o->data.form == FRIX_FORM_GLOBAL) {
    oracle_velocity(o, z);
    for (int32_t k = 0; k < o->total; k++) {
      int32_t column;
      real constant;
      const frix_matrix *A = oracle_column(o, k, &column, &constant);
      u[k] = oracle_column_dot(A, column, o->v) + constant;
    }
  } else {
    for (int32_t k = 0; k < o->total; k++) u[k] = o->q[k];
    oracle_add_product(&o->data.W, z, u);
  }
  for (int32_t k = 0; k < o->row_count && o->data.R; k++)
    u[k] += o->data.R[k] * (z[k] - (o->data.r_c ? o->data.r_c[k] : 0.0));
}

#endif
