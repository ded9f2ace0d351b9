/* Soft bodies of a simulation under abuse: a stiff handle that is pulled away fast, an inverted start, any friction,
 * stiffness and step. Every step is certified or says that it is not, and every number stays finite. */
#include "soft_tools.h"

#include <string.h>

typedef struct outcome {
  int steps, certified;
  int solver; /* steps that Newton over the soft coordinates left to the solver */
} outcome;

typedef struct trial {
  frix_context *context;
  frix_builder *builder;
  frix_soft *soft;
  frix_model *model;
  frix_sim *sim;
  frix_body_id id;
} trial;

/* shape: a generated one; with company a rigid ball hangs on a joint at its first point.
 */
typedef struct subject {
  const char *shape;
  frix_soft_material material;
  bool company;
} subject;

static frix_status add_company(trial *x, const frix_body_config *soft, frix_shape_config *shape) {
  frix_joint_config joint = frix_joint_default(FRIX_JOINT_BALL);
  frix_body_config ball = frix_body_default();
  joint.a = x->id;
  joint.frame_a.p = frix_soft_view(x->soft).point[0];
  ball.pose.p = (frix_vec3){soft->pose.p.x + joint.frame_a.p.x, soft->pose.p.y + joint.frame_a.p.y,
                            soft->pose.p.z + joint.frame_a.p.z + 0.06};
  joint.frame_b.p.z = -0.06;
  shape->kind = FRIX_SHAPE_SPHERE, shape->radius = 0.05;
  frix_status status = frix_builder_add_body(x->builder, &ball, &joint.b);
  if (!status) status = frix_builder_add_shape(x->builder, joint.b, shape, NULL);
  return status ? status : frix_builder_add_joint(x->builder, &joint, NULL);
}

static bool begin(trial *x, double young, double mu, const subject *what) {
  frix_soft_config c = frix_soft_default();
  frix_material_config law = frix_material_default();
  frix_shape_config shape = frix_shape_default(), floor = frix_shape_default();
  frix_body_config body = frix_body_default();
  *x = (trial){0};
  c.material = what->material, c.young = young, c.sides = (frix_vec3){0.2, 0.2, 0.1}, c.cells = 1, c.order = 1;
  if (!strcmp(what->shape, "blob")) c.cells = 5;
  c.modes = what->material == FRIX_SOFT_STVK ? 4 : 6, c.strains = true, c.damping_ratio = 0.05;
  law.mu = mu;
  floor.kind = FRIX_SHAPE_PLANE, body.pose.p.z = 0.06;
  bool good = !frix_context_create(NULL, &x->context) && !frix_builder_create(x->context, &x->builder) &&
              !frix_soft_make(x->context, what->shape, &c, &x->soft) &&
              !frix_builder_add_material(x->builder, &law, &shape.material);
  floor.material = shape.material;
  return good && !frix_builder_add_shape(x->builder, (frix_body_id){0, 0}, &floor, NULL) &&
         !frix_builder_add_soft(x->builder, x->soft, &body, &shape, &x->id) &&
         (!what->company || !add_company(x, &body, &shape)) && !frix_builder_compile(x->builder, &x->model) &&
         !frix_sim_create(x->context, x->model, NULL, &x->sim);
}

static void end(trial *x) {
  frix_sim_destroy(x->sim);
  frix_model_destroy(x->model);
  frix_builder_destroy(x->builder);
  frix_soft_destroy(x->soft);
  frix_context_destroy(x->context);
}

/* All amplitudes so far that points change sides: the body is turned inside out. */
static bool invert(trial *x) {
  frix_soft_info info = frix_soft_view(x->soft);
  double amplitude[64];
  for (int32_t k = 0; k < info.coordinates; k++) {
    double most = 0.0;
    for (int32_t p = 0; p < info.point_count; p++)
      for (int e = 0; e < 3; e++)
        most = fmax(most, fabs(info.shape[(size_t)(3 * p + e) * (size_t)info.coordinates + (size_t)k]));
    amplitude[k] = most > 0.0 ? -0.2 / most : 0.0;
  }
  return info.coordinates <= 64 && !frix_sim_set_amplitude(x->sim, x->id, amplitude, NULL);
}

