/* Kernels of trees that take two vectors, or four numbers, at once: the bits that each has alone. */
#include <frix/frix.h>
#include <frix/robot.h>
#include <string.h>

#include "linalg/scaled_row.h"
#include "test.h"
#include "tree/tree.h"

enum { MOST = 32 };

static const char text[] =
    "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom size='0.1'/>"
    "<body pos='0.2 0 0'><joint axis='0 1 0'/><geom size='0.05' pos='0.1 0 0.02'/>"
    "<body pos='0.2 0 0'><joint axis='1 0 1'/><geom size='0.04' pos='0.1 0 0'/></body></body>"
    "<body pos='-0.2 0.1 0'><joint type='ball'/><geom size='0.06' pos='-0.1 0 0'/>"
    "<body pos='-0.2 0 0'><joint type='slide' axis='1 1 0'/><geom size='0.03' pos='0 0.1 0'/></body></body>"
    "</body></worldbody></mujoco>";

/* Some of each vector are zero, of both signs, in one alone and in both. */
static double number(int32_t i, int32_t k) {
  static const double some[] = {0.3, -0.0, -1.7, 0.0, 2.9, 0.0, -0.1};
  return some[(i * (k + 2) + 3 * k) % 7] * (1.0 + 0.01 * i);
}

static void compare(fx_test *t, frix_robot_state *s) {
  int32_t n = s->tree->dof_count;
  fx_twin both[MOST], product[MOST], solved[MOST];
  REQUIRE(t, n <= MOST);
  for (int32_t i = 0; i < n; i++) solved[i] = both[i] = (fx_twin){number(i, 0), number(i, 1)};
  fx_tree_mul_pair(s->tree, s->m, 0, n, both, product);
  fx_tree_solve_pair(s, 0, n, solved);
  for (int32_t k = 0; k < 2; k++) {
    double x[MOST], out[MOST], seen[2][MOST];
    for (int32_t i = 0; i < n; i++) x[i] = number(i, k), seen[0][i] = product[i][k], seen[1][i] = solved[i][k];
    fx_tree_mul_part(s->tree, s->m, 0, n, x, out);
    CHECK(t, !memcmp(out, seen[0], (size_t)n * sizeof *out));
    fx_tree_solve_part(s, 0, n, x);
    CHECK(t, !memcmp(x, seen[1], (size_t)n * sizeof *x));
    fx_tree_mass_mul(s, x, out); /* M M^-1 b = b */
    for (int32_t i = 0; i < n; i++) CHECK_NEAR(t, out[i], number(i, k), 1e-12);
  }
}

static void pairs(fx_test *t) {
  frix_context *context = NULL;
  frix_robot *robot = NULL;
  frix_robot_state *s = NULL;
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "built without expat");
    return;
  }
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  bool good = frix_robot_read_memory(context, "twins.xml", text, strlen(text), NULL, &robot) == FRIX_OK &&
              frix_robot_state_create(robot, &s) == FRIX_OK && frix_robot_forward(s) == FRIX_OK;
  CHECK(t, good);
  if (good) compare(t, s);
  frix_robot_state_destroy(s), frix_robot_destroy(robot), frix_context_destroy(context);
}

static void rows(fx_test *t) {
  for (int32_t n = 0; n < 12; n++) {
    double from[2][MOST], to[MOST], wanted[MOST];
    const double *list[2] = {from[0], from[1]}, factor[2] = {0.7, -1.3};
    for (int32_t i = 0; i < MOST; i++) from[0][i] = number(i, 2), from[1][i] = number(i, 3), to[i] = number(i, 4);
    memcpy(wanted, to, sizeof to);
    for (int32_t i = 0; i < n; i++) wanted[i] -= factor[0] * from[0][i];
    fx_subtract_scaled(n, factor[0], from[0], to);
    CHECK(t, !memcmp(to, wanted, sizeof to));
    for (int32_t i = 0; i < n; i++) wanted[i] += factor[0] * from[0][i], wanted[i] += factor[1] * from[1][i];
    fx_add_scaled(n, 2, factor, list, to);
    CHECK(t, !memcmp(to, wanted, sizeof to));
  }
}

const fx_test_row test_tree_twins[] = {{"tree_twins/pairs", pairs}, {"tree_twins/rows", rows}, {0}};
