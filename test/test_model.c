/* Model: what the builder refuses, what the compiled model holds, mixing, joints, memory. */
#include <stdlib.h>

#include "shapes.h"

typedef struct fixture {
  frix_context *context;
  frix_builder *builder;
} fixture;

static bool set_up(fx_test *t, fixture *f) {
  f->builder = NULL;
  f->context = new_context(t);
  return f->context && frix_builder_create(f->context, &f->builder) == FRIX_OK;
}

static void tear_down(fixture *f) {
  frix_builder_destroy(f->builder);
  frix_context_destroy(f->context);
}

#define SAYS(f, text) (strstr(frix_error_text((f).context), (text)) != NULL)

/* ---- bodies ---- */

static void masses_from_shapes(fx_test *t) {
  fixture f;
  REQUIRE(t, set_up(t, &f));
  frix_body_config body = frix_body_default();
  frix_shape_config box = frix_shape_default();
  frix_body_id id;
  frix_model *model = NULL;
  body.name = "dumb-bell";
  body.user = &f;
  body.pose = (frix_pose){{1, 2, 3}, quat_of(fx_vec(0.1, 0.2, 0.3))};
  box.kind = FRIX_SHAPE_BOX;
  box.half = fx_vec(0.1, 0.1, 0.1);
  REQUIRE(t, frix_builder_add_body(f.builder, &body, &id) == FRIX_OK);
  CHECK(t, id.index == 1 && id.generation == 1);
  box.pose.p = fx_vec(1, 0, 0);
  REQUIRE(t, frix_builder_add_shape(f.builder, id, &box, NULL) == FRIX_OK);
  box.pose.p = fx_vec(-1, 0, 0), box.density = 3000;
  REQUIRE(t, frix_builder_add_shape(f.builder, id, &box, NULL) == FRIX_OK);
  REQUIRE(t, frix_builder_compile(f.builder, &model) == FRIX_OK);
  frix_body_config got;
  REQUIRE(t, frix_model_body(model, id, &got) == FRIX_OK);
  CHECK(t, !strcmp(got.name, "dumb-bell") && got.user == &f);
  CHECK_NEAR(t, got.mass, 32.0, 1e-12);
  CHECK_NEAR(t, got.center.x, -0.5, 1e-14);
  /* m a^2 (2/3) for cubes of half width a, and the lever of the reduced mass 8 * 24 / 32 = 6 over 2 m */
  CHECK_NEAR(t, got.inertia.xx, 32.0 * 0.01 * 2 / 3, 1e-12);
  CHECK_NEAR(t, got.inertia.yy, 32.0 * 0.01 * 2 / 3 + 6 * 4, 1e-11);
  CHECK(t, fx_norm(fx_sub(got.pose.p, body.pose.p)) < 1e-15);
  /* inside, everything stands about the centre of mass */
  const fx_body *b = &model->body[1];
  CHECK(t, b->dof == 6 && b->shape_count == 2);
  CHECK_NEAR(t, model->shape[b->shape_start].local.p.x, 1.5, 1e-14);
  CHECK(t, fx_norm(fx_sub(fx_body_user_pose(b, b->start).p, body.pose.p)) < 1e-15);
  frix_shape_config shape;
  frix_body_id owner;
  REQUIRE(t, frix_model_shape(model, frix_model_shape_at(model, 0), &shape, &owner) == FRIX_OK);
  CHECK_NEAR(t, shape.pose.p.x, 1.0, 1e-14);
  CHECK(t, owner.index == id.index);
  CHECK(t, frix_model_find_body(model, "dumb-bell").index == 1);
  CHECK(t, frix_model_find_body(model, "none").index == 0);
  CHECK(t, frix_model_count(model).body_count == 1 && frix_model_count(model).shape_count == 2);
  /* stale and foreign ids */
  CHECK(t, frix_model_body(model, (frix_body_id){1, 2}, &got) == FRIX_ERROR_INPUT);
  CHECK(t, frix_model_body(model, (frix_body_id){7, 1}, &got) == FRIX_ERROR_INPUT);
  CHECK(t, frix_model_body(model, (frix_body_id){0, 0}, &got) == FRIX_OK && got.kind == FRIX_BODY_STATIC);
  frix_model_destroy(model);
  tear_down(&f);
}

