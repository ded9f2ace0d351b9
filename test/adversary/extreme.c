/* Worlds at the edge: units from atoms to planets, mass ratios, huge friction and bounds, contradictions, and ordinary
 * worlds beside a giant that has nothing to do with them. */
#include "random_world.h"

#include <math.h>

static const frix_body_id WORLD = {0, 0};

static void fill_ordinary(world *w) {
  int count = 0;
  while (ordinary_classes[count].name) count++;
  ordinary_classes[dice(w, count)].fill(w);
}

/* Any ordinary world in other units. */
static void fill_units(world *w) {
  w->unit.mass *= magnitude(w, 1e-12, 1e12);
  w->unit.length *= magnitude(w, 1e-6, 1e6);
  w->unit.time *= magnitude(w, 1e-6, 1e3);
  set_gravity(w, at(0, 0, -9.81));
  fill_ordinary(w);
}

/* The same speeds, masses and steps drawn without regard to each other. */
static void fill_anything(world *w) {
  fill_ordinary(w);
  w->h = magnitude(w, 1e-9, 10);
  set_gravity(
      w, at(0, w->gravity.y != 0 ? -magnitude(w, 1e-6, 1e6) : 0, w->gravity.z != 0 ? -magnitude(w, 1e-6, 1e6) : 0));
}

/* Stacks and trees of bodies whose masses have nothing in common. */
static void fill_mass_ratio(world *w) {
  limit_iterations(w);
  w->h = magnitude(w, 1e-4, 0.05);
  w->steps = 1 + dice(w, 5);
  frix_material_id m = plain(w, uniform(w, 0, 1.2), chance(w, 0.2) ? uniform(w, 0, 1) : 0);
  add_floor(w, m);
  int count = 2 + dice(w, 6);
  double z = 0, low = chance(w, 0.5) ? 1e-12 : 1e-4, high = chance(w, 0.5) ? 1e12 : 1e4;
  for (int k = 0; k < count; k++) {
    double half = uniform(w, 0.05, 0.15), thin = chance(w, 0.3) ? 0.01 : half;
    frix_body_id b = add_body(w, magnitude(w, low, high), at(uniform(w, -0.05, 0.05), 0, z + thin), UPRIGHT,
                              at(0, 0, 0), at(0, 0, 0));
    add_shape(w, b, chance(w, 0.7) ? box(half, half, thin) : sphere(thin), m);
    z += 2 * thin;
    if (chance(w, 0.3)) add_push(w, b, at(magnitude(w, 1e-9, 1e3), 0, 0), at(0, 0, 0));
    if (k > 0 && chance(w, 0.2))
      add_joint(w, chance(w, 0.5) ? FRIX_JOINT_BALL : FRIX_JOINT_HINGE, w->body[k - 1], b, at(0, 0, z - 2 * thin),
                at(0, 1, 0), at(0, 0, 0), NULL);
  }
}

/* Small bodies among large ones. */
static void fill_size_ratio(world *w) {
  limit_iterations(w);
  w->h = magnitude(w, 1e-4, 0.05);
  w->steps = 1 + dice(w, 5);
  frix_material_id m = plain(w, uniform(w, 0, 1.2), 0);
  add_floor(w, m);
  int count = 2 + dice(w, 6);
  for (int k = 0; k < count; k++) {
    double size = magnitude(w, 1e-4, 1e3), mass = chance(w, 0.5) ? 1000 * size * size * size : magnitude(w, 1e-6, 1e6);
    frix_body_id b = add_body(w, mass, at(uniform(w, -1, 1), uniform(w, -1, 1), size * uniform(w, 0.99, 1.01)), UPRIGHT,
                              at(uniform(w, -1, 1), 0, 0), at(0, 0, 0));
    add_shape(w, b, chance(w, 0.5) ? box(size, size, size) : sphere(size), m);
  }
}

