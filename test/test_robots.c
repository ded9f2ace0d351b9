/* Articulated trees: closed forms, energy of free motion, a second way to the mass matrix, and numbers of MuJoCo. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shell.h"
#include "test.h"

typedef struct world {
  frix_context *context;
  frix_robot *robot;
  frix_robot_state *state;
  frix_robot_info info;
} world;

static world world_of(fx_test *t, const char *text) {
  world w = {0};
  if (frix_context_create(NULL, &w.context)) return w;
  if (frix_robot_read_memory(w.context, "robot.xml", text, strlen(text), NULL, &w.robot))
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(w.context));
  if (w.robot && frix_robot_state_create(w.robot, &w.state)) fx_test_fail(t, __FILE__, __LINE__, "no state");
  w.info = frix_robot_view(w.robot);
  return w;
}

static void world_free(world *w) {
  frix_robot_state_destroy(w->state);
  frix_robot_destroy(w->robot);
  frix_context_destroy(w->context);
}

static double *data(world *w, frix_robot_array which) { return frix_robot_data(w->state, which, NULL); }

static bool available(fx_test *t) {
  if (!frix_mjcf_available()) fx_test_skip(t, "built without expat");
  return frix_mjcf_available();
}

/* ---- free motion by the explicit midpoint rule on the manifold ---- */

enum { MOST = 64 };

/* q moved along a velocity, from a stored configuration. */
static void move(world *w, const double *from, const double *v, double h) {
  memcpy(data(w, FRIX_ROBOT_QPOS), from, (size_t)w->info.q_count * sizeof *from);
  frix_robot_integrate(w->robot, data(w, FRIX_ROBOT_QPOS), v, h);
}

/* Of second order. */
static void midpoint(world *w, double h) {
  double q[MOST], v[MOST], half[MOST], *qvel = data(w, FRIX_ROBOT_QVEL), *acc = data(w, FRIX_ROBOT_ACCELERATION);
  int n = w->info.v_count;
  memcpy(q, data(w, FRIX_ROBOT_QPOS), (size_t)w->info.q_count * sizeof *q);
  memcpy(v, qvel, (size_t)n * sizeof *v);
  frix_robot_forward(w->state);
  for (int i = 0; i < n; i++) half[i] = v[i] + 0.5 * h * acc[i];
  move(w, q, v, 0.5 * h);
  memcpy(qvel, half, (size_t)n * sizeof *half);
  frix_robot_forward(w->state);
  for (int i = 0; i < n; i++) v[i] += h * acc[i];
  move(w, q, half, h);
  memcpy(qvel, v, (size_t)n * sizeof *v);
}

static double energy(world *w) {
  frix_robot_forward(w->state);
  return frix_robot_kinetic_energy(w->state) + frix_robot_potential_energy(w->state);
}

/* ---- closed forms ---- */

#define DOUBLE                                                                                             \
  "<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81'/><worldbody><body><joint axis='0 1 0'/>"  \
  "<inertial pos='0 0 -0.5' mass='2' diaginertia='0.1 0.1 0.01'/><body pos='0 0 -1'><joint axis='0 1 0'/>" \
  "<inertial pos='0 0 -0.4' mass='1.5' diaginertia='0.05 0.05 0.01'/></body></body></worldbody></mujoco>"

/* Lagrange's equations of the double pendulum with absolute angles a, b = a + relative. */
static void double_pendulum(double qa, double qr, double va, double vr, double acc[2]) {
  const double m1 = 2, m2 = 1.5, c1 = 0.5, c2 = 0.4, l = 1, j1 = 0.1, j2 = 0.05, g = 9.81;
  double a = qa, b = qa + qr, u = va, w = va + vr;
  double m11 = j1 + m1 * c1 * c1 + m2 * l * l, m22 = j2 + m2 * c2 * c2, m12 = m2 * l * c2 * cos(a - b);
  double f1 = -m2 * l * c2 * sin(a - b) * w * w - (m1 * c1 + m2 * l) * g * sin(a);
  double f2 = m2 * l * c2 * sin(a - b) * u * u - m2 * c2 * g * sin(b), det = m11 * m22 - m12 * m12;
  double aa = (m22 * f1 - m12 * f2) / det, ab = (m11 * f2 - m12 * f1) / det;
  acc[0] = aa, acc[1] = ab - aa;
}