static void masses_given(fx_test *t) {
  fixture f;
  REQUIRE(t, set_up(t, &f));
  frix_body_config body = frix_body_default();
  frix_shape_config ball = frix_shape_default();
  frix_body_id id[2];
  frix_model *model = NULL;
  ball.radius = 0.5;
  /* mass alone: the shapes tell how it is spread */
  body.mass = 7.0;
  REQUIRE(t, frix_builder_add_body(f.builder, &body, &id[0]) == FRIX_OK);
  REQUIRE(t, frix_builder_add_shape(f.builder, id[0], &ball, NULL) == FRIX_OK);
  /* mass and inertia: shapes do not matter */
  body.inertia = (frix_sym3){1, 2, 2.5, 0.1, 0, 0}, body.center = fx_vec(0, 0, 0.2);
  REQUIRE(t, frix_builder_add_body(f.builder, &body, &id[1]) == FRIX_OK);
  REQUIRE(t, frix_builder_compile(f.builder, &model) == FRIX_OK);
  CHECK_NEAR(t, model->body[1].mass, 7.0, 0.0);
  CHECK_NEAR(t, model->body[1].inertia.xx, 0.4 * 7.0 * 0.25, 1e-14);
  CHECK_NEAR(t, model->body[2].inertia.xy, 0.1, 0.0);
  CHECK_NEAR(t, model->body[2].start.p.z, 0.2, 0.0);
  frix_model_destroy(model);
  tear_down(&f);
}

static void refuses_bad_bodies(fx_test *t) {
  fixture f;
  REQUIRE(t, set_up(t, &f));
  frix_body_config good = frix_body_default(), b;
  good.name = "crate";
#define REFUSED(change, text)                                                                  \
  do {                                                                                         \
    b = good;                                                                                  \
    change;                                                                                    \
    CHECK(t, frix_builder_add_body(f.builder, &b, NULL) == FRIX_ERROR_INPUT);                  \
    if (!SAYS(f, text)) fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(f.context)); \
  } while (0)
  REFUSED(b.mass = -1, "'crate': mass is -1");
  REFUSED(b.mass = NAN, "mass");
  REFUSED(b.pose.p.x = INFINITY, "pose");
  REFUSED(b.pose.q = ((frix_quat){0, 0, 0, 0}), "quaternion");
  REFUSED(b.size = 3, "frix_body_default()");
  REFUSED(b.inertia.xx = 1, "mass is not");
  REFUSED((b.mass = 1, b.inertia = (frix_sym3){1, 1, 3, 0, 0, 0}), "largest exceeds the sum");
  REFUSED((b.mass = 1, b.inertia = (frix_sym3){1, 1, -1, 0, 0, 0}), "positive definite");
  REFUSED((b.mass = 1, b.inertia = (frix_sym3){1, 1, 1, 2, 0, 0}), "positive definite");
  REFUSED((b.kind = FRIX_BODY_STATIC, b.velocity.x = 1), "kinematic");
  REFUSED((b.planar = true, b.pose.p.z = 1), "z = 0");
  REFUSED((b.planar = true, b.spin.x = 1), "about z only");
  CHECK(t, frix_builder_add_body(f.builder, &good, NULL) == FRIX_OK);
  frix_model *model = NULL;
  CHECK(t, frix_builder_compile(f.builder, &model) == FRIX_ERROR_INPUT && !model);
  CHECK(t, SAYS(f, "neither mass"));
  CHECK(t, frix_builder_add_body(f.builder, NULL, NULL) == FRIX_ERROR_INPUT);
  CHECK(t, frix_builder_add_body(NULL, &good, NULL) == FRIX_ERROR_INPUT);
#undef REFUSED
  tear_down(&f);
}

