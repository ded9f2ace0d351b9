/* Judges an answer of a contact problem: reduced to u = W r + q in long double, dense, joints as bilateral rows.
 *
 *   W = (H G)' M^-1 (H G),   q = (H G)' M^-1 f + (w b)                         global form
 *
 * Tolerances as in judge.h. Where bodies are known, S_own = |w| + sum over them of sqrt(J M^-1 J') |v_free|_M; else the
 * largest |q| of the rows that share a body with the row, weighed by sqrt(W_kk / W_jj). Where sizes of bodies are not
 * known, instead of one size per step stands 1e3 times what drives the island: sqrt(W_kk) (sum of q^2 / W)^1/2; a
 * normal row that opens without impulses drives nothing. */
#include "judge_problem.h"

#include "judge_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dense {
  int rows, contact_rows;
  real *W, *q, *r, *u, *R, *memory;
  int *island;
  int bodies;              /* 0: not known */
  real *root;              /* by row, then body: sqrt(J M^-1 J') */
  real *own, *all, *asked; /* by body: roots of energies without and with impulses; by row: |w| */
  real *reach;             /* by row: one size of each of its bodies, or one radian, per step; NULL: not known */
} dense;

static real *take(size_t n) { return calloc(n ? n : 1, sizeof(real)); }

static void each_entry(const frix_matrix *m, void (*use)(int at, int column, real x, void *user), void *user) {
  if (m->format == FRIX_MATRIX_CSC)
    for (int c = 0; c < m->col_count; c++)
      for (int k = m->p[c]; k < m->p[c + 1]; k++) use(m->i[k], c, m->x[k], user);
}

typedef struct target {
  real *x;
  int rows, column; /* first column */
} target;

static void put(int at, int column, real x, void *user) {
  target *t = user;
  t->x[(size_t)(t->column + column) * (size_t)t->rows + (size_t)at] += x;
}

/* Solves A X = B in place by elimination with row pivoting; columns of B. False: singular. */
static bool solve_dense(int n, real *A, int columns, real *B) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabsl(A[(size_t)k * (size_t)n + (size_t)i]) > fabsl(A[(size_t)k * (size_t)n + (size_t)best])) best = i;
    if (A[(size_t)k * (size_t)n + (size_t)best] == 0) return false;
    for (int c = 0; best != k && c < n; c++) {
      real *a = A + (size_t)c * (size_t)n, t = a[k];
      a[k] = a[best], a[best] = t;
    }
    for (int c = 0; best != k && c < columns; c++) {
      real *b = B + (size_t)c * (size_t)n, t = b[k];
      b[k] = b[best], b[best] = t;
    }
    for (int i = k + 1; i < n; i++) {
      real f = A[(size_t)k * (size_t)n + (size_t)i] / A[(size_t)k * (size_t)n + (size_t)k];
      if (f == 0) continue;
      for (int c = k; c < n; c++) A[(size_t)c * (size_t)n + (size_t)i] -= f * A[(size_t)c * (size_t)n + (size_t)k];
      for (int c = 0; c < columns; c++)
        B[(size_t)c * (size_t)n + (size_t)i] -= f * B[(size_t)c * (size_t)n + (size_t)k];
    }
  }
  for (int c = 0; c < columns; c++)
    for (int k = n - 1; k >= 0; k--) {
      real *b = B + (size_t)c * (size_t)n;
      for (int i = k + 1; i < n; i++) b[k] -= A[(size_t)i * (size_t)n + (size_t)k] * b[i];
      b[k] /= A[(size_t)k * (size_t)n + (size_t)k];
    }
  return true;
}

/* What a row moves by while body b moves by its size and turns by a radian, per step. */
static real reach_of(const real *J, const problem_bodies *known, int b) {
  bool planar = known->dofs == 3;
  real lin = planar ? hypotl(J[0], J[1]) : hypotl(hypotl(J[0], J[1]), J[2]);
  real ang = planar ? fabsl(J[2]) : hypotl(hypotl(J[3], J[4]), J[5]);
  return (lin * (real)known->size[b] + ang) / (real)known->h;
}