static void pendulum(fx_test *t) {
  if (!available(t)) return;
  world w = world_of(t, DOUBLE);
  for (int k = 0; k < 50 && w.state; k++) {
    double *q = data(&w, FRIX_ROBOT_QPOS), *v = data(&w, FRIX_ROBOT_QVEL), expected[2];
    for (int i = 0; i < 2; i++) q[i] = 3 * fx_test_random(t), v[i] = 4 * fx_test_random(t);
    CHECK(t, frix_robot_forward(w.state) == FRIX_OK);
    double_pendulum(q[0], q[1], v[0], v[1], expected);
    for (int i = 0; i < 2; i++) CHECK_NEAR(t, data(&w, FRIX_ROBOT_ACCELERATION)[i], expected[i], 1e-11);
  }
  world_free(&w);
}

/* A heavy top on a ball joint precesses steadily at the rate W where W^2 A cos a - W C n + m g c = 0, with A the moment
 * across at the tip, C n the spin's momentum along the axis: the inclination then does not accelerate. */
static void gyroscope(fx_test *t) {
  if (!available(t)) return;
  world w = world_of(t,
                     "<mujoco><worldbody><body><joint type='ball'/><inertial pos='0 0 0.3' mass='2' "
                     "diaginertia='0.03 0.03 0.05'/></body></worldbody></mujoco>");
  if (!w.state) return;
  const double c = 0.05, a = 0.03 + 2 * 0.09, m = 2, g = 9.81, l = 0.3, tilt = 0.7, rate = 1.3;
  double along = (rate * rate * a * cos(tilt) + m * g * l) / (c * rate); /* spin along the axis, all of it */
  double *q = data(&w, FRIX_ROBOT_QPOS), *v = data(&w, FRIX_ROBOT_QVEL), *acc = data(&w, FRIX_ROBOT_ACCELERATION);
  q[0] = cos(tilt / 2), q[1] = sin(tilt / 2), q[2] = q[3] = 0;
  v[0] = 0, v[1] = rate * sin(tilt), v[2] = along; /* precession about the vertical, in the top's axes */
  CHECK(t, frix_robot_forward(w.state) == FRIX_OK);
  /* in the top's axes the spin turns back against the body: w' = (w3 - W cos a) times the cross part */
  CHECK_NEAR(t, acc[0], (along - rate * cos(tilt)) * v[1], 1e-10);
  CHECK_NEAR(t, acc[1], 0, 1e-10);
  CHECK_NEAR(t, acc[2], 0, 1e-10);
  for (int k = 0; k < 10000; k++) midpoint(&w, 1e-4);
  double qw = q[0], qx = q[1], qy = q[2], qz = q[3], upright = qw * qw - qx * qx - qy * qy + qz * qz;
  CHECK_NEAR(t, acos(upright), tilt, 1e-5);
  double turned = atan2(2 * (qx * qz + qw * qy), -2 * (qy * qz - qw * qx)); /* of the axis about the vertical */
  CHECK_NEAR(t, remainder(turned - rate, 2 * acos(-1.0)), 0, 1e-4);
  world_free(&w);
}

/* ---- a second way to M: the sum of the bodies' through their Jacobians ---- */

static void add_body(world *w, int32_t b, double *m) {
  int n = w->info.v_count;
  frix_robot_body body;
  double jv[3 * MOST], jw[3 * MOST];
  frix_robot_get_body(w->robot, b, &body);
  frix_pose pose = frix_robot_body_pose(w->state, b);
  const double q[4] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
  double R[9] = {
      1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),     2 * (q[1] * q[3] + q[0] * q[2]),
      2 * (q[1] * q[2] + q[0] * q[3]),     1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] - q[0] * q[1]),
      2 * (q[1] * q[3] - q[0] * q[2]),     2 * (q[2] * q[3] + q[0] * q[1]),     1 - 2 * (q[1] * q[1] + q[2] * q[2])};
  const double c[3] = {body.center.x, body.center.y, body.center.z};
  frix_vec3 point = {pose.p.x + R[0] * c[0] + R[1] * c[1] + R[2] * c[2],
                     pose.p.y + R[3] * c[0] + R[4] * c[1] + R[5] * c[2],
                     pose.p.z + R[6] * c[0] + R[7] * c[1] + R[8] * c[2]};
  frix_robot_jacobian(w->state, b, point, jv, jw);
  const frix_sym3 *s = &body.inertia;
  const double J[9] = {s->xx, s->xy, s->xz, s->xy, s->yy, s->yz, s->xz, s->yz, s->zz};
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < 3; k++) {
        m[i * n + j] += body.mass * jv[k * n + i] * jv[k * n + j];
        for (int l = 0; l < 3; l++) { /* R J R' */
          double x = 0;
          for (int a = 0; a < 3; a++)
            for (int e = 0; e < 3; e++) x += R[3 * k + a] * J[3 * a + e] * R[3 * l + e];
          m[i * n + j] += jw[k * n + i] * x * jw[l * n + j];
        }
      }
}