static void refuses_bad_shapes(fx_test *t) {
  fixture f;
  REQUIRE(t, set_up(t, &f));
  frix_body_config body = frix_body_default(), flat = frix_body_default();
  frix_body_id id, planar;
  flat.planar = true;
  REQUIRE(t, frix_builder_add_body(f.builder, &body, &id) == FRIX_OK);
  REQUIRE(t, frix_builder_add_body(f.builder, &flat, &planar) == FRIX_OK);
  frix_shape_config good = frix_shape_default(), s;
  good.name = "part", good.radius = 1, good.half_length = 1, good.half = fx_vec(1, 1, 1);
#define REFUSED(body, change, text)                                                            \
  do {                                                                                         \
    s = good;                                                                                  \
    change;                                                                                    \
    CHECK(t, frix_builder_add_shape(f.builder, body, &s, NULL) == FRIX_ERROR_INPUT);           \
    if (!SAYS(f, text)) fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(f.context)); \
  } while (0)
  REFUSED(id, s.radius = 0, "radius is 0");
  REFUSED(id, (s.kind = FRIX_SHAPE_BOX, s.half.y = NAN), "half.y");
  REFUSED(id, (s.kind = FRIX_SHAPE_CYLINDER, s.half_length = -2), "half_length");
  REFUSED(id, s.kind = FRIX_SHAPE_PLANE, "no volume");
  REFUSED(id, s.kind = FRIX_SHAPE_DISC, "not planar");
  REFUSED(planar, s.kind = FRIX_SHAPE_SPHERE, "is planar");
  REFUSED(id, s.kind = FRIX_SHAPE_HULL, "no geometry");
  REFUSED(id, s.kind = FRIX_SHAPE_COUNT, "unknown kind");
  REFUSED(id, s.density = -1, "density");
  REFUSED(id, s.material = ((frix_material_id){5, 1}), "material");
  REFUSED(id, s.geometry = ((frix_geometry_id){5, 1}), "geometry");
  REFUSED(((frix_body_id){9, 1}), (void)0, "body");
  REFUSED(((frix_body_id){1, 2}), (void)0, "body");
#undef REFUSED
  frix_geometry_config g = frix_geometry_default();
  frix_vec3 p[3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  int32_t index[3] = {0, 1, 3};
  g.kind = FRIX_GEOMETRY_POLYGON, g.point = p, g.point_count = 3;
  CHECK(t, frix_builder_add_geometry(f.builder, &g, NULL) == FRIX_ERROR_INPUT && SAYS(f, "no area"));
  g.kind = FRIX_GEOMETRY_MESH, g.triangle = index, g.triangle_count = 1;
  CHECK(t, frix_builder_add_geometry(f.builder, &g, NULL) == FRIX_ERROR_INPUT && SAYS(f, "point 3 of 3"));
  index[2] = 2;
  CHECK(t, frix_builder_add_geometry(f.builder, &g, NULL) == FRIX_ERROR_INPUT && SAYS(f, "area"));
  g.kind = FRIX_GEOMETRY_HEIGHT_FIELD;
  CHECK(t, frix_builder_add_geometry(f.builder, &g, NULL) == FRIX_ERROR_INPUT && SAYS(f, "2 x 2"));
  tear_down(&f);
}

/* ---- materials ---- */

static void materials_mix(fx_test *t) {
  fixture f;
  REQUIRE(t, set_up(t, &f));
  frix_material_config m = frix_material_default(), got;
  frix_material_id ice, rubber, wood, none = {0, 0};
  m.name = "ice", m.mu = 0.04;
  REQUIRE(t, frix_builder_add_material(f.builder, &m, &ice) == FRIX_OK);
  m.mu = 1.0, m.restitution = 0.8, m.rolling = 0.01, m.stiffness = 1e6;
  REQUIRE(t, frix_builder_add_material(f.builder, &m, &rubber) == FRIX_OK);
  m = frix_material_default();
  m.mu = 0.25, m.mu2 = 0.49, m.axis = fx_vec(0, 1, 0), m.stiffness = 1e6;
  REQUIRE(t, frix_builder_add_material(f.builder, &m, &wood) == FRIX_OK);
  m = frix_material_default();
  m.mu = 0.33, m.mu2 = 0.44, m.axis = fx_vec(1, 0, 0);
  REQUIRE(t, frix_builder_set_pair(f.builder, wood, ice, &m) == FRIX_OK);
  m.mu = -1;
  CHECK(t, frix_builder_set_pair(f.builder, wood, ice, &m) == FRIX_ERROR_INPUT && SAYS(f, "mu is -1"));
  m = frix_material_default();
  m.mu2 = 0.3;
  CHECK(t, frix_builder_add_material(f.builder, &m, NULL) == FRIX_ERROR_INPUT && SAYS(f, "axis"));
  m.mu2 = 0, m.restitution = 1.5;
  CHECK(t, frix_builder_add_material(f.builder, &m, NULL) == FRIX_ERROR_INPUT && SAYS(f, "restitution"));
  frix_model *model = NULL;
  REQUIRE(t, frix_builder_compile(f.builder, &model) == FRIX_OK);
  REQUIRE(t, frix_model_pair(model, ice, rubber, &got) == FRIX_OK);
  CHECK_NEAR(t, got.mu, 0.2, 1e-15);
  CHECK(t, got.restitution == 0.8 && got.rolling == 0.01 && got.stiffness == 1e6);
  REQUIRE(t, frix_model_pair(model, rubber, wood, &got) == FRIX_OK);
  CHECK_NEAR(t, got.mu, 0.5, 1e-15);
  CHECK_NEAR(t, got.mu2, 0.7, 1e-15);
  CHECK_NEAR(t, got.stiffness, 5e5, 1e-9);
  CHECK(t, got.axis.y == 1.0);
  CHECK(t, fx_model_surface(model, (int32_t)rubber.index, (int32_t)wood.index).axis_side == 1);
  CHECK(t, fx_model_surface(model, (int32_t)wood.index, (int32_t)rubber.index).axis_side == 0);
  /* the table wins, in either order; the axis belongs to the first as given */
  REQUIRE(t, frix_model_pair(model, ice, wood, &got) == FRIX_OK);
  CHECK(t, got.mu == 0.33 && got.mu2 == 0.44);
  CHECK(t, fx_model_surface(model, (int32_t)wood.index, (int32_t)ice.index).axis_side == 0);
  CHECK(t, fx_model_surface(model, (int32_t)ice.index, (int32_t)wood.index).axis_side == 1);
  REQUIRE(t, frix_model_pair(model, none, none, &got) == FRIX_OK);
  CHECK(t, got.mu == 0.5);
  frix_model_destroy(model);
  tear_down(&f);
}

