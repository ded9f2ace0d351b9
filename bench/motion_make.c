/* Moving scenes by name. */
#include "motion_make.h"

#include "worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846, density = 1000;

/* Uniform in (low, high). */
static double between(uint64_t *seed, double low, double high) {
  return low + 0.5 * (high - low) * (1 + standing_random(seed));
}

/* A turn drawn evenly from all turns: a point of the ball in four dimensions, scaled to length 1. */
static void random_turn(uint64_t *seed, double q[4]) {
  double square;
  do {
    square = 0;
    for (int k = 0; k < 4; k++) q[k] = standing_random(seed), square += q[k] * q[k];
  } while (square > 1 || square < 1e-4);
  for (int k = 0; k < 4; k++) q[k] /= sqrt(square);
}

/* Mass and inertia of a body from its size and density. */
static void fill_mass(motion_body *b, double rho) {
  double x = b->size[0], y = b->size[1], z = b->size[2];
  b->dynamic = true;
  if (b->shape == MOTION_BOX) {
    b->mass = 8 * rho * x * y * z;
    b->inertia[0] = b->mass * (y * y + z * z) / 3;
    b->inertia[1] = b->mass * (x * x + z * z) / 3;
    b->inertia[2] = b->mass * (x * x + y * y) / 3;
  } else if (b->shape == MOTION_SPHERE) {
    b->mass = 4 * pi / 3 * rho * x * x * x;
    for (int k = 0; k < 3; k++) b->inertia[k] = 0.4 * b->mass * x * x;
  } else { /* capsule: a cylinder and two half spheres, whose centres lie 3/8 r behind their flat sides */
    double core = 2 * pi * rho * x * x * y, ball = 4 * pi / 3 * rho * x * x * x;
    b->mass = core + ball;
    b->inertia[2] = 0.5 * core * x * x + 0.4 * ball * x * x;
    b->inertia[0] = core * (x * x / 4 + y * y / 3) + ball * (0.4 * x * x + y * y + 0.75 * x * y);
    b->inertia[1] = b->inertia[0];
  }
}

static motion_body body_at(motion_shape shape, double x, double y, double z) {
  return (motion_body){.start = {.p = {x, y, z}, .q = {1, 0, 0, 0}}, .shape = shape};
}

static bool add_floor(motion_scene *s) {
  motion_body floor = body_at(MOTION_PLANE, 0, 0, 0);
  return motion_add_body(s, &floor);
}

static bool add_box(motion_scene *s, const double p[3], const double q[4], const double half[3], double rho) {
  motion_body b = body_at(MOTION_BOX, p[0], p[1], p[2]);
  memcpy(b.start.q, q, sizeof b.start.q);
  memcpy(b.size, half, sizeof b.size);
  fill_mass(&b, rho);
  return motion_add_body(s, &b);
}

static const double upright[4] = {1, 0, 0, 0};

/* ---- structures ---- */

/* Blocks wait aside and are put above the house, tilted, every 1.5 s. */
static bool add_blows(motion_scene *s, int32_t blows, double above, uint64_t seed) {
  bool good = true;
  for (int32_t k = 0; k < blows; k++) {
    const double half[3] = {0.0175, 0.0175, 0.0175}, aside[3] = {2 + 0.2 * k, 0, 0.0175};
    motion_put put = {.time = 1 + 1.5 * k, .body = s->dynamic_count};
    frix_quat turn = frix_quat_turn((frix_vec3){3, 4, 0}, between(&seed, 0.1, 0.7) * pi / 2);
    put.state = (motion_state){.p = {between(&seed, -0.16, 0.16), between(&seed, -0.015, 0.015), above},
                               .q = {turn.w, turn.x, turn.y, turn.z}};
    good = good && add_box(s, aside, upright, half, 700) && motion_add_put(s, &put);
  }
  return good;
}

static bool make_cards(motion_scene *s, int32_t levels, double blows, uint64_t seed) {
  double length = 0.09, width = 0.06, thick = 0.002, sine, cosine, half_sine, half_cosine, z = 0;
  frix_sincos(25 * pi / 180, &sine, &cosine);
  frix_sincos(12.5 * pi / 180, &half_sine, &half_cosine);
  double pitch = length + 0.001, dx = 0.5 * (length * sine - thick * cosine), left = -0.5 * (levels - 1) * pitch,
         height = length * cosine + thick * sine;
  const double card[3] = {thick / 2, width / 2, length / 2}, roof[3] = {length / 2, width / 2, thick / 2};
  bool good = add_floor(s);
  s->mu = 0.8, s->h = 0.005, s->size = 0.035, s->time = blows > 0 ? 0.5 + 1.5 * blows : 2;
  for (int32_t level = 0; level < levels; level++) {
    double first = left + 0.5 * level * pitch;
    for (int32_t k = 0; k < 2 * (levels - level); k++) {
      double sign = k % 2 ? -1 : 1, apex = first + k / 2 * pitch;
      const double p[3] = {apex - sign * (length * sine - dx), 0, z + height / 2},
                   q[4] = {half_cosine, 0, sign * half_sine, 0};
      good = good && add_box(s, p, q, card, 700);
    }
    z += height;
    for (int32_t k = 0; k + 1 < levels - level; k++) {
      const double p[3] = {first + (k + 0.5) * pitch, 0, z + thick / 2};
      good = good && add_box(s, p, upright, roof, 700);
    }
    z += thick;
  }
  return good && add_blows(s, (int32_t)blows, z + 0.1, seed);
}

