/* Soft bodies as movers of a simulation: free motion, rest on rigid bodies and each other, ledger, snapshots. */
#include "sim/softs.h"
#include "soft_tools.h"

typedef struct world {
  frix_context *context;
  frix_builder *builder;
  frix_soft *soft;
  frix_model *model;
  frix_sim *sim;
} world;

static frix_soft_config block(double young, frix_vec3 sides, int32_t cells, int32_t modes) {
  frix_soft_config c = frix_soft_default();
  c.young = young, c.sides = sides, c.cells = cells, c.modes = modes, c.order = 1, c.damping_ratio = 0.2,
  c.strains = true;
  return c;
}

static bool begin(fx_test *t, const frix_soft_config *c, world *w) {
  *w = (world){0};
  if (!frix_context_create(NULL, &w->context) && !frix_builder_create(w->context, &w->builder) &&
      !frix_soft_make(w->context, "bar", c, &w->soft))
    return true;
  fx_test_fail(t, __FILE__, __LINE__, "%s", w->context ? frix_error_text(w->context) : "no context");
  return false;
}

static bool simulate(fx_test *t, world *w, const frix_sim_config *config) {
  if (!frix_builder_compile(w->builder, &w->model) && !frix_sim_create(w->context, w->model, config, &w->sim))
    return true;
  fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(w->context));
  return false;
}

static void end(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_builder_destroy(w->builder);
  frix_soft_destroy(w->soft);
  frix_context_destroy(w->context);
}

static frix_body_id add_soft(fx_test *t, world *w, frix_vec3 place) {
  frix_body_config body = frix_body_default();
  frix_body_id id = {0, 0};
  body.pose.p = place;
  CHECK(t, !frix_builder_add_soft(w->builder, w->soft, &body, NULL, &id));
  return id;
}

static void add_floor(fx_test *t, world *w) {
  frix_shape_config floor = frix_shape_default();
  floor.kind = FRIX_SHAPE_PLANE;
  CHECK(t, !frix_builder_add_shape(w->builder, (frix_body_id){0, 0}, &floor, NULL));
}

static frix_body_id add_rigid(fx_test *t, world *w, frix_shape_kind kind, double half, frix_vec3 place) {
  frix_body_config body = frix_body_default();
  frix_shape_config shape = frix_shape_default();
  frix_body_id id = {0, 0};
  body.pose.p = place;
  shape.kind = kind, shape.half = (frix_vec3){half, half, half}, shape.radius = half, shape.half_length = half;
  CHECK(t, !frix_builder_add_body(w->builder, &body, &id) && !frix_builder_add_shape(w->builder, id, &shape, NULL));
  return id;
}

static double ledger_error(const frix_sim *sim) {
  frix_energy e = frix_sim_energy(sim);
  double sum = e.start + e.work - e.friction - e.impact - e.damping + e.joint + e.contact + e.scheme + e.error;
  return fabs(e.kinetic + e.potential - sum) / (fabs(e.start) + fabs(e.kinetic) + fabs(e.potential) + 1e-300);
}

typedef struct outcome {
  int steps, certified;
  double residual, penetration;
  int32_t contacts, dofs;
} outcome;

static outcome run(fx_test *t, world *w, double h, int steps) {
  outcome o = {0};
  for (int n = 0; n < steps; n++) {
    frix_step_report r = {.size = sizeof r};
    if (frix_sim_step(w->sim, h, &r)) {
      fx_test_fail(t, __FILE__, __LINE__, "step %d: %s", n, frix_error_text(w->context));
      break;
    }
    o.steps++, o.certified += r.certified;
    o.residual = fmax(o.residual, r.certificate.residual), o.penetration = fmax(o.penetration, r.penetration);
    o.contacts = r.contact_count, o.dofs = r.dof_count;
  }
  return o;
}

/* ---- free motion ---- */