/* ---- joints ---- */

static void joints_as_data(fx_test *t) {
  fixture f;
  REQUIRE(t, set_up(t, &f));
  frix_body_config body = frix_body_default();
  frix_shape_config ball = frix_shape_default();
  frix_body_id a, b, world = {0, 0};
  ball.radius = 0.5, ball.pose.p = fx_vec(0.1, 0, 0);
  body.pose = (frix_pose){{1, 0, 0}, quat_of(fx_vec(0.3, 0, 0.4))};
  REQUIRE(t, frix_builder_add_body(f.builder, &body, &a) == FRIX_OK &&
                 frix_builder_add_shape(f.builder, a, &ball, NULL) == FRIX_OK);
  body.pose = (frix_pose){{3, 0, 1}, quat_of(fx_vec(0, 1, 0.4))};
  REQUIRE(t, frix_builder_add_body(f.builder, &body, &b) == FRIX_OK &&
                 frix_builder_add_shape(f.builder, b, &ball, NULL) == FRIX_OK);
  frix_joint_config hinge = frix_joint_default(FRIX_JOINT_HINGE), rope = frix_joint_default(FRIX_JOINT_DISTANCE),
                    gear = frix_joint_default(FRIX_JOINT_COUPLING), j;
  frix_joint_id first, second;
  hinge.a = a, hinge.b = b, hinge.name = "knee";
  REQUIRE(t, frix_joint_place(f.builder, &hinge, fx_vec(2, 0, 0), fx_vec(0, 2, 0), fx_vec(0, 0, 0), fx_vec(0, 0, 0)) ==
                 FRIX_OK);
  REQUIRE(t, frix_builder_add_joint(f.builder, &hinge, &first) == FRIX_OK);
  rope.a = world, rope.b = a;
  REQUIRE(t, frix_joint_place(f.builder, &rope, fx_vec(1, 0, 5), fx_vec(0, 0, 1), fx_vec(0, 0, 0), fx_vec(1, 0, 0)) ==
                 FRIX_OK);
  REQUIRE(t, frix_builder_add_joint(f.builder, &rope, &second) == FRIX_OK);
  gear.first = first, gear.second = second, gear.ratio = -2;
  REQUIRE(t, frix_builder_add_joint(f.builder, &gear, NULL) == FRIX_OK);
#define REFUSED(base, change, text)                                                            \
  do {                                                                                         \
    j = base;                                                                                  \
    change;                                                                                    \
    CHECK(t, frix_builder_add_joint(f.builder, &j, NULL) == FRIX_ERROR_INPUT);                 \
    if (!SAYS(f, text)) fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(f.context)); \
  } while (0)
  REFUSED(hinge, j.b = a, "with itself");
  REFUSED(hinge, (j.axis[0].limited = true, j.axis[0].lower = 1), "above upper");
  REFUSED(hinge, j.axis[1].friction = 1, "no axis 1");
  REFUSED(hinge, j.axis[0].damping = -1, "not negative");
  REFUSED(hinge, (j.axis[0].motor = FRIX_MOTOR_VELOCITY, j.axis[0].max_force = 0), "max_force");
  REFUSED(hinge, j.b.index = 77, "body b");
  REFUSED(hinge, j.frame_a.q.w = NAN, "frame");
  REFUSED(gear, j.ratio = 0, "ratio");
  REFUSED(gear, j.second = first, "with itself");
  REFUSED(gear, j.first.index = 9, "added before");