static bool make_stack(motion_scene *s, int32_t count, double unused, uint64_t seed) {
  (void)unused;
  const double half[3] = {0.25, 0.25, 0.25};
  motion_push push = {.from = 1, .to = 3, .body = count / 2, .force = {1.2 * count, 0.3 * count, 0}};
  bool good = add_floor(s) && motion_add_push(s, &push);
  s->time = 6, s->size = 0.5;
  for (int32_t k = 0; k < count && good; k++) {
    const double p[3] = {between(&seed, -1e-3, 1e-3), between(&seed, -1e-3, 1e-3), 0.25 + 0.5 * k};
    good = add_box(s, p, upright, half, 8);
  }
  return good;
}

static bool make_wall(motion_scene *s, int32_t count, double unused, uint64_t seed) {
  (void)unused;
  const int32_t row = 20;
  const double half[3] = {0.2, 0.1, 0.1};
  bool good = add_floor(s);
  s->mu = 0.6, s->time = 3;
  for (int32_t k = 0; k < count && good; k++) {
    int32_t level = k / row;
    const double p[3] = {-3.9 + 0.4 * (k % row) + (level % 2 ? 0.2 : 0), 0, 0.1 + 0.2 * level};
    good = add_box(s, p, upright, half, 1800);
  }
  double height = 0.2 * ((count + row - 1) / row);
  motion_body ball = body_at(MOTION_SPHERE, between(&seed, -0.2, 0.2), -2.5, 0.525 * height);
  ball.size[0] = 0.4, ball.start.v[1] = 10;
  fill_mass(&ball, 7800);
  return good && motion_add_body(s, &ball);
}

static bool make_pyramid(motion_scene *s, int32_t levels, double mu, uint64_t unused) {
  (void)unused;
  double r = 0.1;
  bool good = add_floor(s);
  s->mu = mu, s->time = 1, s->h = 0.005;
  for (int32_t level = 0; level < levels; level++) {
    int32_t side = levels - level;
    for (int32_t k = 0; k < side * side && good; k++) {
      motion_body b = body_at(MOTION_SPHERE, r * (2 * (k / side) - (side - 1)), r * (2 * (k % side) - (side - 1)),
                              r + level * r * sqrt(2));
      b.size[0] = r;
      fill_mass(&b, density);
      good = motion_add_body(s, &b);
    }
  }
  return good;
}

static bool make_box_pyramid(motion_scene *s, int32_t base, double unused, uint64_t none) {
  (void)unused, (void)none;
  const double half[3] = {0.5, 0.5, 0.5};
  bool good = add_floor(s);
  s->mu = 0.6, s->time = 2, s->h = 1.0 / 60, s->size = 1;
  for (int32_t level = 0; level < base; level++)
    for (int32_t k = 0; k < base - level && good; k++) {
      const double p[3] = {k - 0.5 * (base - level - 1), 0, 0.5 + level};
      good = add_box(s, p, upright, half, 100);
    }
  return good;
}

/* A ball of 4 t flies into it, from the side at a third of its height. */
static bool make_struck_pyramid(motion_scene *s, int32_t base, double unused, uint64_t none) {
  bool good = make_box_pyramid(s, base, unused, none);
  motion_body ball = body_at(MOTION_SPHERE, 0.5, -2.5, base / 3.0);
  ball.size[0] = 1, ball.start.v[1] = 10;
  fill_mass(&ball, 1000);
  return good && motion_add_body(s, &ball);
}

/* ---- poured ---- */

static motion_body grain(motion_shape shape, uint64_t *seed) {
  motion_body b = {.shape = shape, .size = {0.1}};
  if (shape == MOTION_CAPSULE) b.size[0] = between(seed, 0.05, 0.08), b.size[1] = between(seed, 0.06, 0.1);
  if (shape == MOTION_SPHERE) b.size[0] = between(seed, 0.07, 0.13);
  if (shape == MOTION_BOX)
    for (int k = 0; k < 3; k++) b.size[k] = between(seed, 0.08, 0.12);
  fill_mass(&b, density);
  random_turn(seed, b.start.q);
  return b;
}

