/* Worlds for the tests of the simulator: a builder with shorthand, then a sim that is stepped and watched. */
#ifndef FX_TEST_SIM_WORLD_H
#define FX_TEST_SIM_WORLD_H

#include "test.h"

#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
  fx_test *t;
  frix_context *context;
  frix_builder *builder;
  frix_model *model;
  frix_sim *sim;
  frix_sim_config config;
  frix_material_id material;
  double worst; /* residual over all steps */
  double seconds;
  int64_t steps, unsolved, iterations, overlaps_left;
} world;

#define MUST(w, call)                                                                          \
  do {                                                                                         \
    frix_status status_ = (call);                                                              \
    if (status_ != FRIX_OK)                                                                    \
      fx_test_fail((w)->t, __FILE__, __LINE__, "%s: %s: %s", #call, frix_status_name(status_), \
                   frix_error_text((w)->context));                                             \
  } while (0)

static inline frix_vec3 vec(double x, double y, double z) { return (frix_vec3){x, y, z}; }
static inline frix_pose at(double x, double y, double z) { return (frix_pose){{x, y, z}, {1, 0, 0, 0}}; }
/* Turned by an angle about a unit axis. */
static inline frix_quat turned(double angle, double x, double y, double z) {
  return (frix_quat){cos(angle / 2), x * sin(angle / 2), y * sin(angle / 2), z * sin(angle / 2)};
}

/* The coordinates of joints: a file that tests rows of joints defines WORLD_COORDINATES as FRIX_COORDINATES_MAXIMAL,
 * and runs tests once more in trees. */
#ifndef WORLD_COORDINATES
#define WORLD_COORDINATES FRIX_COORDINATES_REDUCED
#endif
static bool world_of_trees;

/* The same test in trees. */
static inline void world_in_trees(fx_test *t, void (*test)(fx_test *)) {
  world_of_trees = true;
  test(t);
  world_of_trees = false;
}

static inline world world_new(fx_test *t, double mu, double restitution) {
  world w = {.t = t, .config = frix_sim_default()};
  w.config.coordinates = world_of_trees ? FRIX_COORDINATES_REDUCED : WORLD_COORDINATES;
  if (frix_context_create(NULL, &w.context) != FRIX_OK || frix_builder_create(w.context, &w.builder) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "no context");
  frix_material_config material = frix_material_default();
  material.mu = mu;
  material.restitution = restitution;
  MUST(&w, frix_builder_add_material(w.builder, &material, &w.material));
  return w;
}

/* The same with the rigid law of contact by name. */
static inline world rigid_world(fx_test *t, double mu, double restitution) {
  world w = world_new(t, mu, restitution);
  w.config.contact = FRIX_CONTACT_KIND_RIGID;
  return w;
}

static inline frix_body_id world_body(world *w, frix_body_config config, frix_shape_config shape) {
  frix_body_id id = {0, 0};
  MUST(w, frix_builder_add_body(w->builder, &config, &id));
  if (!shape.material.index) shape.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, id, &shape, NULL));
  return id;
}

static inline frix_shape_config box_shape(double x, double y, double z) {
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_BOX;
  s.half = vec(x, y, z);
  return s;
}

static inline frix_shape_config sphere_shape(double radius) {
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_SPHERE;
  s.radius = radius;
  return s;
}

static inline frix_shape_config kind_shape(frix_shape_kind kind, double radius, double half_length) {
  frix_shape_config s = frix_shape_default();
  s.kind = kind;
  s.radius = radius;
  s.half_length = half_length;
  return s;
}

static inline frix_body_config body_at(frix_pose pose) {
  frix_body_config b = frix_body_default();
  b.pose = pose;
  return b;
}

/* A plane of the world through the origin, turned. */
static inline void world_plane(world *w, frix_quat q) {
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_PLANE;
  s.pose.q = q;
  s.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, (frix_body_id){0, 0}, &s, NULL));
}

static inline void world_half_plane(world *w) {
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_HALF_PLANE;
  s.material = w->material;
  MUST(w, frix_builder_add_shape(w->builder, (frix_body_id){0, 0}, &s, NULL));
  MUST(w, frix_builder_set_gravity(w->builder, vec(0, -9.81, 0)));
}

static inline bool world_start(world *w) {
  MUST(w, frix_builder_compile(w->builder, &w->model));
  if (w->model) MUST(w, frix_sim_create(w->context, w->model, &w->config, &w->sim));
  return w->sim;
}

static inline frix_step_report world_step(world *w, double h) {
  frix_step_report report = {0};
  MUST(w, frix_sim_step(w->sim, h, &report));
  if (report.certified ? report.certificate.residual <= w->config.tolerance && report.certificate.residual > w->worst
                       : !(report.certificate.residual <= w->worst))
    w->worst = report.certificate.residual;
  if (!report.certified) w->unsolved++;
  w->steps++;
  w->iterations += report.iterations;
  w->overlaps_left += report.overlaps_left;
  w->seconds += report.seconds;
  return report;
}

static inline void world_run(world *w, double h, double time) {
  int64_t steps = (int64_t)(time / h + 0.5);
  for (int64_t k = 0; k < steps; k++) world_step(w, h);
}

static inline frix_body_state state_of(world *w, frix_body_id id) {
  frix_body_state s = {0};
  MUST(w, frix_sim_body(w->sim, id, &s));
  return s;
}

/* |kinetic + potential - what the ledger says| / scale */
static inline double ledger_gap(const frix_sim *sim) {
  frix_energy e = frix_sim_energy(sim);
  double sum = e.start + e.work - e.friction - e.impact - e.damping + e.joint + e.contact + e.scheme + e.error;
  double scale = fabs(e.start) + fabs(e.kinetic) + fabs(e.potential) + fabs(e.work) + fabs(e.friction) + fabs(e.impact);
  return fabs(e.kinetic + e.potential - sum) / (scale > 0 ? scale : 1);
}

/* A force for frix_sim_config: a spring between a body and the plane x = 0. */
typedef struct spring {
  frix_body_id body;
  double k;
} spring;

static inline void spring_force(frix_sim *sim, double time, void *user) {
  (void)time;
  const spring *s = user;
  frix_body_state state;
  frix_sim_body(sim, s->body, &state);
  frix_sim_add_force(sim, s->body, vec(-s->k * state.center.x, 0, 0), vec(0, 0, 0));
}

static inline void world_end(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_builder_destroy(w->builder);
  frix_context_destroy(w->context);
  *w = (world){0};
}

#endif
