/* Worlds that stand. */
#include "worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const volatile double pi = 3.14159265358979323846; /* volatile: no compiler computes the start by itself */

double standing_random(uint64_t *seed) {
  uint64_t z = *seed += 0x9e3779b97f4a7c15u; /* splitmix64 */
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-52 - 1.0;
}

/* ---- building: the first failure stops all that follows ---- */

typedef struct site {
  standing *w;
  frix_builder *builder;
  frix_material_id material;
  frix_status status;
  double shake;
  uint64_t seed;
} site;

static site begin(standing *w, double mu, double stiffness, double shake, uint64_t seed) {
  *w = (standing){0};
  site s = {.w = w, .shake = shake, .seed = seed};
  s.status = frix_context_create(NULL, &w->context);
  if (s.status == FRIX_OK) s.status = frix_builder_create(w->context, &s.builder);
  frix_material_config material = frix_material_default();
  material.mu = mu;
  material.stiffness = stiffness;
  if (s.status == FRIX_OK) s.status = frix_builder_add_material(s.builder, &material, &s.material);
  return s;
}

static void add_ground(site *s, frix_shape_kind kind, frix_vec3 p, frix_quat q) {
  frix_shape_config ground = frix_shape_default();
  ground.kind = kind;
  ground.pose = (frix_pose){p, q};
  ground.material = s->material;
  if (s->status == FRIX_OK) s->status = frix_builder_add_shape(s->builder, (frix_body_id){0, 0}, &ground, NULL);
}

static void add_body(site *s, frix_body_config body, frix_shape_config shape) {
  standing *w = s->w;
  if (s->status != FRIX_OK) return;
  frix_body_id *grown = realloc(w->body, (size_t)(w->count + 1) * sizeof *grown);
  if (!grown) {
    s->status = FRIX_ERROR_MEMORY;
    return;
  }
  w->body = grown;
  shape.material = s->material;
  s->status = frix_builder_add_body(s->builder, &body, &w->body[w->count]);
  if (s->status == FRIX_OK) s->status = frix_builder_add_shape(s->builder, w->body[w->count++], &shape, NULL);
}

/* A box of these half sides somewhere near the place it is given. */
static void add_box(site *s, frix_pose pose, frix_vec3 half, double mass, double density) {
  frix_body_config body = frix_body_default();
  body.pose = pose;
  body.mass = mass;
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_BOX;
  shape.half = half;
  shape.density = density;
  body.pose.p.x += s->shake * standing_random(&s->seed);
  body.pose.p.y += s->shake * standing_random(&s->seed);
  add_body(s, body, shape);
}

static bool finish(site *s, const frix_sim_config *config) {
  standing *w = s->w;
  if (s->status == FRIX_OK) s->status = frix_builder_compile(s->builder, &w->model);
  if (s->status == FRIX_OK) s->status = frix_sim_create(w->context, w->model, config, &w->sim);
  w->start = calloc((size_t)w->count + 1, sizeof *w->start);
  if (!w->start) s->status = FRIX_ERROR_MEMORY;
  frix_builder_destroy(s->builder);
  if (s->status == FRIX_OK) {
    standing_mark(w);
    return true;
  }
  fprintf(stderr, "world: %s: %s\n", frix_status_name(s->status), frix_error_text(w->context));
  standing_end(w);
  return false;
}

void standing_end(standing *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_context_destroy(w->context);
  free(w->body);
  free(w->start);
  *w = (standing){0};
}

/* ---- the worlds ---- */

static const frix_quat upright = {1, 0, 0, 0};

bool standing_stack(standing *w, const frix_sim_config *config, int32_t cubes, double shake, uint64_t seed) {
  site s = begin(w, 0.5, 0, shake, seed);
  double half = 0.25;
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){0, 0, 0}, upright);
  for (int32_t k = 0; k < cubes; k++)
    add_box(&s, (frix_pose){{0, 0, (2 * k + 1) * half}, upright}, (frix_vec3){half, half, half}, 1, 1000);
  return finish(&s, config);
}

bool standing_cards(standing *w, const frix_sim_config *config, int32_t levels, double shake, uint64_t seed) {
  site s = begin(w, 0.8, 0, shake, seed);
  double length = 0.090, width = 0.060, thick = 0.002, lean = 25 * pi / 180, z = 0;
  double pitch = length + 0.001, ax = -thick * cos(lean), az = thick * sin(lean), dx = length * sin(lean),
         dz = length * cos(lean);
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){0, 0, 0}, upright);
  for (int32_t level = 0; level < levels; level++) {
    double first = level * pitch / 2;
    for (int32_t k = 0; k < levels - level; k++)
      for (int side = 0; side < 2; side++) {
        double sign = side ? -1 : 1, apex = first + k * pitch, foot = apex - sign * dx;
        frix_quat tilted = {cos(lean / 2), 0, sign * sin(lean / 2), 0};
        add_box(&s, (frix_pose){{foot + sign * 0.5 * (ax + dx), 0, z + 0.5 * (az + dz)}, tilted},
                (frix_vec3){thick / 2, width / 2, length / 2}, 0, 700);
      }
    z += az + dz;
    for (int32_t k = 0; k + 1 < levels - level; k++)
      add_box(&s, (frix_pose){{first + (k + 0.5) * pitch, 0, z + thick / 2}, upright},
              (frix_vec3){length / 2, width / 2, thick / 2}, 0, 700);
    z += thick;
  }
  return finish(&s, config);
}