/* On a lattice of this many in a row, at this distance, with this much noise. */
static void place(motion_body *b, int32_t k, int32_t row, double apart, double low, double noise, uint64_t *seed) {
  double p[3] = {(k % row - 0.5 * (row - 1)) * apart, (k / row % row - 0.5 * (row - 1)) * apart,
                 low + k / (row * row) * apart};
  for (int c = 0; c < 3; c++) b->start.p[c] = p[c] + between(seed, -noise, noise);
}

static int32_t root3(double count) { return (int32_t)(cbrt(count) + 0.5); }

static bool make_boxes(motion_scene *s, int32_t count, double unused, uint64_t seed) {
  (void)unused;
  int32_t row = root3(0.6 * count) > 0 ? root3(0.6 * count) : 1;
  bool good = add_floor(s);
  for (int32_t k = 0; k < count && good; k++) {
    motion_body b = grain(MOTION_BOX, &seed);
    place(&b, k, row, 0.42, 0.3, 2e-3, &seed);
    good = motion_add_body(s, &b);
  }
  return good;
}

static bool pour(motion_scene *s, int32_t count, bool mixed, uint64_t seed) {
  int32_t row = root3(0.6 * count) > 0 ? root3(0.6 * count) : 1;
  s->container[0] = s->container[1] = 0.21 * row;
  s->container[2] = 6;
  bool good = add_floor(s) && motion_add_walls(s);
  for (int32_t k = 0; k < count && good; k++) {
    double dice = between(&seed, 0, 1);
    motion_shape shape = !mixed || dice < 0.4 ? MOTION_CAPSULE : dice < 0.7 ? MOTION_BOX : MOTION_SPHERE;
    motion_body b = grain(shape, &seed);
    place(&b, k, row, 0.42, 0.35, 0, &seed);
    good = motion_add_body(s, &b);
  }
  return good;
}

static bool make_capsules(motion_scene *s, int32_t count, double unused, uint64_t seed) {
  (void)unused;
  return pour(s, count, false, seed);
}

static bool make_mixed(motion_scene *s, int32_t count, double unused, uint64_t seed) {
  (void)unused;
  return pour(s, count, true, seed);
}

static bool make_spheres(motion_scene *s, int32_t count, double unused, uint64_t seed) {
  (void)unused;
  int32_t row = root3(count) > 0 ? root3(count) : 1;
  s->container[0] = s->container[1] = 0.112 * row;
  s->container[2] = 0.33 * row;
  s->h = 0.005;
  bool good = add_floor(s) && motion_add_walls(s);
  for (int32_t k = 0; k < count && good; k++) {
    motion_body b = body_at(MOTION_SPHERE, 0, 0, 0);
    b.size[0] = 0.1;
    fill_mass(&b, density);
    place(&b, k, row, 0.22, 0.11, 0.005, &seed);
    good = motion_add_body(s, &b);
  }
  return good;
}

/* ---- by name ---- */

static const struct {
  const char *prefix, *middle; /* prefix<count>middle<value> */
  bool valued;
  bool (*make)(motion_scene *scene, int32_t count, double value, uint64_t seed);
} makers[] = {{"cards", "_blow", true, make_cards},        {"stack", "_push", false, make_stack},
              {"wall", "_ball", false, make_wall},         {"boxes", "", false, make_boxes},
              {"capsules", "", false, make_capsules},      {"mixed", "", false, make_mixed},
              {"spheres", "", false, make_spheres},        {"pyramid", "_mu", true, make_pyramid},
              {"boxpyramid", "", false, make_box_pyramid}, {"boxpyramid", "_ball", false, make_struck_pyramid}};

bool motion_make(motion_scene *scene, const char *name, uint64_t seed) {
  for (size_t k = 0; k < sizeof makers / sizeof *makers; k++) {
    size_t length = strlen(makers[k].prefix), gap = strlen(makers[k].middle);
    char *end;
    if (strncmp(name, makers[k].prefix, length) != 0 || name[length] < '1' || name[length] > '9') continue;
    long count = strtol(name + length, &end, 10);
    if (strncmp(end, makers[k].middle, gap) != 0 || count > 1000000) continue;
    char *number = end += gap;
    double value = makers[k].valued ? strtod(number, &end) : 0;
    if (*end || (makers[k].valued && end == number) || !(value >= 0 && value < 1000)) continue;
    *scene = motion_scene_new(name);
    if (makers[k].make(scene, (int32_t)count, value, seed)) return true;
    motion_scene_end(scene);
  }
  return false;
}
