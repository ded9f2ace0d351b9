/* Joints on points of soft surfaces: they hold material points, carry weights, stretch springs, and say what there is
 * not.
 */
#include "soft_tools.h"

typedef struct rig {
  frix_context *context;
  frix_builder *builder;
  frix_soft *soft;
  frix_model *model;
  frix_sim *sim;
  frix_body_id bar;
} rig;

static const double half = 0.25, side = 0.05;

/* A bar along x, one metre up. */
static bool begin(fx_test *t, rig *r) {
  frix_soft_config c = frix_soft_default();
  frix_body_config body = frix_body_default();
  *r = (rig){0};
  c.sides = (frix_vec3){2 * half, 2 * side, 2 * side}, c.young = 2e6, c.modes = 12, c.order = 1, c.damping_ratio = 0.3;
  c.cells = 2;
  body.pose.p.z = 1.0;
  bool good = !frix_context_create(NULL, &r->context) && !frix_builder_create(r->context, &r->builder) &&
              !frix_soft_make(r->context, "bar", &c, &r->soft) &&
              !frix_builder_add_soft(r->builder, r->soft, &body, NULL, &r->bar);
  if (!good) fx_test_fail(t, __FILE__, __LINE__, "%s", r->context ? frix_error_text(r->context) : "no context");
  return good;
}

static void end(rig *r) {
  frix_sim_destroy(r->sim);
  frix_model_destroy(r->model);
  frix_builder_destroy(r->builder);
  frix_soft_destroy(r->soft);
  frix_context_destroy(r->context);
}

/* The point of the surface nearest to a place of the undeformed bar. */
static int32_t point_at(const rig *r, double x, double y, double z) {
  frix_soft_info info = frix_soft_view(r->soft);
  int32_t best = 0;
  double least = INFINITY;
  for (int32_t k = 0; k < info.point_count; k++) {
    double off = hypot(hypot(info.point[k].x - x, info.point[k].y - y), info.point[k].z - z);
    if (off < least) best = k, least = off;
  }
  return best;
}

static frix_joint_config joint_at(const rig *r, frix_joint_kind kind, int32_t point) {
  frix_joint_config c = frix_joint_default(kind);
  frix_vec3 p = frix_soft_view(r->soft).point[point];
  c.b = r->bar;
  c.frame_b.p = p;
  c.frame_a.p = (frix_vec3){p.x, p.y, p.z + 1.0};
  return c;
}

static bool run(fx_test *t, rig *r, int32_t steps, double h, double *residual) {
  frix_step_report report = {.size = sizeof report};
  *residual = 0;
  for (int32_t k = 0; k < steps; k++) {
    if (frix_sim_step(r->sim, h, &report)) {
      fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(r->context));
      return false;
    }
    CHECK(t, report.certified);
    *residual = fmax(*residual, report.certificate.residual);
  }
  return true;
}

static bool simulate(fx_test *t, rig *r) {
  frix_sim_config config = frix_sim_default();
  if (!frix_builder_compile(r->builder, &r->model) && !frix_sim_create(r->context, r->model, &config, &r->sim))
    return true;
  fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(r->context));
  return false;
}

static double ledger_error(const frix_sim *sim) {
  frix_energy e = frix_sim_energy(sim);
  double sum = e.start + e.work - e.friction - e.impact - e.damping + e.joint + e.contact + e.scheme + e.error;
  return fabs(e.kinetic + e.potential - sum);
}

/* Three corners of one end held by ball joints, or by stiff pulls: the bar sags by as much. */
static void clamps(fx_test *t) {
  double tip[2] = {0, 0}, residual[2], off = 0, ledger = 0, weight = 0;
  for (int way = 0; way < 2; way++) {
    rig r;
    frix_vec3 *surface = NULL;
    REQUIRE(t, begin(t, &r));
    frix_soft_info info = frix_soft_view(r.soft);
    int32_t corner[3] = {point_at(&r, -half, -side, -side), point_at(&r, -half, side, -side),
                         point_at(&r, -half, -side, side)};
    int32_t last = point_at(&r, half, 0, 0);
    frix_joint_id id[3];
    for (int k = 0; k < 3 && !way; k++) {
      frix_joint_config c = joint_at(&r, FRIX_JOINT_BALL, corner[k]);
      CHECK(t, !frix_builder_add_joint(r.builder, &c, &id[k]));
    }
    if (simulate(t, &r) && (surface = malloc((size_t)info.point_count * sizeof *surface))) {
      for (int32_t k = 0; k < 1500; k++) {
        for (int c = 0; c < 3 && way; c++) {
          frix_vec3 p = info.point[corner[c]];
          frix_soft_pull pull = {.point = corner[c], .place = {p.x, p.y, p.z + 1}, .stiffness = 1e11, .damping = 0};
          CHECK(t, !frix_sim_pull(r.sim, r.bar, &pull));
        }
        if (!run(t, &r, 1, 4e-3, &residual[way])) break;
        if (!way) ledger = fmax(ledger, ledger_error(r.sim));
      }
      CHECK(t, !frix_sim_surface(r.sim, r.bar, surface));
      tip[way] = 1.0 - surface[last].z;
      for (int c = 0; c < 3 && !way; c++) {
        frix_vec3 p = info.point[corner[c]], q = surface[corner[c]];
        frix_joint_state state;
        off = fmax(off, hypot(hypot(q.x - p.x, q.y - p.y), q.z - p.z - 1));
        CHECK(t, !frix_sim_joint(r.sim, id[c], &state));
        weight += state.force.z;
      }
    }
    weight /= way ? 1.0 : info.mass * 9.81;
    free(surface);
    end(&r);
  }
  fx_test_note(t, "sags by %.4f m, by stiff pulls %.4f m; points off by %.0e m, weight %.6f, ledger %.0e J", tip[0],
               tip[1], off, weight, ledger);
  CHECK(t, tip[0] > 0.01);
  CHECK_NEAR(t, tip[0] / tip[1], 1, 2e-3);
  CHECK(t, off < 1e-7);
  CHECK_NEAR(t, weight, 1, 1e-3);
  CHECK(t, ledger < 1e-10);
}

