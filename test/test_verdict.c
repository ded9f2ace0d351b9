/* What a step says of itself, and what it does when it is not certified. */
#include "sim_world.h"

/* A heap that falls apart and comes to rest, solved by a few sweeps only. */
static world heap(fx_test *t, double tolerance, int64_t sweeps, bool poisson) {
  world w = world_new(t, 0.5, poisson ? 0.6 : 0);
  if (poisson) w.config.restitution = FRIX_RESTITUTION_POISSON;
  w.config.solver = "nsgs", w.config.tolerance = tolerance, w.config.max_iterations = sweeps;
  w.config.polish = 0, w.config.seek_rest = false;
  world_plane(&w, turned(0, 1, 0, 0));
  for (int k = 0; k < 8; k++) {
    frix_body_config b = body_at(at(0.05 * fx_test_random(t), 0.05 * fx_test_random(t), 0.1 + 0.21 * k));
    b.spin = vec(fx_test_random(t), fx_test_random(t), fx_test_random(t));
    world_body(&w, b, k % 2 ? sphere_shape(0.1) : box_shape(0.1, 0.1, 0.1));
  }
  return w;
}

/* Where the residual is above the tolerance, only errors that are rounding of the velocities may pass; in both phases
 * of an impact. */
static void only_rounding_passes(fx_test *t, bool poisson) {
  int above = 0, certified = 0, steps = 0;
  for (int sweeps = 20; sweeps <= 320; sweeps *= 4) {
    world w = heap(t, 1e-14, sweeps, poisson);
    REQUIRE(t, world_start(&w));
    for (int k = 0; k < 200; k++, steps++) {
      frix_step_report r = world_step(&w, 0.005);
      certified += r.certified;
      if (!r.certified || r.certificate.residual <= w.config.tolerance) continue;
      above++;
      double worst = fmax(r.certificate.worst_velocity, r.certificate.bilateral);
      if (!(worst <= 1e-11)) /* speeds are some m/s */
        fx_test_fail(t, __FILE__, __LINE__, "%d sweeps, step %d: certified with residual %.1e and an error of %.1e m/s",
                     sweeps, k, r.certificate.residual, worst);
    }
    world_end(&w);
  }
  CHECK(t, certified < steps); /* else nothing was tried */
  fx_test_note(t, "%d of %d steps certified, %d of them above the tolerance", certified, steps, above);
}

static void rounding(fx_test *t) { only_rounding_passes(t, false); }
static void poisson(fx_test *t) { only_rounding_passes(t, true); }

/* A projection that is certified does not make up for contacts that are not: three balls in a row and one sweep. */
static void projection(fx_test *t) {
  for (int projections = 0; projections < 3; projections++) {
    world w = world_new(t, 0, 1);
    w.config.solver = "nsgs", w.config.max_iterations = 1, w.config.projections = projections;
    w.config.polish = 0, w.config.seek_rest = false;
    for (int k = 0; k < 3; k++) {
      frix_body_config b = body_at(at(k == 0 ? 0.2 : k == 1 ? 0.4 : 0, 0, 0)); /* the sweep comes to the blow last */
      b.velocity = vec(k == 2, 0, 0);
      world_body(&w, b, sphere_shape(0.1));
    }
    REQUIRE(t, world_start(&w));
    frix_step_report r = world_step(&w, 0.01);
    CHECK(t, !r.certified && r.certificate.residual > w.config.tolerance);
    world_end(&w);
  }
}

/* A ball between planes that are nearer than its diameter: the step is certified with its overlaps left, but no place
 * of the ball is free of them. STRICT refuses such a step, and takes it back. */
static void projection_strict(fx_test *t) {
  for (int strict = 0; strict < 2; strict++) {
    world w = world_new(t, 0, 0);
    w.config.contact = FRIX_CONTACT_KIND_RIGID, w.config.projections = 1;
    w.config.policy = strict ? FRIX_POLICY_STRICT : FRIX_POLICY_REPORT;
    world_plane(&w, turned(0, 1, 0, 0));
    frix_shape_config lid = frix_shape_default();
    lid.kind = FRIX_SHAPE_PLANE, lid.material = w.material;
    lid.pose = (frix_pose){.p = {0, 0, 0.15}, .q = {0, 1, 0, 0}};
    CHECK(t, frix_builder_add_shape(w.builder, (frix_body_id){0, 0}, &lid, NULL) == FRIX_OK);
    frix_body_config b = body_at(at(0, 0, 0.075));
    b.velocity = vec(1, 0, 0);
    frix_body_id ball = world_body(&w, b, sphere_shape(0.1));
    REQUIRE(t, world_start(&w));
    frix_step_report r;
    frix_status status = frix_sim_step(w.sim, 0.01, &r);
    CHECK(t, !r.certified && !strcmp(r.phase, "projection"));
    CHECK(t, status == (strict ? FRIX_ERROR_CERTIFICATE : FRIX_OK));
    CHECK(t, (state_of(&w, ball).center.x == 0) == strict);
    world_end(&w);
  }
}

/* A step that is not certified goes on with the best answer there is, not with none. */
static void keeps_impulses(fx_test *t) {
  double h = 0.01;
  world w = world_new(t, 0.5, 0);
  w.config.solver = "nsgs", w.config.tolerance = 1e-15, w.config.max_iterations = 3;
  w.config.polish = 0, w.config.seek_rest = false;
  world_plane(&w, turned(0, 1, 0, 0));
  frix_body_id box[5];
  for (int k = 0; k < 5; k++) {
    frix_body_config b = body_at(at(0.01 * k, 0, 0.1 + 0.2 * k));
    b.mass = 1;
    box[k] = world_body(&w, b, box_shape(0.1, 0.1, 0.1));
  }
  REQUIRE(t, world_start(&w));
  frix_step_report r = world_step(&w, h);
  frix_vec3 ground = {0, 0, 0};
  CHECK(t, !r.certified);
  MUST(&w, frix_sim_pair_force(w.sim, box[0], (frix_body_id){0, 0}, &ground, NULL));
  CHECK(t, ground.z > 9.81);
  CHECK(t, state_of(&w, box[0]).velocity.z > -0.5 * 9.81 * h);
  world_end(&w);
}

/* An implicit step whose forces do not settle (h^2 k / 4 m = 25, the rounds run away) is not certified. */
static void forces(fx_test *t) {
  for (int stiff = 0; stiff < 2; stiff++) {
    spring s = {.k = stiff ? 1e6 : 1e3};
    world w = world_new(t, 0.5, 0);
    w.config.integrator = "variational", w.config.force = spring_force, w.config.user = &s;
    frix_body_config b = body_at(at(0.1, 0, 1));
    b.mass = 1;
    s.body = world_body(&w, b, sphere_shape(0.1));
    REQUIRE(t, world_start(&w));
    frix_step_report r = {0};
    frix_status status = frix_sim_step(w.sim, 0.01, &r); /* it may also be refused: the state would not be finite */
    CHECK(t, stiff ? status != FRIX_OK || !r.certified : status == FRIX_OK && r.certified);
    world_end(&w);
  }
}

const fx_test_row test_verdict[] = {{"verdict/rounding", rounding},
                                    {"verdict/poisson", poisson},
                                    {"verdict/projection", projection},
                                    {"verdict/projection_strict", projection_strict},
                                    {"verdict/keeps_impulses", keeps_impulses},
                                    {"verdict/forces", forces},
                                    {0}};
