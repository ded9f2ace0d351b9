/* Derivatives of one step by named inputs: closed forms, and central differences of certified steps at 1e-12 that begin
 * with a state, a world, a control or a step beside. */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/step_inputs.h"
#include "examples/scene.h"
#include "test.h"

#define H 0.01

enum { MOST = 12, BODIES = 8 };

/* ---- worlds ---- */

typedef struct box_world {
  double mu, restitution, height, speed, aside, fall, tilt;
  double stiffness, spinning; /* of the material; stiffness 0: by masses and step */
  bool round;
  int count; /* one above the other */
} box_world;

static frix_model *make_boxes(fx_test *t, frix_context *context, const box_world *w) {
  frix_builder *b = NULL;
  frix_model *model = NULL;
  frix_material_config m = frix_material_default();
  frix_shape_config floor = frix_shape_default(), shape = frix_shape_default();
  frix_builder_create(context, &b);
  m.mu = w->mu, m.restitution = w->restitution, m.stiffness = w->stiffness;
  m.spinning = w->spinning;
  frix_builder_add_material(b, &m, &floor.material);
  shape.material = floor.material;
  floor.kind = FRIX_SHAPE_PLANE;
  frix_builder_add_shape(b, (frix_body_id){0, 0}, &floor, NULL);
  for (int k = 0; k < w->count; k++) {
    char name[16];
    frix_body_config body = frix_body_default();
    frix_body_id id;
    snprintf(name, sizeof name, "b%d", k);
    body.name = name, body.mass = 2 + k;
    body.inertia = (frix_sym3){0.02, 0.03, 0.025, 0, 0, 0};
    body.pose.p = (frix_vec3){0.01 * k, 0, w->height + 0.1 + 0.2 * k};
    body.pose.q = frix_quat_turn((frix_vec3){0, 1, 0}, w->tilt);
    body.velocity = (frix_vec3){w->speed, w->aside, -w->fall};
    shape.kind = w->round ? FRIX_SHAPE_SPHERE : FRIX_SHAPE_BOX;
    shape.radius = 0.1, shape.half = (frix_vec3){0.1, 0.1, 0.1};
    frix_builder_add_body(b, &body, &id);
    frix_builder_add_shape(b, id, &shape, NULL);
  }
  CHECK(t, frix_builder_compile(b, &model) == FRIX_OK);
  frix_builder_destroy(b);
  return model;
}

/* A finger on two hinges that presses on the floor, and a box that slides. */
static const char robot_text[] =
    "<mujoco><option timestep='0.01'/><worldbody><geom type='plane' size='2 2 .1' friction='0.5'/>"
    "<body name='upper' pos='0 0 0.5'><joint name='shoulder' axis='0 1 0' damping='0.1' armature='0.01'/>"
    "<geom type='capsule' fromto='0 0 0 0.3 0 -0.2' size='0.03' contype='0' conaffinity='0'/>"
    "<body name='lower' pos='0.3 0 -0.2'><joint name='elbow' axis='0 1 0' damping='0.05' armature='0.01'/>"
    "<geom type='capsule' fromto='0 0 0 0.05 0 -0.259' size='0.03' friction='0.5' contype='0' conaffinity='0'/>"
    "<geom type='sphere' pos='0.05 0 -0.259' size='0.042' friction='0.5'/></body></body>"
    "<body name='box' pos='0 1 0.1'><freejoint name='root'/><geom type='sphere' size='0.1' friction='0.5'/></body>"
    "</worldbody><actuator><position name='push' joint='shoulder' kp='30' ctrlrange='-2 2'/>"
    "<motor name='pull' joint='elbow' gear='2'/></actuator></mujoco>";

static frix_model *make_robot(fx_test *t, frix_context *context) {
  frix_mjcf_config config = frix_mjcf_default();
  frix_mjcf *scene = NULL;
  config.coordinates = FRIX_COORDINATES_REDUCED;
  if (frix_mjcf_read_memory(context, "finger", robot_text, sizeof robot_text - 1, &config, &scene) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    return NULL;
  }
  frix_model *model = frix_mjcf_take_model(scene);
  frix_mjcf_destroy(scene);
  return model;
}

