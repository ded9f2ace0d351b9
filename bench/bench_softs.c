/* Soft bodies: cost of a step beside its accuracy, frix (and Bullet) in one run.
 *
 *   bench_softs [--columns N] [--steps N]
 *
 * Columns of two soft cubes on a floor: they stand at a slope of 0.3 with friction 0.5, where nothing may move; or they
 * slide at a slope of 0.6 with friction 0.3, from rest, where every step is another one. frix has 20 modal coordinates
 * and 6 of the frame per cube and certifies every step to 1e-8; Bullet has 27 nodes with tetrahedral links
 * (btSoftRigidDynamicsWorld, 10 position iterations). */
#include <frix/frix.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_softs.h"

typedef struct world {
  frix_context *context;
  frix_builder *builder;
  frix_soft *soft;
  frix_model *model;
  frix_sim *sim;
} world;

static void end(world *w) {
  frix_sim_destroy(w->sim);
  frix_model_destroy(w->model);
  frix_builder_destroy(w->builder);
  frix_soft_destroy(w->soft);
  frix_context_destroy(w->context);
}

static frix_status add_bodies(world *w, const soft_scene *s) {
  frix_material_config material = frix_material_default();
  frix_shape_config floor = frix_shape_default(), skin = frix_shape_default();
  frix_material_id id;
  material.mu = s->mu;
  frix_status status = frix_builder_add_material(w->builder, &material, &id);
  floor.kind = FRIX_SHAPE_PLANE, floor.material = skin.material = id;
  if (!status) status = frix_builder_add_shape(w->builder, (frix_body_id){0, 0}, &floor, NULL);
  for (int k = 0; k < 2 * s->columns && !status; k++) {
    frix_body_config body = frix_body_default();
    soft_place(k / 2, s->side, &body.pose.p.x, &body.pose.p.y);
    body.pose.p.z = s->side * (k % 2 + 0.5);
    status = frix_builder_add_soft(w->builder, w->soft, &body, &skin, NULL);
  }
  return status;
}

static frix_status begin(world *w, const soft_scene *s) {
  frix_soft_config c = frix_soft_default();
  frix_sim_config config = frix_sim_default();
  double norm = sqrt(1.0 + s->slope * s->slope);
  c.sides = (frix_vec3){s->side, s->side, s->side}, c.cells = 2, c.order = 1, c.modes = 14, c.strains = true;
  c.young = s->young, c.density = s->density, c.damping_ratio = 0.2;
  *w = (world){0};
  frix_status status = frix_context_create(NULL, &w->context);
  if (!status) status = frix_builder_create(w->context, &w->builder);
  if (!status) status = frix_soft_make(w->context, "bar", &c, &w->soft);
  if (!status) status = frix_builder_set_gravity(w->builder, (frix_vec3){9.81 * s->slope / norm, 0.0, -9.81 / norm});
  if (!status) status = add_bodies(w, s);
  if (!status) status = frix_builder_compile(w->builder, &w->model);
  return status ? status : frix_sim_create(w->context, w->model, &config, &w->sim);
}

/* Places of the frames of the upper cubes along x. */
static void look(const world *w, int columns, double *x) {
  for (int k = 0; k < columns; k++) {
    frix_body_state state;
    x[k] = frix_sim_body(w->sim, frix_model_body_at(w->model, 2 * k + 1), &state) ? NAN : state.pose.p.x;
  }
}

static frix_status measure(world *w, const soft_scene *s, double *before, double *after, soft_result *r) {
  frix_step_report report = {.size = sizeof report};
  frix_status status = FRIX_OK;
  *r = (soft_result){0};
  for (int k = 0; k < s->settle && !status; k++) status = frix_sim_step(w->sim, s->h, &report);
  look(w, s->columns, before);
  clock_t begun = clock();
  for (int k = 0; k < s->steps && !status; k++) {
    status = frix_sim_step(w->sim, s->h, &report);
    r->certified += report.certified;
    r->residual = fmax(r->residual, report.certificate.residual);
    r->penetration = fmax(r->penetration, report.penetration);
  }
  r->seconds = (double)(clock() - begun) / CLOCKS_PER_SEC / s->steps;
  look(w, s->columns, after);
  r->contacts = (double)report.contact_count, r->coordinates = (int)report.dof_count;
  for (int k = 0; k < s->columns; k++) r->drift = fmax(r->drift, fabs(after[k] - before[k] - soft_way(s)));
  return status;
}

static void print(const char *name, const soft_scene *s, const soft_result *r) {
  printf("%s,%s,%d,%.0f,%d,%.4f,%.2e,%.2e,", s->name, name, 2 * s->columns, r->contacts, r->coordinates,
         1e3 * r->seconds, r->drift, r->penetration);
  if (r->residual > 0)
    printf("%.1e,%d of %d\n", r->residual, r->certified, s->steps);
  else
    printf("-,-\n");
}

/* Both engines; what went wrong is on stderr. */
static frix_status compare(const soft_scene *scene, double *x) {
  world w = {0};
  soft_result r;
  frix_status status = begin(&w, scene);
  if (!status) status = measure(&w, scene, x, x + scene->columns, &r);
  if (status) {
    fprintf(stderr, "%s\n", w.context ? frix_error_text(w.context) : "no context");
  } else {
    print("frix", scene, &r);
#ifdef BENCH_PEERS
    r = bullet_softs(scene);
    print("bullet", scene, &r);
#endif
  }
  end(&w);
  return status;
}

int main(int argc, char **argv) {
  soft_scene scene[] = {{"stand", 100, 200, 200, 0.1, 1000.0, 1e6, 0.5, 0.3, 0.005},
                        {"slide", 100, 0, 200, 0.1, 1000.0, 1e6, 0.3, 0.6, 0.005}};
  for (int k = 1; k + 1 < argc; k += 2) {
    int number = atoi(argv[k + 1]);
    if (!strcmp(argv[k], "--columns")) scene[0].columns = scene[1].columns = number;
    if (!strcmp(argv[k], "--steps")) scene[0].steps = scene[0].settle = scene[1].steps = number;
  }
  if (scene[0].columns < 1 || scene[0].columns > 10000 || scene[0].steps < 1) {
    fputs("bench_softs [--columns N] [--steps N]\n", stderr);
    return 2;
  }
  double *x = malloc(2 * (size_t)scene[0].columns * sizeof *x);
  if (!x) return 2;
  puts("scene,engine,bodies,contacts,coordinates,ms_per_step,drift_m,penetration_m,residual,certified");
  frix_status status = compare(&scene[0], x);
  if (!status) status = compare(&scene[1], x);
  free(x);
  return status ? 2 : 0;
}