static void reduce_global(const frix_problem_data *p, const problem_bodies *known, dense *d) {
  size_t n = (size_t)p->dof_count, m = (size_t)d->rows;
  real *M = take(n * n), *H = take(n * m), *Y = take(n * (m + 1));
  target to = {M, p->dof_count, 0};
  each_entry(&p->M, put, &to);
  to = (target){H, p->dof_count, 0};
  each_entry(&p->H, put, &to);
  to.column = p->row_count;
  each_entry(&p->G, put, &to);
  memcpy(Y, H, n * m * sizeof *Y);
  for (size_t k = 0; k < n; k++) Y[m * n + k] = p->f[k];
  solve_dense(p->dof_count, M, d->rows + 1, Y);
  for (size_t a = 0; a < m; a++)
    for (size_t b = 0; b <= m; b++) {
      real sum = 0;
      for (size_t k = 0; k < n; k++) sum += H[a * n + k] * Y[b * n + k];
      if (b < m)
        d->W[b * m + a] = sum;
      else
        d->q[a] = sum + (a < (size_t)p->row_count ? p->w[a] : p->b[a - (size_t)p->row_count]);
    }
  for (int b = 0; b < d->bodies; b++) {
    size_t from = n / (size_t)d->bodies * (size_t)b, end = from + n / (size_t)d->bodies;
    real energy = 0;
    for (size_t k = from; k < end; k++) energy += Y[m * n + k] * p->f[k];
    d->own[b] = d->all[b] = sqrtl(fmaxl(0, energy));
    for (size_t a = 0; a < m; a++) {
      real sum = 0;
      for (size_t k = from; k < end; k++) sum += H[a * n + k] * Y[a * n + k];
      d->root[a * (size_t)d->bodies + (size_t)b] = sqrtl(fmaxl(0, sum));
    }
  }
  for (int b = 0; d->reach && b < d->bodies; b++)
    for (size_t a = 0; a < m; a++) d->reach[a] += reach_of(H + a * n + (size_t)(b * known->dofs), known, b);
  free(M), free(H), free(Y);
}

/* Rows that W connects, and those of one contact, which connects its bodies whatever its friction. */
static void find_islands(const frix_problem_data *p, dense *d) {
  bool again = true;
  for (int k = 0; k < d->rows; k++) d->island[k] = k;
  for (int i = 0, first = 0; i < p->contact_count; first += p->contact[i++].dim)
    for (int k = 1; k < p->contact[i].dim; k++) d->island[first + k] = first;
  while (again) {
    again = false;
    for (int a = 0; a < d->rows; a++)
      for (int b = 0; b < d->rows; b++) {
        if (d->W[(size_t)b * (size_t)d->rows + (size_t)a] == 0 || d->island[a] == d->island[b]) continue;
        int low = d->island[a] < d->island[b] ? d->island[a] : d->island[b];
        int high = d->island[a] + d->island[b] - low;
        for (int k = 0; k < d->rows; k++)
          if (d->island[k] == high) d->island[k] = low;
        again = true;
      }
  }
}

static real weight_of(const dense *d, int k) { return d->W[(size_t)k * (size_t)d->rows + (size_t)k]; }

/* |q| of row k where it says how fast bodies move: an open gap says nothing. */
static real moving(const dense *d, const bool *normal, int k) { return normal[k] && d->q[k] > 0 ? 0 : fabsl(d->q[k]); }

/* S_own and S_all of row k where bodies are known. */
static void carried(const dense *d, int k, real *own, real *all) {
  *own = *all = d->asked[k];
  for (int b = 0; b < d->bodies; b++) {
    real root = d->root[k * d->bodies + b];
    *own += root * d->own[b];
    *all += root * d->all[b];
  }
}

