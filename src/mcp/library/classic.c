/* Small classical problems: Kojima-Shindo, Josephy, Billups, Mathiesen, Wall.
 *
 * References: M. Kojima, S. Shindo, 1986; N. Josephy, 1979; S. Billups, 1995; L. Mathiesen, 1987; data as in public
 * copies of MCPLIB and the GAMS library. */
#include "mcp/library/library.h"

#include <math.h>

/* ---- Kojima-Shindo and Josephy: quadratic, four unknowns, two of the rows differ */

typedef struct quadratic {
  double c_second;          /* factor of c in the second row */
  double d_third, constant; /* of the third row */
} quadratic;

static const quadratic kojima_shindo = {10, 9, -9}, josephy = {3, 3, -1};

static bool quadratic_function(const double *x, double *F, void *user) {
  const quadratic *k = user;
  double a = x[0], b = x[1], c = x[2], d = x[3];
  F[0] = 3 * a * a + 2 * a * b + 2 * b * b + c + 3 * d - 6;
  F[1] = 2 * a * a + a + b * b + k->c_second * c + 2 * d - 2;
  F[2] = 3 * a * a + a * b + 2 * b * b + 2 * c + k->d_third * d + k->constant;
  F[3] = a * a + 3 * b * b + 2 * c + 3 * d - 3;
  return true;
}

static bool quadratic_jacobian(const double *x, double *value, void *user) {
  const quadratic *k = user;
  double a = x[0], b = x[1];
  const double J[4][4] = {{6 * a + 2 * b, 2 * a + 4 * b, 1, 3},
                          {4 * a + 1, 2 * b, k->c_second, 2},
                          {6 * a + b, a + 4 * b, 2, k->d_third},
                          {2 * a, 6 * b, 2, 3}};
  for (int32_t i = 0; i < 4; i++)
    for (int32_t j = 0; j < 4; j++) value[4 * j + i] = J[i][j];
  return true;
}

/* sqrt(1.5) */
#define ROOT 1.2247448713915890

static frix_status create_quadratic(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double start[8][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}, {100, 100, 100, 100}, {1, 0, 1, 0},
                                     {1, 0, 0, 0}, {0, 1, 1, 0}, {0, 1, 0, 1},         {1.25, 0, 0, .5}};
  static const double solution[2][4] = {{ROOT, 0, 0, .5}, {1, 0, 3, 0}};
  (void)size;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = 4;
  data.function = quadratic_function;
  data.jacobian = quadratic_jacobian;
  data.user = (void *)(uintptr_t)spec->detail; /* never written through */
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  data.solution_count = spec->detail == &josephy ? 1 : 2;
  return fx_library_dense(context, &data, out);
}

/* ---- Billups: one unknown, a trap for descent methods */

static bool billups_function(const double *x, double *F, void *user) {
  (void)user;
  F[0] = (x[0] - 1) * (x[0] - 1) - 1.01;
  return true;
}

static bool billups_jacobian(const double *x, double *value, void *user) {
  (void)user;
  value[0] = 2 * (x[0] - 1);
  return true;
}