/* Friction up to 1e6 and beyond, on slopes and under loads. */
static void fill_rough(world *w) {
  limit_iterations(w);
  w->h = magnitude(w, 1e-3, 0.02);
  w->steps = 1 + dice(w, 8);
  if (chance(w, 0.2)) w->config.integrator = "two_step";
  frix_material_config c = frix_material_default();
  c.mu = magnitude(w, 1, chance(w, 0.2) ? 1e10 : 1e6);
  if (chance(w, 0.2)) c.axis = direction(w), c.mu2 = magnitude(w, 1e-3, 1e6);
  if (chance(w, 0.2)) c.restitution = uniform(w, 0, 1);
  frix_material_id m = material(w, c);
  add_floor(w, m);
  int count = 1 + dice(w, 6);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.05, 0.2);
    frix_vec3 v = at(uniform(w, -3, 3), uniform(w, -3, 3), uniform(w, -3, 0));
    frix_body_id b =
        add_body(w, magnitude(w, 0.1, 30), at(uniform(w, -0.3, 0.3), uniform(w, -0.3, 0.3), size * (1 + 1.9 * k)),
                 chance(w, 0.5) ? UPRIGHT : rotation(w), v, at(uniform(w, -9, 9), uniform(w, -9, 9), 0));
    add_shape(w, b, any_shape(w, size), m);
  }
}

/* Bodies in slots too narrow for them, between walls and in each other. */
static void fill_wedged(world *w) {
  limit_iterations(w);
  w->h = magnitude(w, 1e-3, 0.02);
  w->steps = 1 + dice(w, 5);
  if (chance(w, 0.3)) w->config.integrator = "two_step";
  frix_material_id m = plain(w, uniform(w, 0, 20), 0);
  frix_shape_config wall = box(1, 1, 1);
  double narrow = magnitude(w, 1e-6, 0.05);
  for (int side = 0; side < 2; side++) {
    wall.pose.p = at(side ? 1.1 - narrow : -1.1 + narrow, 0, 0);
    if (chance(w, 0.3)) wall.pose.q = frix_quat_turn(at(0, 1, 0), uniform(w, -0.1, 0.1));
    add_shape(w, WORLD, wall, m);
  }
  if (chance(w, 0.5)) add_floor(w, m);
  int count = 1 + dice(w, 5);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.08, 0.12);
    frix_body_id b = add_body(w, magnitude(w, 0.1, 30), at(0, 0, 0.15 * k), chance(w, 0.5) ? UPRIGHT : rotation(w),
                              at(0, 0, uniform(w, -1, 1)), at(0, 0, 0));
    add_shape(w, b, chance(w, 0.5) ? box(0.1, size, size) : any_shape(w, size), m);
  }
}

/* Joints that cannot all hold: frames apart, loops that do not close, bodies held in two places, and pushes into walls
 * along axes that joints hold. */
static void fill_contradiction(world *w) {
  limit_iterations(w);
  w->h = magnitude(w, 1e-3, 0.02);
  w->steps = 1 + dice(w, 5);
  if (chance(w, 0.3)) w->config.integrator = chance(w, 0.5) ? "two_step" : "variational";
  frix_material_id m = plain(w, uniform(w, 0, 1), 0);
  if (chance(w, 0.7)) add_floor(w, m);
  int count = 1 + dice(w, 4);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.08, 0.12);
    frix_vec3 p = at(0.3 * k, 0, size - (chance(w, 0.7) ? magnitude(w, 1e-4, 0.03) : 0));
    frix_body_id b = add_body(w, magnitude(w, 0.1, 30), p, UPRIGHT, at(0, 0, 0), at(0, 0, 0));
    add_shape(w, b, any_shape(w, size), m);
    frix_axis_config axes[2] = {{.max_speed = HUGE_VAL, .max_force = HUGE_VAL, .damping = 1}, {.max_force = HUGE_VAL}};
    if (chance(w, 0.5)) axes[0].limited = true, axes[0].lower = -6.28, axes[0].upper = 6.28;
    int joints = 1 + dice(w, 3);
    for (int i = 0; i < joints; i++) {
      static const frix_joint_kind kinds[] = {FRIX_JOINT_HINGE, FRIX_JOINT_FIXED, FRIX_JOINT_BALL, FRIX_JOINT_SLIDER};
      frix_joint_kind kind = kinds[dice(w, 4)];
      frix_body_id a = k > 0 && chance(w, 0.5) ? w->body[k - 1] : WORLD;
      frix_axis_config none[2] = {{0}, {0}};
      add_joint(w, kind, a, b, at(p.x + uniform(w, -0.1, 0.1), 0, p.z), chance(w, 0.5) ? at(0, 0, 1) : direction(w),
                at(0, 0, 0), kind == FRIX_JOINT_BALL || kind == FRIX_JOINT_FIXED ? none : axes);
    }
  }
  /* held in one place, then asked to be in another */
  if (chance(w, 0.3)) {
    frix_body_id b = add_body(w, 1, at(0, 1, 1), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
    add_shape(w, b, sphere(0.1), m);
    for (int i = 0; i < 2; i++) {
      frix_joint_config c = frix_joint_default(FRIX_JOINT_FIXED);
      c.a = WORLD, c.b = b;
      c.frame_a.p = at(0, w->unit.length * (1 + 0.1 * i), w->unit.length);
      if (frix_builder_add_joint(w->builder, &c, NULL) != FRIX_OK) w->failed = true;
    }
  }
}

