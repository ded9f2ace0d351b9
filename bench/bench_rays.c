/* Rays into many bodies: time per ray, and beside Bullet the same rays into the same bodies.
 *
 *   bench_rays [--bodies N] [--rays N] */
#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_rays.h"
#include "worlds.h"

typedef struct setting {
  int bodies, rays;
} setting;

static double seconds_now(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void random_bodies(ray_body *body, int count, double half, uint64_t *seed) {
  for (int k = 0; k < count; k++) {
    ray_body *b = &body[k];
    b->box = k % 2;
    b->radius = 0.3 + 0.2 * standing_random(seed);
    double n = 0;
    for (int j = 0; j < 3; j++) b->half[j] = 0.3 + 0.2 * standing_random(seed), b->p[j] = half * standing_random(seed);
    for (int j = 0; j < 4; j++) b->q[j] = standing_random(seed), n += b->q[j] * b->q[j];
    for (int j = 0; j < 4; j++) b->q[j] /= sqrt(n);
  }
}

static frix_sim *build(frix_context *context, const ray_body *body, int count, frix_model **model) {
  frix_builder *builder = NULL;
  frix_sim *sim = NULL;
  if (frix_builder_create(context, &builder)) return NULL;
  bool good = true;
  for (int k = 0; k < count && good; k++) {
    frix_body_config config = frix_body_default();
    frix_shape_config shape = frix_shape_default();
    frix_body_id id;
    memcpy(&config.pose.p, body[k].p, sizeof body[k].p);
    memcpy(&config.pose.q, body[k].q, sizeof body[k].q);
    shape.kind = body[k].box ? FRIX_SHAPE_BOX : FRIX_SHAPE_SPHERE;
    shape.radius = body[k].radius;
    memcpy(&shape.half, body[k].half, sizeof body[k].half);
    good = !frix_builder_add_body(builder, &config, &id) && !frix_builder_add_shape(builder, id, &shape, NULL);
  }
  if (good && !frix_builder_compile(builder, model)) frix_sim_create(context, *model, NULL, &sim);
  frix_builder_destroy(builder);
  return sim;
}

/* Segments through the cube. */
static void random_rays(double *from, double *to, frix_ray *ray, int count, double half, uint64_t *seed) {
  for (int k = 0; k < count; k++) {
    double d[3], length = 0;
    for (int j = 0; j < 3; j++) {
      from[3 * k + j] = half * standing_random(seed), to[3 * k + j] = half * standing_random(seed);
      d[j] = to[3 * k + j] - from[3 * k + j], length += d[j] * d[j];
    }
    memcpy(&ray[k].origin, from + 3 * k, sizeof ray[k].origin);
    memcpy(&ray[k].direction, d, sizeof d);
    ray[k].length = sqrt(length);
  }
}

/* Bullet's casts end within a few centimetres of the surface, sometimes beside it; rays that start inside a body, where
 * it sees nothing, are told apart. */
static void compare(const frix_ray_hit *hit, const double *other, int count) {
  int same = 0, inside = 0, others = 0;
  for (int k = 0; k < count; k++) {
    double mine = hit[k].shape.index ? hit[k].distance : -1;
    if (mine == 0)
      inside++;
    else if (fabs(mine - other[k]) < 0.05)
      same++;
    else
      others++;
  }
  printf("within 5 cm of each other %d, begin inside a body %d, other %d\n", same, inside, others);
}

static int run(setting s) {
  double half = 0.9 * cbrt((double)s.bodies);
  size_t n = (size_t)s.rays;
  uint64_t seed = 1;
  ray_body *body = calloc((size_t)s.bodies, sizeof *body);
  double *from = calloc(3 * n, sizeof *from), *to = calloc(3 * n, sizeof *to), *other = calloc(n, sizeof *other);
  frix_ray *ray = calloc(n, sizeof *ray);
  frix_ray_hit *hit = calloc(n, sizeof *hit);
  frix_context *context = NULL;
  frix_model *model = NULL;
  frix_sim *sim = NULL;
  int code = 1;
  if (body && from && to && other && ray && hit && !frix_context_create(NULL, &context)) {
    for (size_t k = 0; k < n; k++)
      hit[k].distance = other[k] = -1; /* pages of answers are there before the clock runs */
    random_bodies(body, s.bodies, half, &seed);
    random_rays(from, to, ray, s.rays, half, &seed);
    if ((sim = build(context, body, s.bodies, &model))) {
      double begun = seconds_now();
      code = frix_sim_cast_rays(sim, ray, 1, NULL, hit);
      double built = seconds_now();
      code |= frix_sim_cast_rays(sim, ray, s.rays, NULL, hit);
      double done = seconds_now();
      printf("%d bodies, %d rays\nfrix    %.3f us a ray, tree built in %.2f ms\n", s.bodies, s.rays,
             1e6 * (done - built) / s.rays, 1e3 * (built - begun));
#ifdef BENCH_PEERS
      printf("Bullet  %.3f us a ray\n", 1e6 * bullet_rays(body, s.bodies, from, to, s.rays, other) / s.rays);
      compare(hit, other, s.rays);
#else
      (void)compare;
#endif
    }
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  frix_context_destroy(context);
  free(body), free(from), free(to), free(other), free(ray), free(hit);
  return code;
}

int main(int count, char **word) {
  setting s = {.bodies = 10000, .rays = 1000000};
  for (int k = 1; k + 1 < count; k += 2) {
    if (!strcmp(word[k], "--bodies")) s.bodies = atoi(word[k + 1]);
    if (!strcmp(word[k], "--rays")) s.rays = atoi(word[k + 1]);
  }
  return s.bodies > 0 && s.rays > 0 ? run(s) : 2;
}