static frix_sim *open_sim(fx_test *t, frix_context *context, const frix_model *model, double tolerance) {
  frix_sim_config config = frix_sim_default();
  frix_sim *sim = NULL;
  config.contact = FRIX_CONTACT_KIND_RIGID, config.restitution = FRIX_RESTITUTION_NEWTON;
  config.stabilisation = 1, config.tolerance = tolerance, config.sleep = false;
  CHECK(t, frix_sim_create(context, model, &config, &sim) == FRIX_OK);
  return sim;
}

static void walk(fx_test *t, frix_sim *sim, int steps) {
  frix_step_report report;
  int32_t count = 0;
  frix_robot_state *robot = frix_sim_robot(sim);
  if (robot) frix_robot_data(robot, FRIX_ROBOT_CTRL, &count)[0] = 0.25;
  if (robot) frix_robot_data(robot, FRIX_ROBOT_CTRL, &count)[1] = 0.8;
  for (int k = 0; k < steps; k++) CHECK(t, frix_sim_step(sim, H, &report) == FRIX_OK && report.certified);
}

/* ---- the same by hand ---- */

static bool ends(const char *text, const char *with) {
  size_t n = strlen(text), m = strlen(with);
  return n >= m && !strcmp(text + n - m, with);
}

static double *component(frix_vec3 *v, const char *name) {
  char c = name[strlen(name) - 1];
  return c == 'x' ? &v->x : c == 'y' ? &v->y : &v->z;
}

static void copy_state(frix_sim *from, frix_sim *to, const frix_model *model) {
  frix_robot_state *robot = frix_sim_robot(from);
  for (int32_t k = 0; k < frix_model_count(model).body_count; k++) {
    frix_body_state s;
    frix_body_id id = frix_model_body_at(model, k);
    if (frix_sim_body(from, id, &s) != FRIX_OK || robot) continue;
    frix_sim_set_pose(to, id, s.pose);
    frix_sim_set_velocity(to, id, s.velocity, s.spin);
  }
  static const frix_robot_array array[] = {FRIX_ROBOT_QPOS, FRIX_ROBOT_QVEL, FRIX_ROBOT_CTRL};
  for (int a = 0; robot && a < 3; a++) {
    int32_t count;
    double *x = frix_robot_data(robot, array[a], &count);
    memcpy(frix_robot_data(frix_sim_robot(to), array[a], &count), x, (size_t)count * sizeof *x);
  }
}

/* Changes of the state, controls and forces, by public calls. */
static void change(frix_sim *sim, const frix_model *model, const char *name, double amount, double *h) {
  char body[64];
  frix_robot_state *robot = frix_sim_robot(sim);
  snprintf(body, sizeof body, "%.*s", (int)strcspn(name, "."), name);
  frix_body_id id = frix_model_find_body(model, body);
  frix_body_state s;
  if (id.index) frix_sim_body(sim, id, &s);
  if (!strcmp(name, "h")) *h += amount;
  if (!strcmp(name, "gravity.z")) frix_sim_set_gravity(sim, (frix_vec3){0, 0, -9.81 + amount});
  if (!strncmp(name, "ctrl:", 5)) frix_robot_data(robot, FRIX_ROBOT_CTRL, NULL)[!strcmp(name, "ctrl:pull")] += amount;
  if (!strncmp(name, "qvel:", 5)) frix_robot_data(robot, FRIX_ROBOT_QVEL, NULL)[!strcmp(name, "qvel:elbow")] += amount;
  if (!strncmp(name, "qpos:", 5)) frix_robot_data(robot, FRIX_ROBOT_QPOS, NULL)[!strcmp(name, "qpos:elbow")] += amount;
  if (strstr(name, ".velocity.")) {
    *component(&s.velocity, name) += amount;
    frix_sim_set_velocity(sim, id, s.velocity, s.spin);
  } else if (strstr(name, ".spin.")) {
    *component(&s.spin, name) += amount;
    frix_sim_set_velocity(sim, id, s.velocity, s.spin);
  } else if (strstr(name, ".force.")) {
    frix_vec3 force = {0, 0, 0};
    *component(&force, name) = amount;
    frix_sim_add_force(sim, id, force, (frix_vec3){0, 0, 0});
  } else if (strstr(name, ".turn.")) {
    frix_vec3 axis = {0, 0, 0};
    *component(&axis, name) = 1;
    frix_quat q = frix_quat_turn(axis, amount), p = s.pose.q;
    s.pose.q =
        (frix_quat){q.w * p.w - q.x * p.x - q.y * p.y - q.z * p.z, q.w * p.x + q.x * p.w + q.y * p.z - q.z * p.y,
                    q.w * p.y - q.x * p.z + q.y * p.w + q.z * p.x, q.w * p.z + q.x * p.y - q.y * p.x + q.z * p.w};
    frix_sim_set_pose(sim, id, s.pose);
    frix_sim_set_velocity(sim, id, s.velocity, s.spin);
  } else if (id.index && strlen(name) == strlen(body) + 2) {
    *component(&s.pose.p, name) += amount;
    frix_sim_set_pose(sim, id, s.pose);
    frix_sim_set_velocity(sim, id, s.velocity, s.spin);
  }
}

