/* Joints of the builder as coordinates: welded bodies move as one, rows of joints say along what they act. */
#include "sim_world.h"

static frix_joint_config joint(frix_joint_kind kind, frix_body_id a, frix_body_id b) {
  frix_joint_config j = frix_joint_default(kind);
  j.a = a, j.b = b;
  return j;
}

static void place(world *w, frix_joint_config *j, frix_vec3 anchor, frix_vec3 axis, frix_joint_id *id) {
  MUST(w, frix_joint_place(w->builder, j, anchor, axis, vec(0, 0, 0), vec(0, 0, 0)));
  MUST(w, frix_builder_add_joint(w->builder, j, id));
}

/* 1 kg and 10 kg half a metre apart, pushed at the light one; states after a second. */
static void push_two(fx_test *t, frix_coordinates coordinates, frix_body_state out[2]) {
  world w = world_new(t, 0.5, 0);
  frix_body_id id[2];
  w.config.coordinates = coordinates;
  MUST(&w, frix_builder_set_gravity(w.builder, vec(0, 0, 0)));
  for (int k = 0; k < 2; k++) {
    frix_body_config body = frix_body_default();
    body.mass = 1 + 9 * k;
    body.pose = at(0.5 * k, 0, 0);
    id[k] = world_body(&w, body, box_shape(0.1, 0.1, 0.1));
  }
  frix_joint_config weld = joint(FRIX_JOINT_FIXED, id[0], id[1]);
  place(&w, &weld, vec(0.25, 0, 0), vec(0, 0, 1), NULL);
  world_start(&w);
  for (int k = 0; k < 1000; k++) {
    MUST(&w, frix_sim_add_force(w.sim, id[0], vec(0, 11, 0), vec(0, 0, 0)));
    world_step(&w, 1e-3);
  }
  CHECK(t, w.unsolved == 0);
  for (int k = 0; k < 2; k++) MUST(&w, frix_sim_body(w.sim, id[k], &out[k]));
  world_end(&w);
}

static void floating(fx_test *t) {
  frix_body_state reduced[2], maximal[2];
  push_two(t, FRIX_COORDINATES_REDUCED, reduced);
  push_two(t, FRIX_COORDINATES_MAXIMAL, maximal);
  CHECK_NEAR(t, reduced[0].velocity.y + 10 * reduced[1].velocity.y, 11, 0.01); /* F t, to the order of the step */
  frix_vec3 p = reduced[0].center, q = reduced[1].center;
  CHECK_NEAR(t, hypot(p.x - q.x, p.y - q.y), 0.5, 1e-12);
  for (int k = 0; k < 2; k++) {
    CHECK_NEAR(t, reduced[k].center.x, maximal[k].center.x, 0.01);
    CHECK_NEAR(t, reduced[k].center.y, maximal[k].center.y, 0.01);
    CHECK_NEAR(t, reduced[k].spin.z, maximal[k].spin.z, 2e-3);
  }
}

/* A plate welded to a light arm falls on the ground at 40 m/s: it is looked for as far as it goes in a step. */
static void reach(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  w.config.coordinates = FRIX_COORDINATES_REDUCED;
  world_plane(&w, (frix_quat){1, 0, 0, 0});
  frix_body_id id[2];
  for (int k = 0; k < 2; k++) {
    frix_body_config body = frix_body_default();
    body.pose = at(0.3 * k, 0, 1.0 - 0.6 * k);
    body.velocity = vec(0, 0, -40);
    id[k] = world_body(&w, body, box_shape(0.05, 0.05, 0.02));
  }
  frix_joint_config weld = joint(FRIX_JOINT_FIXED, id[0], id[1]);
  place(&w, &weld, vec(0.2, 0, 0.6), vec(0, 0, 1), NULL);
  world_start(&w);
  for (int k = 0; k < 5; k++) world_step(&w, 0.02);
  CHECK(t, w.unsolved == 0);
  for (int k = 0; k < 2; k++) {
    frix_body_state s;
    MUST(&w, frix_sim_body(w.sim, id[k], &s));
    CHECK(t, s.center.z > 0);
  }
  world_end(&w);
}

/* Three bodies welded in a row, the outer two in each other: they hold no contact that nothing could open. */
static void overlapping(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  w.config.coordinates = FRIX_COORDINATES_REDUCED;
  frix_body_id id[3];
  for (int k = 0; k < 3; k++) {
    frix_body_config body = frix_body_default();
    body.pose = at(0.1 * k, 0, 1);
    id[k] = world_body(&w, body, sphere_shape(0.15));
  }
  for (int k = 0; k < 2; k++) {
    frix_joint_config weld = joint(FRIX_JOINT_FIXED, id[k], id[k + 1]);
    place(&w, &weld, vec(0.1 * k, 0, 1), vec(0, 0, 1), NULL);
  }
  world_start(&w);
  for (int k = 0; k < 3; k++) {
    frix_step_report r = world_step(&w, 0.01);
    CHECK(t, r.certified && r.contact_count == 0 && r.certificate.worst_velocity == 0);
  }
  world_end(&w);
}