bool standing_arch(standing *w, const frix_sim_config *config, int32_t voussoirs, double thickness, double mu,
                   double shake, uint64_t seed) {
  site s = begin(w, mu, 0, shake, seed);
  if (s.status == FRIX_OK) s.status = frix_builder_set_gravity(s.builder, (frix_vec3){0, -9.81, 0});
  add_ground(&s, FRIX_SHAPE_HALF_PLANE, (frix_vec3){0, 0, 0}, upright);
  double inner = 1 - thickness / 2, outer = 1 + thickness / 2;
  for (int32_t k = 0; k < voussoirs; k++) {
    double a = pi * k / voussoirs, b = pi * (k + 1) / voussoirs;
    frix_vec3 corner[4] = {{inner * cos(a), inner * sin(a), 0},
                           {outer * cos(a), outer * sin(a), 0},
                           {outer * cos(b), outer * sin(b), 0},
                           {inner * cos(b), inner * sin(b), 0}};
    frix_geometry_config polygon = frix_geometry_default();
    polygon.kind = FRIX_GEOMETRY_POLYGON, polygon.point_count = 4, polygon.point = corner;
    frix_shape_config shape = frix_shape_default();
    shape.kind = FRIX_SHAPE_POLYGON;
    if (s.status == FRIX_OK) s.status = frix_builder_add_geometry(s.builder, &polygon, &shape.geometry);
    frix_body_config body = frix_body_default();
    body.planar = true;
    body.pose.p.x = shake * standing_random(&s.seed);
    body.pose.p.y = shake * standing_random(&s.seed);
    add_body(&s, body, shape);
  }
  return finish(&s, config);
}

/* Floor and four walls about a column of twice the lattice's volume. */
bool standing_pile(standing *w, const frix_sim_config *config, int32_t spheres, double stiffness, uint64_t seed) {
  double radius = 0.01, cell = 2.2 * radius;
  site s = begin(w, 0.5, stiffness, 0.05 * radius, seed);
  int32_t side = (int32_t)ceil(cbrt(spheres / 1.5));
  double half = 0.5 * cell * side, turn = sqrt(0.5);
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){0, 0, 0}, upright);
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){-half, 0, 0}, (frix_quat){turn, 0, turn, 0});
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){half, 0, 0}, (frix_quat){turn, 0, -turn, 0});
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){0, half, 0}, (frix_quat){turn, turn, 0, 0});
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){0, -half, 0}, (frix_quat){turn, -turn, 0, 0});
  for (int32_t k = 0; k < spheres; k++) {
    frix_body_config body = frix_body_default();
    frix_shape_config shape = frix_shape_default();
    shape.kind = FRIX_SHAPE_SPHERE;
    shape.radius = radius * (1 + 0.1 * (standing_random(&s.seed) - 1)); /* 0.8 .. 1 */
    shape.density = 2500;
    body.pose.p = (frix_vec3){cell * (k % side + 0.5) - half + s.shake * standing_random(&s.seed),
                              cell * (k / side % side + 0.5) - half + s.shake * standing_random(&s.seed),
                              cell * (k / (side * side) + 0.5)};
    add_body(&s, body, shape);
  }
  return finish(&s, config);
}

/* The hull of some points on a sphere; a sphere where there are no hulls. */
static frix_shape_config pebble(site *s, double radius) {
  enum { POINTS = 12 };
  frix_vec3 point[POINTS];
  for (int k = 0; k < POINTS; k++) {
    double x = standing_random(&s->seed), y = standing_random(&s->seed), z = standing_random(&s->seed);
    double length = sqrt(x * x + y * y + z * z) + 1e-3;
    point[k] = (frix_vec3){radius * x / length, radius * y / length, radius * z / length};
  }
  frix_geometry_config hull = frix_geometry_default();
  hull.kind = FRIX_GEOMETRY_HULL, hull.point_count = POINTS, hull.point = point;
  frix_shape_config shape = frix_shape_default();
  shape.kind = FRIX_SHAPE_HULL;
  frix_status status = s->status == FRIX_OK ? frix_builder_add_geometry(s->builder, &hull, &shape.geometry) : s->status;
  if (status == FRIX_ERROR_UNSUPPORTED) shape.kind = FRIX_SHAPE_SPHERE, shape.radius = radius;
  return shape;
}