static void flies(fx_test *t) {
  const char *name[] = {"moreau", "two_step", "variational"};
  double drift[3] = {0};
  for (int k = 0; k < 3; k++) {
    frix_soft_config c = block(1e6, (frix_vec3){0.4, 0.1, 0.1}, 1, 6);
    c.strains = false, c.damping_ratio = 0.0;
    world w;
    if (begin(t, &c, &w)) {
      frix_body_id id = add_soft(t, &w, (frix_vec3){0, 0, 0});
      CHECK(t, !frix_builder_set_gravity(w.builder, (frix_vec3){0, 0, 0}));
      frix_sim_config config = frix_sim_default();
      config.integrator = name[k];
      if (simulate(t, &w, &config)) {
        double q[6] = {0.01, 0, 0.005, 0, 0, 0};
        CHECK(t, !frix_sim_set_velocity(w.sim, id, (frix_vec3){1, 2, 3}, (frix_vec3){2, 1, 3}));
        CHECK(t, !frix_sim_set_amplitude(w.sim, id, q, NULL));
        CHECK(t, !frix_sim_set_velocity(w.sim, id, (frix_vec3){1, 2, 3}, (frix_vec3){2, 1, 3}));
        frix_sim_reset_ledger(w.sim);
        frix_vec3 L = w.sim->state.momentum[1];
        double start = frix_sim_energy(w.sim).start;
        outcome o = run(t, &w, 1e-3, 2000);
        CHECK(t, o.certified == o.steps && ledger_error(w.sim) < 1e-12);
        frix_vec3 off = fx_sub(w.sim->state.momentum[1], L);
        CHECK_NEAR(t, fx_norm(off) / fx_norm(L), 0.0, 1e-12);
        frix_body_state s;
        CHECK(t, !frix_sim_body(w.sim, id, &s));
        CHECK_NEAR(t, s.velocity.x, 1.0, 1e-12);
        CHECK_NEAR(t, s.center.z, 6.0, 1e-11);
        frix_energy e = frix_sim_energy(w.sim);
        drift[k] = (e.kinetic + e.potential) / start - 1.0;
        CHECK(t, fabs(e.error) < 1e-10 * start); /* elastic work is booked, not left over */
      }
    }
    end(&w);
  }
  CHECK(t, fabs(drift[2]) < 1e-6);
  CHECK(t, drift[0] < 0.0);
  fx_test_note(t, "energy after 2000 steps: moreau %.1e, two_step %.1e, variational %.1e", drift[0], drift[1],
               drift[2]);
}

/* ---- rest ---- */

/* Ten cubes on a plane: columns sink by the sum of the loads above over E A / L. */
static void stack_stands(fx_test *t) {
  double side = 0.1, young = 1e6, sink = 0;
  frix_soft_config c = block(young, (frix_vec3){side, side, side}, 2, 8);
  world w;
  if (begin(t, &c, &w)) {
    frix_body_id top = {0, 0};
    add_floor(t, &w);
    for (int k = 0; k < 10; k++) top = add_soft(t, &w, (frix_vec3){0, 0, side * (k + 0.5)});
    if (simulate(t, &w, NULL)) {
      outcome o = run(t, &w, 5e-3, 400);
      frix_body_state s;
      CHECK(t, !frix_sim_body(w.sim, top, &s));
      for (int k = 0; k < 10; k++) sink += 1000 * 9.81 * side * side / young * (9 - k + 0.5) * (k < 9 ? 1.0 : 0.5);
      CHECK(t, o.certified == o.steps && o.penetration < 1e-3 * side);
      CHECK_NEAR(t, (9.5 * side - s.center.z) / sink, 1.0, 0.05);
      CHECK(t, fx_norm(s.velocity) < 1e-5 && fabs(s.center.x) < 1e-3);
      CHECK(t, ledger_error(w.sim) < 1e-10);
      fx_test_note(t, "%d contacts, %d dof: residual %.0e, overlap %.0e m, sinks %.2f mm (columns: %.2f)",
                   (int)o.contacts, (int)o.dofs, o.residual, o.penetration, 1e3 * (9.5 * side - s.center.z),
                   1e3 * sink);
    }
  }
  end(&w);
}

