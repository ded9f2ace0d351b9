/* Cylinder caps touch with their true rim: limits of tilting for every turn about the axis, whatever they stand on and
 * whoever loads them; coins that roll; bodies at rest keep every bit. */
#include "shapes.h"
#include "sim_world.h"

static const double pi = 3.14159265358979323846, g = 9.81;

enum { ON_PLANE, ON_BOX, ON_CYLINDER, ON_SAME, ON_HULL, ON_FIELD, OVER_EDGE, OVER_CORNER, ON_SHIFTED, ON_LARGER };

static void ground_shape(world *w, frix_shape_config s, frix_vec3 p) {
  s.pose.p = p;
  s.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, (frix_body_id){0, 0}, &s, NULL));
}

static void ground_geometry(world *w, frix_geometry_config config, frix_shape_kind kind) {
  frix_shape_config s = frix_shape_default();
  s.kind = kind;
  MUST(w, frix_builder_add_geometry(w->builder, &config, &s.geometry));
  ground_shape(w, s, vec(0, 0, 0));
}

static void lay_ground(world *w, int kind) {
  frix_geometry_config config = frix_geometry_default();
  static const double height[17 * 17];
  frix_vec3 p[16];
  switch (kind) {
    case ON_PLANE: world_plane(w, turned(0, 0, 0, 1)); break;
    case ON_BOX: ground_shape(w, box_shape(1, 1, 0.5), vec(0.03, 0.05, -0.5)); break;
    case ON_CYLINDER: ground_shape(w, kind_shape(FRIX_SHAPE_CYLINDER, 0.3, 0.5), vec(0.03, 0.05, -0.5)); break;
    case ON_SAME: ground_shape(w, kind_shape(FRIX_SHAPE_CYLINDER, 0.1, 0.5), vec(0, 0, -0.5)); break;
    case ON_HULL:
      for (int k = 0; k < 8; k++)
        p[k] = vec(0.7 * cos(k), 0.7 * sin(k), 0), p[8 + k] = vec(0.9 * cos(k), 0.9 * sin(k), -0.4);
      config.kind = FRIX_GEOMETRY_HULL, config.point = p, config.point_count = 16;
      ground_geometry(w, config, FRIX_SHAPE_HULL);
      break;
    case ON_FIELD:
      config.kind = FRIX_GEOMETRY_HEIGHT_FIELD, config.row_count = config.column_count = 17;
      config.width = config.depth = 1.7, config.height = height;
      ground_geometry(w, config, FRIX_SHAPE_HEIGHT_FIELD);
      break;
    case OVER_EDGE: ground_shape(w, box_shape(0.5, 0.5, 0.2), vec(-0.45, 0, -0.2)); break;
    case OVER_CORNER: ground_shape(w, box_shape(0.5, 0.5, 0.2), vec(-0.45, -0.43, -0.2)); break;
    case ON_SHIFTED: ground_shape(w, kind_shape(FRIX_SHAPE_CYLINDER, 0.1, 0.2), vec(-0.08, 0, -0.2)); break;
    case ON_LARGER: ground_shape(w, kind_shape(FRIX_SHAPE_CYLINDER, 0.15, 0.2), vec(-0.11, 0, -0.2)); break;
  }
}

/* Whether a point is over the ground and the cap of radius 0.1. */
static bool supported(int kind, double x, double y) {
  if (hypot(x, y) > 0.1) return false;
  switch (kind) {
    case OVER_EDGE: return x <= 0.05;
    case OVER_CORNER: return x <= 0.05 && y <= 0.07;
    case ON_SHIFTED: return hypot(x + 0.08, y) <= 0.1;
    case ON_LARGER: return hypot(x + 0.11, y) <= 0.15;
    default: return true;
  }
}

/* A cylinder of radius 0.1 and height 0.5 topples where its weight leaves the overlap. */
static double exact_limit(int kind, double heading) {
  double low = 0, high = 0.1 * (1 + 1e-9);
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    *(supported(kind, middle * cos(heading), middle * sin(heading)) ? &low : &high) = middle;
  }
  return atan(low / 0.25);
}