static bool of_model(const char *name) {
  static const char *const word[] = {".mass",     ".mu",    ".restitution", ".radius",
                                     "inertia.y", "size.z", "gravity.z",    ".stiffness"};
  for (size_t k = 0; k < sizeof word / sizeof *word; k++)
    if (ends(name, word[k])) return true;
  return false;
}

static void read_outputs(frix_sim *sim, const frix_model *model, int count, const char *const *of, double *out) {
  for (int k = 0; k < count; k++) {
    char body[64];
    frix_body_state s;
    snprintf(body, sizeof body, "%.*s", (int)strcspn(of[k], "."), of[k]);
    if (!strncmp(of[k], "qpos:", 5) || !strncmp(of[k], "qvel:", 5)) {
      frix_robot_array a = of[k][1] == 'p' ? FRIX_ROBOT_QPOS : FRIX_ROBOT_QVEL;
      out[k] = frix_robot_data(frix_sim_robot(sim), a, NULL)[ends(of[k], "elbow")];
      continue;
    }
    frix_sim_body(sim, frix_model_find_body(model, body), &s);
    const char *last = of[k] + strlen(of[k]) - 2;
    out[k] = *component(*last == 'v' ? &s.velocity : *last == 'w' ? &s.spin : &s.pose.p, of[k]);
  }
}

static bool outcome(fx_test *t, frix_context *context, const frix_model *model, frix_sim *from, const char *name,
                    double amount, int count, const char *const *of, double *out) {
  frix_model *varied = NULL;
  frix_step_report report = {.certified = false};
  double value, h = H;
  if (of_model(name) && strncmp(name, "gravity", 7)) {
    CHECK(t, frix_model_quantity(context, model, name, &value) == FRIX_OK);
    value += amount;
    CHECK(t, frix_model_vary(context, model, 1, &name, &value, &varied) == FRIX_OK);
  }
  frix_sim *sim = open_sim(t, context, varied ? varied : model, 1e-12);
  copy_state(from, sim, model);
  change(sim, model, name, amount, &h);
  bool good = frix_sim_step(sim, h, &report) == FRIX_OK && report.certified;
  read_outputs(sim, model, count, of, out);
  frix_sim_destroy(sim);
  frix_model_destroy(varied);
  return good;
}

