/* Worlds as people build them: bodies of 0.1 to 100 kg and centimetres to metres, steps of 1 to 20 ms. */
#include "random_world.h"

#include <math.h>

static const frix_body_id WORLD = {0, 0};

/* ---- configurations ---- */

static void any_integrator(world *w) {
  static const char *const name[] = {"moreau", "moreau", "moreau", "two_step", "variational"};
  w->config.integrator = name[dice(w, 5)];
}

static void any_config(world *w) {
  any_integrator(w);
  w->h = magnitude(w, 1e-3, 0.02);
  w->steps = 1 + dice(w, 8);
  if (chance(w, 0.2)) w->config.restitution = FRIX_RESTITUTION_POISSON;
  if (chance(w, 0.2)) w->config.stabilisation = uniform(w, 0, 1);
  if (chance(w, 0.1)) w->config.polish = 0;
  if (chance(w, 0.2)) w->config.seek_rest = false;
  if (chance(w, 0.1)) w->config.tolerance = chance(w, 0.5) ? 1e-4 : 1e-10;
  if (chance(w, 0.1)) w->config.joint_stabilisation = uniform(w, 0, 1);
  limit_iterations(w);
}

/* Friction, rarely with rolling, drilling, two directions or stiffness. */
static frix_material_id any_material(world *w) {
  frix_material_config m = frix_material_default();
  m.mu = chance(w, 0.1) ? 0 : uniform(w, 0.05, 1.2);
  if (chance(w, 0.3)) m.restitution = chance(w, 0.3) ? 1 : uniform(w, 0, 1);
  if (chance(w, 0.1)) m.rolling = magnitude(w, 1e-4, 1e-2);
  if (chance(w, 0.1)) m.spinning = magnitude(w, 1e-4, 1e-2);
  if (chance(w, 0.1)) m.axis = direction(w), m.mu2 = uniform(w, 0.05, 1.2);
  if (chance(w, 0.1)) m.stiffness = magnitude(w, 1e3, 1e7);
  return material(w, m);
}

static double a_mass(world *w) { return magnitude(w, 0.1 / w->mass_range, 30 * w->mass_range); }
static double a_size(world *w) { return magnitude(w, 0.03, 0.5); }

static frix_vec3 a_velocity(world *w, double most) {
  frix_vec3 d = direction(w);
  double v = chance(w, 0.3) ? 0 : uniform(w, 0, most);
  return at(v * d.x, v * d.y, v * d.z);
}

/* ---- classes ---- */

/* One to eight bodies of any shape on or above a floor. */
static void fill_few(world *w) {
  any_config(w);
  add_floor(w, any_material(w));
  int count = 1 + dice(w, 8);
  for (int k = 0; k < count; k++) {
    double size = a_size(w);
    frix_body_id b = add_body(w, a_mass(w), at(uniform(w, -1, 1), uniform(w, -1, 1), uniform(w, 0.6, 1.4) * size),
                              chance(w, 0.5) ? UPRIGHT : rotation(w), a_velocity(w, 4), a_velocity(w, 10));
    add_shape(w, b, any_shape(w, size), any_material(w));
  }
}

/* Boxes on each other, with or without small gaps and overlaps. */
static void fill_stack(world *w) {
  any_config(w);
  frix_material_id m = any_material(w);
  add_floor(w, m);
  int count = 2 + dice(w, 9);
  double z = 0, half = uniform(w, 0.05, 0.2), noise = chance(w, 0.5) ? 0 : magnitude(w, 1e-7, 1e-2) * half;
  for (int k = 0; k < count; k++) {
    double side = half * uniform(w, 0.6, 1.3);
    frix_body_id b = add_body(w, a_mass(w), at(uniform(w, -0.3, 0.3) * half, uniform(w, -0.3, 0.3) * half, z + side),
                              UPRIGHT, at(0, 0, 0), at(0, 0, 0));
    add_shape(w, b, box(side, side, side), m);
    z += 2 * side + uniform(w, -1, 1) * noise;
  }
  if (chance(w, 0.5)) add_push(w, w->body[dice(w, w->body_count)], a_velocity(w, 100), at(0, 0, 0));
}

/* Ten to twenty bodies, some in each other. */
static void fill_pile(world *w) {
  any_config(w);
  w->steps = 1 + dice(w, 4);
  frix_material_id m = any_material(w);
  add_floor(w, m);
  int count = 10 + dice(w, 11);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.08, 0.12);
    frix_vec3 p = at(uniform(w, -0.25, 0.25), uniform(w, -0.25, 0.25), 0.1 + 0.06 * k);
    frix_body_id b = add_body(w, a_mass(w), p, rotation(w), a_velocity(w, 1), a_velocity(w, 5));
    add_shape(w, b, chance(w, 0.6) ? sphere(size) : any_shape(w, size), m);
  }
}

