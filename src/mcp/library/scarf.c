/* Scarf's general equilibrium: 6 commodities, 5 consumers with CES demand, 8 activities.
 *
 *   p_c >= low  _|_  sum_s A_cs y_s + sum_h E_ch - sum_h x_ch >= 0        y_s >= 0  _|_  -sum_c A_cs p_c >= 0
 *   x_ch = a_ch I_h p_c^-s_h / sum_k a_kh p_k^(1 - s_h),   I_h = sum_c p_c E_ch
 *
 * Prices are determined up to a factor. scarf_anum fixes one price and drops its market; scarf_asum keeps that price as
 * a free unknown with the row sum p - 1; scarf_mcp keeps the incomes as unknowns and fixes the first.
 * Reference: H. Scarf, The Computation of Economic Equilibria, 1973; data as in the GAMS library (scarfmcp). */
#include "base/trig.h"
#include "mcp/library/library.h"

#include <math.h>
#include <string.h>

enum { GOODS = 6, ACTIVITIES = 8, CONSUMERS = 5, FULL = GOODS + ACTIVITIES + CONSUMERS };

static const double activity[GOODS][ACTIVITIES] = {{4, 4, 1.6, 1.6, 1.6, 0.9, 7, 8}, {0, 0, 6, 8, 7, 0, 0, 0},
                                                   {4, 3.5, 0, 0, 0, 0, 0, 0},       {-5.3, -5, -2, -2, -2, -1, -4, -5},
                                                   {-2, -1, -2, -4, -1, 0, -3, -2},  {-1, -6, -3, -1, -8, 0, -1, -8}};
static const double endowment[GOODS][CONSUMERS] = {
    {0}, {0}, {1, 2, 1.5, 1, 2}, {3, .1, 2, 1, 6}, {5, .1, 6, .1, .1}, {.1, 7, .1, 8, .5}};
static const double demand[GOODS][CONSUMERS] = {{4, .4, 2, 5, 3},  {2, 4, 2, 5, 4},   {3.2, 1, 1.5, 4.5, 2}, {0},
                                                {.2, 0, .5, 0, 0}, {0, .6, 0, .2, .2}};
static const double elasticity[CONSUMERS] = {1.2, 1.6, 0.8, 0.5, 0.6};

typedef enum normalisation { FIX_PRICE, FIX_SUM, FIX_INCOME } normalisation;

typedef struct variant {
  normalisation kind;
  int32_t numeraire;
} variant;

/* Place of a full unknown (p, y, I) among those of the variant; -1 where it is not one. */
static int32_t place(const variant *v, int32_t full) {
  if (v->kind == FIX_INCOME) return full;
  if (full >= GOODS + ACTIVITIES) return -1;
  if (v->kind == FIX_SUM) return full;
  if (full == v->numeraire) return -1;
  return full < v->numeraire ? full : full - 1;
}

static void incomes(const double *p, double *income) {
  for (int32_t h = 0; h < CONSUMERS; h++) {
    income[h] = 0;
    for (int32_t c = 0; c < GOODS; c++) income[h] += p[c] * endowment[c][h];
  }
}

/* All of p, y, I from the unknowns of the variant. */
static void spread(const variant *v, const double *x, double *full) {
  for (int32_t k = 0; k < FULL; k++) full[k] = place(v, k) >= 0 ? x[place(v, k)] : 1;
  if (v->kind != FIX_INCOME) incomes(full, full + GOODS + ACTIVITIES);
}

