/* Time per step beside the accuracy reached: frix, and the packaged engines that were found when this was built.
 *
 *   bench_sim [--seconds S] [--spheres N] [--contact stiff|rigid] [--scene NAME]
 *
 * Every engine gets the same bodies at the same places, has one simulated second to settle, and is then watched for S
 * (default 10). ms: processor time per step, the median of batches of steps. moved: the farthest a centre of mass came
 * while it was watched; speed: that over the time. residual: of frix's certificate, the worst of all steps; other
 * engines have none. Collision alone is part of the line of frix. Engines run with their defaults and with 1000
 * iterations (piles: 100). */
#include "worlds.h"

#ifdef BENCH_PEERS
#include "peers/peer.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 41 };

typedef struct scene {
  const char *name;
  double h, mu, tolerance;
  int iterations;
  double settle; /* seconds */
} scene;

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *x, int count) {
  qsort(x, (size_t)count, sizeof *x, by_size);
  return x[count / 2];
}

static void line(const scene *s, const char *engine, double ms, double moved, double time, const char *rest) {
  printf("%-12s %-6g %-16s %9.4f %10.2e %10.2e  %s\n", s->name, s->h, engine, ms, moved, moved / time, rest);
  fflush(stdout);
}

static void run_frix(const scene *s, standing *w, double seconds) {
  double batch[BATCHES], collide = 0;
  int64_t settle = (int64_t)(s->settle / s->h), count = (int64_t)(seconds / s->h) / BATCHES + 1;
  frix_step_report report;
  bool good = true;
  for (int64_t k = 0; good && k < settle; k++) good = standing_step(w, s->h, &report);
  standing_mark(w);
  w->worst = 0, w->steps = w->warm = w->uncertified = 0;
  for (int b = 0; b < BATCHES; b++) {
    double before = w->seconds;
    for (int64_t k = 0; good && k < count; k++) {
      good = standing_step(w, s->h, &report);
      if (collide == 0 || report.collide_seconds < collide) collide = report.collide_seconds;
    }
    batch[b] = 1e3 * (w->seconds - before) / (double)count;
  }
  char rest[160];
  snprintf(rest, sizeof rest, "residual %.1e, %lld not certified, collision %.4f ms, %d contacts, warm %.0f %%",
           w->worst, (long long)w->uncertified, 1e3 * collide, report.touching_count,
           100.0 * (double)w->warm / (double)(w->steps ? w->steps : 1));
  line(s, "frix", median(batch, BATCHES), good ? standing_moved(w) : NAN, seconds, rest);
}

#ifdef BENCH_PEERS
static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void to_body(const standing *w, int32_t k, double depth, peer_body *out) {
  frix_body_config body;
  frix_body_state state;
  frix_shape_config shape = frix_shape_default();
  frix_body_id owner = {0, 0};
  frix_model_body(w->model, w->body[k], &body);
  frix_sim_body(w->sim, w->body[k], &state);
  for (int32_t j = 0; j < frix_model_count(w->model).shape_count; j++) {
    frix_model_shape(w->model, frix_model_shape_at(w->model, j), &shape, &owner);
    if (owner.index == w->body[k].index) break;
  }
  *out = (peer_body){.mass = body.mass,
                     .radius = shape.radius,
                     .half = {shape.half.x, shape.half.y, shape.half.z},
                     .p = {state.center.x, state.center.y, state.center.z},
                     .q = {state.pose.q.w, state.pose.q.x, state.pose.q.y, state.pose.q.z}};
  out->kind = shape.kind == FRIX_SHAPE_BOX ? PEER_BOX : shape.kind == FRIX_SHAPE_SPHERE ? PEER_SPHERE : PEER_HULL;
  if (out->kind != PEER_HULL) return;
  frix_geometry_config polygon;
  frix_model_geometry(w->model, shape.geometry, &polygon);
  for (int32_t j = 0; j < 4; j++)
    for (int side = 0; side < 2; side++) {
      double *to = out->point[2 * j + side];
      to[0] = polygon.point[j].x + state.pose.p.x - state.center.x;
      to[1] = polygon.point[j].y + state.pose.p.y - state.center.y;
      to[2] = side ? depth : -depth;
    }
}

static void run_peer(const scene *s, const peer *e, const peer_scene *world, int iterations, double seconds) {
  if (!e->can(world)) return;
  char name[32];
  snprintf(name, sizeof name, iterations ? "%s %d" : "%s", e->name, iterations);
  void *w = e->create(world, iterations);
  double batch[BATCHES], moved = 0, *start = calloc(3 * (size_t)world->count, sizeof *start);
  int64_t settle = (int64_t)(s->settle / s->h), count = (int64_t)(seconds / s->h) / BATCHES + 1;
  for (int64_t k = 0; k < settle; k++) e->step(w);
  double q[4], v[3], spin[3];
  for (int k = 0; k < world->count; k++) e->look(w, k, start + 3 * k, q, v, spin);
  for (int b = 0; b < BATCHES; b++) {
    double before = processor_seconds();
    for (int64_t k = 0; k < count; k++) e->step(w);
    batch[b] = 1e3 * (processor_seconds() - before) / (double)count;
  }
  for (int k = 0; k < world->count; k++) {
    double p[3], *from = start + 3 * k;
    e->look(w, k, p, q, v, spin);
    double d = hypot(p[0] - from[0], hypot(p[1] - from[1], p[2] - from[2]));
    if (!(d <= moved)) moved = d;
  }
  line(s, name, median(batch, BATCHES), moved, seconds, "");
  e->destroy(w);
  free(start);
}

