/* The simplex method of the limit analysis: a tableau, two phases, edges of cones on demand. */
#include "limit_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

enum { FIRST_EDGES = 6, ROUNDS = 400, REFRESH = 20 };

static const real zero_cost = 1e-15L; /* a reduced cost below is none */
static const real zero_pivot = 1e-9L;

typedef struct edge {
  int contact; /* -1: t */
  real force[3];
} edge;

/* rows x (rows artificial columns, then edges); the artificial ones hold B^-1. */
typedef struct tableau {
  const oracle *o;
  int rows, columns, capacity;
  real *x, *raw;  /* column by column, rows numbers each: as pivots left them, and as they were */
  real *own_cost; /* of columns, phase 1 */
  real *b, *raw_b;
  int *basis;
  real *cost[2], value[2]; /* reduced costs and objective of both phases */
  edge *edge;              /* by column, from the artificial ones on */
  real *sign;              /* of a row: its right-hand side is made positive */
  int pivots, since;       /* since the last refresh */
} tableau;

static int dof(const oracle *o) { return o->planar ? 3 : 6; }

static void cross(const real a[3], const real b[3], real out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* A force on body `at`, or its opposite, into a column of wrenches. */
static void push(const oracle *o, int body, const double point[3], const real force[3], real factor, real *column) {
  if (body < 0) return;
  real arm[3], torque[3];
  for (int k = 0; k < 3; k++) arm[k] = (real)point[k] - o->body[body].center[k];
  cross(arm, force, torque);
  real *to = column + body * dof(o);
  if (o->planar) {
    to[0] += factor * force[0], to[1] += factor * force[1], to[2] += factor * torque[2];
  } else {
    for (int k = 0; k < 3; k++) to[k] += factor * force[k], to[3 + k] += factor * torque[k];
  }
}

/* Two directions across the normal. */
static void across(const oracle *o, const oracle_contact *c, real t[2][3]) {
  real n[3] = {c->normal[0], c->normal[1], c->normal[2]}, axis[3] = {0, 0, 1};
  if (!o->planar && fabsl(n[2]) > 0.7L) axis[0] = 1, axis[2] = 0;
  cross(axis, n, t[0]);
  real length = sqrtl(t[0][0] * t[0][0] + t[0][1] * t[0][1] + t[0][2] * t[0][2]);
  for (int k = 0; k < 3; k++) t[0][k] /= length;
  cross(n, t[0], t[1]);
}

/* ---- the tableau ---- */

static bool grow(tableau *t) {
  if (t->columns < t->capacity) return true;
  t->capacity = 2 * t->capacity + 64;
  size_t columns = (size_t)t->capacity, rows = (size_t)t->rows;
  t->x = realloc(t->x, columns * rows * sizeof *t->x);
  t->raw = realloc(t->raw, columns * rows * sizeof *t->raw);
  t->edge = realloc(t->edge, columns * sizeof *t->edge);
  t->own_cost = realloc(t->own_cost, columns * sizeof *t->own_cost);
  for (int phase = 0; phase < 2; phase++) t->cost[phase] = realloc(t->cost[phase], columns * sizeof **t->cost);
  return t->x && t->raw && t->edge && t->own_cost && t->cost[0] && t->cost[1];
}

static real *column_of(const tableau *t, int c) { return t->x + (size_t)c * (size_t)t->rows; }

/* B^-1 times a column, and its reduced costs. phase 0: the sum of the artificial variables; phase 1: -t. */
static void express(tableau *t, int c) {
  const real *raw = t->raw + (size_t)c * (size_t)t->rows;
  real *to = column_of(t, c);
  memset(to, 0, (size_t)t->rows * sizeof *to);
  t->cost[0][c] = 0, t->cost[1][c] = t->own_cost[c];
  for (int r = 0; r < t->rows; r++) {
    if (raw[r] == 0) continue;
    const real *inverse = column_of(t, r);
    for (int k = 0; k < t->rows; k++) to[k] += inverse[k] * raw[r];
    /* the reduced cost of artificial column r is its own cost less the dual */
    t->cost[0][c] += (t->cost[0][r] - 1) * raw[r];
    t->cost[1][c] += t->cost[1][r] * raw[r];
  }
}

static bool add_column(tableau *t, const real *raw, edge e, real own_cost) {
  if (!grow(t)) return false;
  int c = t->columns++;
  for (int r = 0; r < t->rows; r++) t->raw[(size_t)c * (size_t)t->rows + (size_t)r] = t->sign[r] * raw[r];
  t->edge[c] = e;
  t->own_cost[c] = own_cost;
  express(t, c);
  return true;
}

static bool add_edge(tableau *t, int contact, const real direction[3]) {
  const oracle *o = t->o;
  const oracle_contact *c = &o->contact[contact];
  real *raw = calloc((size_t)t->rows, sizeof *raw);
  if (!raw) return false;
  edge e = {contact, {0}};
  for (int k = 0; k < 3; k++) e.force[k] = c->normal[k] + c->mu * direction[k];
  push(o, c->a, c->point, e.force, 1, raw);
  push(o, c->b, c->point, e.force, -1, raw);
  bool good = add_column(t, raw, e, 0);
  free(raw);
  return good;
}

static void pivot(tableau *t, int row, int column) {
  real *p = column_of(t, column), inverse = 1 / p[row];
  real *factor = malloc((size_t)t->rows * sizeof *factor);
  memcpy(factor, p, (size_t)t->rows * sizeof *factor);
  real cost[2] = {t->cost[0][column], t->cost[1][column]};
  for (int c = 0; c < t->columns; c++) {
    real *x = column_of(t, c), own = x[row] * inverse;
    if (own == 0) continue;
    for (int r = 0; r < t->rows; r++) x[r] -= factor[r] * own;
    x[row] = own;
    for (int phase = 0; phase < 2; phase++) t->cost[phase][c] -= cost[phase] * own;
  }
  real own = t->b[row] * inverse;
  for (int r = 0; r < t->rows; r++) t->b[r] -= factor[r] * own;
  t->b[row] = own;
  for (int phase = 0; phase < 2; phase++) t->value[phase] -= cost[phase] * own, t->cost[phase][column] = 0;
  t->basis[row] = column;
  t->pivots++;
  free(factor);
}

/* The artificial columns as at the start, all others as B^-1 = I has them. */
static void reset(tableau *t) {
  t->value[0] = t->value[1] = 0;
  for (int r = 0; r < t->rows; r++) {
    real *x = column_of(t, r);
    memset(x, 0, (size_t)t->rows * sizeof *x);
    x[r] = 1;
    t->cost[0][r] = t->cost[1][r] = 0;
    t->b[r] = t->raw_b[r];
    t->value[0] -= t->b[r]; /* minus the sum of the artificial variables */
    t->basis[r] = r;
  }
  for (int c = t->rows; c < t->columns; c++) express(t, c);
}

/* Everything anew from the basis: what pivots left of rounding is gone. Artificial variables keep their rows. */
static void refresh(tableau *t) {
  int *basis = malloc((size_t)t->rows * sizeof *basis), count = 0;
  bool *open = calloc((size_t)t->rows, sizeof *open);
  for (int r = 0; r < t->rows; r++) {
    open[r] = t->basis[r] >= t->rows;
    if (open[r]) basis[count++] = t->basis[r];
  }
  reset(t);
  for (; count > 0; count--) { /* the largest pivot that is left */
    int row = -1, which = -1;
    for (int k = 0; k < count; k++)
      for (int r = 0; r < t->rows; r++) {
        if (!open[r]) continue;
        if (row < 0 || fabsl(column_of(t, basis[k])[r]) > fabsl(column_of(t, basis[which])[row])) row = r, which = k;
      }
    pivot(t, row, basis[which]);
    open[row] = false;
    basis[which] = basis[count - 1];
  }
  free(basis);
  free(open);
  t->since = 0;
}

/* The row that leaves: the largest pivot of those whose ratio is the least, a little slack allowed (P. Harris 1973);
 * rows of artificial variables leave as they may. */
static int leaving(const tableau *t, int column, bool second) {
  const real *p = column_of(t, column), slack = 1e-13L;
  int best = -1;
  real least = INFINITY;
  for (int r = 0; r < t->rows; r++) {
    bool artificial = t->basis[r] < t->rows;
    if (second && artificial && fabsl(p[r]) > zero_pivot) return r; /* they stay zero */
    if (p[r] > zero_pivot) least = fminl(least, (fmaxl(t->b[r], 0) + slack) / p[r]);
  }
  for (int r = 0; r < t->rows; r++)
    if (p[r] > zero_pivot && t->b[r] <= least * p[r] && (best < 0 || p[r] > p[best])) best = r;
  return best;
}

/* Columns there are, until none lowers the objective; false: without bound. */
static bool optimise(tableau *t, int phase) {
  int still = 0;
  real last = t->value[phase];
  for (;;) {
    int enter = -1;
    real least = -zero_cost;
    for (int c = t->rows; c < t->columns; c++) {
      if (!(t->cost[phase][c] < least) || (phase == 0 && t->edge[c].contact == -1)) continue; /* t = 0 at first */
      enter = c;
      if (still > 50) break; /* Bland's rule where nothing moves */
      least = t->cost[phase][c];
    }
    if (enter < 0) return true;
    int row = leaving(t, enter, phase == 1);
    if (row < 0 && phase == 1) return false;
    if (row < 0) { /* the artificial variables have a least sum: its cost was rounding */
      t->cost[0][enter] = 0;
      continue;
    }
    if (phase == 1 && t->basis[row] < t->rows) t->b[row] = 0; /* but for rounding */
    pivot(t, row, enter);
    if (++t->since >= REFRESH) refresh(t);
    still = t->value[phase] == last ? still + 1 : 0;
    last = t->value[phase];
    if (t->pivots > 200000) return true;
  }
}

/* ---- edges on demand ---- */

/* v of the dual answer: what artificial columns say. */
static void dual(const tableau *t, int phase, real *v) {
  for (int r = 0; r < t->rows; r++) v[r] = t->sign[r] * (t->cost[phase][r] - (phase == 0 ? 1 : 0));
}

/* u of a contact: reduced costs of unit forces along the normal and across it. */
static void velocity(const tableau *t, int contact, const real *v, real t_axis[2][3], real u[3]) {
  const oracle_contact *c = &t->o->contact[contact];
  real *raw = malloc((size_t)t->rows * sizeof *raw), n[3] = {c->normal[0], c->normal[1], c->normal[2]};
  across(t->o, c, t_axis);
  for (int k = 0; k < 3; k++) {
    memset(raw, 0, (size_t)t->rows * sizeof *raw);
    push(t->o, c->a, c->point, k ? t_axis[k - 1] : n, 1, raw);
    push(t->o, c->b, c->point, k ? t_axis[k - 1] : n, -1, raw);
    u[k] = 0;
    for (int r = 0; r < t->rows; r++) u[k] += raw[r] * v[r];
  }
  free(raw);
}

/* Adds the best edge of every cone that still lowers the objective; the largest violation. */
static real price(tableau *t, int phase, real tolerance, bool *good) {
  real *v = malloc((size_t)t->rows * sizeof *v), worst = 0;
  dual(t, phase, v);
  for (int i = 0; i < t->o->contact_count; i++) {
    real axis[2][3], u[3], mu = t->o->contact[i].mu;
    velocity(t, i, v, axis, u);
    real slip = sqrtl(u[1] * u[1] + u[2] * u[2]), cost = u[0] - mu * slip;
    if (-cost > worst) worst = -cost;
    if (!(-cost > tolerance) || !(slip > 0)) continue;
    real d[3];
    for (int k = 0; k < 3; k++) d[k] = -(u[1] * axis[0][k] + u[2] * axis[1][k]) / slip;
    *good = *good && add_edge(t, i, d);
  }
  free(v);
  return worst;
}

static bool run_phase(tableau *t, int phase, real tolerance, real *violation) {
  bool good = true;
  *violation = 0;
  for (int round = 0; good && round < ROUNDS; round++) {
    if (!optimise(t, phase)) return false;
    refresh(t);
    if (!optimise(t, phase)) return false;
    if (phase == 0 && t->value[0] > -1e-13L) return true;
    int before = t->columns;
    *violation = t->o->planar ? 0 : price(t, phase, tolerance, &good);
    if (t->columns == before) break;
  }
  return good;
}

/* ---- the whole ---- */

static bool begin(tableau *t, const oracle *o) {
  *t = (tableau){.o = o, .rows = o->body_count * dof(o)};
  t->b = calloc((size_t)t->rows, sizeof *t->b);
  t->raw_b = calloc((size_t)t->rows, sizeof *t->raw_b);
  t->sign = calloc((size_t)t->rows, sizeof *t->sign);
  t->basis = calloc((size_t)t->rows, sizeof *t->basis);
  if (!t->b || !t->raw_b || !t->sign || !t->basis) return false;
  for (int i = 0; i < o->body_count; i++)
    for (int k = 0; k < (o->planar ? 2 : 3); k++) t->b[i * dof(o) + k] = -(real)o->body[i].weight[k];
  for (int r = 0; r < t->rows; r++) {
    t->sign[r] = t->b[r] < 0 ? -1 : 1;
    t->raw_b[r] = t->b[r] * t->sign[r];
    if (!grow(t)) return false;
    t->edge[t->columns++] = (edge){-2, {0}};
  }
  reset(t);
  return true;
}

static bool add_first(tableau *t) {
  const oracle *o = t->o;
  bool good = true;
  for (int i = 0; good && i < o->contact_count; i++) {
    real axis[2][3];
    across(o, &o->contact[i], axis);
    int edges = o->planar ? 2 : FIRST_EDGES;
    for (int e = 0; good && e < edges; e++) {
      real angle = 2 * acosl(-1.0L) * e / edges, d[3];
      for (int k = 0; k < 3; k++) d[k] = cosl(angle) * axis[0][k] + (o->planar ? 0 : sinl(angle)) * axis[1][k];
      good = add_edge(t, i, d);
    }
  }
  /* t itself, of cost -1 in phase 1 */
  real *raw = calloc((size_t)t->rows, sizeof *raw);
  for (int i = 0; raw && i < o->body_count; i++)
    for (int k = 0; k < 3; k++) {
      real *to = raw + i * dof(o);
      if (!o->planar || k < 2) to[k] += o->body[i].load[k];
      if (!o->planar || k == 2) to[o->planar ? 2 : 3 + k] += o->body[i].load_torque[k];
    }
  good = good && raw && add_column(t, raw, (edge){-1, {0}}, -1);
  free(raw);
  return good;
}

static void judge(const tableau *t, oracle_answer *out) {
  const oracle *o = t->o;
  real *sum = calloc((size_t)t->rows, sizeof *sum), largest = 0, worst = 0;
  for (int i = 0; i < o->body_count; i++)
    for (int k = 0; k < 3; k++) {
      real *to = sum + i * dof(o);
      largest = fmaxl(largest, fabsl((real)o->body[i].weight[k]));
      if (!o->planar || k < 2) to[k] += o->body[i].weight[k] + out->limit * (real)o->body[i].load[k];
      if (!o->planar || k == 2) to[o->planar ? 2 : 3 + k] += out->limit * (real)o->body[i].load_torque[k];
    }
  for (int r = 0; r < t->rows; r++) {
    edge e = t->edge[t->basis[r]];
    if (e.contact < 0) continue;
    worst = fmaxl(worst, -t->b[r]); /* no force pulls */
    const oracle_contact *c = &o->contact[e.contact];
    push(o, c->a, c->point, e.force, t->b[r], sum);
    push(o, c->b, c->point, e.force, -t->b[r], sum);
  }
  for (int r = 0; r < t->rows; r++) worst = fmaxl(worst, fabsl(sum[r]));
  out->imbalance = (double)(worst / largest);
  free(sum);
}

bool oracle_limit(const oracle *o, oracle_answer *out) {
  tableau t;
  real violation = 0;
  *out = (oracle_answer){0};
  bool good = begin(&t, o) && add_first(&t) && run_phase(&t, 0, 1e-13L, &violation);
  out->stands = good && t.value[0] > -1e-11L;
  if (good && out->stands) {
    out->unbounded = !run_phase(&t, 1, 1e-11L, &violation);
    for (int r = 0; r < t.rows; r++)
      if (t.edge[t.basis[r]].contact == -1) out->limit = (double)t.b[r];
    out->violation = (double)violation;
    judge(&t, out);
  }
  out->pivots = t.pivots;
  out->edges = t.columns - t.rows;
  free(t.x), free(t.raw), free(t.b), free(t.raw_b), free(t.basis), free(t.edge), free(t.sign), free(t.own_cost);
  free(t.cost[0]), free(t.cost[1]);
  return good;
}
