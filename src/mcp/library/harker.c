/* Spatial price competition: three regions trade over a network, in four market forms on two networks.
 *
 *   demand      eta d - rho + p                       price     x - d
 *   nodes       [region] (y - x) + inflow - outflow   sales     c - p + mono eta x
 *   transport   c_i + kappa + k nu t^2 - c_j          supply    alpha + 2 beta y - c
 *
 * cspe2: perfect competition, average-cost transport (k = 1). monop1: one firm owning the network (k = 3). monop2: one
 * firm, average-cost transport. oligop: three firms, each with its own node prices, sales and flows; the flows add up
 * in free unknowns t.
 * Reference: P. Harker, Alternative models of spatial competition, 1986; data as in the GAMS library (harkmcp). The
 * network without transshipment is our own: direct arcs with the costs added along the paths of the other one. */
#include "mcp/library/library.h"

#include <math.h>
#include <string.h>

enum { REGIONS = 3, MAX_ARCS = 14 };

static const double alpha[REGIONS] = {1, 2, 1.5}, beta[REGIONS] = {0.5, 0.4, 0.3}, rho[REGIONS] = {19, 27, 30},
                    eta[REGIONS] = {0.2, 0.01, 0.3};

typedef struct arc {
  int32_t from, to;
  double kappa, nu;
} arc;

static const arc direct[6] = {{0, 1, 4, .85}, {0, 2, 4, .8},  {1, 0, 6, 1.5},
                              {1, 2, 5, .5},  {2, 0, 4, 1.6}, {2, 1, 3, .65}};
static const arc transshipment[MAX_ARCS] = {{0, 3, 1, .5},  {0, 4, 2, .2}, {1, 5, 3, .3}, {2, 5, 1, .4}, {3, 0, 2, .3},
                                            {3, 4, 1, .1},  {3, 5, 1, .1}, {4, 0, 3, .5}, {4, 3, 2, .2}, {4, 5, 1, 1},
                                            {5, 1, 2, .25}, {5, 2, 2, .2}, {5, 3, 1, .9}, {5, 4, 3, .8}};

/* What is known of a solution: demand, price, supply, and the total flow on every arc. */
typedef struct market {
  int32_t nodes, arcs;
  const arc *arc;
  bool oligopoly;
  double mono, k; /* monopoly in sales; 1 average, 3 marginal cost of transport */
  double d[REGIONS], p[REGIONS], y[REGIONS], t[MAX_ARCS];
} market;

/* Entries of F and J go through this, so that both are written once. */
typedef struct sink {
  int32_t n;
  double *F, *J; /* one of them NULL */
} sink;

static void constant(sink *s, int32_t row, double value) {
  if (s->F) s->F[row] += value;
}

static void linear(sink *s, int32_t row, int32_t col, double factor, const double *x) {
  if (s->F) s->F[row] += factor * x[col];
  if (s->J) s->J[col * s->n + row] += factor;
}

static void square(sink *s, int32_t row, int32_t col, double factor, const double *x) {
  if (s->F) s->F[row] += factor * x[col] * x[col];
  if (s->J) s->J[col * s->n + row] += 2 * factor * x[col];
}

static void base_rows(const market *m, const double *x, sink *s) {
  int32_t d = 0, c = 3, p = c + m->nodes, sale = p + 3, t = sale + 3, y = t + m->arcs;
  for (int32_t l = 0; l < REGIONS; l++) {
    linear(s, d + l, d + l, eta[l], x);
    constant(s, d + l, -rho[l]);
    linear(s, d + l, p + l, 1, x);
    linear(s, c + l, y + l, 1, x);
    linear(s, c + l, sale + l, -1, x);
    linear(s, p + l, sale + l, 1, x);
    linear(s, p + l, d + l, -1, x);
    linear(s, sale + l, c + l, 1, x);
    linear(s, sale + l, p + l, -1, x);
    linear(s, sale + l, sale + l, m->mono * eta[l], x);
    constant(s, y + l, alpha[l]);
    linear(s, y + l, y + l, 2 * beta[l], x);
    linear(s, y + l, c + l, -1, x);
  }
  for (int32_t a = 0; a < m->arcs; a++) {
    const arc *e = &m->arc[a];
    linear(s, c + e->to, t + a, 1, x);
    linear(s, c + e->from, t + a, -1, x);
    linear(s, t + a, c + e->from, 1, x);
    constant(s, t + a, e->kappa);
    square(s, t + a, t + a, m->k * e->nu, x);
    linear(s, t + a, c + e->to, -1, x);
  }
}