/* Tolerances of row k. normal: it may open. */
static void grant(const dense *d, const bool *normal, int k, real tolerance, real *near, real *light) {
  real W = weight_of(d, k), own = moving(d, normal, k), all = 0, drive = 0;
  for (int i = 0; i < d->rows; i++) {
    real V = weight_of(d, i), q = moving(d, normal, i), link = d->W[(size_t)i * (size_t)d->rows + (size_t)k];
    all += fabsl(link * d->r[i]);
    if (link != 0 && V > 0 && W > 0) own = fmaxl(own, sqrtl(W / V) * q); /* rows of the same bodies */
    if (d->island[i] == d->island[k] && V > 0) drive += q * q / V;
  }
  own += d->R[k] * fabsl(d->memory[k]);
  all += own + d->R[k] * fabsl(d->r[k]);
  if (d->bodies) carried(d, k, &own, &all);
  real most = d->reach ? d->reach[k] : 1e3L * sqrtl(fmaxl(0, W)) * sqrtl(drive);
  real S = fminl(all, fmaxl(own, most));
  *near = tolerance * S + fminl(1e-13L * all, 100 * tolerance * S);
  *light = W + d->R[k] > 0 ? *near / (W + d->R[k]) : INFINITY;
}

static void corner(const frix_contact *c, int k, real d[2]) {
  real angle = 2 * 3.14159265358979323846264338327950288L * k / c->facets;
  d[0] = c->mu * cosl(angle), d[1] = c->mu * sinl(angle);
}

/* Friction in a polygon: within it, and of the most power. */
static real pyramid_excess(const group *g, const frix_contact *c, const real *r, const real *u, real tolerance) {
  real N = fmaxl(0, r[0]), near = fmaxl(g->near[1], g->near[2]), size = hypotl(r[1], r[2]), slip = hypotl(u[1], u[2]);
  real light = fmaxl(fmaxl(g->light[1], g->light[2]), tolerance * size), out = 0, most = 0;
  for (int k = 0; k < c->facets; k++) {
    real a[2], b[2];
    corner(c, k, a), corner(c, k + 1, b);
    real n[2] = {b[1] - a[1], a[0] - b[0]}, long_ = hypotl(n[0], n[1]);
    if (long_ > 0) out = fmaxl(out, (n[0] * (r[1] - N * a[0]) + n[1] * (r[2] - N * a[1])) / long_);
    most = fmaxl(most, -N * (a[0] * u[1] + a[1] * u[2]));
  }
  real gap = most + r[1] * u[1] + r[2] * u[2];
  real spread = 2 * c->mu * N * near + light * slip + tolerance * c->mu * N * slip;
  real slide = gap > 0 ? gap / spread : 0, stick = slip / near;
  return fmaxl(out > 0 ? out / (light + tolerance * c->mu * N) : 0, slip > 0 ? fminl(stick, slide) : 0);
}

/* Largest tolerances of both tangents: no frame in their plane is better than another. */
static real tangents(int dim, const real *grant) { return dim == 2 ? grant[1] : fmaxl(grant[1], grant[2]); }

/* The relaxed law: r in K, u in its dual, r . u = 0. Where (u', r') obeys it, u' off by du and r' by dr,
 * |r . u| <= |r| |du| + |dr| (|u| + |du|), for the normal row and the tangents each. */