/* Demand x_ch and its derivatives at fixed income: by p_j, and by the income (x / I). False outside the domain. */
static bool consume(int32_t h, const double *p, double income, double x[GOODS], double dx[GOODS][GOODS],
                    double dI[GOODS]) {
  double share[GOODS], total = 0, sum = 0, s = elasticity[h], power[GOODS];
  for (int32_t c = 0; c < GOODS; c++) total += demand[c][h];
  for (int32_t c = 0; c < GOODS; c++) {
    share[c] = demand[c][h] / total;
    power[c] = 0;
    if (share[c] == 0) continue;
    if (!(p[c] > 0)) return false;
    power[c] = share[c] * fx_pow(p[c], -s);
    sum += power[c] * p[c];
  }
  for (int32_t c = 0; c < GOODS; c++) {
    dI[c] = power[c] / sum;
    x[c] = income * dI[c];
    for (int32_t j = 0; j < GOODS; j++) dx[c][j] = -x[c] * (1 - s) * power[j] / sum;
    if (power[c] > 0) dx[c][c] -= s * x[c] / p[c];
  }
  return true;
}

/* Rows of the full system, and where J is wanted its derivatives J[row][col], incomes as unknowns. */
static bool full_rows(const double *z, double F[FULL], double J[FULL][FULL]) {
  const double *p = z, *y = z + GOODS, *income = y + ACTIVITIES;
  if (J) memset(J, 0, sizeof(double[FULL][FULL]));
  for (int32_t c = 0; c < GOODS; c++) {
    F[c] = 0;
    for (int32_t s = 0; s < ACTIVITIES; s++) {
      F[c] += activity[c][s] * y[s];
      if (J) J[c][GOODS + s] = activity[c][s];
      if (J) J[GOODS + s][c] = -activity[c][s];
    }
    for (int32_t h = 0; h < CONSUMERS; h++) F[c] += endowment[c][h];
  }
  for (int32_t s = 0; s < ACTIVITIES; s++) {
    F[GOODS + s] = 0;
    for (int32_t c = 0; c < GOODS; c++) F[GOODS + s] -= activity[c][s] * p[c];
  }
  for (int32_t h = 0; h < CONSUMERS; h++) {
    double x[GOODS], dx[GOODS][GOODS], dI[GOODS];
    int32_t row = GOODS + ACTIVITIES + h;
    if (!consume(h, p, income[h], x, dx, dI)) return false;
    F[row] = income[h];
    if (J) J[row][row] = 1;
    for (int32_t c = 0; c < GOODS; c++) {
      F[c] -= x[c];
      F[row] -= p[c] * endowment[c][h];
      if (!J) continue;
      J[row][c] = -endowment[c][h];
      J[c][row] = -dI[c];
      for (int32_t j = 0; j < GOODS; j++) J[c][j] -= dx[c][j];
    }
  }
  return true;
}

static bool function(const double *x, double *F, void *user) {
  const variant *v = user;
  double z[FULL], rows[FULL];
  spread(v, x, z);
  if (!full_rows(z, rows, NULL)) return false;
  for (int32_t k = 0; k < FULL; k++)
    if (place(v, k) >= 0) F[place(v, k)] = rows[k];
  if (v->kind == FIX_SUM) {
    F[v->numeraire] = -1;
    for (int32_t c = 0; c < GOODS; c++) F[v->numeraire] += z[c];
  }
  return true;
}

static bool jacobian(const double *x, double *value, void *user) {
  const variant *v = user;
  double z[FULL], rows[FULL], J[FULL][FULL];
  spread(v, x, z);
  if (!full_rows(z, rows, J)) return false;
  int32_t n = v->kind == FIX_INCOME ? FULL : v->kind == FIX_SUM ? 14 : 13;
  if (v->kind != FIX_INCOME) /* incomes follow the prices */
    for (int32_t c = 0; c < GOODS; c++)
      for (int32_t j = 0; j < GOODS; j++)
        for (int32_t h = 0; h < CONSUMERS; h++) J[c][j] += J[c][GOODS + ACTIVITIES + h] * endowment[j][h];
  if (v->kind == FIX_SUM)
    for (int32_t j = 0; j < GOODS + ACTIVITIES; j++) J[v->numeraire][j] = j < GOODS;
  for (int32_t i = 0; i < FULL; i++)
    for (int32_t j = 0; j < FULL; j++)
      if (place(v, i) >= 0 && place(v, j) >= 0) value[place(v, j) * n + place(v, i)] = J[i][j];
  return true;
}