/* A soft cube between rigid bodies of every kind: they come to rest, and the floor carries all of it. */
static void stands_among_rigid(fx_test *t) {
  const frix_shape_kind kind[] = {FRIX_SHAPE_BOX, FRIX_SHAPE_CYLINDER, FRIX_SHAPE_SPHERE};
  for (int k = 0; k < 3; k++) {
    frix_soft_config c = block(5e5, (frix_vec3){0.2, 0.2, 0.2}, 4, 9);
    world w;
    if (begin(t, &c, &w)) {
      add_floor(t, &w);
      add_rigid(t, &w, FRIX_SHAPE_BOX, 0.2, (frix_vec3){0, 0, 0.2});
      add_soft(t, &w, (frix_vec3){0, 0, 0.5});
      frix_body_id top = add_rigid(t, &w, kind[k], 0.06, (frix_vec3){0.01, 0.02, 0.67});
      if (simulate(t, &w, NULL)) {
        outcome o = run(t, &w, 2e-3, 800);
        frix_body_state s;
        CHECK(t, !frix_sim_body(w.sim, top, &s));
        CHECK(t, o.certified == o.steps);
        CHECK(t, o.penetration < 2e-3 && s.center.z > 0.6 && s.center.z < 0.661);
        CHECK(t, k == 2 || fx_norm(s.velocity) < 1e-4);
        CHECK(t, ledger_error(w.sim) < 1e-10);
        fx_test_note(t, "%d: residual %.0e, overlap %.0e, speed %.0e", k, o.residual, o.penetration,
                     fx_norm(s.velocity));
      }
    }
    end(&w);
  }
}

/* ---- rigid limit ---- */

static void slides_as_rigid(fx_test *t) {
  double mu = 0.5;
  for (int above = 0; above < 2; above++) {
    frix_soft_config c = block(1e9, (frix_vec3){0.2, 0.2, 0.1}, 2, 6);
    world w;
    if (begin(t, &c, &w)) {
      double s, q, h = 1e-3, angle = atan(mu * (above ? 1.01 : 0.999));
      frix_sincos(angle, &s, &q);
      frix_material_config material = frix_material_default();
      frix_material_id rough;
      material.mu = mu;
      CHECK(t, !frix_builder_add_material(w.builder, &material, &rough));
      CHECK(t, !frix_builder_set_gravity(w.builder, (frix_vec3){9.81 * s, 0, -9.81 * q}));
      frix_shape_config floor = frix_shape_default(), skin = frix_shape_default();
      floor.kind = FRIX_SHAPE_PLANE, floor.material = skin.material = rough;
      CHECK(t, !frix_builder_add_shape(w.builder, (frix_body_id){0, 0}, &floor, NULL));
      frix_body_config body = frix_body_default();
      frix_body_id id;
      body.pose.p.z = 0.05;
      CHECK(t, !frix_builder_add_soft(w.builder, w.soft, &body, &skin, &id));
      if (simulate(t, &w, NULL)) {
        frix_body_state a, b;
        outcome o = run(t, &w, h, 500);
        CHECK(t, !frix_sim_body(w.sim, id, &a));
        outcome p = run(t, &w, h, 500);
        CHECK(t, !frix_sim_body(w.sim, id, &b));
        CHECK(t, o.certified + p.certified == o.steps + p.steps);
        double measured = (b.velocity.x - a.velocity.x) / (500 * h), rigid = above ? 9.81 * (s - mu * q) : 0.0;
        CHECK_NEAR(t, measured, rigid, above ? 1e-3 * rigid : 1e-9);
        fx_test_note(t, "acceleration %.8f, rigid %.8f", measured, rigid);
      }
    }
    end(&w);
  }
}

/* ---- snapshots ---- */

static void goes_on_from_snapshot(fx_test *t) {
  frix_soft_config c = block(1e5, (frix_vec3){0.2, 0.2, 0.2}, 2, 9);
  c.material = FRIX_SOFT_STVK;
  world w;
  if (begin(t, &c, &w)) {
    add_floor(t, &w);
    add_soft(t, &w, (frix_vec3){0, 0, 0.15});
    add_soft(t, &w, (frix_vec3){0.02, 0.03, 0.37});
    if (simulate(t, &w, NULL)) {
      frix_snapshot *snapshot = NULL;
      uint64_t hash[2] = {0};
      run(t, &w, 5e-3, 60);
      CHECK(t, !frix_sim_save(w.sim, &snapshot));
      for (int k = 0; k < 2; k++) {
        run(t, &w, 5e-3, 60);
        CHECK(t, !frix_sim_hash(w.sim, &hash[k]));
        CHECK(t, !frix_sim_restore(w.sim, snapshot));
      }
      CHECK(t, hash[0] == hash[1]);
      frix_snapshot_destroy(snapshot);
    }
  }
  end(&w);
}