/* A chain of 12 links with two branches, free at its base. */
static char *chain(void) {
  static const char *const joint[] = {"<joint axis='0 1 0.2' pos='0.01 0 0'/>", "<joint type='ball'/>",
                                      "<joint type='slide' axis='1 0.5 0'/><joint axis='1 0 0'/>", ""};
  char *text = calloc(1, 16384);
  strcat(text, "<mujoco><worldbody><body><freejoint/><geom type='box' size='0.1 0.2 0.3'/>");
  for (int k = 0; k < 12; k++) {
    char part[256];
    snprintf(part, sizeof part, "<body pos='0.2 0.%d -0.1' euler='%d 20 %d'>%s<geom type='capsule' size='0.03 0.%d'/>",
             k % 3, 10 * k, 7 * k, joint[k % 4], 1 + k % 5);
    strcat(text, part);
    if (k == 5) strcat(text, "<body pos='0 0.3 0'><joint axis='0 0 1'/><geom size='0.1'/></body>");
  }
  for (int k = 0; k < 12; k++) strcat(text, "</body>");
  strcat(text, "</body></worldbody></mujoco>");
  return text;
}

static void shake(fx_test *t, world *w, double size) {
  double *q = data(w, FRIX_ROBOT_QPOS), *v = data(w, FRIX_ROBOT_QVEL);
  for (int i = 0; i < w->info.q_count; i++) q[i] += size * fx_test_random(t);
  for (int i = 0; i < w->info.v_count; i++) v[i] = fx_test_random(t);
}

static void matrix(fx_test *t) {
  if (!available(t)) return;
  char *text = chain();
  world w = world_of(t, text);
  free(text);
  int n = w.info.v_count;
  double *m = calloc((size_t)(n * n), sizeof *m), *other = calloc((size_t)(n * n), sizeof *m), x[MOST], y[MOST];
  REQUIRE(t, w.state && n <= MOST);
  shake(t, &w, 0.7);
  CHECK(t, frix_robot_forward(w.state) == FRIX_OK);
  frix_robot_mass_matrix(w.state, m);
  for (int32_t b = 1; b < w.info.body_count; b++) add_body(&w, b, other);
  for (int k = 0; k < n * n; k++) CHECK_NEAR(t, m[k], other[k], 1e-12 * w.info.mass);
  for (int i = 0; i < n; i++) {
    x[i] = y[i] = fx_test_random(t);
  }
  frix_robot_mass_solve(w.state, x);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += m[i * n + j] * x[j];
    CHECK_NEAR(t, sum, y[i], 1e-10);
  }
  free(m);
  free(other);
  world_free(&w);
}

/* Forces that give the acceleration that they were found from; bias by the other recursion. */
static void inverse(fx_test *t) {
  if (!available(t)) return;
  char *text = chain();
  world w = world_of(t, text);
  free(text);
  REQUIRE(t, w.state);
  shake(t, &w, 0.7);
  double out[MOST], *applied = data(&w, FRIX_ROBOT_APPLIED);
  for (int i = 0; i < w.info.v_count; i++) applied[i] = fx_test_random(t);
  CHECK(t, frix_robot_forward(w.state) == FRIX_OK);
  CHECK(t, frix_robot_inverse(w.state, data(&w, FRIX_ROBOT_ACCELERATION), out) == FRIX_OK);
  for (int i = 0; i < w.info.v_count; i++) CHECK_NEAR(t, out[i], applied[i], 1e-9);
  world_free(&w);
}