/* Rows of limit, friction and motor of a hinge that is a coordinate, in a world without contacts. */
static void directions(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  w.config.coordinates = FRIX_COORDINATES_REDUCED;
  frix_body_config body = frix_body_default();
  body.pose = at(0.3, 0, 0);
  frix_body_id arm = world_body(&w, body, box_shape(0.2, 0.05, 0.05));
  frix_joint_config hinge = joint(FRIX_JOINT_HINGE, (frix_body_id){0, 0}, arm);
  hinge.axis[0] = (frix_axis_config){.limited = true,
                                     .lower = 0,
                                     .upper = 1,
                                     .friction = 0.01,
                                     .max_force = 0.5,
                                     .motor = FRIX_MOTOR_VELOCITY,
                                     .max_speed = 10,
                                     .target = 1};
  frix_joint_id id;
  place(&w, &hinge, vec(0, 0, 0), vec(0, -1, 0), &id);
  world_start(&w);
  world_step(&w, 0.01);
  int32_t seen = 0;
  for (int32_t k = 0; k < frix_sim_row_count(w.sim); k++) {
    frix_row_report r;
    REQUIRE(t, frix_sim_row(w.sim, k, &r) == FRIX_OK);
    CHECK(t, r.joint.index == id.index && r.b.index == arm.index && r.a.index == 0);
    int32_t last = r.law.dim - 1; /* before it stands a known bound, which moves nobody */
    CHECK(t, r.angular[last] && fabs(fabs(r.direction[last].y) - 1) < 1e-12);
    if (last > 0) CHECK(t, r.direction[0].x == 0 && r.direction[0].y == 0 && r.direction[0].z == 0);
    seen |= 1 << r.kind;
  }
  CHECK(t, seen == (1 << FRIX_ROW_LIMIT | 1 << FRIX_ROW_FRICTION | 1 << FRIX_ROW_MOTOR));
  world_end(&w);
}

/* ---- derivatives of runs see rows of joints, whatever is asked for ---- */

/* A bob on a hinge, at the speed of the parameter. */
static frix_status build_bob(frix_context *context, const double *p, frix_model **out, void *user) {
  frix_builder *b = NULL;
  frix_body_config body = frix_body_default();
  frix_shape_config shape = frix_shape_default();
  frix_joint_config j = frix_joint_default(FRIX_JOINT_HINGE);
  frix_status status = frix_builder_create(context, &b);
  if (status != FRIX_OK) return status;
  body.pose.p = (frix_vec3){1, 0, 0}, body.velocity = (frix_vec3){0, 0, p[0]}, body.spin = (frix_vec3){0, -p[0], 0};
  shape.kind = FRIX_SHAPE_SPHERE, shape.radius = 0.1;
  frix_builder_add_body(b, &body, &j.b);
  frix_builder_add_shape(b, j.b, &shape, NULL);
  *(frix_body_id *)user = j.b;
  frix_joint_place(b, &j, (frix_vec3){0, 0, 0}, (frix_vec3){0, 1, 0}, (frix_vec3){1, 0, 0}, (frix_vec3){0, 0, 0});
  frix_builder_add_joint(b, &j, NULL);
  status = frix_builder_compile(b, out);
  frix_builder_destroy(b);
  return status;
}

static void derivatives(fx_test *t) {
  const double speed = 0.5;
  frix_sensitivity_motion end[2] = {{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
  for (int k = 0; k < 2; k++) {
    frix_context *context = NULL;
    frix_sensitivity *s = NULL;
    frix_body_id bob = {0, 0};
    frix_sim_config sim = frix_sim_default();
    frix_sensitivity_config config = frix_sensitivity_default();
    sim.coordinates = k ? FRIX_COORDINATES_REDUCED : FRIX_COORDINATES_MAXIMAL;
    config.parameter_count = 1, config.parameter = &speed, config.build = build_bob, config.user = &bob;
    config.step = 1e-2;
    REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
    CHECK(t, frix_sensitivity_create(context, &sim, &config, &s) == FRIX_OK);
    for (int n = 0; s && n < 20; n++) CHECK(t, frix_sensitivity_step(s, NULL) == FRIX_OK);
    if (s) CHECK(t, frix_sensitivity_body(s, bob, 0, &end[k]) == FRIX_OK);
    frix_sensitivity_destroy(s);
    frix_context_destroy(context);
  }
  CHECK(t, !memcmp(&end[0], &end[1], sizeof *end) && fabs(end[0].place.z) > 0.1);
}

const fx_test_row test_tree_welds[] = {
    {"tree_welds/floating", floating},       {"tree_welds/reach", reach},
    {"tree_welds/overlapping", overlapping}, {"tree_welds/directions", directions},
    {"tree_welds/derivatives", derivatives}, {0},
};