static real associated_excess(const group *g, const frix_contact *c, const real *r, const real *u, real tolerance) {
  real near[2] = {g->near[0], tangents(c->dim, g->near)}, light[2] = {g->light[0], tangents(c->dim, g->light)};
  real T = c->dim == 2 ? fabsl(r[1]) : hypotl(r[1], r[2]), V = c->dim == 2 ? fabsl(u[1]) : hypotl(u[1], u[2]);
  real power = 0, sizes = 0, impulse[2] = {fabsl(r[0]), T}, speed[2] = {fabsl(u[0]), V}, grant = 0;
  for (int k = 0; k < c->dim; k++) {
    power += r[k] * u[k];
    sizes += fabsl(r[k] * u[k]);
  }
  for (int k = 0; k < 2; k++) grant += impulse[k] * near[k] + light[k] * (speed[k] + near[k]);
  real out = fmaxl(0, T - c->mu * r[0]) / (light[1] + tolerance * T),
       in = fmaxl(0, c->mu * V - u[0]) / (near[0] + c->mu * near[1]);
  return fmaxl(fmaxl(power != 0 ? fabsl(power) / (grant + tolerance * sizes) : 0, r[0] < 0 ? -r[0] / light[0] : 0),
               fmaxl(T > c->mu * r[0] ? out : 0, c->mu * V > u[0] ? in : 0));
}

static void judge_one(const judge *j, const frix_contact *c, frix_law kind, group *g, const real *r, const real *u,
                      int where, verdict *out) {
  real tolerance = 100 * (real)j->config.tolerance, excess = 0;
  char what[400] = "";
  g->dim = c->dim;
  g->pair = frix_material_default();
  g->pair.mu = c->mu, g->pair.mu2 = c->mu2, g->pair.rolling = c->mu_r;
  g->report.law = *c;
  if (c->cone == FRIX_CONE_ELLIPTIC) {
    double n = hypot(c->axis[0], c->axis[1]);
    g->report.law.axis[0] /= n, g->report.law.axis[1] /= n;
  }
  if (c->cone == FRIX_CONE_BILATERAL) {
    for (int k = 0; k < c->dim; k++) {
      if (u[k] == 0) continue;
      note(out, LAW_JOINT, fabsl(u[k]) / g->near[k], "joint %d row %d: u %.3Lg (granted %.2Lg), impulse %.4Lg", where,
           k, u[k], g->near[k], r[k]);
    }
    return;
  }
  if (c->cone == FRIX_CONE_FRICTIONLESS || c->cone == FRIX_CONE_LIMIT) {
    for (int k = 1; k < c->dim; k++)
      if (r[k] != 0) excess = fmaxl(excess, fabsl(r[k]) / g->light[k]);
    g->dim = 1;
  } else if (kind == FRIX_LAW_ASSOCIATED) {
    if (c->cone != FRIX_CONE_CIRCULAR && c->cone != FRIX_CONE_PLANAR) return;
    note(out, LAW_CONTACT, associated_excess(g, c, r, u, tolerance), "contact %d (relaxed law): u_N %.3Lg, r_N %.4Lg",
         where, u[0], r[0]);
    return;
  } else if (c->cone == FRIX_CONE_PYRAMID) {
    excess = r[0] > g->light[0] ? pyramid_excess(g, c, r, u, tolerance) : 0;
    g->dim = 1;
  }
  excess = fmaxl(excess, contact_excess(j, g, r, u, 0, true, what, sizeof what));
  note(out, LAW_CONTACT, excess, "contact %d: %s", where, what);
}

/* What impulses add to the bodies, and what rows ask for. */
static void find_carried(const frix_problem_data *p, const bool *normal, dense *d) {
  for (int k = 0; d->bodies && k < d->rows; k++) {
    real w = k < p->row_count ? p->w[k] : p->b[k - p->row_count];
    d->asked[k] = normal[k] && w > 0 ? 0 : fabsl(w);
    d->asked[k] += d->R[k] * (fabsl(d->r[k]) + fabsl(d->memory[k]));
    for (int b = 0; b < d->bodies; b++) d->all[b] += d->root[k * d->bodies + b] * fabsl(d->r[k]);
  }
}