/* Two bars cross, edge to edge, between points of either: they do not pass through each other. */
static void edges_meet(fx_test *t) {
  world w;
  frix_soft_config c = block(1e7, (frix_vec3){0.4, 0.05, 0.05}, 1, 8);
  REQUIRE(t, begin(t, &c, &w));
  frix_body_id id[2];
  double half = sqrt(0.5), deepest = 0.0;
  for (int k = 0; k < 2; k++) {
    frix_body_config body = frix_body_default();
    double angle = 0.39269908169872414, s = sin(angle),
           q = cos(angle); /* turned by 45 degrees about its axis, then to x or y */
    body.pose.p = (frix_vec3){k ? 0.023 : 0.0, k ? 0.0 : 0.023, k ? 0.08 : 0.0};
    body.pose.q = k ? (frix_quat){half * q, half * s, half * s, half * q} : (frix_quat){q, s, 0, 0};
    body.velocity.z = k ? -1.0 : 0.0, body.gravity_scale = 0.0;
    CHECK(t, !frix_builder_add_soft(w.builder, w.soft, &body, NULL, &id[k]));
  }
  if (simulate(t, &w, NULL)) {
    frix_step_report report = {.size = sizeof report};
    frix_body_state low, high;
    for (int k = 0; k < 100; k++) {
      CHECK(t, !frix_sim_step(w.sim, 1e-3, &report) && report.certified);
      deepest = fmax(deepest, report.penetration);
    }
    CHECK(t, !frix_sim_body(w.sim, id[0], &low) && !frix_sim_body(w.sim, id[1], &high));
    CHECK(t, high.pose.p.z - low.pose.p.z > 0.06);
    CHECK(t, high.velocity.z > -0.9 && low.velocity.z < -0.1);
    fx_test_note(t, "%.3f m apart, overlap %.0e m", high.pose.p.z - low.pose.p.z, deepest);
    CHECK(t, deepest < 1e-3);
  }
  end(&w);
}

/* A soft bar falls across the edge of a rigid box, or of a hull, between points of either. */
static void edges_meet_rigid(fx_test *t) {
  for (int hull = 0; hull < 2; hull++) {
    world w;
    frix_soft_config c = block(1e7, (frix_vec3){0.4, 0.05, 0.05}, 1, 8);
    REQUIRE(t, begin(t, &c, &w));
    frix_body_id id, rail;
    frix_body_config body = frix_body_default(), fixed = frix_body_default();
    frix_shape_config shape = frix_shape_default();
    double half = sqrt(0.5), angle = 0.39269908169872414, s = sin(angle), q = cos(angle), deepest = 0.0;
    frix_vec3 corner[8];
    frix_geometry_config g = frix_geometry_default();
    for (int k = 0; k < 8; k++)
      corner[k] = (frix_vec3){k & 1 ? 0.2 : -0.2, k & 2 ? 0.025 : -0.025, k & 4 ? 0.025 : -0.025};
    g.kind = FRIX_GEOMETRY_HULL, g.point = corner, g.point_count = 8;
    shape.kind = FRIX_SHAPE_BOX, shape.half = (frix_vec3){0.2, 0.025, 0.025};
    if (hull) {
      CHECK(t, !frix_builder_add_geometry(w.builder, &g, &shape.geometry));
      shape.kind = FRIX_SHAPE_HULL;
    }
    fixed.kind = FRIX_BODY_STATIC, fixed.pose.q = (frix_quat){q, s, 0, 0}, fixed.pose.p.y = 0.023;
    CHECK(t,
          !frix_builder_add_body(w.builder, &fixed, &rail) && !frix_builder_add_shape(w.builder, rail, &shape, NULL));
    body.pose.p = (frix_vec3){0.023, 0.0, 0.08};
    body.pose.q = (frix_quat){half * q, half * s, half * s, half * q};
    body.velocity.z = -1.0, body.gravity_scale = 0.0;
    CHECK(t, !frix_builder_add_soft(w.builder, w.soft, &body, NULL, &id));
    if (simulate(t, &w, NULL)) {
      frix_step_report report = {.size = sizeof report};
      frix_body_state state;
      for (int k = 0; k < 100; k++) {
        CHECK(t, !frix_sim_step(w.sim, 1e-3, &report) && report.certified);
        deepest = fmax(deepest, report.penetration);
      }
      CHECK(t, !frix_sim_body(w.sim, id, &state));
      CHECK(t, state.pose.p.z > 0.06);
      fx_test_note(t, "%s: %.3f m above, overlap %.0e m", hull ? "hull" : "box", state.pose.p.z, deepest);
      CHECK(t, deepest < 1e-3);
    }
    end(&w);
  }
}