/* The same bodies for the others; half spaces as the world has them. */
static void run_peers(const scene *s, const standing *w, double seconds) {
  peer_body *body = calloc((size_t)w->count, sizeof *body);
  peer_scene world = {.body = body, .count = w->count, .mu = s->mu, .h = s->h};
  frix_vec3 g = frix_model_gravity(w->model);
  world.gravity[0] = g.x, world.gravity[1] = g.y, world.gravity[2] = g.z;
  for (int32_t k = 0; k < w->count; k++) to_body(w, k, 0.1, &body[k]);
  for (int32_t j = 0; j < frix_model_count(w->model).shape_count; j++) {
    frix_shape_config shape;
    frix_body_id owner;
    frix_model_shape(w->model, frix_model_shape_at(w->model, j), &shape, &owner);
    if (owner.index != 0 || world.plane_count == PEER_PLANES) continue;
    frix_quat q = shape.pose.q;
    double *n = world.plane[world.plane_count++];
    bool flat = shape.kind == FRIX_SHAPE_HALF_PLANE; /* its y axis; a plane's z axis */
    n[0] = flat ? 2 * (q.x * q.y - q.w * q.z) : 2 * (q.x * q.z + q.w * q.y);
    n[1] = flat ? 1 - 2 * (q.x * q.x + q.z * q.z) : 2 * (q.y * q.z - q.w * q.x);
    n[2] = flat ? 2 * (q.y * q.z + q.w * q.x) : 1 - 2 * (q.x * q.x + q.y * q.y);
    n[3] = n[0] * shape.pose.p.x + n[1] * shape.pose.p.y + n[2] * shape.pose.p.z;
  }
  for (int k = 0; k < 2; k++) {
    run_peer(s, &peer_bullet, &world, k ? s->iterations : 0, seconds);
    run_peer(s, &peer_ode, &world, k ? s->iterations : 0, seconds);
  }
  free(body);
}

#endif

static void run(const scene *s, standing *w, double seconds) {
#ifdef BENCH_PEERS
  run_peers(s, w, seconds); /* from the start of frix's world */
#endif
  run_frix(s, w, seconds);
  standing_end(w);
}

static bool contact_of(const char *name, frix_contact_kind *out) {
  for (int32_t k = 0; frix_contact_kind_table(k); k++)
    if (!strcmp(frix_contact_kind_table(k)->name, name)) return *out = (frix_contact_kind)k, true;
  return false;
}

static bool is_wanted(const scene *s, const char *name) { return !name || !strcmp(s->name, name); }

int main(int argc, char **argv) {
  double seconds = 10;
  int32_t spheres = 1000;
  const char *wanted = NULL;
  frix_sim_config config = frix_sim_default();
  for (int k = 1; k + 1 < argc; k += 2) {
    if (!strcmp(argv[k], "--seconds"))
      seconds = atof(argv[k + 1]);
    else if (!strcmp(argv[k], "--spheres"))
      spheres = atoi(argv[k + 1]);
    else if (!strcmp(argv[k], "--contact") && contact_of(argv[k + 1], &config.contact))
      continue;
    else if (!strcmp(argv[k], "--scene"))
      wanted = argv[k + 1];
    else
      return fprintf(stderr, "sim: unknown option '%s'\n", argv[k]), 2;
  }
  static const scene stack10 = {"stack_10", 0.01, 0.5, 1e-8, 1000, 1}, stack30 = {"stack_30", 0.01, 0.5, 1e-8, 1000, 1},
                     cards = {"cards_4", 0.005, 0.8, 1e-8, 1000, 1}, arch = {"arch_25", 0.01, 0.6, 1e-8, 1000, 1},
                     pile = {"pile", 0.005, 0.5, 1e-4, 100, 3};
  printf("%-12s %-6s %-16s %9s %10s %10s\n", "scene", "h", "engine", "ms/step", "moved m", "speed m/s");
  standing w;
  if (is_wanted(&stack10, wanted) && standing_stack(&w, &config, 10, 1e-3, 1)) run(&stack10, &w, seconds);
  if (is_wanted(&stack30, wanted) && standing_stack(&w, &config, 30, 1e-3, 2)) run(&stack30, &w, seconds);
  if (is_wanted(&cards, wanted) && standing_cards(&w, &config, 4, 1e-6, 3)) run(&cards, &w, seconds);
  if (is_wanted(&arch, wanted) && standing_arch(&w, &config, 25, 0.2, 0.6, 1e-6, 4)) run(&arch, &w, seconds);
  config.tolerance = pile.tolerance;
  if (is_wanted(&pile, wanted) && spheres > 0 && standing_pile(&w, &config, spheres, 0, 5))
    run(&pile, &w, seconds < 2 ? seconds : 2);
  return 0;
}