static void judge_rows(const frix_problem_data *p, frix_law kind, dense *d, verdict *out) {
  judge j = {.config = frix_sim_default()};
  bool *normal = calloc((size_t)d->rows + 1, sizeof *normal);
  int at = 0;
  for (int i = 0; i < p->contact_count; at += p->contact[i++].dim)
    normal[at] = p->contact[i].cone != FRIX_CONE_BILATERAL;
  find_carried(p, normal, d);
  at = 0;
  frix_contact bilateral = {.cone = FRIX_CONE_BILATERAL, .dim = 1};
  for (int i = 0; i < p->contact_count + p->joint_count; i++) {
    const frix_contact *c = i < p->contact_count ? &p->contact[i] : &bilateral;
    group g = {0};
    for (int k = 0; k < c->dim; k++) grant(d, normal, at + k, 100 * (real)j.config.tolerance, &g.near[k], &g.light[k]);
    /* a normal row that moves no body says r_N = memory: a bound of friction that is given */
    if (c->cone != FRIX_CONE_BILATERAL && c->dim > 1 && weight_of(d, at) == 0 && d->R[at] > 0)
      d->r[at] = fmaxl(0, d->memory[at]), d->u[at] = 0;
    /* rows of a contact share what its bodies carry */
    for (int a = 0; a < c->dim && a < 3 && c->cone != FRIX_CONE_BILATERAL; a++)
      for (int b = 0; b < c->dim && b < 3; b++) {
        real A = weight_of(d, at + a), B = weight_of(d, at + b);
        if (A > 0 && B > 0 && g.near[b] * sqrtl(A / B) > g.near[a])
          g.near[a] = g.near[b] * sqrtl(A / B), g.light[a] = g.near[a] / (A + d->R[at + a]);
      }
    judge_one(&j, c, kind, &g, d->r + at, d->u + at, i, out);
    at += c->dim;
  }
  free(normal);
}

void judge_answer(const frix_problem *problem, const problem_bodies *bodies, frix_law kind, const double *r,
                  const double *lambda, verdict *out) {
  frix_problem_data p;
  frix_problem_view(problem, &p);
  memset(out, 0, sizeof *out);
  size_t n = (size_t)(p.row_count + p.joint_count);
  dense d = {.rows = (int)n,
             .contact_rows = p.row_count,
             .W = take(n * n),
             .q = take(n),
             .r = take(n),
             .u = take(n),
             .R = take(n),
             .memory = take(n),
             .island = calloc(n + 1, sizeof *d.island),
             .asked = take(n)};
  d.bodies = p.form == FRIX_FORM_GLOBAL && bodies->dofs > 0 ? p.dof_count / bodies->dofs : 0;
  d.reach = d.bodies && bodies->size ? take(n) : NULL;
  d.root = take(n * (size_t)d.bodies);
  d.own = take((size_t)d.bodies);
  d.all = take((size_t)d.bodies);
  if (p.form == FRIX_FORM_LOCAL) {
    target to = {d.W, d.rows, 0};
    each_entry(&p.W, put, &to);
    for (size_t k = 0; k < n; k++) d.q[k] = p.q[k];
  } else {
    reduce_global(&p, bodies, &d);
  }
  for (size_t k = 0; k < n; k++) {
    d.r[k] = k < (size_t)p.row_count ? r[k] : lambda[k - (size_t)p.row_count];
    if (p.R && k < (size_t)p.row_count) d.R[k] = p.R[k], d.memory[k] = p.r_c ? p.r_c[k] : 0;
  }
  find_islands(&p, &d);
  for (size_t k = 0; k < n; k++) {
    d.u[k] = d.q[k] + d.R[k] * (d.r[k] - d.memory[k]);
    for (size_t i = 0; i < n; i++) d.u[k] += d.W[i * n + k] * d.r[i];
  }
  judge_rows(&p, kind, &d, out);
  out->rows = d.rows;
  free(d.W), free(d.q), free(d.r), free(d.u), free(d.R), free(d.memory), free(d.island);
  free(d.root), free(d.own), free(d.all), free(d.asked), free(d.reach);
}