/* Sliders and hinges whose motors, servos and dry friction have bounds that mean "no bound", beside loose bodies. */
static void fill_bounds(world *w) {
  limit_iterations(w);
  w->h = magnitude(w, 1e-3, 0.02);
  w->steps = 1 + dice(w, 8);
  if (chance(w, 0.2)) w->config.integrator = "two_step";
  frix_material_id m = plain(w, uniform(w, 0.1, 1), 0);
  add_floor(w, m);
  int machines = 1 + dice(w, 3), loose = 1 + dice(w, 10);
  for (int k = 0; k < machines; k++) {
    frix_vec3 p = at(5 + 2 * k, 0, 1);
    frix_body_id b = add_body(w, magnitude(w, 0.1, 30), p, UPRIGHT, at(0, 0, 0), at(0, 0, 0));
    add_shape(w, b, box(0.1, 0.1, 0.1), m);
    frix_axis_config axes[2] = {{.max_speed = HUGE_VAL, .max_force = magnitude(w, 1, 1e12)}, {0}};
    axes[0].motor = (frix_motor_kind)dice(w, 3);
    axes[0].target = uniform(w, -1, 1);
    if (chance(w, 0.5)) axes[0].friction = magnitude(w, 1, 1e12);
    if (chance(w, 0.5)) axes[0].max_speed = uniform(w, 0.1, 1);
    add_joint(w, chance(w, 0.5) ? FRIX_JOINT_SLIDER : FRIX_JOINT_HINGE, WORLD, b, p,
              chance(w, 0.5) ? at(0, 0, -1) : at(1, 0, 0), at(0, 0, 0), axes);
    if (chance(w, 0.5)) { /* something to press against */
      frix_body_id other = add_body(w, magnitude(w, 0.1, 30), at(p.x + 0.2, 0, 1), UPRIGHT, at(0, 0, 0), at(0, 0, 0));
      add_shape(w, other, box(0.1, 0.1, 0.1), m);
    }
  }
  for (int k = 0; k < loose; k++) {
    frix_body_id b = add_body(w, 1, at(0.3 * k - 2, 0, 0.1 + uniform(w, 0, 0.01)), UPRIGHT, at(0, 0, -uniform(w, 0, 1)),
                              at(0, 0, 0));
    add_shape(w, b, chance(w, 0.5) ? box(0.1, 0.1, 0.1) : sphere(0.1), m);
  }
}

/* An ordinary world and, far away, a giant that presses, spins or slides with numbers of another order. */
static void fill_giant(world *w) {
  fill_ordinary(w);
  bool flat = w->gravity.y != 0;
  frix_material_config c = frix_material_default();
  c.mu = magnitude(w, 0.1, 1e6);
  if (chance(w, 0.2)) c.stiffness = magnitude(w, 1e3, 1e15);
  frix_material_id m = material(w, c);
  double size = magnitude(w, 0.1, 1e3), mass = magnitude(w, 1e3, 1e15), far = 3e3 + size;
  if (flat) {
    frix_body_config g = frix_body_default();
    g.planar = true;
    g.mass = mass;
    g.pose.p = at(far, size * uniform(w, 0.9, 1), 0);
    g.velocity = at(uniform(w, -1, 1) * magnitude(w, 1, 1e6), 0, 0);
    add_shape(w, add_body_as(w, g), round_shape(FRIX_SHAPE_DISC, size, 0), m);
    return;
  }
  frix_body_id g = add_body(w, mass, at(far, 0, size * uniform(w, 0.9, 1)), UPRIGHT,
                            at(uniform(w, -1, 1) * magnitude(w, 1, 1e6), 0, 0), at(0, uniform(w, -1, 1), 0));
  add_shape(w, g, chance(w, 0.5) ? sphere(size) : box(size, size, size), m);
  frix_shape_config ground = box(size, size, 1);
  ground.pose.p = at(far, 0, -1);
  add_shape(w, WORLD, ground, m);
}