/* The equilibrium with price sum 1; incomes follow. */
static const double price[GOODS] = {0.22032088, 0.10607704, 0.20658325, 0.25106573, 0.16101507, 0.05493803};
static const double level[ACTIVITIES] = {0.46349293, 0, 3.93919506, 0.00602299, 0, 0, 0.43826284, 0};

static void known_solution(const variant *v, double *known) {
  double z[FULL], income[CONSUMERS], factor = 1;
  incomes(price, income);
  if (v->kind == FIX_PRICE) factor = 1 / price[v->numeraire];
  if (v->kind == FIX_INCOME) factor = 9.1 / income[0];
  for (int32_t c = 0; c < GOODS; c++) z[c] = factor * price[c];
  memcpy(z + GOODS, level, sizeof level);
  for (int32_t h = 0; h < CONSUMERS; h++) z[GOODS + ACTIVITIES + h] = factor * income[h];
  for (int32_t k = 0; k < FULL; k++)
    if (place(v, k) >= 0) known[place(v, k)] = z[k];
}

/* Four starts: the usual one, and three of our own. */
static void starts(const variant *v, int32_t n, double *start) {
  static const double p_start[4] = {1, 1, 0.5, 2}, y_start[4] = {1, 0, 2, 0.5};
  for (int32_t k = 0; k < 4; k++) {
    double z[FULL], scale = v->kind == FIX_SUM ? 1.0 / 6 : 1;
    for (int32_t c = 0; c < GOODS; c++) z[c] = scale * (c % 2 ? 1 : p_start[k]);
    for (int32_t s = 0; s < ACTIVITIES; s++) z[GOODS + s] = y_start[k];
    incomes(z, z + GOODS + ACTIVITIES);
    z[GOODS + ACTIVITIES] = 9.1;
    for (int32_t e = 0; e < FULL; e++)
      if (place(v, e) >= 0) start[k * n + place(v, e)] = z[e];
  }
}

static frix_status create(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  (void)size;
  const variant *v = spec->detail;
  int32_t n = spec->entry.count;
  double lower[FULL] = {0}, upper[FULL], start[4 * FULL], known[FULL];
  for (int32_t k = 0; k < FULL; k++) upper[k] = INFINITY;
  for (int32_t c = 0; c < GOODS; c++)
    if (place(v, c) >= 0) lower[place(v, c)] = c == 3 ? 0 : 1e-5; /* no consumer demands capital at the beginning */
  if (v->kind == FIX_SUM) lower[v->numeraire] = -INFINITY;
  if (v->kind == FIX_INCOME) lower[GOODS + ACTIVITIES] = upper[GOODS + ACTIVITIES] = 9.1;
  starts(v, n, start);
  known_solution(v, known);
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = n;
  data.lower = lower;
  data.upper = upper;
  data.function = function;
  data.jacobian = jacobian;
  data.user = (void *)(uintptr_t)v; /* never written through */
  data.start = start;
  data.start_count = 4;
  data.solution = known;
  data.solution_count = 1;
  return fx_library_dense(context, &data, out);
}

static const variant anum = {FIX_PRICE, 0}, asum = {FIX_SUM, 0}, full = {FIX_INCOME, 0}, labour = {FIX_PRICE, 5};

const fx_mcp_spec fx_library_scarf[] = {
    {{"scarf_anum", "scarf", "general equilibrium, first price fixed", false, 0, 0, 0, 13, 4, false}, create, &anum},
    {{"scarf_asum", "scarf", "general equilibrium, sum of prices fixed", false, 0, 0, 0, 14, 4, false}, create, &asum},
    {{"scarf_mcp", "scarf", "general equilibrium, incomes as unknowns", false, 0, 0, 0, 19, 4, false}, create, &full},
    {{"scarf_labour", "scarf", "general equilibrium, unskilled labour as numeraire", false, 0, 0, 0, 13, 4, false},
     create,
     &labour},
    {.entry = {.name = NULL}},
};