/* The bar hangs by a spring from one point, and a rigid ball by a ball joint from another. */
static void hangs(fx_test *t) {
  rig r;
  double residual, k = 500, off = 0;
  REQUIRE(t, begin(t, &r));
  frix_soft_info info = frix_soft_view(r.soft);
  int32_t top = point_at(&r, 0, 0, side), below = point_at(&r, 0, 0, -side);
  frix_joint_config spring = joint_at(&r, FRIX_JOINT_DISTANCE, top), ball = frix_joint_default(FRIX_JOINT_BALL);
  frix_body_config body = frix_body_default();
  frix_shape_config shape = frix_shape_default();
  frix_joint_id id;
  spring.frame_a.p.z += 0.5;
  spring.axis[0].limited = true, spring.axis[0].lower = 0.0, spring.axis[0].upper = 10.0;
  spring.axis[0].stiffness = k, spring.axis[0].damping = 100, spring.axis[0].rest = 0.5;
  body.pose.p = (frix_vec3){info.point[below].x, info.point[below].y, info.point[below].z + 1.0 - 0.1};
  shape.kind = FRIX_SHAPE_SPHERE, shape.radius = 0.03, shape.density = 8000;
  CHECK(t,
        !frix_builder_add_body(r.builder, &body, &ball.a) && !frix_builder_add_shape(r.builder, ball.a, &shape, NULL));
  ball.b = r.bar, ball.frame_b.p = info.point[below], ball.frame_a.p.z = 0.1;
  CHECK(t, !frix_builder_add_joint(r.builder, &spring, &id) && !frix_builder_add_joint(r.builder, &ball, NULL));
  frix_vec3 *surface = malloc((size_t)info.point_count * sizeof *surface);
  if (surface && simulate(t, &r) && run(t, &r, 1500, 2e-3, &residual)) {
    frix_joint_state state;
    frix_body_state weight;
    double mass = info.mass + 8000 * 4.0 / 3.0 * 3.14159265358979 * 0.03 * 0.03 * 0.03;
    CHECK(t, !frix_sim_joint(r.sim, id, &state) && !frix_sim_body(r.sim, ball.a, &weight));
    CHECK(t, !frix_sim_surface(r.sim, r.bar, surface));
    CHECK_NEAR(t, (state.coordinate[0] - 0.5) * k / (mass * 9.81), 1, 1e-3);
    off = hypot(hypot(surface[below].x - weight.pose.p.x, surface[below].y - weight.pose.p.y),
                surface[below].z - weight.pose.p.z - 0.1);
    CHECK(t, off < 1e-3);
    fx_test_note(t, "spring %.4f m long, ball joint off by %.0e m, residual %.0e", state.coordinate[0], off, residual);
  }
  free(surface);
  end(&r);
}

/* What soft bodies do not do is refused in words. */
static void refuses(fx_test *t) {
  rig r;
  REQUIRE(t, begin(t, &r));
  if (simulate(t, &r)) {
    frix_body_config body = frix_body_default();
    frix_body_id id;
    frix_soft_pull pull = {.point = 1 << 20, .stiffness = 1};
    frix_vec3 still = {0, 0, 0};
    frix_builder *change = NULL;
    CHECK(t, frix_sim_spawn(r.sim, r.bar, body.pose, still, still, &id) == FRIX_ERROR_UNSUPPORTED);
    CHECK(t, strstr(frix_error_text(r.context), "soft bodies are there from the start"));
    CHECK(t, frix_sim_begin_change(r.sim, &change) == FRIX_ERROR_UNSUPPORTED);
    CHECK(t, strstr(frix_error_text(r.context), "not for a world with soft bodies"));
    CHECK(t, frix_sim_pull(r.sim, r.bar, &pull) == FRIX_ERROR_INPUT);
    CHECK(t, strstr(frix_error_text(r.context), "point of the surface"));
  }
  end(&r);
}

const fx_test_row test_soft_joints[] = {
    {"soft_joints/clamps", clamps}, {"soft_joints/hangs", hangs}, {"soft_joints/refuses", refuses}, {0}};
