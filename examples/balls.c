/* Balls in a cube.
 *
 *   v+ = v + h g + M^-1 H r,   x+ = x + h v+
 *
 * The cube is [0, 1]^3 m; radii lie between 0.1 and 0.2 m (0.15 in a column), density is 1000 kg/m^3. */
#include "balls.h"

#include "degrees.h"
#include "scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WALLS = 6, FLOOR = 0 };

static const ex_vec wall_normal[WALLS] = {{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0},  {-1.0, 0.0, 0.0},
                                          {0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}};
static const double wall_offset[WALLS] = {0.0, 0.0, -1.0, 0.0, -1.0, -1.0};
static const double density = 1000.0;
static const double touching = 1e-9; /* m: balls set down one on the other touch whatever rounding says */

/* A contact: who touches whom, its frame, and its impulse in the world frame. */
typedef struct touch {
  int32_t id; /* ball * (count + WALLS) + other ball, or count + wall */
  ex_vec frame[3];
  ex_vec impulse;
} touch;

struct ex_balls {
  int32_t count, wall_count;
  double step, mu;
  double *radius;
  ex_vec *position, *velocity, *spin;
  touch *now, *last; /* room for every pair */
  int32_t now_count, last_count;
  double *guess;
};

static ex_balls *allocate(int32_t count, double mu, double step) {
  ex_balls *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  size_t n = (size_t)count, pairs = n * (n - 1) / 2 + n * WALLS;
  *b = (ex_balls){.count = count, .wall_count = WALLS, .mu = mu, .step = step};
  b->radius = calloc(n, sizeof *b->radius);
  b->position = calloc(n, sizeof *b->position);
  b->velocity = calloc(n, sizeof *b->velocity);
  b->spin = calloc(n, sizeof *b->spin);
  b->now = calloc(pairs, sizeof *b->now);
  b->last = calloc(pairs, sizeof *b->last);
  b->guess = calloc(3 * pairs, sizeof *b->guess);
  if (b->radius && b->position && b->velocity && b->spin && b->now && b->last && b->guess) return b;
  ex_balls_free(b);
  return NULL;
}

void ex_balls_free(ex_balls *b) {
  if (!b) return;
  free(b->radius);
  free(b->position);
  free(b->velocity);
  free(b->spin);
  free(b->now);
  free(b->last);
  free(b->guess);
  free(b);
}

/* Whether ball k overlaps an earlier one. */
static bool overlaps(const ex_balls *b, int32_t k) {
  for (int32_t j = 0; j < k; j++)
    if (ex_length(ex_sub(b->position[k], b->position[j])) < b->radius[k] + b->radius[j]) return true;
  return false;
}

static double between(double low, double high, uint64_t *random) {
  return low + (high - low) * 0.5 * (1.0 + ex_random(random));
}

ex_balls *ex_balls_in_cube(int32_t count, double mu, double step, uint64_t seed) {
  enum { TRIES = 1000 };
  ex_balls *b = count > 0 ? allocate(count, mu, step) : NULL;
  uint64_t random = seed * 1000003u + (uint64_t)count;
  for (int32_t k = 0; b && k < count; k++) {
    /* a ball that finds no free place shrinks */
    double radius = between(0.1, 0.2, &random);
    for (int32_t tries = 0; tries == 0 || overlaps(b, k); tries++) {
      if (tries % TRIES == TRIES - 1) radius *= 0.9;
      b->radius[k] = radius;
      b->position[k].x = between(radius, 1.0 - radius, &random);
      b->position[k].y = between(radius, 1.0 - radius, &random);
      b->position[k].z = between(radius, 1.0 - radius, &random);
    }
    b->velocity[k] = (ex_vec){ex_random(&random), ex_random(&random), ex_random(&random)};
    b->spin[k] = (ex_vec){ex_random(&random), ex_random(&random), ex_random(&random)};
  }
  return b;
}

ex_balls *ex_balls_in_column(int32_t count, double mu, double step, double height) {
  const double radius = 0.15;
  ex_balls *b = count > 0 ? allocate(count, mu, step) : NULL;
  if (!b) return NULL;
  b->wall_count = FLOOR + 1;
  for (int32_t k = 0; k < count; k++) {
    b->radius[k] = radius;
    b->position[k] = (ex_vec){0.5, 0.5, height + (2 * k + 1) * radius};
  }
  return b;
}

/* ---- the problem of a step ---- */

/* Impulse of the last step at a contact, NULL where it is new. Both lists are in order of id. */
static const touch *remembered(const ex_balls *b, int32_t id, int32_t *cursor) {
  while (*cursor < b->last_count && b->last[*cursor].id < id) ++*cursor;
  return *cursor < b->last_count && b->last[*cursor].id == id ? &b->last[*cursor] : NULL;
}