static bool is_finite(const trial *x) {
  frix_body_state s;
  frix_energy e = frix_sim_energy(x->sim);
  const double *q = frix_sim_amplitude(x->sim, x->id);
  bool good = !frix_sim_body(x->sim, x->id, &s) && isfinite(s.pose.p.x + s.pose.p.y + s.pose.p.z + s.velocity.x);
  for (int32_t k = 0; good && k < frix_soft_view(x->soft).coordinates; k++) good = isfinite(q[k]);
  return good && isfinite(e.kinetic + e.potential);
}

/* A handle of 1e5 N/m at a corner is pulled away at 10 m/s, up and to the side. */
static bool run(trial *x, double h, int count, outcome *o) {
  frix_vec3 start = frix_soft_view(x->soft).point[0];
  for (int n = 0; n < count; n++) {
    double way = 10.0 * h * n;
    frix_soft_pull pull = {.point = 0,
                           .place = {start.x + way, start.y, start.z + 0.06 + 0.3 * way},
                           .velocity = {10.0, 0.0, 3.0},
                           .stiffness = 1e5};
    frix_step_report r = {.size = sizeof r};
    if (frix_sim_pull(x->sim, x->id, &pull) || frix_sim_step(x->sim, h, &r) || !is_finite(x)) return false;
    o->steps++, o->certified += r.certified;
    o->solver += strcmp(r.finisher, "") && strcmp(r.finisher, "warm start") && strcmp(r.finisher, "soft newton");
    if (!r.certified && r.outcome == FRIX_OUTCOME_SOLVED) return false;
  }
  return true;
}

/* share: of steps that are certified at least. */
static void sweep(fx_test *t, const subject *what, bool inverted, int steps, double share) {
  static const double young[] = {1e3, 1e6, 1e11}, step[] = {1e-4, 1e-3, 1e-2}, mu[] = {0, 0.5, 10};
  outcome o = {0};
  for (int k = 0; k < 27; k++) {
    trial x;
    double E = young[k / 9], h = step[k / 3 % 3], f = mu[k % 3];
    bool good = begin(&x, E, f, what) && (!inverted || invert(&x)) && run(&x, h, steps, &o);
    if (!good)
      fx_test_fail(t, __FILE__, __LINE__, "%s, E %g h %g mu %g after %d steps: %s", what->shape, E, h, f, o.steps,
                   x.context ? frix_error_text(x.context) : "no context");
    end(&x);
  }
  fx_test_note(t, "%d of %d steps certified, %d by the solver", o.certified, o.steps, o.solver);
  CHECK(t, o.certified >= share * o.steps && (share < 1 || o.solver == 0));
}

static const subject bar = {"bar", FRIX_SOFT_LINEAR, false}, stvk_bar = {"bar", FRIX_SOFT_STVK, false};

static void is_pulled(fx_test *t) { sweep(t, &bar, false, 60, 1); }
static void is_pulled_stvk(fx_test *t) { sweep(t, &stvk_bar, false, 60, 1); }
static void starts_inverted(fx_test *t) { sweep(t, &bar, true, 60, 1); }
/* This material has states of rest inside out, and much energy on the way there. */
static void starts_inverted_stvk(fx_test *t) { sweep(t, &stvk_bar, true, 60, 0.9); }

/* Shapes with edges and without, beside rigid bodies on joints; some begin below the floor. */
static void other_shapes(fx_test *t) {
  static const subject what[] = {{"blob", FRIX_SOFT_LINEAR, false}, {"dinosaur", FRIX_SOFT_STVK, false},
                                 {"chair", FRIX_SOFT_LINEAR, true}, {"bar", FRIX_SOFT_LINEAR, true},
                                 {"blob", FRIX_SOFT_STVK, true},    {"strand", FRIX_SOFT_LINEAR, true}};
  for (size_t k = 0; k < sizeof what / sizeof *what; k++) sweep(t, &what[k], false, 20, 0.9999);
}

const fx_test_row test_soft_abuse[] = {{"soft_abuse/is_pulled", is_pulled},
                                       {"soft_abuse/is_pulled_stvk", is_pulled_stvk},
                                       {"soft_abuse/starts_inverted", starts_inverted},
                                       {"soft_abuse/starts_inverted_stvk", starts_inverted_stvk},
                                       {"soft_abuse/other_shapes", other_shapes},
                                       {0}};