/* Energy of free motion: what is lost falls by 4 when the step is halved. */
static void conserves(fx_test *t) {
  if (!available(t)) return;
  double lost[2];
  for (int k = 0; k < 2; k++) {
    char *text = chain();
    world w = world_of(t, text);
    free(text);
    REQUIRE(t, w.state);
    double *v = data(&w, FRIX_ROBOT_QVEL);
    for (int i = 0; i < w.info.v_count; i++) v[i] = 0.3 * sin(1.0 + 2.0 * i);
    double start = energy(&w), h = 1e-4 / (1 + k);
    for (int n = 0; n < 500 * (1 + k); n++) midpoint(&w, h);
    lost[k] = fabs(energy(&w) - start);
    world_free(&w);
  }
  fx_test_note(t, "lost %.1e and %.1e J", lost[0], lost[1]);
  CHECK(t, lost[0] < 1e-4);
  CHECK(t, lost[0] / lost[1] > 3.3);
}

/* Configurations: the velocity between two is what moved one to the other. */
static void manifold(fx_test *t) {
  if (!available(t)) return;
  char *text = chain();
  world w = world_of(t, text);
  free(text);
  REQUIRE(t, w.state);
  shake(t, &w, 0.5);
  frix_robot_forward(w.state); /* makes quaternions unit */
  double from[MOST], to[MOST], back[MOST], *v = data(&w, FRIX_ROBOT_QVEL);
  memcpy(from, data(&w, FRIX_ROBOT_QPOS), (size_t)w.info.q_count * sizeof *from);
  memcpy(to, from, sizeof to);
  frix_robot_integrate(w.robot, to, v, 0.7);
  frix_robot_differentiate(w.robot, from, to, 0.7, back);
  for (int i = 0; i < w.info.v_count; i++) CHECK_NEAR(t, back[i], v[i], 1e-13);
  for (int i = 3; i < 7; i++) to[i] = -to[i]; /* the same turn */
  frix_robot_differentiate(w.robot, from, to, 0.7, back);
  for (int i = 0; i < w.info.v_count; i++) CHECK_NEAR(t, back[i], v[i], 1e-13);
  world_free(&w);
}

/* A Jacobian is the slope of a place, a moment that of a length. */
static void slopes(fx_test *t) {
  if (!available(t)) return;
  char *text = shell_read(FRIX_SOURCE_DIR "/test/robots/wraps.xml");
  world w = world_of(t, text);
  free(text);
  REQUIRE(t, w.state);
  double *q = data(&w, FRIX_ROBOT_QPOS), h = 1e-6;
  int n = w.info.v_count;
  int32_t site = frix_robot_find(w.robot, FRIX_ROBOT_SITE, "out");
  REQUIRE(t, site >= 0);
  for (int i = 0; i < n; i++) q[i] = 0.05 * (i + 1);
  double moment[16][MOST], rows[3 * MOST], base[MOST];
  frix_robot_forward(w.state);
  for (int k = 0; k < w.info.tendon_count; k++) frix_robot_tendon_moment(w.state, k, moment[k]);
  frix_robot_site_jacobian(w.state, site, rows, NULL);
  memcpy(base, q, (size_t)n * sizeof *q);
  for (int i = 0; i < n; i++) {
    double length[2][16];
    frix_vec3 p[2];
    for (int side = 0; side < 2; side++) {
      q[i] = base[i] + (side ? h : -h);
      frix_robot_forward(w.state);
      memcpy(length[side], data(&w, FRIX_ROBOT_TENDON_LENGTH), (size_t)w.info.tendon_count * sizeof(double));
      p[side] = frix_robot_site_pose(w.state, site).p;
      q[i] = base[i];
    }
    for (int k = 0; k < w.info.tendon_count; k++)
      CHECK_NEAR(t, (length[1][k] - length[0][k]) / (2 * h), moment[k][i], 1e-6);
    CHECK_NEAR(t, (p[1].x - p[0].x) / (2 * h), rows[i], 1e-8);
    CHECK_NEAR(t, (p[1].z - p[0].z) / (2 * h), rows[2 * n + i], 1e-8);
  }
  world_free(&w);
}

/* ---- numbers of MuJoCo 3.14 for test/robots/drives.xml; tools/check_robots compares everything where it is installed
 */

static const double mujoco_acceleration[] = {
    1.6183163830199780,  -0.20709606473867387, -10.248108040837373, 0.30099043238639278, 18.237879246780693,
    4.6258921285718504,  15.168206652643082,   60.848091783949123,  85.266243632130383,  -276.46165555014585,
    -87.550218307894042, 22.852727263048180,   -33.838843117516447, -434.07340762784099, -32.330047975247140,
    -131.42215640894548, 11.973439032305334,   -8.4476047950117525, 20.748406305801605};
