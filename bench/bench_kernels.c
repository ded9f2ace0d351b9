/* What a compliant heap of bodies costs, piece by piece, in nanoseconds per contact:
 *
 *   bench_kernels [--bodies N] [--steps N]     default 500 bodies, 120 steps
 *
 * Bodies of one shape fall in a heap on the floor (1e6 N/m, mu 0.5, h 10 ms). The problem of the last step is read,
 * packed and swept many times, and the shortest time counts; times are those of the processor in this thread. */
#include "problem/certificate.h"
#include "solver/sweeps_base.h"
#include "solver/sweeps_blend.h"

#include <frix/frix.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 15, SWEEPS = 20, SIDE = 8 };

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the heap ---- */

typedef struct heap {
  frix_context *context;
  frix_model *model;
  frix_sim *sim;
  frix_problem *problem;
} heap;

static void heap_end(heap *h) {
  frix_problem_destroy(h->problem);
  frix_sim_destroy(h->sim);
  frix_model_destroy(h->model);
  frix_context_destroy(h->context);
}

static frix_status add_bodies(frix_builder *builder, frix_shape_kind kind, int32_t count) {
  frix_material_config material = frix_material_default();
  frix_shape_config shape = frix_shape_default();
  frix_body_id body;
  material.stiffness = 2e6; /* two springs in series */
  frix_status status = frix_builder_add_material(builder, &material, &shape.material);
  shape.kind = FRIX_SHAPE_PLANE;
  if (status == FRIX_OK) status = frix_builder_add_shape(builder, (frix_body_id){0, 0}, &shape, NULL);
  shape.kind = kind;
  shape.half = (frix_vec3){0.12, 0.1, 0.08};
  shape.radius = 0.08;
  shape.half_length = 0.06;
  for (int32_t k = 0; k < count && status == FRIX_OK; k++) {
    frix_body_config config = frix_body_default();
    int32_t layer = k / (SIDE * SIDE), x = k % SIDE, y = k / SIDE % SIDE;
    config.pose.p = (frix_vec3){0.3 * x + 0.05 * (layer % 2), 0.3 * y - 0.04 * (layer % 3), 0.15 + 0.3 * layer};
    config.pose.q = frix_quat_turn((frix_vec3){1, 0.3 * x, 0.2 * y}, 0.7 * k);
    status = frix_builder_add_body(builder, &config, &body);
    if (status == FRIX_OK) status = frix_builder_add_shape(builder, body, &shape, NULL);
  }
  return status;
}

static bool heap_new(heap *h, frix_shape_kind kind, int32_t count, int32_t steps) {
  frix_builder *builder = NULL;
  *h = (heap){0};
  frix_status status = frix_context_create(NULL, &h->context);
  if (status == FRIX_OK) status = frix_builder_create(h->context, &builder);
  if (status == FRIX_OK) status = add_bodies(builder, kind, count);
  if (status == FRIX_OK) status = frix_builder_compile(builder, &h->model);
  if (status == FRIX_OK) status = frix_sim_create(h->context, h->model, NULL, &h->sim);
  for (int32_t k = 0; k < steps && status == FRIX_OK; k++) status = frix_sim_step(h->sim, 0.01, NULL);
  if (status == FRIX_OK) status = frix_sim_problem(h->sim, &h->problem);
  frix_builder_destroy(builder);
  if (status != FRIX_OK) fprintf(stderr, "bench_kernels: %s\n", h->context ? frix_error_text(h->context) : "no memory");
  return status == FRIX_OK;
}

/* ---- times ---- */

enum { READ, PACK, SINGLE, DOUBLE, CHECK, MOVE, BASED, STORE, MIXED, COLUMNS };

static void note(double *best, double start) { *best = fmin(*best, processor_seconds() - start); }

