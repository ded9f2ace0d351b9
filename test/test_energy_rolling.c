/* Energy of what rolls and slides: rolling without slip keeps it, to second order in h; the tippe top turns over; how
 * far a puck slides. */
#include "examples/scene.h"
#include "sim_world.h"

static const double g = 9.81;
static const double pi = 3.14159265358979323846;
static const char *const integrators[3] = {"moreau", "two_step", "variational"};

static frix_vec3 cross(frix_vec3 a, frix_vec3 b) {
  return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static double dot(frix_vec3 a, frix_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static frix_vec3 rotated(frix_quat q, frix_vec3 v) {
  frix_vec3 u = vec(q.x, q.y, q.z), s = cross(u, v), d = cross(u, s);
  return vec(v.x + 2 * (q.w * s.x + d.x), v.y + 2 * (q.w * s.y + d.y), v.z + 2 * (q.w * s.z + d.z));
}

/* ---- three bodies that roll on a plane without slipping ---- */

typedef enum roller { STONE, BALL, COIN, ROLLERS } roller;
static const char *const names[ROLLERS] = {"stone", "ball", "coin"};

/* A rattleback: an ellipsoid whose principal axes lie askew. */
static frix_body_config stone(frix_shape_config *shape) {
  double a = 0.1, b = 0.03, c = 0.02, x = 0.02 * (b * b + c * c), y = 0.02 * (a * a + c * c);
  double cosine = cos(pi / 36), sine = sin(pi / 36);
  shape->kind = FRIX_SHAPE_ELLIPSOID, shape->half = vec(a, b, c);
  frix_body_config body = body_at(at(0, 0, c));
  body.inertia = (frix_sym3){x * cosine * cosine + y * sine * sine,
                             x * sine * sine + y * cosine * cosine,
                             0.02 * (a * a + b * b),
                             (x - y) * cosine * sine,
                             0,
                             0};
  body.spin = vec(0.05, 0.3, -5);
  body.velocity = cross(body.spin, vec(0, 0, c));
  return body;
}

/* A ball with its centre of mass below the middle, and three unlike moments of inertia. */
static frix_body_config ball(frix_shape_config *shape) {
  *shape = sphere_shape(0.05);
  frix_body_config body = body_at(at(0, 0, 0.05));
  body.center = vec(0, 0, -0.015), body.inertia = (frix_sym3){8e-5, 9e-5, 1e-4, 0, 0, 0};
  body.spin = vec(3, 5, 4);
  body.velocity = cross(body.spin, vec(0, 0, 0.035));
  return body;
}

/* A thick coin that rolls on its edge and turns. */
static frix_body_config coin(frix_shape_config *shape) {
  double tilt = 7 * pi / 18, s = sin(tilt), c = cos(tilt), high = sqrt(2.5e-3 * s * s + 1e-4 * c * c);
  shape->kind = FRIX_SHAPE_ELLIPSOID, shape->half = vec(0.05, 0.05, 0.01);
  frix_body_config body = body_at((frix_pose){{0, 0, high}, turned(tilt, 1, 0, 0)});
  body.inertia = (frix_sym3){5.2e-5, 5.2e-5, 1e-4, 0, 0, 0};
  body.spin = vec(0, -20 * s, 2 + 20 * c);
  frix_vec3 low = rotated(body.pose.q, vec(0, -2.5e-3 * s / high, -1e-4 * c / high));
  frix_vec3 v = cross(body.spin, low);
  body.velocity = vec(-v.x, -v.y, -v.z);
  return body;
}

typedef struct loss {
  double end, above, friction; /* over the kinetic energy at the start */
} loss;

static loss roll(fx_test *t, roller kind, const char *integrator, double h) {
  loss out = {0};
  frix_shape_config shape = frix_shape_default();
  world w = rigid_world(t, 2, 0);
  w.config.integrator = integrator;
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config body = kind == STONE ? stone(&shape) : kind == BALL ? ball(&shape) : coin(&shape);
  body.mass = 0.1;
  frix_body_id id = world_body(&w, body, shape);
  if (!world_start(&w)) return out;
  frix_energy start = frix_sim_energy(w.sim);
  bool lags = !strcmp(integrator, "moreau"); /* energy half a step before: see docs/simulation.md */
  for (int k = 0; k < (int)(4 / h + 0.5); k++) {
    world_step(&w, h);
    frix_energy e = frix_sim_energy(w.sim);
    double lag = lags ? 0.5 * h * 0.1 * g * state_of(&w, id).velocity.z : 0;
    out.end = (e.kinetic + e.potential - lag - start.kinetic - start.potential) / start.kinetic;
    out.above = fmax(out.above, out.end);
    out.friction = e.friction / start.kinetic;
  }
  CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-10);
  world_end(&w);
  return out;
}

/* Nothing slips, so nothing is lost; what a finite step takes or brings falls with its square. */
static void rolls(fx_test *t) {
  static const double most[ROLLERS] = {0.04, 1e-3, 1.5e-3};
  for (int i = 0; i < 3; i++)
    for (int kind = 0; kind < ROLLERS; kind++) {
      loss a = roll(t, (roller)kind, integrators[i], 1e-3), b = roll(t, (roller)kind, integrators[i], 2.5e-4);
      bool good = fabs(a.end) < most[kind] && fabs(b.end) < most[kind] / 12 && a.above < 2e-4 && b.above < 2e-5 &&
                  a.friction < 2e-3 && b.friction < 1.5e-4;
      if (!good)
        fx_test_fail(t, __FILE__, __LINE__, "%s, %s: lost %.2g and %.2g, above %.1e and %.1e, friction %.1e and %.1e",
                     integrators[i], names[kind], -a.end, -b.end, a.above, b.above, a.friction, b.friction);
      if (i < 2) fx_test_note(t, "%s %s: %.0e, %.0e", integrators[i], names[kind], a.end, b.end);
    }
}

/* ---- the scene `top` ---- */

static double jellett(world *w, frix_body_id id, const frix_body_config *c, double *tilt) {
  frix_body_state s = state_of(w, id);
  frix_vec3 axis = rotated(s.pose.q, vec(0, 0, 1)), foot = vec(s.pose.p.x, s.pose.p.y, s.pose.p.z - 0.05);
  double about = dot(s.spin, axis), A = c->inertia.xx, C = c->inertia.zz;
  frix_vec3 L = vec(A * s.spin.x + (C - A) * about * axis.x, A * s.spin.y + (C - A) * about * axis.y,
                    A * s.spin.z + (C - A) * about * axis.z);
  *tilt = acos(fmax(-1, fmin(1, axis.z)));
  return dot(L, vec(foot.x - s.center.x, foot.y - s.center.y, foot.z - s.center.z));
}

/* It turns over, as the equations of motion on paper do (RK4: 147.8 degrees after 10 s), and angular momentum times the
 * way from the centre of mass to the contact stays. */
static void tippe_top(fx_test *t) {
  double kept[2] = {0};
  for (int n = 0; n < 2; n++) {
    const frix_scene *scene = frix_scene_find("top");
    REQUIRE(t, scene);
    double value[FRIX_SCENE_MAX_PARAMETERS], h = scene->step / (n ? 4 : 1), tilt, most = 0;
    for (int k = 0; k < scene->parameter_count; k++) value[k] = scene->parameter[k].initial;
    world w = {.t = t, .config = frix_sim_default()};
    w.config.contact = FRIX_CONTACT_KIND_RIGID;
    REQUIRE(t, frix_context_create(NULL, &w.context) == FRIX_OK);
    MUST(&w, frix_scene_build(scene, w.context, value, 0, &w.model));
    REQUIRE(t, w.model);
    MUST(&w, frix_sim_create(w.context, w.model, &w.config, &w.sim));
    frix_body_id id = frix_sim_body_at(w.sim, 0);
    frix_body_config c;
    MUST(&w, frix_model_body(w.model, id, &c));
    double start = jellett(&w, id, &c, &tilt), low = state_of(&w, id).center.z;
    CHECK(t, tilt < 0.2);
    for (int k = 0; k < (int)(scene->time / h + 0.5); k++) {
      world_step(&w, h);
      kept[n] = fmax(kept[n], fabs(jellett(&w, id, &c, &tilt) / start - 1));
      most = fmax(most, frix_sim_energy(w.sim).kinetic);
    }
    CHECK_NEAR(t, tilt * 180 / pi, 147.8, 4);
    CHECK(t, state_of(&w, id).center.z > low + 0.02);
    CHECK(t, w.unsolved == 0);
    fx_test_note(t, "%.1f degrees, Jellett's integral within %.0e", tilt * 180 / pi, kept[n]);
    world_end(&w);
  }
  CHECK(t, kept[0] < 1e-3 && kept[1] < kept[0] / 4);
}

/* ---- a puck: v^2 / (2 mu g) ---- */

static double slide(fx_test *t, const char *integrator, double h) {
  double mu = 0.3, speed = 1.8;
  world w = world_new(t, mu, 0);
  w.config.integrator = integrator;
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.05));
  b.velocity = vec(speed, 0, 0);
  frix_body_id puck = world_body(&w, b, box_shape(0.2, 0.2, 0.05));
  if (!world_start(&w)) return 0;
  world_run(&w, h, 2);
  double way = state_of(&w, puck).center.x;
  world_end(&w);
  return way / (speed * speed / (2 * mu * g)) - 1;
}

/* moreau moves with the velocity of the end of each step: the way is short by h v / 2, mu g h / v of it. The others
 * move with the mean velocity; what is left is the step in which the puck stops. */
static void puck(fx_test *t) {
  for (int i = 0; i < 3; i++) {
    double a = slide(t, integrators[i], 1.0 / 60), b = slide(t, integrators[i], 1.0 / 240);
    if (i == 0) {
      CHECK_NEAR(t, a, -0.3 * g / 60 / 1.8, 1e-3);
      CHECK_NEAR(t, b, -0.3 * g / 240 / 1.8, 1e-4);
    } else {
      CHECK(t, fabs(a) < 5e-4 && fabs(b) < 5e-5);
    }
    fx_test_note(t, "%s: %.2g %%, %.2g %%", integrators[i], 100 * a, 100 * b);
  }
}

const fx_test_row test_energy_rolling[] = {
    {"energy_rolling/rolls", rolls},
    {"energy_rolling/tippe_top", tippe_top},
    {"energy_rolling/puck", puck},
    {0},
};