static const double mujoco_force[] = {-0.2,
                                      0.1,
                                      0.4,
                                      0,
                                      0.3,
                                      -0.1,
                                      0.4,
                                      -3.6740691741947931,
                                      1.1680672268907561,
                                      2.5,
                                      1.7692829118721434,
                                      0.57680816484084252,
                                      -0.5,
                                      0.38,
                                      -1,
                                      0.42574443726122346,
                                      0.32,
                                      0,
                                      0.34172794511023624,
                                      0.0502654824574367,
                                      0.480432,
                                      -1.776,
                                      1.0329473269827880,
                                      -5.8984637995589750,
                                      0,
                                      -15.792559431948208,
                                      -0.11204015381414284,
                                      0.2,
                                      -0.16806722689075632,
                                      0};

static void drives(fx_test *t) {
  if (!available(t)) return;
  char *text = shell_read(FRIX_SOURCE_DIR "/test/robots/drives.xml");
  world w = world_of(t, text);
  free(text);
  REQUIRE(t, w.state && w.info.v_count == 19 && w.info.actuator_count == 30);
  for (int32_t k = 0; k < w.info.note_count; k++) CHECK(t, w.info.note[k].kind != FRIX_MJCF_UNSUPPORTED);
  CHECK(t, frix_robot_reset(w.state, frix_robot_find(w.robot, FRIX_ROBOT_KEY, "bent")) == FRIX_OK);
  for (int i = 0; i < 19; i++) data(&w, FRIX_ROBOT_QVEL)[i] = 0.2 * ((i * 7) % 5 - 2);
  for (int i = 0; i < 30; i++) data(&w, FRIX_ROBOT_CTRL)[i] = 0.1 * ((i * 3) % 7 - 2);
  for (int i = 0; i < w.info.act_count; i++) data(&w, FRIX_ROBOT_ACT)[i] = 0.1 * (i + 1);
  CHECK(t, frix_robot_forward(w.state) == FRIX_OK);
  for (int i = 0; i < 19; i++) CHECK_NEAR(t, data(&w, FRIX_ROBOT_ACCELERATION)[i], mujoco_acceleration[i], 1e-8);
  for (int i = 0; i < 30; i++) CHECK_NEAR(t, data(&w, FRIX_ROBOT_ACTUATOR_FORCE)[i], mujoco_force[i], 1e-9);
  double sum = 0;
  for (int k = 0; k < w.info.sensor_size; k++) sum += data(&w, FRIX_ROBOT_SENSOR_DATA)[k] * (1 + k % 3);
  CHECK_NEAR(t, sum, 252.21357787128153, 1e-8);
  world_free(&w);
}

/* Slopes of forces are those of differences, at an actuator of every kind. */
static void linearised(fx_test *t) {
  if (!available(t)) return;
  char *text = shell_read(FRIX_SOURCE_DIR "/test/robots/drives.xml");
  world w = world_of(t, text);
  free(text);
  REQUIRE(t, w.state);
  double *v = data(&w, FRIX_ROBOT_QVEL), h = 1e-5;
  int n = w.info.v_count;
  for (int i = 0; i < n; i++) v[i] = 0.1 * (i % 4) + 0.05;
  for (int k = 0; k < w.info.actuator_count; k++) {
    frix_robot_drive drive, side[2];
    double moment[MOST];
    data(&w, FRIX_ROBOT_CTRL)[k] = 0.3;
    frix_robot_forward(w.state);
    frix_robot_get_drive(w.state, k, &drive);
    frix_robot_actuator_moment(w.state, k, moment);
    for (int i = 0; i < n; i++) {
      double before = v[i];
      for (int s = 0; s < 2; s++) {
        v[i] = before + (s ? h : -h);
        frix_robot_forward(w.state);
        frix_robot_get_drive(w.state, k, &side[s]);
      }
      v[i] = before;
      CHECK_NEAR(t, (side[1].force - side[0].force) / (2 * h), drive.by_velocity * moment[i], 1e-6);
    }
  }
  world_free(&w);
}