bool standing_mixed(standing *w, const frix_sim_config *config, int32_t bodies, uint64_t seed) {
  static const frix_shape_kind kinds[] = {FRIX_SHAPE_SPHERE,   FRIX_SHAPE_BOX,       FRIX_SHAPE_CAPSULE,
                                          FRIX_SHAPE_CYLINDER, FRIX_SHAPE_ELLIPSOID, FRIX_SHAPE_HULL};
  site s = begin(w, 0.4, 0, 0.02, seed);
  frix_material_config bouncy = frix_material_default();
  bouncy.mu = 0.4, bouncy.restitution = 0.3;
  if (s.status == FRIX_OK) s.status = frix_builder_add_material(s.builder, &bouncy, &s.material);
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){0, 0, 0}, upright);
  for (int32_t k = 0; k < bodies; k++) {
    frix_body_config body = frix_body_default();
    frix_shape_config shape = frix_shape_default();
    shape.kind = kinds[k % 6], shape.radius = 0.1, shape.half_length = 0.08, shape.half = (frix_vec3){0.1, 0.07, 0.05};
    if (shape.kind == FRIX_SHAPE_HULL) shape = pebble(&s, 0.1);
    double turn = 0.5 * standing_random(&s.seed), rest = sqrt(1 - turn * turn);
    body.pose = (frix_pose){{0.1 * standing_random(&s.seed), 0.1 * standing_random(&s.seed), 0.15 + 0.21 * k},
                            {rest, turn, 0, 0}};
    add_body(&s, body, shape);
  }
  return finish(&s, config);
}

bool standing_chain(standing *w, const frix_sim_config *config, int32_t links) {
  site s = begin(w, 0.5, 0, 0, 0);
  add_ground(&s, FRIX_SHAPE_PLANE, (frix_vec3){0, 0, -0.15 * links}, upright);
  for (int32_t k = 0; k < links; k++) {
    frix_body_config body = frix_body_default();
    frix_shape_config shape = frix_shape_default();
    shape.kind = FRIX_SHAPE_CAPSULE, shape.radius = 0.03, shape.half_length = 0.06;
    double x = 0.2 * k + 0.1, half = sqrt(0.5);
    body.pose = (frix_pose){{x, 0, 0}, {half, 0, half, 0}};
    add_body(&s, body, shape);
    frix_joint_config joint = frix_joint_default(k ? FRIX_JOINT_BALL : FRIX_JOINT_HINGE);
    joint.b = w->count ? w->body[w->count - 1] : joint.b;
    if (k && w->count > 1) joint.a = w->body[w->count - 2];
    if (k == 0) joint.axis[0].motor = FRIX_MOTOR_VELOCITY, joint.axis[0].target = 1, joint.axis[0].max_force = 3;
    frix_vec3 none = {0, 0, 0}, y = {0, 1, 0};
    if (s.status == FRIX_OK) s.status = frix_joint_place(s.builder, &joint, (frix_vec3){0.2 * k, 0, 0}, y, none, none);
    if (s.status == FRIX_OK) s.status = frix_builder_add_joint(s.builder, &joint, NULL);
  }
  return finish(&s, config);
}

/* ---- watching ---- */

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool standing_step(standing *w, double h, frix_step_report *report) {
  frix_step_report own;
  if (!report) report = &own;
  double before = processor_seconds();
  frix_status status = frix_sim_step(w->sim, h, report);
  w->seconds += processor_seconds() - before;
  if (status != FRIX_OK) {
    fprintf(stderr, "world: %s: %s\n", frix_status_name(status), frix_error_text(w->context));
    return false;
  }
  w->steps++;
  w->uncertified += !report->certified;
  w->warm += !strcmp(report->finisher, "warm start");
  if (!(report->certificate.residual <= w->worst)) w->worst = report->certificate.residual;
  return true;
}

void standing_mark(standing *w) {
  frix_body_state state;
  for (int32_t k = 0; k < w->count; k++)
    if (frix_sim_body(w->sim, w->body[k], &state) == FRIX_OK) w->start[k] = state.center;
}

double standing_moved(const standing *w) {
  double most = 0;
  frix_body_state state;
  for (int32_t k = 0; k < w->count; k++) {
    if (frix_sim_body(w->sim, w->body[k], &state) != FRIX_OK) return NAN;
    frix_vec3 c = state.center, s = w->start[k];
    double d = hypot(c.x - s.x, hypot(c.y - s.y, c.z - s.z));
    if (!(d <= most)) most = d;
  }
  return most;
}

double standing_speed(const standing *w) {
  double most = 0;
  frix_body_state state;
  for (int32_t k = 0; k < w->count; k++) {
    if (frix_sim_body(w->sim, w->body[k], &state) != FRIX_OK) return NAN;
    frix_vec3 v = state.velocity;
    double speed = hypot(v.x, hypot(v.y, v.z));
    if (!(speed <= most)) most = speed;
  }
  return most;
}
