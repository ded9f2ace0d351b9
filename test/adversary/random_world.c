/* Parts of random worlds. */
#include "random_world.h"

#include "attack.h"
#include "problems.h"

#include <math.h>
#include <string.h>

double world_tolerance;
bool world_patient;
frix_contact_kind world_contact = FRIX_CONTACT_KIND_RIGID;
const frix_quat UPRIGHT = {1, 0, 0, 0};

/* ---- chance: splitmix64 ---- */

static uint64_t next(world *w) {
  uint64_t z = (w->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double uniform(world *w, double low, double high) { return low + (high - low) * (double)(next(w) >> 11) * 0x1p-53; }
/* By powers of two, so that every libm gives the same world. */
double magnitude(world *w, double low, double high) {
  double x = ldexp(low * uniform(w, 1, 2), dice(w, ilogb(high / low) + 1));
  return x < high ? x : high;
}
int dice(world *w, int sides) { return (int)(next(w) % (uint64_t)sides); }
bool chance(world *w, double share) { return uniform(w, 0, 1) < share; }

frix_vec3 at(double x, double y, double z) { return (frix_vec3){x, y, z}; }

frix_vec3 direction(world *w) {
  for (;;) {
    frix_vec3 v = {uniform(w, -1, 1), uniform(w, -1, 1), uniform(w, -1, 1)};
    double n = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
    if (n > 0.1 && n < 1) return at(v.x / n, v.y / n, v.z / n);
  }
}

frix_quat rotation(world *w) { return frix_quat_turn(direction(w), uniform(w, 0, 3.14)); }

/* ---- units ---- */

static frix_vec3 scaled(frix_vec3 v, double s) { return at(s * v.x, s * v.y, s * v.z); }

static frix_pose placed(frix_pose p, const units *u) { return (frix_pose){scaled(p.p, u->length), p.q}; }

static void must(world *w, frix_status status) {
  if (status != FRIX_OK) w->failed = true;
}

/* ---- parts ---- */

frix_material_id material(world *w, frix_material_config c) {
  const units *u = &w->unit;
  frix_material_id id = {0, 0};
  c.rolling *= u->length;
  c.spinning *= u->length;
  c.stiffness *= u->mass / (u->time * u->time);
  must(w, frix_builder_add_material(w->builder, &c, &id));
  return id;
}

frix_material_id plain(world *w, double mu, double restitution) {
  frix_material_config c = frix_material_default();
  c.mu = mu;
  c.restitution = restitution;
  return material(w, c);
}

frix_body_id add_body_as(world *w, frix_body_config c) {
  const units *u = &w->unit;
  frix_body_id id = {0, 0};
  double turn = u->mass * u->length * u->length;
  c.pose = placed(c.pose, u);
  c.velocity = scaled(c.velocity, u->length / u->time);
  c.spin = scaled(c.spin, 1 / u->time);
  c.center = scaled(c.center, u->length);
  c.mass *= u->mass;
  c.inertia = (frix_sym3){c.inertia.xx * turn, c.inertia.yy * turn, c.inertia.zz * turn,
                          c.inertia.xy * turn, c.inertia.xz * turn, c.inertia.yz * turn};
  if (w->body_count == MOST_BODIES) {
    w->failed = true;
    return id;
  }
  must(w, frix_builder_add_body(w->builder, &c, &id));
  w->body[w->body_count++] = id;
  return id;
}

frix_body_id add_body(world *w, double mass, frix_vec3 p, frix_quat q, frix_vec3 v, frix_vec3 spin) {
  frix_body_config c = frix_body_default();
  c.mass = mass;
  c.pose = (frix_pose){p, q};
  c.velocity = v;
  c.spin = spin;
  return add_body_as(w, c);
}

void add_shape(world *w, frix_body_id body, frix_shape_config c, frix_material_id m) {
  const units *u = &w->unit;
  c.pose = placed(c.pose, u);
  c.radius *= u->length;
  c.half_length *= u->length;
  c.half = scaled(c.half, u->length);
  c.density *= u->mass / (u->length * u->length * u->length);
  c.material = m;
  must(w, frix_builder_add_shape(w->builder, body, &c, NULL));
}

frix_shape_config sphere(double radius) { return round_shape(FRIX_SHAPE_SPHERE, radius, 0); }

frix_shape_config box(double x, double y, double z) {
  frix_shape_config c = frix_shape_default();
  c.kind = FRIX_SHAPE_BOX;
  c.half = at(x, y, z);
  return c;
}

frix_shape_config round_shape(frix_shape_kind kind, double radius, double half_length) {
  frix_shape_config c = frix_shape_default();
  c.kind = kind;
  c.radius = radius;
  c.half_length = half_length;
  return c;
}

/* A box without three of its corners, or with some noise. */
static frix_geometry_id hull(world *w, double size) {
  frix_vec3 p[8];
  for (int k = 0; k < 8; k++) {
    p[k] = at(k & 1 ? size : -size, k & 2 ? size : -size, k & 4 ? size : -size);
    p[k] = scaled(p[k], w->unit.length * uniform(w, 0.6, 1));
  }
  frix_geometry_config c = frix_geometry_default();
  frix_geometry_id id = {0, 0};
  c.kind = FRIX_GEOMETRY_HULL;
  c.point_count = 8;
  c.point = p;
  must(w, frix_builder_add_geometry(w->builder, &c, &id));
  return id;
}

frix_shape_config any_shape(world *w, double size) {
  frix_shape_config c;
  switch (dice(w, 8)) {
    case 0:
    case 1: return sphere(size);
    case 2:
    case 3: return box(size * uniform(w, 0.4, 1), size * uniform(w, 0.4, 1), size * uniform(w, 0.4, 1));
    case 4: return round_shape(FRIX_SHAPE_CAPSULE, size * uniform(w, 0.3, 0.7), size * uniform(w, 0.3, 1));
    case 5: return round_shape(FRIX_SHAPE_CYLINDER, size * uniform(w, 0.4, 1), size * uniform(w, 0.2, 1));
    case 6:
      c = box(size * uniform(w, 0.5, 1), size * uniform(w, 0.5, 1), size * uniform(w, 0.5, 1));
      c.kind = FRIX_SHAPE_ELLIPSOID;
      return c;
    default:
      c = frix_shape_default();
      c.kind = FRIX_SHAPE_HULL;
      c.geometry = hull(w, size);
      return c;
  }
}

void add_floor(world *w, frix_material_id m) {
  frix_shape_config c = frix_shape_default();
  c.kind = FRIX_SHAPE_PLANE;
  add_shape(w, (frix_body_id){0, 0}, c, m);
}

frix_joint_id add_joint(world *w, frix_joint_kind kind, frix_body_id a, frix_body_id b, frix_vec3 anchor,
                        frix_vec3 axis, frix_vec3 anchor_b, const frix_axis_config *axes) {
  const units *u = &w->unit;
  frix_joint_config c = frix_joint_default(kind);
  frix_joint_id id = {0, 0};
  bool turns = kind == FRIX_JOINT_HINGE || kind == FRIX_JOINT_UNIVERSAL || kind == FRIX_JOINT_BALL;
  double length = turns ? 1 : u->length, force = u->mass * u->length / (u->time * u->time) * (turns ? u->length : 1);
  c.a = a, c.b = b;
  c.collide = w->random & 1;
  frix_vec3 across = fabs(axis.x) < 0.6 ? at(0, -axis.z, axis.y) : at(-axis.z, 0, axis.x);
  must(w, frix_joint_place(w->builder, &c, scaled(anchor, u->length), axis, across, scaled(anchor_b, u->length)));
  for (int k = 0; axes && k < FRIX_JOINT_AXES; k++) {
    frix_axis_config x = axes[k];
    x.lower *= length, x.upper *= length, x.rest *= length;
    x.friction *= force, x.max_force *= force;
    x.stiffness *= force / length, x.damping *= force / length * u->time;
    x.target *= x.motor == FRIX_MOTOR_FORCE ? force : x.motor == FRIX_MOTOR_POSITION ? length : length / u->time;
    x.max_speed *= length / u->time;
    c.axis[k] = x;
  }
  must(w, frix_builder_add_joint(w->builder, &c, &id));
  return id;
}

void add_coupling(world *w, frix_joint_id first, frix_joint_id second, double ratio) {
  frix_joint_config c = frix_joint_default(FRIX_JOINT_COUPLING);
  c.first = first, c.second = second;
  c.ratio = ratio;
  must(w, frix_builder_add_joint(w->builder, &c, NULL));
}

void add_push(world *w, frix_body_id body, frix_vec3 force, frix_vec3 torque) {
  const units *u = &w->unit;
  double f = u->mass * u->length / (u->time * u->time);
  if (w->push_count == MOST_PUSHES) return;
  w->push[w->push_count++] = (push){body, scaled(force, f), scaled(torque, f * u->length)};
}

void set_gravity(world *w, frix_vec3 g) {
  const units *u = &w->unit;
  w->gravity = scaled(g, u->length / (u->time * u->time));
}

/* It is the verdict that is tried, not the solvers: what has no answer shall cost little. */
void limit_iterations(world *w) { w->config.max_iterations = chance(w, 0.8) ? 40 : chance(w, 0.99) ? 300 : 3000; }

/* ---- worlds ---- */

static const world_class *const tables[] = {
    ordinary_classes, extreme_classes, problem_classes, attack_classes, stiff_ordinary_classes, stiff_extreme_classes,
    spring_classes,   edited_classes,  tree_classes,    soft_classes,   robot_classes};

const world_class *world_class_at(int k) {
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const world_class *c = tables[t]; c->name; c++)
      if (k-- == 0) return c;
  return NULL;
}

const world_class *world_class_find(const char *name) {
  for (int k = 0; world_class_at(k); k++)
    if (!strcmp(world_class_at(k)->name, name)) return world_class_at(k);
  return NULL;
}

static bool open_world(world *w, void (*fill)(world *w), frix_contact_kind contact, uint64_t random, units unit) {
  *w = (world){.random = random, .unit = unit, .config = frix_sim_default(), .h = 0.01, .steps = 4, .mass_range = 1};
  w->config.contact = contact;
  w->config.coordinates = FRIX_COORDINATES_MAXIMAL; /* classes of trees say so */
  if (frix_context_create(NULL, &w->context) != FRIX_OK) return false;
  if (frix_builder_create(w->context, &w->builder) != FRIX_OK) return false;
  set_gravity(w, at(0, 0, -9.81));
  if (!fill) return true;
  fill(w);
  w->h *= w->unit.time;
  w->promise = w->config.tolerance;
  if (world_tolerance > 0) w->config.tolerance = world_tolerance;
  if (world_patient) w->config.max_iterations = 0;
  must(w, frix_builder_set_gravity(w->builder, w->gravity));
  if (!w->failed) must(w, frix_builder_compile(w->builder, &w->model));
  if (!w->failed) must(w, frix_sim_create(w->context, w->model, &w->config, &w->sim));
  return !w->failed;
}

bool world_open(world *w, const world_class *class, uint64_t seed, uint64_t index, units unit) {
  uint64_t random = seed * 0x9e3779b97f4a7c15u;
  for (const char *c = class->name; *c; c++) random = (random ^ (uint64_t)(unsigned char)*c) * 0x100000001b3u;
  return open_world(w, class->fill, class->contact, random ^ (index * 0xd1342543de82ef95u), unit);
}

bool world_open_with(world *w, void (*fill)(world *w), units unit) {
  return open_world(w, fill, world_contact, 1, unit);
}

void world_close(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_builder_destroy(w->builder);
  frix_context_destroy(w->context);
}