/* A muscle over a hinge with a range: L^2 = 0.1 + 0.06 sin q, q within +-1, is found as its range of lengths. */
static void finds_lengths(fx_test *t) {
  if (!available(t)) return;
  char text[1600];
  snprintf(
      text, sizeof text,
      "<mujoco><compiler angle='radian'/><worldbody><site name='a' pos='0 0 .1'/><body><joint name='j' axis='0 1 0' "
      "range='-1 1'/><geom size='.05' pos='.3 0 0'/><site name='b' pos='.3 0 0'/></body></worldbody>"
      "<tendon><spatial name='x'><site site='a'/><site site='b'/></spatial></tendon><actuator>"
      "<muscle name='m' tendon='x' force='100'/>"
      "<muscle name='n' tendon='x' force='100' lengthrange='%.17g %.17g'/></actuator></mujoco>",
      sqrt(0.1 - 0.06 * sin(1)), sqrt(0.1 + 0.06 * sin(1)));
  world w = world_of(t, text);
  REQUIRE(t, w.state);
  data(&w, FRIX_ROBOT_QPOS)[0] = 0.3;
  data(&w, FRIX_ROBOT_ACT)[0] = data(&w, FRIX_ROBOT_ACT)[1] = 0.7;
  CHECK(t, frix_robot_forward(w.state) == FRIX_OK);
  const double *force = data(&w, FRIX_ROBOT_ACTUATOR_FORCE);
  CHECK(t, force[1] < -10);
  CHECK_NEAR(t, force[0], force[1], 1e-5);
  world_free(&w);
}

/* Frames of free bodies that are asked to be those of their inertia: centre at the origin, axes along the frame; one
 * that carries another stays. */
static void aligns(fx_test *t) {
  if (!available(t)) return;
  char *text = shell_read("test/robots/aligned.xml");
  REQUIRE(t, text);
  world w = world_of(t, text);
  static const char *const name[] = {"two", "one", "given", "kept", "carries"};
  for (int k = 0; w.robot && k < 5; k++) {
    frix_robot_body b;
    CHECK(t, !frix_robot_get_body(w.robot, frix_robot_find(w.robot, FRIX_ROBOT_BODY, name[k]), &b));
    double off = fabs(b.center.x) + fabs(b.center.y) + fabs(b.center.z) + fabs(b.inertia.xy) + fabs(b.inertia.xz);
    CHECK(t, (off < 1e-12) == (k < 3));
  }
  /* the numbers of the file's own frame: the site stands where it stood, which MuJoCo says too */
  if (w.state && !frix_robot_forward(w.state)) {
    frix_vec3 p = frix_robot_site_pose(w.state, frix_robot_find(w.robot, FRIX_ROBOT_SITE, "s")).p;
    /* axes x = (0 1 0), y = (-1 0 .2) / |.|, z = (.2 0 1) / |.| */
    CHECK_NEAR(t, p.x, (-.2 + .3 * .2) / sqrt(1.04), 1e-12);
    CHECK_NEAR(t, p.y, .2 + .1, 1e-12);
    CHECK_NEAR(t, p.z, 1 + (.2 * .2 + .3) / sqrt(1.04), 1e-12);
  }
  world_free(&w);
  free(text);
}

/* A cable is the bodies it stands for, without a say of defaults; numbers of MuJoCo. */
static void cables(fx_test *t) {
  if (!available(t)) return;
  char *text = shell_read("test/robots/cable.xml");
  REQUIRE(t, text);
  world w = world_of(t, text);
  CHECK(t, w.info.body_count == 17 && w.info.v_count == 5 * 3 + 12 + 9 + 9);
  CHECK(t, w.robot && frix_robot_find(w.robot, FRIX_ROBOT_BODY, "aB_last") == 7);
  frix_robot_joint j;
  int32_t last = w.robot ? frix_robot_find(w.robot, FRIX_ROBOT_JOINT, "aJ_last") : -1;
  CHECK(t, last == 4 && !frix_robot_get_joint(w.robot, last, &j) && j.kind == FRIX_ROBOT_BALL && j.damping == .05);
  if (w.state && !frix_robot_forward(w.state)) {
    const double *p = data(&w, FRIX_ROBOT_SENSOR_DATA);
    CHECK_NEAR(t, p[0], 1.13626793, 1e-8);
    CHECK_NEAR(t, p[1], 0.0999999985, 1e-8);
    CHECK_NEAR(t, p[2], 0.905685629, 1e-8);
  }
  world_free(&w);
  free(text);
}