#undef REFUSED
  frix_model *model = NULL;
  REQUIRE(t, frix_builder_compile(f.builder, &model) == FRIX_OK);
  CHECK(t, model->joint_count == 3 && frix_model_find_joint(model, "knee").index == 1);
  /* both frames stand at the anchor, and the axis is the asked one */
  for (int k = 0; k < 2; k++) {
    const fx_joint *x = &model->joint[0];
    frix_pose at = fx_pose_mul(model->body[k ? x->b : x->a].start, k ? x->config.frame_b : x->config.frame_a);
    CHECK(t, fx_norm(fx_sub(at.p, fx_vec(2, 0, 0))) < 1e-14);
    CHECK(t, fx_norm(fx_sub(fx_rotate(at.q, fx_vec(0, 0, 1)), fx_vec(0, 1, 0))) < 1e-14);
  }
  CHECK_NEAR(t, model->joint[1].config.length, 5.0, 1e-14);
  CHECK(t, fx_model_excluded(model, 1, 2) && fx_model_excluded(model, 1, 0) && !fx_model_excluded(model, 0, 2));
  frix_joint_config back;
  REQUIRE(t, frix_model_joint(model, first, &back) == FRIX_OK);
  CHECK(t, fx_norm(fx_sub(back.frame_a.p, hinge.frame_a.p)) < 1e-15);
  frix_model_destroy(model);
  tear_down(&f);
}

/* ---- memory ---- */

/* An allocator that gives out after a while, and counts what is not given back. */
typedef struct miser {
  int64_t left, held, count;
} miser;

static void *take(size_t bytes, void *user) {
  miser *m = user;
  if (m->left-- <= 0) return NULL;
  void *p = malloc(bytes);
  m->held += p != NULL;
  m->count++;
  return p;
}

static void give(void *p, size_t bytes, void *user) {
  (void)bytes;
  ((miser *)user)->held--;
  free(p);
}

/* A world with one of everything, stepped once through collision. */
static frix_status everything(frix_context *context, int runs, int64_t *count, const miser *m) {
  frix_builder *b = NULL;
  frix_model *model = NULL;
  fx_collision *collision = NULL;
  frix_status status = frix_builder_create(context, &b);
  frix_vec3 p[8];
  for (int k = 0; k < 8; k++) p[k] = fx_vec(k & 1 ? 0.1 : -0.1, k & 2 ? 0.1 : -0.1, k & 4 ? 0.1 : -0.1);
  int32_t triangle[6] = {0, 1, 2, 1, 3, 2};
  frix_geometry_config g = frix_geometry_default();
  frix_geometry_id mesh = {0, 0}, hull = {0, 0};
  frix_body_id id[6];
  g.name = "points", g.point = p, g.point_count = 8, g.triangle = triangle, g.triangle_count = 2;
  g.kind = FRIX_GEOMETRY_MESH;
  if (!status) status = frix_builder_add_geometry(b, &g, &mesh);
#ifdef FRIX_HAVE_QHULL
  g.kind = FRIX_GEOMETRY_HULL;
  if (!status) status = frix_builder_add_geometry(b, &g, &hull);
#endif
  frix_shape_config s = frix_shape_default();
  s.name = "shape", s.radius = s.half_length = 0.1, s.half = fx_vec(0.1, 0.1, 0.1);
  s.kind = FRIX_SHAPE_PLANE;
  if (!status) status = frix_builder_add_shape(b, (frix_body_id){0, 0}, &s, NULL);
  s.kind = FRIX_SHAPE_MESH, s.geometry = mesh, s.pose.p = fx_vec(0.5, 0.5, 0.05);
  if (!status) status = frix_builder_add_shape(b, (frix_body_id){0, 0}, &s, NULL);
  s.pose.p = fx_vec(0, 0, 0);
  frix_shape_kind kinds[6] = {FRIX_SHAPE_SPHERE,    FRIX_SHAPE_BOX,     FRIX_SHAPE_CYLINDER,
                              FRIX_SHAPE_ELLIPSOID, FRIX_SHAPE_CAPSULE, FRIX_SHAPE_HULL};
  for (int k = 0; !status && k < 6; k++) {
    frix_body_config body = frix_body_default();
    body.name = "body";
    body.pose.p = fx_vec(0.15 * k, 0.1 * (k % 2), 0.1);
    s.kind = kinds[k];
    s.geometry = k == 5 ? hull : (frix_geometry_id){0, 0};
    if (k == 5 && !hull.index) s.kind = FRIX_SHAPE_BOX;
    status = frix_builder_add_body(b, &body, &id[k]);
    if (!status) status = frix_builder_add_shape(b, id[k], &s, NULL);
  }
  frix_joint_config j = frix_joint_default(FRIX_JOINT_BALL);
  j.a = id[0], j.b = id[5], j.name = "joint";
  if (!status) status = frix_builder_add_joint(b, &j, NULL);
  if (!status) status = frix_builder_exclude(b, id[1], id[2]);
  if (!status) status = frix_builder_compile(b, &model);
  frix_builder_destroy(b); /* the model stands alone */
  if (!status) status = fx_collision_create(context, model, &collision);
  int64_t before = 0;
  for (int k = 0; !status && k < runs; k++) {
    int32_t prototype[7], contact_count;
    frix_pose pose[7];
    for (int i = 0; i < 7; i++) prototype[i] = i, pose[i] = model->body[i].start;
    for (int i = 1; i < 7; i++) pose[i].p.x += 1e-9 * k; /* nothing stays where it was */
    fx_placement placement = {.count = 7, .prototype = prototype, .pose = pose};
    const fx_contact *contact;
    if (k == 2) before = m->count;
    status = fx_collision_run(collision, &placement, 0.01, 1, &contact, &contact_count);
  }
  *count = m->count - before;
  fx_collision_destroy(collision);
  frix_model_destroy(model);
  return status;
}