/* Compares all of them; the largest difference over the largest derivative of its output. */
static double compare(fx_test *t, frix_context *context, const frix_model *model, frix_sim *sim, int wrt_count,
                      const char *const *wrt, int of_count, const char *const *of) {
  double value[MOST * MOST], d = 1e-4, worst = 0;
  frix_gradient_result result = {.size = sizeof result};
  frix_step_gradient_config config = frix_step_gradient_default();
  config.step = H, config.wrt_count = wrt_count, config.wrt = wrt, config.of_count = of_count, config.of = of;
  if (frix_sim_step_gradient(sim, &config, value, NULL, &result) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
    return 1;
  }
  CHECK(t, result.verdict == FRIX_GRADIENT_SMOOTH);
  for (int e = 0; e < wrt_count; e++) {
    double at[4][MOST], most = 0, off = 0;
    static const double part[4] = {-1, 1, -0.5, 0.5};
    for (int n = 0; n < 4; n++) CHECK(t, outcome(t, context, model, sim, wrt[e], part[n] * d, of_count, of, at[n]));
    for (int k = 0; k < of_count; k++) {
      double expected = (4 * (at[3][k] - at[2][k]) / d - (at[1][k] - at[0][k]) / (2 * d)) / 3;
      double apart = fabs(expected - value[k * wrt_count + e]);
      most = fmax(most, fabs(expected)), off = apart <= off ? off : apart; /* NAN too */
    }
    if (!(off <= 1e-6 * fmax(most, 1e-3)))
      fx_test_fail(t, __FILE__, __LINE__, "by %s: off by %.2e of %.2e", wrt[e], off, most);
    worst = fmax(worst, off / fmax(most, 1e-3));
  }
  return worst;
}

static void boxes(fx_test *t) {
  static const char *const wrt[] = {"b0.mass", "b0.velocity.x", "b0.force.y", "b0.x",      "b0.mu",
                                    "h",       "b0.velocity.z", "b0.turn.z",  "b0.spin.z", "gravity.z"};
  static const char *const of[] = {"b0.x", "b0.vx", "b0.vy", "b0.wz", "b0.z"};
  static const char *const fall[] = {"b0.restitution", "b0.velocity.z", "b0.mass", "b0.radius", "h",
                                     "b0.spin.y",      "b0.z"};
  static const char *const push[] = {"b0.force.x", "b0.velocity.x", "b0.mass", "b0.z", "b0.x", "b0.inertia.y"};
  const box_world slide = {.mu = 0.3, .speed = 1, .aside = 0.3, .round = true, .count = 1}, ice = {.mu = 0, .count = 1};
  const box_world bounce = {
      .mu = 0.2, .restitution = 0.6, .height = -1e-3, .speed = 1, .aside = 0.3, .fall = 2, .round = true, .count = 1};
  const box_world roll = {.mu = 0.9, .speed = 0.1, .aside = 0.03, .round = true, .count = 1};
  frix_context *context = NULL;
  double worst = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  const struct {
    const box_world *world;
    int steps, count;
    const char *const *wrt;
  } list[] = {{&slide, 5, 10, wrt}, {&ice, 3, 6, push}, {&bounce, 0, 7, fall}, {&roll, 40, 6, push}};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    frix_model *model = make_boxes(t, context, list[k].world);
    frix_sim *sim = open_sim(t, context, model, 1e-10);
    walk(t, sim, list[k].steps);
    worst = fmax(worst, compare(t, context, model, sim, list[k].count, list[k].wrt, 5, of));
    frix_sim_destroy(sim);
    frix_model_destroy(model);
  }
  fx_test_note(t, "29 inputs, 5 outputs: off by %.1e", worst);
  frix_context_destroy(context);
}

