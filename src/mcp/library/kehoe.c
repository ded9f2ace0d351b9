/* Kehoe's exchange economy with production: four goods, four consumers, two activities, three equilibria.
 *
 *   p_g _|_ E_g + sum_s A_gs y_s - sum_c a_gc H_c / p_g      y_s _|_ -sum_g A_gs p_g      H_c = p_c E_c
 *
 * p_1 = 1. Unknowns p_2..p_4, y_1, y_2, and the incomes H free.
 * Reference: T. Kehoe, A numerical investigation of multiplicity of equilibria, 1985; data as in MPECLib (kehoe1). */
#include "mcp/library/library.h"

#include <math.h>

enum { GOODS = 4, ACTIVITIES = 2, N = 9, P = 0, Y = 3, H = 5 };

static const double endowment[GOODS] = {5, 5, 40, 40},
                    activity[GOODS][ACTIVITIES] = {{6, -1}, {-1, 3}, {-4, -1}, {-1, -1}},
                    share[GOODS][GOODS] = {
                        {.52, .86, .50, .06}, {.40, .10, .20, .25}, {.04, .02, .2975, .0025}, {.04, .02, .0025, .6875}};

static double price(const double *x, int32_t g) { return g ? x[P + g - 1] : 1; }

static bool function(const double *x, double *F, void *user) {
  (void)user;
  for (int32_t g = 1; g < GOODS; g++) {
    double p = price(x, g), spent = 0;
    if (!(p > 0)) return false;
    for (int32_t c = 0; c < GOODS; c++) spent += share[g][c] * x[H + c];
    F[P + g - 1] = endowment[g] - spent / p;
    for (int32_t s = 0; s < ACTIVITIES; s++) F[P + g - 1] += activity[g][s] * x[Y + s];
  }
  for (int32_t s = 0; s < ACTIVITIES; s++) {
    F[Y + s] = 0;
    for (int32_t g = 0; g < GOODS; g++) F[Y + s] -= activity[g][s] * price(x, g);
  }
  for (int32_t c = 0; c < GOODS; c++) F[H + c] = x[H + c] - price(x, c) * endowment[c];
  return true;
}

static bool jacobian(const double *x, double *value, void *user) {
  (void)user;
  for (int32_t k = 0; k < N * N; k++) value[k] = 0;
  for (int32_t g = 1; g < GOODS; g++) {
    double p = price(x, g), spent = 0;
    int32_t row = P + g - 1;
    if (!(p > 0)) return false;
    for (int32_t c = 0; c < GOODS; c++) {
      spent += share[g][c] * x[H + c];
      value[(H + c) * N + row] = -share[g][c] / p;
    }
    value[row * N + row] = spent / (p * p);
    for (int32_t s = 0; s < ACTIVITIES; s++) {
      value[(Y + s) * N + row] = activity[g][s];
      value[row * N + Y + s] = -activity[g][s];
    }
    value[row * N + H + g] = -endowment[g];
  }
  for (int32_t c = 0; c < GOODS; c++) value[(H + c) * N + H + c] = 1;
  return true;
}

static frix_status create(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double equilibrium[3][5] = {{1, 1, 1, 5.2, 6.9},
                                           {.90864086, 1.12181218, .60411040, 5.31801325, 6.51481515},
                                           {1.56816437, .24244751, 3.46204559, 4.27012831, 8.11980347}};
  /* one cold start, and one beside each equilibrium */
  static const double early[4][5] = {
      {1, 1, 1, 1, 1}, {1.05, 1, .95, 5, 7}, {.9, 1.1, .6, 5.3, 6.5}, {1.6, .25, 3.5, 4.3, 8}};
  (void)size;
  double lower[N], start[4][N], solution[3][N];
  for (int32_t k = 0; k < N; k++) lower[k] = k < Y ? 1e-4 : k < H ? 0 : -INFINITY;
  for (int32_t s = 0; s < 4; s++)
    for (int32_t k = 0; k < N; k++) {
      start[s][k] = k < H ? early[s][k] : endowment[k - H] * (k > H ? early[s][k - H - 1] : 1);
      if (s < 3)
        solution[s][k] = k < H ? equilibrium[s][k] : endowment[k - H] * (k > H ? equilibrium[s][k - H - 1] : 1);
    }
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = N;
  data.lower = lower;
  data.function = function;
  data.jacobian = jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

const fx_mcp_spec fx_library_kehoe[] = {
    {{"kehoe", "kehoe", "exchange economy with three equilibria", false, 0, 0, 0, N, 4, false}, create, NULL},
    {.entry = {.name = NULL}},
};