static frix_status create_billups(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double start[2][1] = {{0}, {3}}, solution[1][1] = {{2.0049875621120889}};
  (void)size;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = 1;
  data.function = billups_function;
  data.jacobian = billups_jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

/* ---- Mathiesen: a Walrasian model with the solutions (t, 0, 0, 0), 0 <= t <= 3 */

static bool mathiesen_function(const double *x, double *F, void *user) {
  (void)user;
  double a = x[0], b = x[1], c = x[2], d = x[3];
  F[0] = -b + c + d;
  F[1] = a - (4.5 * c + 2.7 * d) / (b + 1);
  F[2] = 5 - a - (.5 * c + .3 * d) / (c + 1);
  F[3] = 3 - a;
  return true;
}

static bool mathiesen_jacobian(const double *x, double *value, void *user) {
  (void)user;
  double b1 = x[1] + 1, c1 = x[2] + 1, c = x[2], d = x[3];
  const double J[4][4] = {{0, -1, 1, 1},
                          {1, (4.5 * c + 2.7 * d) / (b1 * b1), -4.5 / b1, -2.7 / b1},
                          {-1, 0, -.5 / c1 + (.5 * c + .3 * d) / (c1 * c1), -.3 / c1},
                          {-1, 0, 0, 0}};
  for (int32_t i = 0; i < 4; i++)
    for (int32_t j = 0; j < 4; j++) value[4 * j + i] = J[i][j];
  return true;
}

static frix_status create_mathiesen(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double start[2][4] = {{1, 1, 1, 1}, {10, 10, 10, 10}};
  const double solution[1][4] = {{NAN, 0, 0, 0}};
  (void)size;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = 4;
  data.function = mathiesen_function;
  data.jacobian = mathiesen_jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

/* ---- Wall: six equations of a chemical equilibrium, no bounds */

static bool wall_function(const double *v, double *F, void *user) {
  (void)user;
  F[0] = v[0] * v[1] - 1;
  F[1] = v[2] / (v[0] * v[3]) - 4.8;
  F[2] = v[4] / (v[1] * v[5]) - .98;
  F[3] = v[5] * v[3] - 1;
  F[4] = v[0] + 1e-7 * v[2] - v[1] - 1e-5 * v[4];
  F[5] = 2 * v[0] + 1e-7 * v[2] + 1e-2 * v[5] - 2 * v[1] - 1e-5 * v[4] - 1e-2 * v[3];
  return true;
}

static bool wall_jacobian(const double *v, double *value, void *user) {
  (void)user;
  double s = 1 / (v[0] * v[3]), t = 1 / (v[1] * v[5]);
  const double J[6][6] = {{v[1], v[0], 0, 0, 0, 0},
                          {-v[2] * s / v[0], 0, s, -v[2] * s / v[3], 0, 0},
                          {0, -v[4] * t / v[1], 0, 0, t, -v[4] * t / v[5]},
                          {0, 0, 0, v[5], 0, v[3]},
                          {1, -1, 1e-7, 0, -1e-5, 0},
                          {2, -2, 1e-7, -1e-2, -1e-5, 1e-2}};
  for (int32_t i = 0; i < 6; i++)
    for (int32_t j = 0; j < 6; j++) value[6 * j + i] = J[i][j];
  return true;
}

static frix_status create_wall(frix_context *context, const fx_mcp_spec *spec, int32_t size, frix_mcp **out) {
  static const double start[1][6] = {{1, 1, 1, 1, 1, 1}};
  static const double solution[1][6] = {{1.00000466, .99999534, 4.80225853, 1.00046587, .97953910, .99953435}};
  (void)size;
  double lower[6];
  for (int32_t k = 0; k < 6; k++) lower[k] = -INFINITY;
  frix_mcp_data data = frix_mcp_data_default();
  data.name = spec->entry.name;
  data.count = 6;
  data.lower = lower;
  data.function = wall_function;
  data.jacobian = wall_jacobian;
  FX_LIBRARY_STARTS(&data, start);
  FX_LIBRARY_SOLUTIONS(&data, solution);
  return fx_library_dense(context, &data, out);
}

const fx_mcp_spec fx_library_classic[] = {
    {{"kojshin", "classic", "Kojima and Shindo, one degenerate and one regular solution", false, 0, 0, 0, 4, 8, false},
     create_quadratic,
     &kojima_shindo},
    {{"josephy", "classic", "Josephy, one solution", false, 0, 0, 0, 4, 8, false}, create_quadratic, &josephy},
    {{"billups", "classic", "Billups, a local minimum of every merit function lies at the start", false, 0, 0, 0, 1, 2,
      false},
     create_billups,
     NULL},
    {{"mathiesen", "classic", "Mathiesen's Walrasian model, a line of solutions", false, 0, 0, 0, 4, 2, false},
     create_mathiesen,
     NULL},
    {{"wall", "classic", "chemical equilibrium, six equations without bounds", false, 0, 0, 0, 6, 1, false},
     create_wall,
     NULL},
    {.entry = {.name = NULL}},
};