static void oligopoly_rows(const market *m, const double *x, sink *s) {
  int32_t d = 0, cc = 3, p = cc + 3 * m->nodes, xx = p + 3, tt = xx + 9, y = tt + 3 * m->arcs, t = y + 3;
  for (int32_t l = 0; l < REGIONS; l++) {
    linear(s, d + l, d + l, eta[l], x);
    constant(s, d + l, -rho[l]);
    linear(s, d + l, p + l, 1, x);
    linear(s, p + l, d + l, -1, x);
    linear(s, cc + l * m->nodes + l, y + l, 1, x);
    constant(s, y + l, alpha[l]);
    linear(s, y + l, y + l, 2 * beta[l], x);
    linear(s, y + l, cc + l * m->nodes + l, -1, x);
    for (int32_t i = 0; i < REGIONS; i++) {
      int32_t sale = xx + 3 * l + i, node = cc + l * m->nodes + i;
      linear(s, node, sale, -1, x);
      linear(s, p + i, sale, 1, x);
      linear(s, sale, node, 1, x);
      linear(s, sale, p + i, -1, x);
      linear(s, sale, sale, eta[i], x);
    }
    for (int32_t a = 0; a < m->arcs; a++) {
      const arc *e = &m->arc[a];
      int32_t flow = tt + l * m->arcs + a, from = cc + l * m->nodes + e->from, to = cc + l * m->nodes + e->to;
      linear(s, to, flow, 1, x);
      linear(s, from, flow, -1, x);
      linear(s, flow, from, 1, x);
      constant(s, flow, e->kappa);
      square(s, flow, t + a, m->k * e->nu, x);
      linear(s, flow, to, -1, x);
      linear(s, t + a, flow, -1, x);
    }
  }
  for (int32_t a = 0; a < m->arcs; a++) linear(s, t + a, t + a, 1, x);
}

static int32_t unknowns(const market *m) {
  return m->oligopoly ? 18 + 3 * m->nodes + 4 * m->arcs : 12 + m->nodes + m->arcs;
}

static void rows(const market *m, const double *x, sink *s) {
  if (m->oligopoly)
    oligopoly_rows(m, x, s);
  else
    base_rows(m, x, s);
}

static bool function(const double *x, double *F, void *user) {
  sink s = {unknowns(user), F, NULL};
  memset(F, 0, (size_t)s.n * sizeof *F);
  rows(user, x, &s);
  return true;
}

static bool jacobian(const double *x, double *value, void *user) {
  sink s = {unknowns(user), NULL, value};
  memset(value, 0, (size_t)s.n * (size_t)s.n * sizeof *value);
  rows(user, x, &s);
  return true;
}

static frix_status create(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  (void)size;
  const market *m = spec->detail;
  enum { LARGEST = 92 };
  double start[LARGEST] = {0}, known[LARGEST], lower[LARGEST] = {0};
  int32_t n = unknowns(m), p = m->oligopoly ? 3 + 3 * m->nodes : 3 + m->nodes;
  int32_t t = m->oligopoly ? n - m->arcs : p + 6, y = m->oligopoly ? t - 3 : n - 3;
  for (int32_t i = 0; i < n; i++) known[i] = NAN;
  for (int32_t l = 0; l < REGIONS; l++) {
    start[l] = start[p + l] = 1;
    start[y + l] = 25;
    known[l] = m->d[l];
    known[p + l] = m->p[l];
    known[y + l] = m->y[l];
  }
  for (int32_t k = 0; k < m->nodes && !m->oligopoly; k++) start[3 + k] = 1;
  for (int32_t l = 0; l < REGIONS && !m->oligopoly; l++) {
    start[p + 3 + l] = 1;
    known[p + 3 + l] = m->d[l];
  }
  for (int32_t a = 0; a < m->arcs; a++) {
    known[t + a] = m->t[a];
    if (m->oligopoly) lower[t + a] = -INFINITY;
  }
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = n;
  data.lower = lower;
  data.function = function;
  data.jacobian = jacobian;
  data.user = (void *)(uintptr_t)m; /* never written through */
  data.start = start;
  data.start_count = 1;
  data.solution = known;
  data.solution_count = 1;
  return fx_library_dense(context, &data, out);
}