static void add_touch(ex_balls *b, ex_scene *scene, int32_t below, int32_t above, int32_t id, ex_vec point,
                      ex_vec normal, int32_t *cursor) {
  /* a tangent of our own choice, so that the frame is known here */
  double x = fabs(normal.x), y = fabs(normal.y), z = fabs(normal.z);
  ex_vec hint = x <= y && x <= z ? (ex_vec){1.0, 0.0, 0.0} : y <= z ? (ex_vec){0.0, 1.0, 0.0} : (ex_vec){0.0, 0.0, 1.0};
  ex_link link = ex_link_new(below, above, point, normal, b->mu);
  link.tangent = ex_unit(ex_sub(hint, ex_scale(ex_dot(hint, normal), normal)));
  ex_add_contact(scene, &link);
  touch *now = &b->now[b->now_count];
  const touch *last = remembered(b, id, cursor);
  *now = (touch){.id = id, .frame = {normal, link.tangent, ex_cross(normal, link.tangent)}};
  for (int k = 0; k < 3; k++) b->guess[3 * b->now_count + k] = last ? ex_dot(last->impulse, now->frame[k]) : 0.0;
  b->now_count++;
}

static void find_touches(ex_balls *b, ex_scene *scene) {
  int32_t cursor = 0;
  touch *swap = b->last;
  b->last = b->now;
  b->last_count = b->now_count;
  b->now = swap;
  b->now_count = 0;
  for (int32_t i = 0; i < b->count; i++) {
    for (int32_t j = i + 1; j < b->count; j++) {
      ex_vec between_centres = ex_sub(b->position[j], b->position[i]);
      double distance = ex_length(between_centres);
      if (distance > b->radius[i] + b->radius[j] + touching) continue;
      ex_vec normal = ex_scale(1.0 / distance, between_centres);
      ex_vec point = ex_add(b->position[i], ex_scale(b->radius[i], normal));
      add_touch(b, scene, i, j, i * (b->count + WALLS) + j, point, normal, &cursor);
    }
    for (int32_t w = 0; w < b->wall_count; w++) {
      ex_vec normal = wall_normal[w];
      if (ex_dot(normal, b->position[i]) - wall_offset[w] > b->radius[i] + touching) continue;
      ex_vec point = ex_sub(b->position[i], ex_scale(b->radius[i], normal));
      add_touch(b, scene, EX_GROUND, i, i * (b->count + WALLS) + b->count + w, point, normal, &cursor);
    }
  }
}

frix_status ex_balls_problem(ex_balls *b, frix_context *context, frix_problem **out) {
  ex_scene scene = ex_scene_new(b->step);
  for (int32_t k = 0; k < b->count; k++) {
    double r = b->radius[k];
    int32_t body = ex_add_sphere(&scene, b->position[k], r, density * 4.0 / 3.0 * EX_PI * r * r * r);
    ex_set_motion(&scene, body, b->velocity[k], b->spin[k]);
  }
  find_touches(b, &scene);
  return ex_scene_build(&scene, context, "balls", out);
}

const double *ex_balls_guess(const ex_balls *b) { return b->guess; }

void ex_balls_advance(ex_balls *b, const frix_result *result) {
  for (int32_t k = 0; k < b->count; k++) {
    const double *v = result->v + 6 * k;
    b->velocity[k] = (ex_vec){v[0], v[1], v[2]};
    b->spin[k] = (ex_vec){v[3], v[4], v[5]};
    b->position[k] = ex_add(b->position[k], ex_scale(b->step, b->velocity[k]));
  }
  for (int32_t c = 0; c < b->now_count; c++) {
    touch *now = &b->now[c];
    now->impulse = (ex_vec){0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++) now->impulse = ex_add(now->impulse, ex_scale(result->r[3 * c + k], now->frame[k]));
  }
}

ex_balls_state ex_balls_look(const ex_balls *b) {
  ex_balls_state s = {b->position[0].z, b->position[0].z, 0.0, 0.0};
  for (int32_t k = 0; k < b->count; k++) {
    double z = b->position[k].z, speed = ex_length(b->velocity[k]);
    if (z < s.lowest) s.lowest = z;
    if (z > s.highest) s.highest = z;
    if (speed > s.speed) s.speed = speed;
    for (int32_t j = 0; j < k; j++) {
      double apart = ex_length(ex_sub(b->position[k], b->position[j])), overlap = b->radius[k] + b->radius[j] - apart;
      if (overlap > s.overlap) s.overlap = overlap;
    }
    for (int32_t w = 0; w < b->wall_count; w++) {
      double overlap = b->radius[k] - ex_dot(wall_normal[w], b->position[k]) + wall_offset[w];
      if (overlap > s.overlap) s.overlap = overlap;
    }
  }
  return s;
}

/* ---- the moment a column of balls hits the floor, as a problem of its own ---- */

static const frix_example_parameter drop_parameter[] = {
    {"count", 5.0, 1.0, 1000.0, "balls, one on top of the other"},
    {"mu", 0.5, 0.0, 2.0, "friction"},
    {"speed", 1.0, 0.0, 100.0, "of the fall, m/s"},
};

static frix_status build_drop(frix_context *context, const double *value, frix_problem **out) {
  *out = NULL;
  ex_balls *b = ex_balls_in_column((int32_t)value[0], value[1], 0.005, 0.0);
  if (!b) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < b->count; k++) b->velocity[k].z = -value[2];
  frix_status status = ex_balls_problem(b, context, out);
  ex_balls_free(b);
  return status;
}

const frix_example ex_drop =
    EX_ROW("drop", "a column of balls hits the floor: the shock passes in one step", drop_parameter, build_drop);
