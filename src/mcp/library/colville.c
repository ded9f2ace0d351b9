/* Colville's convex programme and its dual, as optimality conditions.
 *
 *   colvnlp    x_j _|_ e_j + 2 (C x)_j + 3 d_j x_j^2 - (A'w)_j      w_k _|_ (A x)_k - b_k
 *   colvdual   w_k _|_ -b_k + (A m)_k      z_j _|_ 2 (C z)_j + 6 d_j z_j^2 - 2 (C m)_j - 6 d_j z_j m_j
 *              m_j _|_ 2 (C z)_j + 3 d_j z_j^2 + e_j - (A'w)_j
 *
 * References: A. Colville, 1968; W. Hock, K. Schittkowski, 1981, problems 86 and 117. */
#include "mcp/library/library.h"

#include <math.h>

enum { X = 5, W = 10, PRIMAL = X + W, DUAL = W + 2 * X };

static const double A[W][X] = {{-16, 2, 0, 1, 0},    {0, -2, 0, 4, 2}, {-3.5, 0, 2, 0, 0},   {0, -2, 0, -4, -1},
                               {0, -9, -2, 1, -2.8}, {2, 0, -4, 0, 0}, {-1, -1, -1, -1, -1}, {-1, -2, -3, -2, -1},
                               {1, 2, 3, 4, 5},      {1, 1, 1, 1, 1}};
static const double C[X][X] = {{30, -20, -10, 32, -10},
                               {-20, 39, -6, -31, 32},
                               {-10, -6, 10, -6, -10},
                               {32, -31, -6, 39, -20},
                               {-10, 32, -10, -20, 30}};
static const double b[W] = {-40, -2, -.25, -4, -4, -1, -40, -60, 5, 1}, d[X] = {4, 8, 10, 6, 2},
                    e[X] = {-15, -27, -36, -18, -12};

/* ---- primal: x, w */

static bool primal_function(const double *y, double *F, void *user) {
  (void)user;
  const double *x = y, *w = y + X;
  for (int32_t j = 0; j < X; j++) {
    F[j] = e[j] + 3 * d[j] * x[j] * x[j];
    for (int32_t i = 0; i < X; i++) F[j] += 2 * C[j][i] * x[i];
    for (int32_t k = 0; k < W; k++) F[j] -= A[k][j] * w[k];
  }
  for (int32_t k = 0; k < W; k++) {
    F[X + k] = -b[k];
    for (int32_t j = 0; j < X; j++) F[X + k] += A[k][j] * x[j];
  }
  return true;
}

static bool primal_jacobian(const double *y, double *value, void *user) {
  (void)user;
  for (int32_t k = 0; k < PRIMAL * PRIMAL; k++) value[k] = 0;
  for (int32_t j = 0; j < X; j++) {
    for (int32_t i = 0; i < X; i++) value[i * PRIMAL + j] = 2 * C[j][i];
    value[j * PRIMAL + j] += 6 * d[j] * y[j];
    for (int32_t k = 0; k < W; k++) {
      value[(X + k) * PRIMAL + j] = -A[k][j];
      value[j * PRIMAL + X + k] = A[k][j];
    }
  }
  return true;
}

/* ---- dual: w, z, m */

static bool dual_function(const double *y, double *F, void *user) {
  (void)user;
  const double *w = y, *z = y + W, *m = z + X;
  for (int32_t k = 0; k < W; k++) {
    F[k] = -b[k];
    for (int32_t j = 0; j < X; j++) F[k] += A[k][j] * m[j];
  }
  for (int32_t j = 0; j < X; j++) {
    double Cz = 0, Cm = 0, Aw = 0;
    for (int32_t i = 0; i < X; i++) {
      Cz += C[j][i] * z[i];
      Cm += C[j][i] * m[i];
    }
    for (int32_t k = 0; k < W; k++) Aw += A[k][j] * w[k];
    F[W + j] = 2 * Cz + 6 * d[j] * z[j] * z[j] - 2 * Cm - 6 * d[j] * z[j] * m[j];
    F[W + X + j] = 2 * Cz + 3 * d[j] * z[j] * z[j] + e[j] - Aw;
  }
  return true;
}

static bool dual_jacobian(const double *y, double *value, void *user) {
  (void)user;
  const double *z = y + W, *m = z + X;
  for (int32_t k = 0; k < DUAL * DUAL; k++) value[k] = 0;
  for (int32_t j = 0; j < X; j++) {
    int32_t row_z = W + j, row_m = W + X + j;
    for (int32_t k = 0; k < W; k++) {
      value[row_m * DUAL + k] = A[k][j];
      value[k * DUAL + row_m] = -A[k][j];
    }
    for (int32_t i = 0; i < X; i++) {
      value[(W + i) * DUAL + row_z] = 2 * C[j][i];
      value[(W + X + i) * DUAL + row_z] = -2 * C[j][i];
      value[(W + i) * DUAL + row_m] = 2 * C[j][i];
    }
    value[row_z * DUAL + row_z] += 12 * d[j] * z[j] - 6 * d[j] * m[j];
    value[row_m * DUAL + row_z] -= 6 * d[j] * z[j];
    value[row_z * DUAL + row_m] += 6 * d[j] * z[j];
  }
  return true;
}

/* ---- both */

static const double x_known[X] = {.3, .33346761, .4, .42831010, .22396487},
                    w_known[W] = {0, 0, 5.17404073, 0, 3.06110869, 11.83954566, 0, 0, .10389619, 0};

static frix_status create_primal(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double start[1][PRIMAL] = {{0, 0, 0, 0, 1}};
  double solution[1][PRIMAL];
  (void)size;
  for (int32_t k = 0; k < PRIMAL; k++) solution[0][k] = k < X ? x_known[k] : w_known[k - X];
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = PRIMAL;
  data.function = primal_function;
  data.jacobian = primal_jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

static frix_status create_dual(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  double start[1][DUAL] = {{0}}, solution[1][DUAL];
  (void)size;
  for (int32_t k = 0; k < DUAL; k++) {
    start[0][k] = k == 6 ? 60 : k < W + X ? .001 : 0;
    solution[0][k] = k < W ? w_known[k] : x_known[(k - W) % X];
  }
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = DUAL;
  data.function = dual_function;
  data.jacobian = dual_jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

const fx_mcp_spec fx_library_colville[] = {
    {{"colvnlp", "colville", "Colville's convex programme", false, 0, 0, 0, PRIMAL, 1, false}, create_primal, NULL},
    {{"colvdual", "colville", "the dual of Colville's programme, nonmonotone", false, 0, 0, 0, DUAL, 1, false},
     create_dual,
     NULL},
    {.entry = {.name = NULL}},
};