/* Cables that make no sense. */
static void broken_cables(fx_test *t) {
  if (!available(t)) return;
  static const char *const row[] = {
      "type='cable' count='2'><geom type='capsule' size='.1'/>",
      "type='cable' count='1000000'><geom type='capsule' size='.1'/>",
      "type='cable' count='4 4 1' curve='s 0 0'><geom type='capsule' size='.1'/>",
      "type='cable' count='4' curve='0 0 0'><geom type='capsule' size='.1'/>",
      "type='cable' count='4' curve='s tan(s) 0'><geom type='capsule' size='.1'/>",
      "type='cable' count='4' curve='s 0 0'><geom type='sphere' size='.1'/>",
      "type='cable' count='4' curve='s 0 0'>",
      "type='cable' vertex='0 0 0 1 1'><geom type='capsule' size='.1'/>",
      "type='cable' spacing='1' count='4' curve='s 0 0'><geom type='capsule' size='.1'/>",
      "type='cable' count='4' curve='s 0 0'><geom type='capsule' size='.1' colour='1'/>",
      "type='cable' count='4' curve='s 0 0' initial='held'><geom type='capsule' size='.1'/>",
      "type='cable' count='4' curve='s 0 0'><tendon/><geom type='capsule' size='.1'/>"};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    char text[400];
    frix_context *context = NULL;
    frix_robot *robot = NULL;
    snprintf(text, sizeof text, "<mujoco><worldbody><composite %s</composite></worldbody></mujoco>", row[k]);
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    if (!frix_robot_read_memory(context, "cable.xml", text, strlen(text), NULL, &robot))
      fx_test_fail(t, __FILE__, __LINE__, "accepted: %s", row[k]);
    CHECK(t, strstr(frix_error_text(context), "cable.xml:1") != NULL);
    frix_robot_destroy(robot);
    frix_context_destroy(context);
  }
}

/* The gain of adhesion may stand in its class. */
static void adhesion_of_a_class(fx_test *t) {
  if (!available(t)) return;
  world w =
      world_of(t,
               "<mujoco><default><default class='stick'><adhesion gain='.985' ctrlrange='0 1'/></default></default>"
               "<worldbody><body name='b'><joint/><geom size='.1' pos='.1 0 0'/></body></worldbody>"
               "<actuator><adhesion class='stick' body='b'/></actuator></mujoco>");
  if (w.state) data(&w, FRIX_ROBOT_CTRL)[0] = 0.5;
  CHECK(t, w.state && frix_robot_forward(w.state) == FRIX_OK);
  if (w.state) CHECK_NEAR(t, data(&w, FRIX_ROBOT_ACTUATOR_FORCE)[0], 0.5 * .985, 1e-15);
  world_free(&w);
}

/* Negative rest lengths of fixed tendons are lengths, but for -1 alone. */
static void negative_rest_lengths(fx_test *t) {
  if (!available(t)) return;
  char *text = shell_read("test/robots/springlengths.xml");
  REQUIRE(t, text);
  world w = world_of(t, text);
  if (w.state) data(&w, FRIX_ROBOT_QPOS)[0] = -1, data(&w, FRIX_ROBOT_QPOS)[1] = .3;
  CHECK(t, w.state && frix_robot_forward(w.state) == FRIX_OK);
  if (w.state) CHECK_NEAR(t, data(&w, FRIX_ROBOT_PASSIVE)[0], 3 * 1.5 + 3 * .5, 1e-12);
  if (w.state) CHECK_NEAR(t, data(&w, FRIX_ROBOT_PASSIVE)[1], -2 * 3 * 1.5, 1e-12);
  world_free(&w);
  free(text);
}

const fx_test_row test_robots[] = {{"robots/finds_lengths", finds_lengths},
                                   {"robots/aligns", aligns},
                                   {"robots/cables", cables},
                                   {"robots/broken_cables", broken_cables},
                                   {"robots/adhesion_of_a_class", adhesion_of_a_class},
                                   {"robots/negative_rest_lengths", negative_rest_lengths},
                                   {"robots/pendulum", pendulum},
                                   {"robots/gyroscope", gyroscope},
                                   {"robots/matrix", matrix},
                                   {"robots/inverse", inverse},
                                   {"robots/conserves", conserves},
                                   {"robots/manifold", manifold},
                                   {"robots/slopes", slopes},
                                   {"robots/drives", drives},
                                   {"robots/linearised", linearised},
                                   {0}};