static double lean_of(world *w, frix_body_id id) {
  frix_quat q = state_of(w, id).pose.q; /* z axis x world z */
  return 2 * hypot(q.w * q.y + q.x * q.z, q.w * q.x - q.y * q.z);
}

/* Under gravity that leans by `tilt` towards `heading`; how far it leans after 0.6 s. */
static double lean_after(fx_test *t, int kind, double yaw, double heading, double tilt, const char *integrator) {
  world w = world_new(t, 2, 0);
  MUST(&w, frix_builder_set_gravity(w.builder,
                                    vec(g * sin(tilt) * cos(heading), g * sin(tilt) * sin(heading), -g * cos(tilt))));
  lay_ground(&w, kind);
  frix_body_config b = body_at((frix_pose){{0, 0, 0.25}, turned(yaw, 0, 0, 1)});
  frix_body_id id = world_body(&w, b, kind_shape(FRIX_SHAPE_CYLINDER, 0.1, 0.25));
  w.config.integrator = integrator;
  double lean = NAN;
  if (world_start(&w)) {
    world_run(&w, 5e-3, 0.6);
    lean = lean_of(&w, id);
  }
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return lean;
}

/* Stands 1e-5 rad below the limit and does not move; leans 1e-5 rad above it. */
static void check_limit(fx_test *t, int kind, double yaw, double heading, const char *integrator) {
  double limit = exact_limit(kind, heading);
  double below = lean_after(t, kind, yaw, heading, limit - 1e-5, integrator);
  double above = lean_after(t, kind, yaw, heading, limit + 1e-5, integrator);
  if (!(below < 1e-9) || !(above > 1e-7))
    fx_test_fail(t, __FILE__, __LINE__, "ground %d, yaw %.3f, heading %.3f, %s: leans %.1e below, %.1e above the limit",
                 kind, yaw, heading, integrator, below, above);
}

static void every_yaw(fx_test *t) {
  for (int k = 0; k < 32; k++) check_limit(t, ON_PLANE, 2 * pi * k / 32, 0, "moreau");
  for (int k = 0; k < 8; k++) check_limit(t, ON_PLANE, 2 * pi * k / 64, 0.37, "two_step");
}

static void every_ground(fx_test *t) {
#ifdef FRIX_HAVE_QHULL
  enum { FIRST = ON_BOX, LAST = ON_FIELD };
#else
  enum { FIRST = ON_BOX, LAST = ON_SAME };
#endif
  for (int kind = FIRST; kind <= LAST; kind++)
    for (int k = 0; k < 6; k++) check_limit(t, kind, 0.1 * k, 0.37 + 0.9 * k, "moreau");
}

/* The overlap of the cap and what it stands on is a part of a disc: all its corners count. */
static void parts_of_caps(fx_test *t) {
  for (int kind = OVER_EDGE; kind <= ON_LARGER; kind++)
    for (int k = 0; k < 8; k++) check_limit(t, kind, 0.3, 0.05 + 2 * pi * k / 8, "moreau");
}