/* Blocks that fall, slide and tumble over each other: Newton itself arrives in nearly every step, and in few of its
 * own; where it does not another method would, and nobody would know. */
static void newton_arrives(fx_test *t) {
  frix_soft_config c = block(2e5, (frix_vec3){0.1, 0.1, 0.1}, 4, 15);
  world w;
  REQUIRE(t, begin(t, &c, &w));
  add_floor(t, &w);
  for (int k = 0; k < 3; k++) {
    frix_body_config body = frix_body_default();
    body.pose.p = (frix_vec3){0.01 * k, 0.02 * k, 0.06 + 0.11 * k};
    body.velocity = (frix_vec3){k == 2 ? -1.0 : 0.5, 0.3 * k, -0.5};
    body.spin = (frix_vec3){0, 2.0 * k, 3};
    CHECK(t, !frix_builder_add_soft(w.builder, w.soft, &body, NULL, NULL));
  }
  if (simulate(t, &w, NULL)) {
    int touching = 0, own = 0;
    int64_t iterations = 0, most = 0;
    for (int k = 0; k < 400; k++) {
      frix_step_report r = {.size = sizeof r};
      if (frix_sim_step(w.sim, 1e-3, &r)) break;
      CHECK(t, r.certified);
      if (r.touching_count == 0) continue;
      touching++, own += !strcmp(r.finisher, "soft newton");
      iterations += r.iterations, most = r.iterations > most ? r.iterations : most;
    }
    fx_test_note(t, "%d of %d steps, %.1f iterations on average, %d at most", own, touching,
                 (double)iterations / touching, (int)most);
    CHECK(t, touching > 200 && own == touching);
    CHECK(t, (double)iterations < 10.0 * touching);
  }
  end(&w);
}

/* The surface of a cube of 0.1 m, at rest where `pose` says. */
typedef struct cube_skin {
  world w;
  frix_soft_state *state;
  fx_soft_skin skin;
  fx_arena arena;
} cube_skin;

static bool take_skin(fx_test *t, const frix_pose *pose, cube_skin *out) {
  frix_soft_config c = block(1e6, (frix_vec3){0.1, 0.1, 0.1}, 2, 8);
  *out = (cube_skin){0};
  if (!begin(t, &c, &out->w)) return false;
  fx_arena_init(&out->arena, out->w.context);
  if (frix_soft_state_create(out->w.soft, &out->state) || fx_soft_skin_take(out->w.soft, &out->arena, &out->skin))
    return false;
  if (pose) out->state->pose = *pose;
  fx_soft_skin_find(out->state, &out->skin);
  return true;
}

static void drop_skin(cube_skin *s) {
  frix_soft_state_destroy(s->state);
  fx_arena_free(&s->arena);
  end(&s->w);
}

/* A corner of a cube that bulges stands beside the corner of the cube above it, a rounding above that one's lower face:
 * it is outside, and no overlap of the distance between the corners. */
static void stands_beside_a_corner(fx_test *t) {
  cube_skin cube;
  fx_soft_near near;
  REQUIRE(t, take_skin(t, NULL, &cube));
  frix_vec3 outward = fx_unit(fx_vec(1.0, -1.0, 1.0));
  for (int k = 0; k < 6; k++) {
    double above = 1e-12 * pow(10.0, k);
    frix_vec3 beside = fx_vec(0.05 + 6e-5, -0.05 - 8e-5, -0.05 + above);
    CHECK(t, !fx_soft_nearest(&cube.skin, beside, outward, 1e-3, 0.01, &near) || (near.beside && !near.under));
    CHECK(t, fx_soft_nearest(&cube.skin, fx_vec(0.05 - 6e-5, -0.05 + 8e-5, -0.05 + above), outward, 1e-3, 0.01, &near));
    CHECK(t, !near.beside && near.under);
  }
  drop_skin(&cube);
}