/* One round over all pieces; false without memory. */
static bool measure(const heap *h, double best[COLUMNS], fx_pile *pile, fx_system *system) {
  fx_arena arena;
  fx_base base;
  fx_blend blend;
  fx_sweep_target target = fx_sweep_best_target();
  fx_arena_init(&arena, h->context);
  double start = processor_seconds();
  bool good = fx_system_build(&arena, h->problem, FRIX_FORM_GLOBAL, system) == FRIX_OK && system->contact_count > 0;
  note(&best[READ], start);
  start = processor_seconds();
  good = good && fx_pile_build(&arena, system, NULL, true, pile) == FRIX_OK;
  note(&best[PACK], start);
  double *r = good ? FX_TAKE(&arena, double, system->row_count) : NULL, *u = NULL, *v = NULL;
  if (good) u = FX_TAKE(&arena, double, system->row_count), v = FX_TAKE(&arena, double, system->dof_count);
  good = r && u && v && fx_base_take(&arena, pile, &base) == FRIX_OK &&
         fx_blend_take(&arena, pile, false, &blend) == FRIX_OK;
  for (int full = 0; good && full < 2; full++) {
    if (full) fx_pile_pack_full(pile);
    fx_pile_load(pile, full, r);
    fx_sweep_refresh(pile, full, target);
    start = processor_seconds();
    for (int k = 0; k < SWEEPS; k++) fx_sweep(pile, full, target, 0);
    note(&best[full ? DOUBLE : SINGLE], start);
  }
  if (good) {
    fx_pile_store(pile, true, r);
    start = processor_seconds();
    double residual = fx_residual_of(system, FRIX_LAW_COULOMB, r, u, v);
    note(&best[CHECK], start);
    start = processor_seconds();
    fx_base_move(&base, pile, residual, r, u);
    note(&best[MOVE], start);
    start = processor_seconds();
    for (int k = 0; k < SWEEPS; k++) fx_sweep(pile, false, target, 0);
    note(&best[BASED], start);
    start = processor_seconds();
    fx_base_store(&base, pile, r);
    note(&best[STORE], start);
    fx_blend_begin(&blend, pile, false, sqrt(base.size / system->row_count) * base.unit);
    for (int k = 0; k < FX_BLEND_ROOM; k++) fx_blend_sweep(&blend, pile, false, target, NULL);
    start = processor_seconds();
    for (int k = 0; k < SWEEPS; k++) fx_blend_sweep(&blend, pile, false, target, NULL);
    note(&best[MIXED], start);
  }
  fx_arena_free(&arena);
  return good;
}

static bool print_row(const char *name, frix_shape_kind kind, int32_t count, int32_t steps) {
  heap h;
  fx_pile pile = {0};
  fx_system system = {0};
  double best[COLUMNS];
  bool good = heap_new(&h, kind, count, steps);
  for (int k = 0; k < COLUMNS; k++) best[k] = INFINITY;
  for (int k = 0; good && k < REPEATS; k++) good = measure(&h, best, &pile, &system);
  if (good) {
    printf("%-9s %8d %8d", name, system.contact_count, pile.batch_count);
    for (int k = 0; k < COLUMNS; k++) {
      bool swept = k == SINGLE || k == DOUBLE || k == BASED || k == MIXED;
      printf(" %8.1f", 1e9 * best[k] / (swept ? SWEEPS : 1) / system.contact_count);
    }
    printf("\n");
    fflush(stdout);
  }
  heap_end(&h);
  return good;
}

int main(int argc, char **argv) {
  int32_t bodies = 500, steps = 120;
  for (int k = 1; k < argc; k++) {
    if (k + 1 < argc && !strcmp(argv[k], "--bodies"))
      bodies = atoi(argv[++k]);
    else if (k + 1 < argc && !strcmp(argv[k], "--steps"))
      steps = atoi(argv[++k]);
    else
      bodies = 0;
  }
  if (bodies < 1 || steps < 1) {
    fprintf(stderr, "usage: bench_kernels [--bodies N] [--steps N]\n");
    return 2;
  }
  printf(
      "nanoseconds per contact; sweeps: per contact and sweep, single precision from zero, double, single from a\n"
      "base, the same with mixing\n%-9s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n",
      "bodies", "contacts", "batches", "read", "pack", "single", "double", "check", "move", "based", "store", "mixed");
  bool good = print_row("boxes", FRIX_SHAPE_BOX, bodies, steps) &&
              print_row("capsules", FRIX_SHAPE_CAPSULE, bodies, steps) &&
              print_row("spheres", FRIX_SHAPE_SPHERE, bodies, steps);
  return good ? 0 : 1;
}