/* A ball on a slider pushes the cylinder at height z: it tips where F z = m g R. The push comes at once. */
static double lean_pushed(fx_test *t, double heading, double force) {
  world w = rigid_world(t, 2, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  double z = 0.4, c = cos(heading), s = sin(heading);
  frix_body_config b = body_at((frix_pose){{0, 0, 0.25}, turned(0.7, 0, 0, 1)});
  b.mass = 1;
  frix_body_id id = world_body(&w, b, kind_shape(FRIX_SHAPE_CYLINDER, 0.1, 0.25));
  frix_material_config ice = frix_material_default();
  frix_shape_config ball = sphere_shape(0.05);
  ice.mu = 0;
  MUST(&w, frix_builder_add_material(w.builder, &ice, &ball.material));
  frix_body_id pusher = world_body(&w, body_at(at(-0.15 * c, -0.15 * s, z)), ball);
  frix_joint_config slider = frix_joint_default(FRIX_JOINT_SLIDER);
  slider.b = pusher;
  slider.frame_b.q = frix_quat_turn(vec(-s, c, 0), pi / 2); /* z to the heading */
  slider.frame_a = (frix_pose){{-0.15 * c, -0.15 * s, z}, slider.frame_b.q};
  MUST(&w, frix_builder_add_joint(w.builder, &slider, NULL));
  double lean = NAN;
  if (world_start(&w)) {
    for (int k = 0; k < 300; k++) {
      MUST(&w, frix_sim_add_force(w.sim, pusher, vec(force * c, force * s, 0), vec(0, 0, 0)));
      world_step(&w, 2e-3);
    }
    lean = lean_of(&w, id);
  }
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return lean;
}

static void pushed_by_others(fx_test *t) {
  double limit = g * 0.1 / 0.4;
  for (int k = 0; k < 5; k++) {
    CHECK(t, lean_pushed(t, 0.1 + 0.2 * k, limit * (1 - 1e-4)) < 1e-9);
    CHECK(t, lean_pushed(t, 0.1 + 0.2 * k, limit * (1 + 1e-4)) > 1e-6);
  }
}

/* Gravity goes round, a little below the limit: the poses hardly change, the rim points must. */
static void gravity_goes_round(fx_test *t) {
  world w = rigid_world(t, 2, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  frix_body_id id = world_body(&w, body_at((frix_pose){{0, 0, 0.25}, turned(0.3, 0, 0, 1)}),
                               kind_shape(FRIX_SHAPE_CYLINDER, 0.1, 0.25));
  REQUIRE(t, world_start(&w));
  frix_pose start = state_of(&w, id).pose;
  double tilt = atan(0.4) - 1e-4;
  frix_snapshot *half = NULL;
  uint64_t end[2] = {0, 1};
  for (int run = 0; run < 2; run++) {
    for (int k = run ? 100 : 0; k < 200; k++) {
      double s, c;
      frix_sincos(0.05 * k, &s, &c);
      MUST(&w, frix_sim_set_gravity(w.sim, vec(g * sin(tilt) * c, g * sin(tilt) * s, -g * cos(tilt))));
      world_step(&w, 5e-3);
      if (k == 99) MUST(&w, frix_sim_save(w.sim, &half));
    }
    frix_pose now = state_of(&w, id).pose;
    CHECK(t, fx_norm(fx_sub(now.p, start.p)) < 1e-9 && lean_of(&w, id) < 1e-9);
    fx_test_note(t, "moved %.0e m, leans %.0e rad", fx_norm(fx_sub(now.p, start.p)), lean_of(&w, id));
    MUST(&w, frix_sim_hash(w.sim, &end[run]));
    /* once more from the middle, by way of bytes */
    unsigned char *bytes = NULL;
    size_t size = 0;
    frix_snapshot *copy = NULL;
    MUST(&w, frix_snapshot_encode(w.context, half, &bytes, &size));
    MUST(&w, frix_snapshot_decode(w.context, w.model, bytes, size, &copy));
    MUST(&w, frix_sim_restore(w.sim, copy));
    frix_snapshot_destroy(copy);
    frix_bytes_free(w.context, bytes);
  }
  CHECK(t, end[0] == end[1]);
  CHECK(t, w.unsolved == 0);
  frix_snapshot_destroy(half);
  world_end(&w);
}

/* ---- coins ---- */

typedef struct rolled {
  frix_vec3 axis, center;
  double energy; /* over that of the start */
} rolled;

/* A thin disc that rolls on its rim, inclined by `tilt`, its centre at rest: Omega^2 = 4 g / (R sin tilt). Turned by
 * yaw about its axis; all of it seen from `heading`. */
static rolled roll(fx_test *t, double tilt, double half, double yaw, double heading, double h) {
  const double radius = 0.05;
  world w = rigid_world(t, 1, 0);
  world_plane(&w, turned(0, 0, 0, 1));
  frix_quat lie = frix_quat_turn(vec(-sin(heading), cos(heading), 0), tilt);
  frix_quat q = fx_quat_mul(lie, turned(heading, 0, 0, 1));
  frix_vec3 low = fx_rotate(q, vec(radius, 0, -half)), up = fx_rotate(q, vec(-1, 0, 0));
  frix_body_config b = body_at((frix_pose){{0, 0, -low.z}, fx_quat_mul(q, turned(yaw, 0, 0, 1))});
  b.spin = fx_scale(sqrt(4 * g / (radius * sin(tilt))) * sin(tilt), up);
  b.velocity = fx_cross(b.spin, fx_neg(low));
  frix_body_id id = world_body(&w, b, kind_shape(FRIX_SHAPE_CYLINDER, radius, half));
  rolled r = {0};
  if (world_start(&w)) {
    world_run(&w, h, 1);
    frix_energy e = frix_sim_energy(w.sim);
    frix_body_state s = state_of(&w, id);
    r.axis = fx_unrotate(turned(heading, 0, 0, 1), fx_rotate(s.pose.q, vec(0, 0, 1)));
    r.center = fx_unrotate(turned(heading, 0, 0, 1), s.center);
    r.energy = (e.kinetic + e.potential) / e.start;
  }
  CHECK(t, w.unsolved == 0);
  world_end(&w);
  return r;
}

/* The same way for every yaw and heading, and energy kept: an octagon loses nearly all of it within a second. */
static void coins_roll(fx_test *t) {
  static const double tilt[] = {0.15, 1.2}, half[] = {0.0005, 0.002};
  for (int k = 0; k < 2; k++) {
    rolled first = roll(t, tilt[k], half[k], 0, 0, 1e-3);
    double worst = 0;
    for (int n = 1; n < 6; n++) {
      rolled other = roll(t, tilt[k], half[k], 0.131 * n, n % 2 ? 1.0 : 0, 1e-3);
      worst = fmax(worst, fx_norm(fx_sub(other.axis, first.axis)) + fx_norm(fx_sub(other.center, first.center)));
    }
    rolled fine = roll(t, tilt[k], half[k], 0, 0, 2.5e-4);
    CHECK(t, worst < 1e-9);
    CHECK(t, fabs(first.energy - 1) < 0.03 && fabs(fine.energy - 1) < 0.4 * fabs(first.energy - 1));
    fx_test_note(t, "tilt %.2f: yaws within %.0e, energy %+.1e, with h/4 %+.1e", tilt[k], worst, first.energy - 1,
                 fine.energy - 1);
  }
}

/* ---- bodies at rest ---- */

/* A tower of ten drums, each turned, 0.7 degrees below its limit; one of drums that get smaller and are shifted;
 * columns under a slab that bears one more. No bit of a pose changes once the first steps are made. */
static void stands_still(fx_test *t) {
  for (int kind = 0; kind < 3; kind++) {
    world w = world_new(t, 0.8, 0);
    double tilt = kind ? 0.12 : 0.31, shrink = kind ? 0.004 : 0;
    MUST(&w,
         frix_builder_set_gravity(w.builder, vec(g * sin(tilt) * cos(0.4), g * sin(tilt) * sin(0.4), -g * cos(tilt))));
    world_plane(&w, turned(0, 0, 0, 1));
    frix_body_id id[10];
    int count = 0;
    for (int k = 0; kind < 2 && k < 10; k++)
      id[count++] = world_body(&w, body_at((frix_pose){{shrink * k, 0, 0.03 + 0.06 * k}, turned(1.3 * k, 0, 0, 1)}),
                               kind_shape(FRIX_SHAPE_CYLINDER, 0.1 - shrink * k, 0.03));
    for (int k = 0; kind == 2 && k < 3; k++)
      id[count++] = world_body(&w, body_at(at(0.3 * cos(2.1 * k), 0.3 * sin(2.1 * k), 0.2)),
                               kind_shape(FRIX_SHAPE_CYLINDER, 0.05, 0.2));
    if (kind == 2) {
      id[count++] = world_body(&w, body_at(at(0, 0, 0.42)), kind_shape(FRIX_SHAPE_CYLINDER, 0.4, 0.02));
      id[count++] = world_body(&w, body_at(at(0.1, 0.05, 0.54)), kind_shape(FRIX_SHAPE_CYLINDER, 0.04, 0.1));
    }
    REQUIRE(t, world_start(&w));
    frix_pose early[10];
    for (int step = 0; step < 300; step++) {
      world_step(&w, 1e-2);
      for (int k = 0; step == 2 && k < count; k++) early[k] = state_of(&w, id[k]).pose;
    }
    for (int k = 0; k < count; k++) {
      frix_pose now = state_of(&w, id[k]).pose;
      CHECK(t, memcmp(&now, &early[k], sizeof now) == 0);
    }
    CHECK(t, w.unsolved == 0);
    world_end(&w);
  }
}

/* ---- manifolds ---- */

/* How far a point is from one of the contacts'. */
static double missing(const fx_manifold *m, frix_vec3 p) {
  double nearest = INFINITY;
  for (int k = 0; k < m->count; k++) nearest = fmin(nearest, fx_norm(fx_sub(m->touch[k].point_a, p)));
  return nearest;
}

static void corners_of_overlaps(fx_test *t) {
  frix_context *context = new_context(t);
  REQUIRE(t, context);
  fx_manifold m = {.context = context};
  fx_shape drum = loose_shape(FRIX_SHAPE_CYLINDER, 0.5, 0.5, fx_vec(0, 0, 0), NULL),
           large = loose_shape(FRIX_SHAPE_CYLINDER, 0.7, 0.5, fx_vec(0, 0, 0), NULL),
           box = loose_shape(FRIX_SHAPE_BOX, 0, 0, fx_vec(1, 1, 0.5), NULL),
           plane = loose_shape(FRIX_SHAPE_PLANE, 0, 0, fx_vec(0, 0, 0), NULL);
  /* over the edge x = 1 of a box: the rim crosses it at y = -+ 0.4 */
  contacts_of(&drum, (frix_pose){{0.7, 0, 1}, turned(0.3, 0, 0, 1)}, &box, fx_pose_one(), 1e-3, &m);
  CHECK(t, missing(&m, fx_vec(1, 0.4, 0.5)) < 1e-15 && missing(&m, fx_vec(1, -0.4, 0.5)) < 1e-15);
  for (int k = 0; k < m.count; k++) CHECK(t, hypot(m.touch[k].point_a.x - 0.7, m.touch[k].point_a.y) < 0.5 + 1e-15);
  /* on a larger cap, 0.8 away: x = (0.64 + 0.49 - 0.25) / 1.6 from its centre */
  contacts_of(&drum, (frix_pose){{0.8, 0, 1}, fx_quat_one()}, &large, fx_pose_one(), 1e-3, &m);
  double x = 0.55, y = sqrt(0.49 - x * x);
  CHECK(t, missing(&m, fx_vec(x, y, 0.5)) < 1e-15 && missing(&m, fx_vec(x, -y, 0.5)) < 1e-15);
  /* tilted on a plane: the lowest rim point, whatever the yaw; lying: the ends of the lowest line */
  for (int k = 0; k < 40; k++) {
    double tilt = 0.0005 * pow(1.2, k), yaw = 0.2 * k;
    frix_quat q = fx_quat_mul(turned(tilt, 0, 1, 0), turned(yaw, 0, 0, 1));
    frix_vec3 low = {0.5 * cos(tilt) - 0.5 * sin(tilt), 0, 0};
    double high = 0.5 * sin(tilt) + 0.5 * cos(tilt);
    contacts_of(&drum, (frix_pose){{0, 0, high}, q}, &plane, fx_pose_one(), 1e-3, &m);
    if (tilt < 1.5) CHECK(t, missing(&m, low) < 1e-15);
  }
  frix_quat down = fx_quat_mul(turned(0.5 * pi, 0, 1, 0), turned(0.7, 0, 0, 1));
  CHECK(t, contacts_of(&drum, (frix_pose){{0, 0, 0.5}, down}, &plane, fx_pose_one(), 1e-3, &m) == 2);
  CHECK(t, missing(&m, fx_vec(0.5, 0, 0)) < 1e-15 && missing(&m, fx_vec(-0.5, 0, 0)) < 1e-15);
  fx_free(context, m.touch);
  frix_context_destroy(context);
}

const fx_test_row test_rims[] = {
    {"rims/limit/yaw", every_yaw},
    {"rims/limit/ground", every_ground},
    {"rims/limit/parts", parts_of_caps},
    {"rims/limit/pushed", pushed_by_others},
    {"rims/limit/gravity-goes-round", gravity_goes_round},
    {"rims/coins", coins_roll},
    {"rims/stands", stands_still},
    {"rims/manifolds", corners_of_overlaps},
    {0},
};