/* Inertias that do not fit the shapes: nearly points, fly wheels, needles. */
static void fill_inertia(world *w) {
  limit_iterations(w);
  w->h = magnitude(w, 1e-4, 0.02);
  w->steps = 1 + dice(w, 5);
  if (chance(w, 0.2)) w->config.integrator = "two_step";
  frix_material_id m = plain(w, uniform(w, 0, 1.2), chance(w, 0.2) ? uniform(w, 0, 1) : 0);
  add_floor(w, m);
  int count = 1 + dice(w, 6);
  for (int k = 0; k < count; k++) {
    double size = uniform(w, 0.05, 0.3), mass = magnitude(w, 0.1, 30),
           all = mass * size * size * magnitude(w, 1e-8, 1e4);
    frix_body_config c = frix_body_default();
    c.mass = mass;
    c.pose.p = at(uniform(w, -0.5, 0.5), uniform(w, -0.5, 0.5), size * uniform(w, 0.8, 1.2) + 0.4 * k);
    if (chance(w, 0.5)) c.pose.q = rotation(w);
    c.velocity = at(uniform(w, -1, 1), uniform(w, -1, 1), -uniform(w, 0, 1));
    c.spin = at(uniform(w, -3, 3), uniform(w, -3, 3), uniform(w, -3, 3));
    double needle = chance(w, 0.3) ? magnitude(w, 1e-6, 1) : 1;
    c.inertia = (frix_sym3){all, all, needle * all, 0, 0, 0};
    if (chance(w, 0.3)) c.center = at(uniform(w, -1, 1) * size, 0, 0);
    frix_body_id b = add_body_as(w, c);
    add_shape(w, b, any_shape(w, size), m);
    if (k > 0 && chance(w, 0.3))
      add_joint(w, chance(w, 0.5) ? FRIX_JOINT_BALL : FRIX_JOINT_HINGE, w->body[k - 1], b, c.pose.p, direction(w),
                at(0, 0, 0), NULL);
  }
}

/* Every class with rigid contacts, and with stiff ones. */
#define CLASSES(ROW)                                                                            \
  ROW("units", "ordinary worlds in units from atoms to planets", fill_units)                    \
  ROW("anything", "steps of 1e-9 to 10 s, any gravity", fill_anything)                          \
  ROW("mass_ratio", "masses from 1e-12 to 1e12 kg on each other", fill_mass_ratio)              \
  ROW("size_ratio", "sizes from 0.1 mm to 1 km beside each other", fill_size_ratio)             \
  ROW("rough", "friction from 1 to 1e10", fill_rough)                                           \
  ROW("wedged", "bodies in slots too narrow for them", fill_wedged)                             \
  ROW("contradiction", "joints that cannot all hold", fill_contradiction)                       \
  ROW("bounds", "motors and friction bounded by up to 1e12 N beside loose bodies", fill_bounds) \
  ROW("giant", "an ordinary world and a distant giant", fill_giant)                             \
  ROW("inertia", "inertias that do not fit the shapes", fill_inertia)

#define RIGID(name, summary, fill) {name, summary, true, fill, NULL, NULL, FRIX_CONTACT_KIND_RIGID},
#define STIFF(name, summary, fill) {name "_stiff", summary ", stiff", true, fill, NULL, NULL, FRIX_CONTACT_KIND_STIFF},

const world_class extreme_classes[] = {CLASSES(RIGID){0}};
const world_class stiff_extreme_classes[] = {CLASSES(STIFF){0}};