static void runs_out_of_memory(fx_test *t) {
  int64_t k = 1, count;
  for (; k < 2000; k++) {
    miser m = {.left = k};
    frix_context_config config = frix_context_default();
    config.allocate = take, config.release = give, config.user = &m;
    frix_context *context = NULL;
    frix_status status = frix_context_create(&config, &context);
    if (!status) status = everything(context, 1, &count, &m);
    frix_context_destroy(context);
    if (m.held != 0)
      fx_test_fail(t, __FILE__, __LINE__, "%d blocks lost when allocation %d fails", (int)m.held, (int)k);
    if (status == FRIX_OK) break;
    CHECK(t, status == FRIX_ERROR_MEMORY);
  }
  CHECK(t, k < 2000);
  fx_test_note(t, "%d allocations", (int)k);
}

static void collision_allocates_once(fx_test *t) {
  miser m = {.left = INT64_MAX};
  frix_context_config config = frix_context_default();
  config.allocate = take, config.release = give, config.user = &m;
  frix_context *context = NULL;
  int64_t count = -1;
  REQUIRE(t, frix_context_create(&config, &context) == FRIX_OK);
  CHECK(t, everything(context, 20, &count, &m) == FRIX_OK);
  CHECK(t, count == 0);
  frix_context_destroy(context);
  CHECK(t, m.held == 0);
}

static void tables_are_complete(fx_test *t) {
  for (int k = 0; k < FRIX_SHAPE_COUNT; k++) {
    const frix_shape_info *info = frix_shape_table(k);
    REQUIRE(t, info && info->name && info->summary);
    CHECK(t, info->massive == (fx_shape_row_of((frix_shape_kind)k)->mass != NULL));
  }
  for (int k = 0; k < FRIX_JOINT_COUNT; k++) CHECK(t, frix_joint_table(k) && frix_joint_table(k)->name);
  CHECK(t, !frix_shape_table(FRIX_SHAPE_COUNT) && !frix_joint_table(-1));
}

const fx_test_row test_model[] = {
    {"model/tables", tables_are_complete},
    {"model/mass/from-shapes", masses_from_shapes},
    {"model/mass/given", masses_given},
    {"model/refuses/bodies", refuses_bad_bodies},
    {"model/refuses/shapes", refuses_bad_shapes},
    {"model/materials", materials_mix},
    {"model/joints", joints_as_data},
    {"model/out-of-memory", runs_out_of_memory},
    {"model/no-allocation-when-warm", collision_allocates_once},
    {0},
};