/* Links by joints of one kind, hanging or on the floor, sometimes closed to a loop. */
static void fill_chain(world *w) {
  static const frix_joint_kind kind[] = {FRIX_JOINT_BALL, FRIX_JOINT_HINGE, FRIX_JOINT_UNIVERSAL, FRIX_JOINT_DISTANCE,
                                         FRIX_JOINT_FIXED};
  any_config(w);
  frix_material_id m = any_material(w);
  if (chance(w, 0.5)) add_floor(w, m);
  int count = 2 + dice(w, 9), which = dice(w, 5);
  bool hangs = chance(w, 0.6), loop = chance(w, 0.3);
  double half = uniform(w, 0.05, 0.2), ratio = chance(w, 0.2) ? magnitude(w, 1e-2, 1e2) : 1, mass = a_mass(w);
  frix_vec3 axis = chance(w, 0.5) ? at(0, 1, 0) : direction(w);
  frix_body_id last = WORLD;
  for (int k = 0; k < count; k++) {
    frix_vec3 p = at((2 * k + 1) * half, 0, 0.5), joint = at(2 * k * half, 0, 0.5);
    frix_body_id b = add_body(w, mass, p, UPRIGHT, a_velocity(w, 1), a_velocity(w, 3));
    add_shape(w, b, box(0.9 * half, 0.2 * half, 0.2 * half), m);
    if (k > 0 || hangs) add_joint(w, kind[which], last, b, joint, axis, at(joint.x + 0.5 * half, 0, 0.5), NULL);
    last = b;
    mass *= ratio;
  }
  if (loop) add_joint(w, FRIX_JOINT_BALL, WORLD, last, at(2 * count * half, 0, 0.5), axis, at(0, 0, 0), NULL);
}

static frix_axis_config any_axis(world *w, bool angle) {
  frix_axis_config x = {.max_speed = HUGE_VAL, .max_force = HUGE_VAL};
  double reach = angle ? 3 : 0.5;
  if (chance(w, 0.5)) {
    x.limited = true;
    x.lower = -reach * uniform(w, 0, 1);
    x.upper = reach * uniform(w, 0, 1);
    if (chance(w, 0.2)) x.lower = -6.28, x.upper = 6.28;
  }
  if (chance(w, 0.3)) x.friction = magnitude(w, 1e-3, 10);
  if (chance(w, 0.3)) x.stiffness = magnitude(w, 1, 1e4), x.rest = uniform(w, -1, 1) * reach;
  if (chance(w, 0.3)) x.damping = magnitude(w, 1e-2, 1e2);
  if (chance(w, 0.5)) {
    x.motor = (frix_motor_kind)(1 + dice(w, 3));
    x.target = uniform(w, -2, 2);
    x.max_force = chance(w, 0.1) ? HUGE_VAL : magnitude(w, 0.1, 1e3);
    if (chance(w, 0.5)) x.max_speed = uniform(w, 0.1, 10);
  }
  return x;
}

