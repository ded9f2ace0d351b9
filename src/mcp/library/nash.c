/* Nash-Cournot oligopolies.
 *
 *   nash10     q_i _|_ c_i + (L q_i)^(1/b_i) - P + q_i P / (g Q),   P = (5000 / Q)^(1/g),   Q = sum q
 *   oligomcp   p _|_ sum q - 5000 p^-1.1      q_i _|_ c_i + (q_i / 5)^(1/b_i) - p + q_i p^2.1 / 5500
 *
 * References: F. Murphy, H. Sherali, A. Soyster, 1982; P. Harker, 1984; data as in public copies of MCPLIB and in the
 * GAMS library (oligomcp). */
#include "base/trig.h"
#include "mcp/library/library.h"

#include <math.h>

enum { FIRMS = 10, SMALL_FIRMS = 5 };

/* A marginal cost (s q)^(1/b) has no finite slope at 0 where b > 1. */
static double power_slope(double scale, double q, double b) {
  double at = q > 1e-12 ? q : 1e-12;
  return scale / b * fx_pow(scale * at, 1 / b - 1);
}

/* ---- ten firms */

static const double cost[FIRMS] = {5, 3, 8, 5, 1, 3, 7, 4, 6, 3},
                    shape[FIRMS] = {1.2, 1, .9, .6, 1.5, 1, .7, 1.1, .95, .75}, gamma_nash = 1.2, L_nash = 10;

static bool nash_function(const double *q, double *F, void *user) {
  (void)user;
  double total = 0;
  for (int32_t i = 0; i < FIRMS; i++) total += q[i];
  if (!(total > 0)) return false;
  double price = fx_pow(5000 / total, 1 / gamma_nash);
  for (int32_t i = 0; i < FIRMS; i++)
    F[i] = cost[i] + fx_pow(L_nash * q[i], 1 / shape[i]) - price + q[i] * price / (gamma_nash * total);
  return true;
}

static bool nash_jacobian(const double *q, double *value, void *user) {
  (void)user;
  double total = 0;
  for (int32_t i = 0; i < FIRMS; i++) total += q[i];
  if (!(total > 0)) return false;
  double price = fx_pow(5000 / total, 1 / gamma_nash), slope = price / (gamma_nash * total);
  double bend = -slope * (1 / gamma_nash + 1) / total;
  for (int32_t i = 0; i < FIRMS; i++)
    for (int32_t j = 0; j < FIRMS; j++)
      value[FIRMS * j + i] = slope + q[i] * bend + (i == j ? slope + power_slope(L_nash, q[i], shape[i]) : 0);
  return true;
}

static frix_status create_nash(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double start[4][FIRMS] = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                         {10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
                                         {1, 1.2, 1.4, 1.6, 1.8, 2.1, 2.3, 2.5, 2.7, 2.9},
                                         {7, 4, 3, 1, 18, 4, 1, 6, 3, 2}};
  static const double solution[1][FIRMS] = {{7.44154670, 4.09781045, 2.59064375, 0.93538577, 17.94895234, 4.09781045,
                                             1.30472576, 5.59008254, 3.22217945, 1.67709432}};
  (void)size;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = FIRMS;
  data.function = nash_function;
  data.jacobian = nash_jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

/* ---- five firms, the price an unknown of its own */

static const double small_cost[SMALL_FIRMS] = {10, 8, 6, 4, 2}, small_shape[SMALL_FIRMS] = {1.2, 1.1, 1, .9, .8};

static bool oligopoly_function(const double *x, double *F, void *user) {
  (void)user;
  double p = x[0], mark = fx_pow(p, 2.1) / 5500;
  if (!(p > 0)) return false;
  F[0] = -5000 * fx_pow(p, -1.1);
  for (int32_t i = 0; i < SMALL_FIRMS; i++) {
    double q = x[1 + i];
    F[0] += q;
    F[1 + i] = small_cost[i] + fx_pow(q / 5, 1 / small_shape[i]) - p + q * mark;
  }
  return true;
}

static bool oligopoly_jacobian(const double *x, double *value, void *user) {
  (void)user;
  enum { N = SMALL_FIRMS + 1 };
  double p = x[0];
  if (!(p > 0)) return false;
  for (int32_t k = 0; k < N * N; k++) value[k] = 0;
  value[0] = 5500 * fx_pow(p, -2.1);
  for (int32_t i = 1; i < N; i++) {
    value[N * i] = 1;
    value[i] = -1 + x[i] * 2.1 * fx_pow(p, 1.1) / 5500;
    value[N * i + i] = power_slope(0.2, x[i], small_shape[i - 1]) + fx_pow(p, 2.1) / 5500;
  }
  return true;
}

static frix_status create_oligopoly(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  const double start[1][SMALL_FIRMS + 1] = {{fx_pow(100, 1 / 1.1), 10, 10, 10, 10, 10}};
  static const double solution[1][SMALL_FIRMS + 1] = {
      {18.30058105, 36.93251082, 41.81814166, 43.70657852, 42.65923974, 39.17895252}};
  (void)size;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = SMALL_FIRMS + 1;
  data.function = oligopoly_function;
  data.jacobian = oligopoly_jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

const fx_mcp_spec fx_library_nash[] = {
    {{"nash10", "nash", "ten firms in Nash-Cournot equilibrium", false, 0, 0, 0, FIRMS, 4, false}, create_nash, NULL},
    {{"oligomcp", "nash", "five firms and their market price", false, 0, 0, 0, SMALL_FIRMS + 1, 1, false},
     create_oligopoly,
     NULL},
    {.entry = {.name = NULL}},
};
