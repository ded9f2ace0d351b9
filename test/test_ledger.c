/* The energy ledger: it closes, and friction and impacts never give anything back. */
#include "examples/scene.h"
#include "sim_world.h"

static const double g = 9.81;

/* The smallest world where the mean velocity misleads: a force turns a block round within one step, and friction, which
 * holds it at the end, points along the speed it had. */
static void turned_round(fx_test *t) {
  double h = 0.01, speed = 0.02, force = 4;
  world w = rigid_world(t, 0.5, 0);
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.05));
  b.mass = 1, b.velocity = vec(speed, 0, 0);
  frix_body_id box = world_body(&w, b, box_shape(0.2, 0.2, 0.05));
  REQUIRE(t, world_start(&w));
  MUST(&w, frix_sim_add_force(w.sim, box, vec(-force, 0, 0), vec(0, 0, 0)));
  world_step(&w, h);
  frix_energy e = frix_sim_energy(w.sim);
  CHECK_NEAR(t, state_of(&w, box).velocity.x, 0, 1e-15);
  CHECK(t, e.friction >= 0);
  CHECK_NEAR(t, e.friction, 0, 1e-15);
  CHECK_NEAR(t, e.work, -h * force * speed / 2, 1e-15);
  CHECK_NEAR(t, e.scheme, h * force * speed / 2 - speed * speed / 2, 1e-15);
  CHECK(t, ledger_gap(w.sim) < 1e-14);
  world_end(&w);
}

/* Energy that pushes an overlap out is not an impact with a minus sign. */
static void pushed_out(fx_test *t) {
  world w = rigid_world(t, 0.5, 0);
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, 0.045));
  b.mass = 1;
  frix_body_id box = world_body(&w, b, box_shape(0.2, 0.2, 0.05));
  REQUIRE(t, world_start(&w));
  double impact = 0;
  for (int k = 0; k < 100; k++) {
    world_step(&w, 0.01);
    frix_energy e = frix_sim_energy(w.sim);
    CHECK(t, e.impact >= impact && e.friction >= 0);
    impact = e.impact;
  }
  CHECK_NEAR(t, state_of(&w, box).center.z, 0.05, 1e-9);
  frix_energy e = frix_sim_energy(w.sim);
  CHECK(t, e.contact > 0.9 * 0.005 * g);
  CHECK_NEAR(t, e.contact + e.scheme - impact, 0.005 * g, 1e-7);
  CHECK(t, ledger_gap(w.sim) < 1e-12);
  world_end(&w);
}

/* A mass on a spring that rubs: the loss is mu m g times the way it made, up to the first order in h. */
static void way_times_force(fx_test *t) {
  double off[2], mu = 0.1;
  for (int k = 0; k < 2; k++) {
    double h = k ? 0.001 : 0.01, way = 0, x = 0.15;
    spring s = {.k = 100};
    world w = world_new(t, mu, 0);
    w.config.force = spring_force;
    w.config.user = &s;
    world_plane(&w, turned(0, 1, 0, 0));
    frix_body_config b = body_at(at(x, 0, 0.02));
    b.mass = 1;
    s.body = world_body(&w, b, box_shape(0.2, 0.2, 0.02));
    REQUIRE(t, world_start(&w));
    for (int n = 0; n < (int)(4 / h); n++) {
      world_step(&w, h);
      double now = state_of(&w, s.body).center.x;
      way += fabs(now - x);
      x = now;
    }
    off[k] = fabs(frix_sim_energy(w.sim).friction / (mu * g * way) - 1);
    CHECK(t, w.unsolved == 0 && ledger_gap(w.sim) < 1e-11);
    world_end(&w);
  }
  CHECK(t, off[0] < 0.05 && off[1] < 0.005);
  fx_test_note(t, "friction off by %.1e at h = .01, %.1e at .001", off[0], off[1]);
}

/* A block on compliant contacts swings without slipping: its springs hold the energy, friction takes none. */
static void springs(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  frix_material_config m = frix_material_default();
  m.mu = 0.5, m.stiffness = 2e4;
  MUST(&w, frix_builder_add_material(w.builder, &m, &w.material));
  world_plane(&w, turned(0, 1, 0, 0));
  double k = 1e4, sink = g / (4 * k), speed = 0.005, h = 1e-4; /* two materials in series, four corners, 1 kg */
  frix_body_config b = body_at(at(0, 0, 0.02 - sink));
  b.mass = 1, b.velocity = vec(speed, 0, 0);
  frix_body_id box = world_body(&w, b, box_shape(0.2, 0.2, 0.02));
  REQUIRE(t, world_start(&w));
  world_step(&w, h);
  frix_sim_reset_ledger(w.sim); /* the springs were not wound up before the first step */
  double swing = 0, low = INFINITY, rest = 4 * k * sink * sink / 2;
  for (int n = 0; n < 400; n++) {
    world_step(&w, h);
    frix_energy e = frix_sim_energy(w.sim);
    swing = fmax(swing, e.potential - rest - g * state_of(&w, box).center.z);
    low = fmin(low, e.kinetic);
  }
  frix_energy e = frix_sim_energy(w.sim);
  CHECK(t, e.friction < 1e-12 && e.friction >= 0 && e.impact == 0);
  CHECK_NEAR(t, swing, speed * speed / 2, 0.05 * speed * speed);
  CHECK(t, low < 0.05 * speed * speed);
  CHECK(t, ledger_gap(w.sim) < 1e-12 && w.unsolved == 0);
  world_end(&w);
}