/* A tree of hinges and sliders with limits, motors, springs and friction on a floor. */
static void fill_robot(world *w) {
  any_config(w);
  frix_material_id m = any_material(w);
  add_floor(w, m);
  int count = 2 + dice(w, 8), geared = -1;
  double half = uniform(w, 0.05, 0.15);
  frix_joint_id gear = {0, 0};
  for (int k = 0; k < count; k++) {
    frix_vec3 p = at(uniform(w, -0.5, 0.5), uniform(w, -0.5, 0.5), uniform(w, 0.8, 4) * half);
    frix_body_id b =
        add_body(w, a_mass(w), p, chance(w, 0.5) ? UPRIGHT : rotation(w), a_velocity(w, 1), a_velocity(w, 3));
    add_shape(w, b, any_shape(w, half), m);
    if (k == 0 && chance(w, 0.5)) continue;
    int parent = k == 0 ? -1 : dice(w, k);
    static const frix_joint_kind kinds[] = {FRIX_JOINT_HINGE,     FRIX_JOINT_HINGE, FRIX_JOINT_SLIDER,
                                            FRIX_JOINT_UNIVERSAL, FRIX_JOINT_BALL,  FRIX_JOINT_DISTANCE};
    frix_joint_kind kind = kinds[dice(w, 6)];
    if (w->welds && chance(w, 0.2)) kind = FRIX_JOINT_FIXED;
    bool angle = kind == FRIX_JOINT_HINGE || kind == FRIX_JOINT_UNIVERSAL;
    frix_axis_config axes[2] = {any_axis(w, angle), any_axis(w, angle)};
    if (kind != FRIX_JOINT_UNIVERSAL) axes[1] = (frix_axis_config){0};
    if (kind == FRIX_JOINT_FIXED) axes[0] = (frix_axis_config){0};
    if (kind == FRIX_JOINT_BALL) axes[0] = (frix_axis_config){.friction = axes[0].friction, .damping = axes[0].damping};
    if (kind == FRIX_JOINT_DISTANCE) {
      axes[0].lower = 0.01, axes[0].upper = 2;
      axes[0].target = axes[0].motor == FRIX_MOTOR_POSITION ? 0.3 : axes[0].target;
    }
    if (axes[0].motor == FRIX_MOTOR_FORCE && w->config.integrator[0] == 'v') axes[0].motor = FRIX_MOTOR_NONE;
    if (axes[1].motor == FRIX_MOTOR_FORCE && w->config.integrator[0] == 'v') axes[1].motor = FRIX_MOTOR_NONE;
    frix_body_id a = parent < 0 ? WORLD : w->body[parent];
    frix_joint_id id = add_joint(w, kind, a, b, at(p.x + uniform(w, -1, 1) * half, p.y, p.z), direction(w),
                                 at(p.x, p.y, p.z + half), axes);
    if (kind != FRIX_JOINT_HINGE) continue;
    if (geared >= 0 && chance(w, 0.3)) add_coupling(w, gear, id, uniform(w, -3, 3));
    gear = id, geared = k;
  }
}

static void in_coordinates(world *w) { w->config.coordinates = FRIX_COORDINATES_REDUCED; }

static void fill_tree(world *w) {
  w->welds = true;
  fill_robot(w);
  in_coordinates(w);
}

static void fill_tree_chain(world *w) {
  fill_chain(w);
  in_coordinates(w);
}

/* Trees whose links differ by many orders of magnitude. */
static void fill_tree_ratio(world *w) {
  w->mass_range = 1e4;
  w->welds = true;
  fill_robot(w);
  in_coordinates(w);
}

/* Bodies that strike the floor and each other. */
static void fill_bounce(world *w) {
  any_config(w);
  w->config.restitution = chance(w, 0.5) ? FRIX_RESTITUTION_POISSON : FRIX_RESTITUTION_BOUNDED;
  int count = 1 + dice(w, 5);
  if (chance(w, 0.3)) set_gravity(w, at(0, 0, 0));
  add_floor(w, plain(w, uniform(w, 0, 1.5), uniform(w, 0, 1)));
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.05, 0.2);
    frix_vec3 p = at(uniform(w, -0.3, 0.3), uniform(w, -0.3, 0.3), size * (1 + 1.9 * k) + uniform(w, 0, 0.01));
    frix_body_id b = add_body(w, a_mass(w), p, rotation(w), at(uniform(w, -2, 2), uniform(w, -2, 2), -uniform(w, 0, 6)),
                              a_velocity(w, 20));
    add_shape(w, b, any_shape(w, size), plain(w, uniform(w, 0, 1.5), uniform(w, 0, 1)));
  }
}