/* A point that has slid over an edge is a little behind the face that looks against it, and in front of the next one:
 * its way to that is a gap. In the plane of a face, far beside it, nothing tells an overlap from a gap but rounding. */
static void sees_beside_edges(fx_test *t) {
  const frix_pose pose = {.p = {0.3, -0.7, 1.1}, .q = {0.5, 0.1, -0.7, 0.5}};
  cube_skin cube;
  fx_soft_near near;
  REQUIRE(t, take_skin(t, &pose, &cube));
  frix_vec3 outward = fx_rotate(pose.q, fx_vec(0.55, 0.0, -0.83)), place, normal;
  frix_vec3 p = fx_pose_point(pose, fx_vec(0.051, 0.001, 0.0499));
  CHECK(t, fx_soft_nearest(&cube.skin, p, outward, 1e-2, 0.01, &near) && near.beside);
  CHECK_NEAR(t, fx_soft_gap(&cube.skin, p, 1e-2, &near, &place, &normal), 1e-3, 1e-12);
  for (int k = 0; k < 200; k++) {
    p = fx_pose_point(pose, fx_vec(0.065, 0.04 - 4e-4 * k, 0.05));
    if (!fx_soft_nearest(&cube.skin, p, fx_rotate(pose.q, fx_vec(0.0, 0.0, -1.0)), 0.02, 0.02, &near)) continue;
    CHECK_NEAR(t, fx_soft_gap(&cube.skin, p, 0.02, &near, &place, &normal), 0.015, 1e-12);
  }
  drop_skin(&cube);
}

static bool never(void *user) { return *(bool *)user; }

/* A soft body comes to rest to the bit; then steps repeat each other, until something pulls it. With a callback they
 * are made anew, to the same end. */
static void rests_to_the_bit(fx_test *t) {
  frix_soft_config c = block(2e5, (frix_vec3){0.1, 0.1, 0.1}, 2, 8);
  bool no = false;
  uint64_t hash[2] = {0, 1};
  frix_body_id id = {0, 0};
  for (int k = 0; k < 2; k++) {
    world w;
    frix_sim_config config = frix_sim_default();
    if (k) config.cancel = never, config.user = &no;
    if (begin(t, &c, &w)) {
      add_floor(t, &w);
      id = add_soft(t, &w, (frix_vec3){0, 0, 0.051});
      if (simulate(t, &w, &config)) {
        outcome o = run(t, &w, 5e-3, 2000);
        frix_step_report r = {.size = sizeof r};
        CHECK(t, o.certified == o.steps && !frix_sim_step(w.sim, 5e-3, &r) && r.repeated == !k);
        frix_soft_pull pull = {.point = 0, .place = {0, 0, 1}, .stiffness = 100};
        for (int n = 0; n < 100; n++) {
          CHECK(t, !frix_sim_pull(w.sim, id, &pull) && !frix_sim_step(w.sim, 5e-3, &r) && r.certified);
          CHECK(t, n || !r.repeated);
        }
        CHECK(t, !frix_sim_step(w.sim, 5e-3, &r) && !r.repeated);
        CHECK(t, !frix_sim_hash(w.sim, &hash[k]));
      }
    }
    end(&w);
  }
  CHECK(t, hash[0] == hash[1]);
}

const fx_test_row test_soft_sim[] = {{"soft_sim/sees_beside_edges", sees_beside_edges},
                                     {"soft_sim/rests_to_the_bit", rests_to_the_bit},
                                     {"soft_sim/stands_beside_a_corner", stands_beside_a_corner},
                                     {"soft_sim/edges_meet", edges_meet},
                                     {"soft_sim/edges_meet_rigid", edges_meet_rigid},
                                     {"soft_sim/newton_arrives", newton_arrives},
                                     {"soft_sim/flies", flies},
                                     {"soft_sim/stack_stands", stack_stands},
                                     {"soft_sim/stands_among_rigid", stands_among_rigid},
                                     {"soft_sim/slides_as_rigid", slides_as_rigid},
                                     {"soft_sim/goes_on_from_snapshot", goes_on_from_snapshot},
                                     {0}};