/* Every scene, with a blow where it has one: in no step does friction or an impact give anything back. */
static void scenes(fx_test *t) {
  double worst = 0;
  int count = 0, slid = 0;
  for (const frix_scene *s; (s = frix_scene_table(count)); count++) {
    frix_context *context = NULL;
    frix_model *model = NULL;
    frix_sim *sim = NULL;
    double value[FRIX_SCENE_MAX_PARAMETERS];
    for (int k = 0; k < s->parameter_count; k++) value[k] = s->parameter[k].initial;
    int n = frix_scene_parameter_index(s, "n");
    if (n >= 0 && value[n] > 40) value[n] = 40;
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    if (frix_scene_build(s, context, value, 1, &model) != FRIX_OK || frix_sim_create(context, model, NULL, &sim)) {
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s", s->name, frix_error_text(context));
      frix_model_destroy(model);
      frix_context_destroy(context);
      continue;
    }
    frix_energy last = frix_sim_energy(sim);
    for (int k = 0; k < 60; k++) {
      bool good =
          frix_scene_drive(s, sim, model, value, s->step) == FRIX_OK && frix_sim_step(sim, s->step, NULL) == FRIX_OK;
      frix_energy now = frix_sim_energy(sim);
      if (!good || now.friction < last.friction || now.impact < last.impact)
        fx_test_fail(t, __FILE__, __LINE__, "%s, step %d: friction %.3g, impact %.3g", s->name, k,
                     now.friction - last.friction, now.impact - last.impact);
      last = now;
    }
    slid += last.friction > 0;
    worst = fmax(worst, ledger_gap(sim));
    frix_sim_destroy(sim);
    frix_model_destroy(model);
    frix_context_destroy(context);
  }
  CHECK(t, worst < 1e-10 && slid > 5);
  fx_test_note(t, "%d scenes, friction in %d, ledgers open by %.0e", count, slid, worst);
}

/* Springs of a stack that stands from its first step are preloaded with F^2 / 2k, once: nothing moves by it, and what
 * is stored is that of the rows. Without weight they are set
 * to nothing, and that is booked back: no body is thrown. */
static void preload(fx_test *t) {
  double h = 0.01;
  world w = world_new(t, 0.5, 0);
  world_plane(&w, turned(0, 1, 0, 0));
  for (int k = 0; k < 5; k++) {
    frix_body_config b = body_at(at(0, 0, 0.1 + 0.2 * k));
    b.mass = 2;
    world_body(&w, b, box_shape(0.1, 0.1, 0.1));
  }
  REQUIRE(t, world_start(&w));
  for (int step = 0; step < 20; step++) {
    double stored = 0;
    world_step(&w, h);
    for (int k = 0; k < frix_sim_row_count(w.sim); k++) {
      frix_row_report row;
      MUST(&w, frix_sim_row(w.sim, k, &row));
      for (int i = 0; i < row.law.dim; i++) stored += 0.5 * row.compliance[i] * row.impulse[i] * row.impulse[i];
    }
    frix_energy e = frix_sim_energy(w.sim);
    CHECK(t, stored > 1e-3);
    CHECK_NEAR(t, e.joint, stored, 1e-12 * stored);
    CHECK(t, fabs(e.scheme) + fabs(e.contact) + fabs(e.error) + e.kinetic < 1e-12 * stored);
  }
  double stored = frix_sim_energy(w.sim).joint;
  MUST(&w, frix_sim_set_gravity(w.sim, vec(0, 0, 0)));
  frix_sim_reset_ledger(w.sim);
  for (int step = 0; step < 20; step++) world_step(&w, h);
  frix_energy e = frix_sim_energy(w.sim);
  CHECK(t, e.kinetic < 1e-12 * stored);
  CHECK_NEAR(t, e.impact, stored, 1e-9 * stored);
  CHECK(t, fabs(e.joint) + fabs(e.scheme) + fabs(e.contact) < 1e-9 * stored);
  fx_test_note(t, "%.3g J stored, %.3g J lost without weight", stored, e.impact);
  world_end(&w);
}

const fx_test_row test_ledger[] = {
    {"ledger/turned_round", turned_round},
    {"ledger/pushed_out", pushed_out},
    {"ledger/way_times_force", way_times_force},
    {"ledger/springs", springs},
    {"ledger/preload", preload},
    {"ledger/scenes", scenes},
    {0},
};
