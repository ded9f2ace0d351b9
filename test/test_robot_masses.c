/* Masses of robots: shells against closed forms, meshes against numbers of MuJoCo. */
#include <frix/frix.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

static const double pi = 3.14159265358979323846;

static frix_robot *robot_of(fx_test *t, frix_context *context, const char *text) {
  frix_robot *robot = NULL;
  if (frix_robot_read_memory(context, "robot.xml", text, strlen(text), NULL, &robot))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  return robot;
}

static frix_robot_body body_of(fx_test *t, const frix_robot *robot, const char *name) {
  frix_robot_body b = {0};
  CHECK(t, !frix_robot_get_body(robot, frix_robot_find(robot, FRIX_ROBOT_BODY, name), &b));
  return b;
}

static bool open(fx_test *t, frix_context **context) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available() && frix_context_create(NULL, context) == FRIX_OK;
}

/* All mass in the surface: areas, and radii of gyration; the box is turned, its trace is not. */
static void shells(fx_test *t) {
  frix_context *context = NULL;
  if (!open(t, &context)) return;
  char *text = shell_read("test/robots/shells.xml");
  frix_robot *robot = text ? robot_of(t, context, text) : NULL;
  if (robot) {
    frix_robot_body b = body_of(t, robot, "sphere");
    CHECK_NEAR(t, b.mass, 1000 * 4 * pi * 0.01, 1e-10);
    CHECK_NEAR(t, b.inertia.xx / b.mass, 2.0 / 3 * 0.01, 1e-15);
    b = body_of(t, robot, "capsule"); /* a third of the area is round */
    CHECK_NEAR(t, b.mass, 1000 * (4 * pi * 0.01 + 2 * pi * 0.1 * 0.4), 1e-10);
    CHECK_NEAR(t, b.inertia.zz / b.mass, 2.0 / 3 * 0.01 + 1.0 / 3 * 2.0 / 3 * 0.01, 1e-15);
    CHECK_NEAR(t, b.inertia.xx / b.mass,
               2.0 / 3 * (0.005 + 0.16 / 12) + 1.0 / 3 * (2.0 / 3 * 0.01 + 0.25 * 0.25 - 0.05 * 0.05), 1e-15);
    b = body_of(t, robot, "cylinder");
    CHECK_NEAR(t, b.mass, 3, 1e-14);
    CHECK_NEAR(t, b.inertia.xx / 3, 0.2 * (0.01 / 4 + 0.04) + 0.8 * (0.01 / 2 + 0.16 / 12), 1e-15);
    CHECK_NEAR(t, b.inertia.zz / 3, 0.2 * 0.01 / 2 + 0.8 * 0.01, 1e-15);
    b = body_of(t, robot, "box");
    CHECK_NEAR(t, b.mass, 1000 * 8 * 0.11, 1e-10);
    CHECK_NEAR(t, (b.inertia.xx + b.inertia.yy + b.inertia.zz) / b.mass,
               0.06151515151515152 + 0.04787878787878789 + 0.027575757575757583, 1e-14); /* MuJoCo */
    b = body_of(t, robot, "ellipsoid");
    CHECK_NEAR(t, b.mass, 489.7193333371731, 1e-9);
    CHECK_NEAR(t, b.inertia.xx / b.mass, 0.03690925322341222, 1e-12);
    CHECK_NEAR(t, b.inertia.zz / b.mass, 0.01654556066142942, 1e-12);
  }
  free(text);
  frix_robot_destroy(robot);
  frix_context_destroy(context);
}

/* MuJoCo's axes of a mesh are up to 1e-7 off, and a tree has the inertia that it makes of them. */
static void mesh_axes(fx_test *t) {
  static const char text[] =
      "<mujoco><asset><mesh name='m' vertex='0 0 0 0.33999999999999997 0.02 0.05 0.04 0.22 0.09 0.06 0.01 0.17 0.2 "
      "0.19 0.113'/></asset><worldbody><body name='b'><freejoint/><geom type='mesh' mesh='m'/></body></worldbody>"
      "</mujoco>";
  const double q[4] = {-0.051088594955243483, 0.70482550334586991, -0.11730926669348918, 0.69774601485539178};
  const double j[3] = {0.016730755284966824, 0.012686075799307956, 0.0080511216683799239};
  frix_context *context = NULL;
  if (!open(t, &context)) return;
  frix_robot *robot = robot_of(t, context, text);
  if (robot) {
    double w = q[0], x = q[1], y = q[2], z = q[3], theirs[6] = {0};
    const double R[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int n = 0; n < 6; n++)
      for (int k = 0; k < 3; k++) theirs[n] += R[at[n][0]][k] * j[k] * R[at[n][1]][k];
    frix_sym3 s = body_of(t, robot, "b").inertia;
    const double ours[6] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
    for (int n = 0; n < 6; n++) CHECK_NEAR(t, ours[n], theirs[n], 1e-9 * j[0]);
  }
  frix_robot_destroy(robot);
  frix_context_destroy(context);
}

const fx_test_row test_robot_masses[] = {
    {"robot_masses/shells", shells},
    {"robot_masses/mesh_axes", mesh_axes},
    {0},
};