static void robot(fx_test *t) {
  static const char *const wrt[] = {"ctrl:push",     "ctrl:pull",  "qpos:shoulder", "qpos:elbow",
                                    "qvel:shoulder", "qvel:elbow", "lower.force.x", "gravity.z"};
  static const char *const of[] = {"qvel:shoulder", "qvel:elbow", "qpos:shoulder", "qpos:elbow", "lower.vx"};
  frix_context *context = NULL;
  double worst = 0;
  int touching = 0;
  if (!frix_mjcf_available()) {
    fx_test_skip(t, "this build reads no XML");
    return;
  }
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_model *model = make_robot(t, context);
  frix_sim *sim = model ? open_sim(t, context, model, 1e-10) : NULL;
  for (int k = 0; sim && k < 3; k++) { /* on the way down, as it strikes, and pressing */
    walk(t, sim, 12);
    touching += frix_sim_contact_count(sim) > 1;
    worst = fmax(worst, compare(t, context, model, sim, 8, wrt, 5, of));
  }
  CHECK(t, touching > 0);
  fx_test_note(t, "3 steps of a robot, 8 inputs each: off by %.1e, %d with its finger on the floor", worst, touching);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* Normal force of a body that slides, m (g h + v_z) / h; one-sided and smoothed derivatives; what is refused. */
static void forces(fx_test *t) {
  const box_world slide = {.mu = 0.3, .speed = 1, .count = 1, .round = true};
  static const char *const wrt[] = {"b0.mass", "gravity.z", "mu:b0|world", "b0.force.z"};
  static const char *const of[] = {"b0|world.n", "b0.vx"};
  double value[8], below[8];
  frix_context *context = NULL;
  frix_gradient_result result = {.size = sizeof result};
  frix_step_gradient_config config = frix_step_gradient_default();
  config.step = H, config.wrt_count = 4, config.wrt = wrt, config.of_count = 2, config.of = of;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_model *model = make_boxes(t, context, &slide);
  frix_sim *sim = open_sim(t, context, model, 1e-10);
  CHECK(t, frix_sim_step_gradient(sim, &config, value, NULL, &result) == FRIX_OK);
  CHECK_NEAR(t, value[0], 9.81, 1e-7);
  CHECK_NEAR(t, value[1], -2, 1e-7);
  CHECK_NEAR(t, value[3], -1, 1e-7);
  CHECK_NEAR(t, value[6], -9.81 * H, 1e-7);
  config.one_sided = true;
  CHECK(t, frix_sim_step_gradient(sim, &config, value, below, &result) == FRIX_OK);
  CHECK_NEAR(t, value[6], -9.81 * H, 1e-7);
  CHECK_NEAR(t, below[6], -9.81 * H, 1e-7);
  config.one_sided = false, config.kappa = 1e-5;
  CHECK(t, frix_sim_step_gradient(sim, &config, value, NULL, &result) == FRIX_OK);
  CHECK(t, result.verdict == FRIX_GRADIENT_SMOOTHED);
  CHECK_NEAR(t, value[6], -9.81 * H, 1e-4);
  config.kappa = 0, config.wrt = (const char *const[]){"b7.mass"}, config.wrt_count = 1;
  CHECK(t, frix_sim_step_gradient(sim, &config, value, NULL, &result) == FRIX_ERROR_INPUT);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* A ball at the very moment of touching: what is not smooth is told, and no number is given. */
static void kinks(fx_test *t) {
  static const char *const wrt[] = {"b0.force.z"}, *const of[] = {"b0.vz"};
  double value[1] = {0}, below[1] = {0};
  frix_context *context = NULL;
  frix_gradient_result result = {.size = sizeof result};
  frix_step_gradient_config config = frix_step_gradient_default();
  config.step = H, config.wrt_count = 1, config.wrt = wrt, config.of_count = 1, config.of = of;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_model *model = make_boxes(t, context, &(box_world){.mu = 0.5, .count = 1, .round = true});
  frix_sim *sim = open_sim(t, context, model, 1e-10);
  frix_body_id b = frix_model_find_body(model, "b0");
  frix_sim_set_pose(sim, b,
                    (frix_pose){{0, 0, 0.1 + 9.81 * H * H}, {1, 0, 0, 0}}); /* it arrives at the end of the step */
  CHECK(t, frix_sim_step_gradient(sim, &config, value, NULL, &result) == FRIX_OK);
  CHECK(t, result.verdict == FRIX_GRADIENT_KINK && isnan(value[0]));
  config.one_sided = true;
  CHECK(t, frix_sim_step_gradient(sim, &config, value, below, &result) == FRIX_OK);
  CHECK_NEAR(t, value[0], H / 2, 1e-9); /* up it goes, down it does not */
  CHECK_NEAR(t, below[0], 0, 1e-9);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* A contact with mu = 0 that does not slip: what pushes it along moves it. Its cone is a line, whatever its name. */
static void line(fx_test *t) {
  const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 0, 0}, w[3] = {0, 1, 0.5}, mu = 1;
  frix_cone cones[] = {FRIX_CONE_FRICTIONLESS, FRIX_CONE_CIRCULAR, FRIX_CONE_ELLIPTIC};
  frix_context *context = NULL;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int k = 0; k < 3; k++) {
    frix_contact contact = frix_contact_of_dim(3, 0, 0);
    frix_problem_data data = frix_problem_data_default();
    frix_problem *problem = NULL;
    frix_gradient *g = NULL;
    double u[3] = {0};
    contact.cone = cones[k], contact.axis[0] = 1;
    data.form = FRIX_FORM_LOCAL;
    data.contact_count = 1, data.contact = &contact, data.q = q;
    data.W = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = 3, .col_count = 3, .x = W};
    CHECK(t, frix_problem_create(context, &data, &problem) == FRIX_OK);
    CHECK(t, problem && frix_gradient_create(context, problem, NULL, &g) == FRIX_OK);
    frix_gradient_data change = {.size = sizeof change, .w = w};
    CHECK(t, g && frix_gradient_forward(g, &change, NULL, u, NULL) == FRIX_OK);
    CHECK_NEAR(t, u[1], 1, 1e-12);
    CHECK_NEAR(t, u[2], 0.5, 1e-12);
    change.mu = &mu; /* the least friction would hold it */
    CHECK(t, g && frix_gradient_forward(g, &change, NULL, u, NULL) == FRIX_ERROR_UNSUPPORTED);
    frix_gradient_destroy(g);
    frix_problem_destroy(problem);
  }
  frix_context_destroy(context);
}