/* Flat worlds. */
static void fill_planar(world *w) {
  any_config(w);
  if (chance(w, 0.1)) w->config.projections = 1; /* a turn by projection leaves spins of bodies in space as they were */
  set_gravity(w, at(0, -9.81, 0));
  frix_shape_config ground = frix_shape_default();
  ground.kind = FRIX_SHAPE_HALF_PLANE;
  frix_material_config mc = frix_material_default();
  mc.mu = uniform(w, 0, 1.2);
  if (chance(w, 0.4)) mc.restitution = uniform(w, 0, 1);
  if (chance(w, 0.2)) mc.stiffness = magnitude(w, 1e3, 1e7);
  frix_material_id m = material(w, mc);
  add_shape(w, WORLD, ground, m);
  int count = 1 + dice(w, 10);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.05, 0.15);
    frix_body_config c = frix_body_default();
    c.planar = true;
    c.mass = a_mass(w);
    c.pose.p = at(uniform(w, -0.3, 0.3), size * (1 + 1.7 * k), 0);
    double turn = uniform(w, -1.5, 1.5);
    c.pose.q = frix_quat_turn(at(0, 0, 1), chance(w, 0.5) ? 0 : turn);
    c.velocity = at(uniform(w, -1, 1), uniform(w, -2, 0), 0);
    c.spin = at(0, 0, uniform(w, -5, 5));
    frix_body_id b = add_body_as(w, c);
    frix_shape_config s = round_shape(FRIX_SHAPE_DISC, size, 0);
    if (chance(w, 0.6)) {
      s = box(size, size * uniform(w, 0.4, 1), 0);
      s.kind = chance(w, 0.7) ? FRIX_SHAPE_RECTANGLE : FRIX_SHAPE_ELLIPSE;
    }
    add_shape(w, b, s, m);
    if (k > 0 && chance(w, 0.3)) {
      frix_axis_config axes[2] = {any_axis(w, true), {0}};
      if (axes[0].motor == FRIX_MOTOR_FORCE) axes[0].motor = FRIX_MOTOR_NONE;
      add_joint(w, FRIX_JOINT_HINGE, w->body[k - 1], b, c.pose.p, at(0, 0, 1), at(0, 0, 0), axes);
    }
  }
}

/* Rolling and drilling friction, spinning tops and balls. */
static void fill_rolling(world *w) {
  any_config(w);
  frix_material_config c = frix_material_default();
  c.mu = uniform(w, 0.1, 1);
  c.rolling = chance(w, 0.7) ? magnitude(w, 1e-5, 0.05) : 0;
  c.spinning = chance(w, 0.7) ? magnitude(w, 1e-5, 0.5) : 0;
  c.stiffness = chance(w, 0.3) ? magnitude(w, 1e3, 1e7) : 0;
  frix_material_id m = material(w, c);
  add_floor(w, m);
  int count = 1 + dice(w, 8);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.07, 0.12);
    frix_vec3 p = at(0.17 * (k % 2) + uniform(w, 0, 0.05), 0.17 * (k / 2 % 2) + uniform(w, 0, 0.05),
                     0.1 + 0.17 * (k / 4) + uniform(w, -0.01, 0.02));
    frix_vec3 spin = at(uniform(w, -5, 5), uniform(w, -5, 5), uniform(w, -30, 30));
    frix_body_id b = add_body(w, a_mass(w), p, UPRIGHT, a_velocity(w, 1), spin);
    add_shape(w, b, chance(w, 0.7) ? sphere(size) : any_shape(w, size), m);
  }
}

/* Belts, lifts and turntables that move as they are told. */
static void fill_moving_ground(world *w) {
  any_config(w);
  frix_material_id m = any_material(w);
  frix_body_config c = frix_body_default();
  c.kind = FRIX_BODY_KINEMATIC;
  c.velocity = a_velocity(w, 3);
  c.spin = chance(w, 0.5) ? a_velocity(w, 3) : at(0, 0, 0);
  c.pose.p = at(0, 0, -0.1);
  add_shape(w, add_body_as(w, c), box(2, 2, 0.1), m);
  int count = 1 + dice(w, 6);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.05, 0.2);
    frix_body_id b = add_body(w, a_mass(w), at(uniform(w, -1, 1), uniform(w, -1, 1), size * uniform(w, 0.8, 1.5)),
                              chance(w, 0.5) ? UPRIGHT : rotation(w), a_velocity(w, 2), a_velocity(w, 5));
    add_shape(w, b, any_shape(w, size), m);
    if (chance(w, 0.2)) add_joint(w, FRIX_JOINT_BALL, w->body[0], b, at(0, 0, 0.3), at(0, 0, 1), at(0, 0, 0), NULL);
  }
}