static const market cases[8] = {
    {3,
     6,
     direct,
     false,
     0,
     1,
     {12.290463, 35.575194, 30.654373},
     {16.541907, 26.644248, 20.803688},
     {15.541907, 30.805310, 32.172813},
     {2.679407, 0.572037, 0, 0, 0, 2.090477}},
    {3,
     6,
     direct,
     false,
     1,
     3,
     {11.595387, 34.059682, 22.802643},
     {16.680923, 26.659403, 23.159207},
     {13.361845, 30.398508, 24.697357},
     {1.766459, 0, 0, 0, 0, 1.894715}},
    {3,
     6,
     direct,
     false,
     1,
     1,
     {10.726821, 36.498405, 22.160793},
     {16.854636, 26.635016, 23.351762},
     {13.709272, 30.337540, 25.339207},
     {2.982451, 0, 0, 0, 0, 3.178415}},
    {3,
     6,
     direct,
     true,
     1,
     1,
     {9.354935, 36.667828, 23.564216},
     {17.129013, 26.633322, 22.930735},
     {14.258026, 30.411508, 24.917445},
     {2.939767, 1.963324, 0, 0, 0, 3.316553}},
    {6,
     14,
     transshipment,
     false,
     0,
     1,
     {12.099132, 34.365511, 31.623975},
     {16.580174, 26.656345, 20.512807},
     {15.580174, 30.820431, 31.688012},
     {2.211438, 1.269604, 0, 0.064037, 0, 0, 2.211438, 0, 0, 1.269604, 3.545079}},
    {6,
     14,
     transshipment,
     false,
     1,
     3,
     {11.656453, 33.201442, 23.199744},
     {16.668709, 26.667986, 23.040077},
     {13.337419, 30.419964, 24.300256},
     {1.104558, 0.576408, 0, 1.100512, 0, 0, 1.104558, 0, 0, 0.576408, 2.781478}},
    {6,
     14,
     transshipment,
     false,
     1,
     1,
     {10.844275, 35.083597, 22.803664},
     {16.831145, 26.649164, 23.158901},
     {13.662290, 30.372910, 24.696336},
     {1.865652, 0.952363, 0, 1.892672, 0, 0, 1.865652, 0, 0, 0.952363, 4.710687}},
    {6,
     14,
     transshipment,
     true,
     1,
     1,
     {10.350991, 34.816239, 23.728184},
     {16.929802, 26.651838, 22.881545},
     {13.859603, 30.434367, 24.601443},
     {2.226186, 1.282427, 0, 2.532512, 0, 0, 2.226186, 0, 0, 1.282427, 4.381871, 1.659253}},
};

#define HARKER(name_, count_, index_, summary_) \
  { {name_, "harker", summary_, false, 0, 0, 0, count_, 1, false}, create, &cases[index_] }

const fx_mcp_spec fx_library_harker[] = {
    HARKER("harker1_cspe2", 21, 0, "spatial competition, direct arcs, perfect competition"),
    HARKER("harker1_monop1", 21, 1, "spatial competition, direct arcs, monopoly owning the network"),
    HARKER("harker1_monop2", 21, 2, "spatial competition, direct arcs, monopoly paying for transport"),
    HARKER("harker1_oligop", 51, 3, "spatial competition, direct arcs, three producers"),
    HARKER("harker2_cspe2", 32, 4, "spatial competition, transshipment, perfect competition"),
    HARKER("harker2_monop1", 32, 5, "spatial competition, transshipment, monopoly owning the network"),
    HARKER("harker2_monop2", 32, 6, "spatial competition, transshipment, monopoly paying for transport"),
    HARKER("harker2_oligop", 92, 7, "spatial competition, transshipment, three producers"),
    {.entry = {.name = NULL}},
};