/* Steps of a pile on springs, solved to 1e-8: answers are corrected far enough to be told as smooth. */
static void pile(fx_test *t) {
  const frix_scene *scene = frix_scene_find("pile");
  double value[FRIX_SCENE_MAX_PARAMETERS];
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  int smooth = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (int32_t k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
  value[frix_scene_parameter_index(scene, "n")] = 30, value[frix_scene_parameter_index(scene, "stiffness")] = 0;
  CHECK(t, frix_scene_build(scene, context, value, 0, &model) == FRIX_OK);
  CHECK(t, frix_sim_create(context, model, NULL, &sim) == FRIX_OK);
  for (int k = 0; sim && k < 70; k++) {
    frix_step_report report;
    frix_gradient *g = NULL;
    frix_gradient_result r = {.size = sizeof r};
    CHECK(t, frix_sim_step(sim, 0.005, &report) == FRIX_OK);
    if (k < 60 || frix_gradient_of_step(sim, NULL, &g) != FRIX_OK) continue;
    frix_gradient_view(g, &r);
    smooth += r.verdict == FRIX_GRADIENT_SMOOTH;
    frix_gradient_destroy(g);
  }
  CHECK(t, smooth >= 9);
  fx_test_note(t, "%d of 10 steps smooth", smooth);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

/* ---- stiff contacts ---- */

typedef struct stiff_case {
  box_world world;
  int steps;
} stiff_case;

/* The next step as any user makes it, solved to 1e-12, springs as they are. Another step or mass makes the natural gap
 * follow the gap, which jumps by second order in what turns: there, as derivatives see it. */
static bool stiff_outcome(const frix_sim *from, const frix_snapshot *start, const char *input, double amount, int count,
                          const char *const *of, double *out) {
  fx_step_input in;
  frix_step_report report = {.certified = false};
  frix_sim_config config = from->config;
  frix_sim *sim = NULL;
  double h = H, scratch[64];
  config.tolerance = 1e-12;
  bool good = frix_sim_create(from->context, from->root, &config, &sim) == FRIX_OK &&
              frix_sim_restore(sim, start) == FRIX_OK && fx_step_input_read(sim, input, &in) == FRIX_OK &&
              fx_step_input_change(sim, &in, amount) == FRIX_OK;
  if (good && in.kind == FX_INPUT_STEP) h += amount;
  if (sim) sim->of_state = in.kind == FX_INPUT_STEP || strstr(input, ".mass"); /* else springs jump with what turns */
  good = good && frix_sim_step(sim, h, &report) == FRIX_OK && report.certified;
  for (int k = 0; good && k < count; k++) {
    fx_step_output o;
    good = fx_step_output_read(sim, of[k], &o) == FRIX_OK;
    out[k] = good ? fx_step_output_value(sim, (frix_sim *)from, &o, scratch) : 0;
  }
  frix_sim_destroy(sim);
  return good;
}

static double compare_stiff(fx_test *t, frix_sim *sim, const char *wrt, int of_count, const char *const *of) {
  double value[MOST], at[4][MOST], most = 1e-3, off = 0;
  static const double part[4] = {-1, 1, -0.5, 0.5};
  double number, d = 1e-4;
  frix_snapshot *start = NULL;
  frix_gradient_result result = {.size = sizeof result};
  frix_step_gradient_config config = frix_step_gradient_default();
  config.step = H, config.wrt_count = 1, config.wrt = &wrt, config.of_count = of_count, config.of = of;
  if (strcmp(wrt, "h") == 0) d = 1e-5;
  if (frix_model_quantity(sim->context, sim->model, wrt, &number) == FRIX_OK && of_model(wrt)) d = 1e-3 * fabs(number);
  if (frix_sim_step_gradient(sim, &config, value, NULL, &result) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(sim->context));
    return 1;
  }
  if (result.verdict != FRIX_GRADIENT_SMOOTH) fx_test_fail(t, __FILE__, __LINE__, "by %s: a kink", wrt);
  CHECK(t, frix_sim_save(sim, &start) == FRIX_OK);
  for (int n = 0; n < 4; n++) CHECK(t, stiff_outcome(sim, start, wrt, part[n] * d, of_count, of, at[n]));
  for (int k = 0; k < of_count; k++) {
    double expected = (4 * (at[3][k] - at[2][k]) / d - (at[1][k] - at[0][k]) / (2 * d)) / 3;
    double apart = fabs(expected - value[k]);
    most = fmax(most, fabs(expected)), off = apart <= off ? off : apart; /* NAN too */
  }
  frix_snapshot_destroy(start);
  if (!(off <= 1e-6 * most + 1e-12 / d))
    fx_test_fail(t, __FILE__, __LINE__, "by %s: off by %.2e of %.2e", wrt, off, most);
  return off / most;
}

/* Springs remember forces and where they carry nothing; their stiffness follows masses, step and material. */
static void stiff(fx_test *t) {
  static const char *const wrt[] = {"b0.mass", "b0.velocity.x", "b0.force.y", "b0.x",      "b0.mu",     "b0.z",
                                    "h",       "b0.velocity.z", "b0.turn.z",  "b0.spin.z", "gravity.z", "b0.stiffness"};
  static const char *const of[] = {"b0.x", "b0.vx", "b0.vy", "b0.vz", "b0.wz", "b0.z"};
  static const stiff_case list[] = {
      {{.mu = 0.3, .speed = 1, .aside = 0.3, .round = true, .count = 1}, .steps = 5},                   /* slides */
      {{.mu = 0.9, .speed = 0.1, .aside = 0.03, .round = true, .count = 1}, .steps = 40},               /* rolls */
      {{.mu = 0.3, .speed = 1, .aside = 0.3, .count = 2}, .steps = 6},                                  /* two boxes */
      {{.mu = 0.3, .speed = 1, .aside = 0.3, .round = true, .count = 1, .stiffness = 4e5}, .steps = 5}, /* by name */
      {{.mu = 0.8, .speed = 0.2, .aside = 0.1, .round = true, .count = 1, .stiffness = 4e5}, .steps = 60},
      {{.mu = 0.5, .restitution = 0.5, .speed = 1, .fall = 2, .height = 0.05, .round = true, .count = 1}, .steps = 4},
  };
  frix_context *context = NULL;
  double worst = 0;
  int compared = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
    frix_model *model = make_boxes(t, context, &list[k].world);
    bool named = list[k].world.stiffness > 0;
    frix_sim_config config = frix_sim_default();
    frix_sim *sim = NULL;
    config.tolerance = 1e-10, config.sleep = false, config.restitution = FRIX_RESTITUTION_NEWTON;
    CHECK(t, frix_sim_create(context, model, &config, &sim) == FRIX_OK);
    walk(t, sim, list[k].steps);
    for (int e = 0; sim && e < 12 - !named; e++, compared++) worst = fmax(worst, compare_stiff(t, sim, wrt[e], 6, of));
    frix_sim_destroy(sim);
    frix_model_destroy(model);
  }
  fx_test_note(t, "%d inputs, 6 outputs: off by %.1e", compared, worst);
  frix_context_destroy(context);
}