/* Meshes and height fields below. */
static void fill_terrain(world *w) {
  any_config(w);
  frix_material_id m = any_material(w);
  double height[16];
  for (int k = 0; k < 16; k++) height[k] = uniform(w, -0.1, 0.1) * w->unit.length;
  frix_geometry_config g = frix_geometry_default();
  g.kind = FRIX_GEOMETRY_HEIGHT_FIELD;
  g.row_count = g.column_count = 4;
  g.width = g.depth = 2 * w->unit.length;
  g.height = height;
  frix_shape_config ground = frix_shape_default();
  ground.kind = FRIX_SHAPE_HEIGHT_FIELD;
  frix_vec3 corner[4] = {{-1, -1, 0.05}, {1, -1, -0.05}, {1, 1, 0.05}, {-1, 1, -0.02}};
  int32_t triangle[6] = {0, 1, 2, 0, 2, 3};
  if (chance(w, 0.4)) {
    for (int k = 0; k < 4; k++)
      corner[k] = at(corner[k].x * w->unit.length, corner[k].y * w->unit.length, corner[k].z * w->unit.length);
    g.kind = FRIX_GEOMETRY_MESH;
    g.point_count = 4, g.point = corner;
    g.triangle_count = 2, g.triangle = triangle;
    ground.kind = FRIX_SHAPE_MESH;
  }
  if (frix_builder_add_geometry(w->builder, &g, &ground.geometry) != FRIX_OK) w->failed = true;
  add_shape(w, WORLD, ground, m);
  int count = 1 + dice(w, 6);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.05, 0.2);
    frix_body_id b = add_body(w, a_mass(w), at(uniform(w, -0.8, 0.8), uniform(w, -0.8, 0.8), uniform(w, 0, 2) * size),
                              rotation(w), a_velocity(w, 2), a_velocity(w, 5));
    add_shape(w, b, any_shape(w, size), m);
  }
}

/* Materials that name a stiffness, or rigid, beside such that leave it to the law of contact. */
static void fill_springs(world *w) {
  any_config(w);
  frix_material_id m[3];
  for (int k = 0; k < 3; k++) {
    frix_material_config c = frix_material_default();
    c.mu = uniform(w, 0, 1.2);
    c.stiffness = k == 0 ? 0 : chance(w, 0.4) ? HUGE_VAL : magnitude(w, 1e3, 1e8);
    if (chance(w, 0.2)) c.restitution = uniform(w, 0, 1);
    if (chance(w, 0.2)) c.rolling = magnitude(w, 1e-4, 1e-2);
    if (chance(w, 0.2)) c.spinning = magnitude(w, 1e-4, 1e-2);
    m[k] = material(w, c);
  }
  add_floor(w, m[dice(w, 3)]);
  int count = 1 + dice(w, 8);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.05, 0.15);
    frix_vec3 p = at(uniform(w, -0.1, 0.1), uniform(w, -0.1, 0.1), size + 0.25 * k * chance(w, 0.8));
    frix_body_id b =
        add_body(w, a_mass(w), p, chance(w, 0.5) ? UPRIGHT : rotation(w), a_velocity(w, 1), a_velocity(w, 5));
    add_shape(w, b, any_shape(w, size), m[dice(w, 3)]);
  }
}

/* Every class with rigid contacts, and with stiff ones. */
#define CLASSES(ROW)                                                                 \
  ROW("few", "one to eight bodies of any shape on a floor", fill_few)                \
  ROW("stack", "boxes on each other", fill_stack)                                    \
  ROW("pile", "ten to twenty bodies, some in each other", fill_pile)                 \
  ROW("chain", "links by joints, hanging, lying, closed", fill_chain)                \
  ROW("robot", "trees of joints with limits, motors, springs, friction", fill_robot) \
  ROW("bounce", "restitution of both laws with friction", fill_bounce)               \
  ROW("planar", "flat bodies", fill_planar)                                          \
  ROW("rolling", "rolling and drilling friction", fill_rolling)                      \
  ROW("moving_ground", "kinematic ground", fill_moving_ground)                       \
  ROW("terrain", "height fields", fill_terrain)

#define RIGID(name, summary, fill) {name, summary, false, fill, NULL, NULL, FRIX_CONTACT_KIND_RIGID},
#define STIFF(name, summary, fill) {name "_stiff", summary ", stiff", false, fill, NULL, NULL, FRIX_CONTACT_KIND_STIFF},

const world_class ordinary_classes[] = {CLASSES(RIGID){0}};
const world_class stiff_ordinary_classes[] = {CLASSES(STIFF){0}};

const world_class spring_classes[] = {
    {"springs", "materials of any stiffness, rigid otherwise", false, fill_springs, NULL, NULL,
     FRIX_CONTACT_KIND_RIGID},
    {"springs_stiff", "materials of any stiffness, stiff otherwise", false, fill_springs, NULL, NULL,
     FRIX_CONTACT_KIND_STIFF},
    {0},
};

/* Not among the ordinary ones, of which other classes make theirs. */
#define TREES(ROW)                                                      \
  ROW("tree", "trees in coordinates", fill_tree)                        \
  ROW("tree_chain", "chains and loops in coordinates", fill_tree_chain) \
  ROW("tree_ratio", "trees of masses from 1e-5 to 3e5 kg", fill_tree_ratio)

const world_class tree_classes[] = {TREES(RIGID) TREES(STIFF){0}};