/* A ball on a belt that it slides on, and a ball that turns on the spot under drilling friction alone: closed forms. */
static void belt(fx_test *t) {
  static const char *const wrt[] = {"b0.mu", "b0.velocity.x", "b0.force.z"}, *const of[] = {"b0.vx"};
  double value[3] = {0};
  frix_context *context = NULL;
  frix_gradient_result result = {.size = sizeof result};
  frix_step_gradient_config config = frix_step_gradient_default();
  config.step = H, config.wrt_count = 3, config.wrt = wrt, config.of_count = 1, config.of = of;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_model *model = make_boxes(t, context, &(box_world){.mu = 0.3, .count = 1, .round = true});
  frix_sim *sim = open_sim(t, context, model, 1e-10);
  CHECK(t, frix_sim_set_belt(sim, frix_model_shape_at(model, 0), (frix_vec3){1, 0, 0}) == FRIX_OK);
  walk(t, sim, 3);
  CHECK(t, frix_sim_step_gradient(sim, &config, value, NULL, &result) == FRIX_OK);
  CHECK(t, result.verdict == FRIX_GRADIENT_SMOOTH);
  CHECK_NEAR(t, fabs(value[0]), 9.81 * H, 1e-6); /* v += mu g h, along the belt */
  CHECK_NEAR(t, value[1], 1, 1e-7);
  CHECK_NEAR(t, fabs(value[2]), 0.3 * H / 2, 1e-7);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

static void drilling(fx_test *t) {
  static const char *const wrt[] = {"b0.force.z", "b0.spin.z"}, *const of[] = {"b0.wz"};
  double value[2] = {0};
  frix_context *context = NULL;
  frix_gradient_result result = {.size = sizeof result};
  frix_step_gradient_config config = frix_step_gradient_default();
  config.step = H, config.wrt_count = 2, config.wrt = wrt, config.of_count = 1, config.of = of;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  frix_model *model = make_boxes(t, context, &(box_world){.mu = 0.3, .count = 1, .round = true, .spinning = 0.01});
  frix_sim *sim = open_sim(t, context, model, 1e-10);
  CHECK(t, frix_sim_set_velocity(sim, frix_model_find_body(model, "b0"), (frix_vec3){0, 0, 0}, (frix_vec3){0, 0, 9}) ==
               FRIX_OK);
  CHECK(t, frix_sim_step_gradient(sim, &config, value, NULL, &result) == FRIX_OK);
  CHECK(t, result.verdict == FRIX_GRADIENT_SMOOTH);
  CHECK_NEAR(t, value[0], 0.01 * H / 0.025, 1e-7); /* w -= spinning (m g - F) h / J */
  CHECK_NEAR(t, value[1], 1, 1e-7);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
}

const fx_test_row test_step_gradient[] = {{"step_gradient/boxes", boxes},       {"step_gradient/robot", robot},
                                          {"step_gradient/forces", forces},     {"step_gradient/kinks", kinks},
                                          {"step_gradient/line", line},         {"step_gradient/pile", pile},
                                          {"step_gradient/stiff", stiff},       {"step_gradient/belt", belt},
                                          {"step_gradient/drilling", drilling}, {0}};
