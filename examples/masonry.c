/* Bodies on bodies, at rest in exact geometry: card house, stack, arch, wall.
 *
 * Cross-sections lie in the x-z plane; every contact line along y is represented by its two ends. */
#include "degrees.h"
#include "scenes.h"

static const double step = 0.01;
static const ex_vec up = {0.0, 0.0, 1.0}, right = {1.0, 0.0, 0.0};

/* ---- card house ----
 *
 *        C D|D' C'       a card leans by the angle a; it stands on its inner lower edge B,
 *         /  |  \        meets its mirror image with the inner upper edge D (normal along x by symmetry)
 *        /   |   \       and carries the next floor with its outer upper edge C
 *      A/B   |   B'\A'
 *
 * With t the thickness, L the length, B = (0, 0):  A = (-t cos a, t sin a),  D = (L sin a, L cos a),  C = A + D.
 * Apexes are L + clearance apart, so that floor cards lie end to end and rest on the edges C' and C of two apexes. */

static const double card_length = 0.090, card_width = 0.060, card_thickness = 0.002, card_density = 700.0;
static const double card_lean = 25.0, card_clearance = 0.001; /* degrees; m between lying cards, below 2 t cos a */

typedef struct card_frame {
  ex_vec a, c, d; /* corners of a leaning card relative to B */
  double pitch;   /* distance of apexes */
} card_frame;

static card_frame card_geometry(void) {
  double s, c;
  ex_sincos(card_lean, &s, &c);
  card_frame frame = {.a = {-card_thickness * c, 0.0, card_thickness * s}};
  frame.d = (ex_vec){card_length * s, 0.0, card_length * c};
  frame.c = ex_add(frame.a, frame.d);
  frame.pitch = card_length + card_clearance;
  return frame;
}

/* One leaning pair under the apex at `apex_x`, feet at height z on `floor`; gives the two cards. */
static void add_tent(ex_scene *scene, const card_frame *frame, double apex_x, double z, int32_t floor, double mu,
                     int32_t card[2]) {
  for (int side = 0; side < 2; side++) {
    double sign = side ? -1.0 : 1.0;
    ex_vec foot = {apex_x - sign * frame->d.x, 0.0, z};
    ex_vec local[4] = {{0.0, 0.0, 0.0}, frame->d, frame->c, frame->a}, corner[4];
    for (int k = 0; k < 4; k++) {
      /* the mirror image is walked backwards, to stay counter-clockwise */
      const ex_vec *from = &local[side ? 3 - k : k];
      corner[k] = (ex_vec){foot.x + sign * from->x, 0.0, foot.z + from->z};
    }
    card[side] = ex_add_prism(scene, corner, 4, card_width, card_density);
    ex_touch_edge(scene, floor, card[side], foot, card_width, up, mu);
  }
  ex_touch_edge(scene, card[0], card[1], (ex_vec){apex_x, 0.0, z + frame->d.z}, card_width, right, mu);
}

/* A lying card from apex to apex, on the outer upper edges of the cards that face each other. */
static int32_t add_floor(ex_scene *scene, const card_frame *frame, double apex_x, double z, int32_t left,
                         int32_t right_card, double mu) {
  ex_vec centre = {apex_x + frame->pitch / 2.0, 0.0, z + card_thickness / 2.0};
  ex_vec size = {card_length, card_width, card_thickness};
  int32_t card = ex_add_box(scene, centre, size, card_density * size.x * size.y * size.z);
  double reach = -frame->a.x; /* from the apex to the edge that carries */
  ex_touch_edge(scene, left, card, (ex_vec){apex_x + reach, 0.0, z}, card_width, up, mu);
  ex_touch_edge(scene, right_card, card, (ex_vec){apex_x + frame->pitch - reach, 0.0, z}, card_width, up, mu);
  return card;
}

static const frix_example_parameter cardhouse_parameter[] = {
    {"levels", 2.0, 1.0, 20.0, "storeys"},
    {"mu", 0.8, 0.0, 2.0, "friction"},
    {"push", 0.0, 0.0, 1e4, "force along x on a card of the top tent, times its weight"},
};

enum { MAX_TENTS = 20 };

static frix_status build_cardhouse(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  card_frame frame = card_geometry();
  int32_t levels = (int32_t)value[0], floor[MAX_TENTS], card[MAX_TENTS][2];
  double mu = value[1], z = 0.0;
  for (int32_t k = 0; k < levels; k++) floor[k] = EX_GROUND;
  for (int32_t level = 0; level < levels; level++) {
    int32_t tents = levels - level;
    double first = level * frame.pitch / 2.0;
    for (int32_t k = 0; k < tents; k++) add_tent(&scene, &frame, first + k * frame.pitch, z, floor[k], mu, card[k]);
    z += frame.c.z;
    for (int32_t k = 0; k + 1 < tents; k++)
      floor[k] = add_floor(&scene, &frame, first + k * frame.pitch, z, card[k][1], card[k + 1][0], mu);
    z += card_thickness;
  }
  double weight = card_density * card_length * card_width * card_thickness * FRIX_EXAMPLE_GRAVITY;
  ex_set_force(&scene, card[0][0], (ex_vec){value[2] * weight, 0.0, 0.0});
  return ex_scene_build(&scene, context, "cardhouse", out);
}

const frix_example ex_cardhouse =
    EX_ROW("cardhouse", "a house of leaning and lying cards at rest", cardhouse_parameter, build_cardhouse);

/* ---- stack ---- */

static const frix_example_parameter stack_parameter[] = {
    {"count", 5.0, 1.0, 10000.0, "cubes"},
    {"mu", 0.5, 0.0, 2.0, "friction"},
    {"ratio", 1.0, 1e-6, 1e6, "mass of the top cube; the others have 1 kg"},
    {"stiffness", 0.0, 0.0, 1e15, "of every contact, N/m; 0: rigid"},
    {"push", 0.0, 0.0, 1e4, "force along x on the cube in the middle, times its weight"},
};

static frix_status build_stack(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  scene.stiffness = value[3];
  const double side = 0.5;
  int32_t count = (int32_t)value[0], below = EX_GROUND;
  for (int32_t k = 0; k < count; k++) {
    double mass = k + 1 == count ? value[2] : 1.0;
    int32_t cube = ex_add_box(&scene, (ex_vec){0.0, 0.0, (k + 0.5) * side}, (ex_vec){side, side, side}, mass);
    ex_touch_edge(&scene, below, cube, (ex_vec){-side / 2.0, 0.0, k * side}, side, up, value[1]);
    ex_touch_edge(&scene, below, cube, (ex_vec){side / 2.0, 0.0, k * side}, side, up, value[1]);
    if (k == count / 2) ex_set_force(&scene, cube, (ex_vec){value[4] * mass * FRIX_EXAMPLE_GRAVITY, 0.0, 0.0});
    below = cube;
  }
  return ex_scene_build(&scene, context, "stack", out);
}

const frix_example ex_stack =
    EX_ROW("stack", "a tower of cubes under one of another mass", stack_parameter, build_stack);

/* ---- arch: voussoir k lies between the joints at 180 k/n and 180 (k+1)/n degrees; 1 m mean radius ---- */

static const frix_example_parameter arch_parameter[] = {
    {"count", 11.0, 1.0, 1001.0, "voussoirs"},
    {"thickness", 0.15, 0.01, 1.0, "of the ring over its mean radius"},
    {"mu", 0.7, 0.0, 2.0, "friction"},
};

static frix_status build_arch(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  const double depth = 0.5, density = 2000.0;
  double inner = 1.0 - value[1] / 2.0, outer = 1.0 + value[1] / 2.0;
  int32_t count = (int32_t)value[0], before = EX_GROUND;
  ex_vec ray = {1.0, 0.0, 0.0};
  for (int32_t k = 0; k <= count; k++) {
    /* the joint before voussoir k: normal towards growing angle */
    ex_vec normal = {-ray.z, 0.0, ray.x}, next = {0.0, 0.0, 0.0};
    int32_t body = EX_GROUND;
    if (k < count) {
      ex_sincos(180.0 * (k + 1) / count, &next.z, &next.x);
      ex_vec corner[4] = {ex_scale(inner, ray), ex_scale(outer, ray), ex_scale(outer, next), ex_scale(inner, next)};
      body = ex_add_prism(&scene, corner, 4, depth, density);
    }
    ex_touch_edge(&scene, before, body, ex_scale(inner, ray), depth, normal, value[2]);
    ex_touch_edge(&scene, before, body, ex_scale(outer, ray), depth, normal, value[2]);
    before = body;
    ray = next;
  }
  return ex_scene_build(&scene, context, "arch", out);
}

const frix_example ex_arch = EX_ROW("arch", "a semicircular arch of flat-faced voussoirs", arch_parameter, build_arch);

/* ---- wall: odd courses begin and end with half a brick ---- */

static const double brick_length = 0.20, brick_width = 0.10, brick_height = 0.06, brick_density = 1800.0;

static const frix_example_parameter wall_parameter[] = {
    {"columns", 4.0, 1.0, 200.0, "bricks in an even course"},
    {"courses", 4.0, 1.0, 200.0, "layers"},
    {"mu", 0.6, 0.0, 2.0, "friction"},
    {"push", 0.0, 0.0, 1e4, "force along y on a brick in the middle, times its weight"},
};

/* Left end of brick i of a course, in half bricks; the count of bricks is columns + (course odd). */
static int32_t brick_start(int32_t course, int32_t i) { return course % 2 == 0 ? 2 * i : i == 0 ? 0 : 2 * i - 1; }

static int32_t brick_end(int32_t course, int32_t i, int32_t columns) {
  int32_t end = course % 2 == 0 ? 2 * i + 2 : 2 * i + 1;
  return end < 2 * columns ? end : 2 * columns;
}

/* Bed joints with the course below, over the overlap, and the head joint with the brick before. */
static void lay_brick(ex_scene *scene, int32_t course, int32_t i, int32_t columns, int32_t below_first, double mu) {
  double half = brick_length / 2.0, z = course * brick_height;
  int32_t start = brick_start(course, i), end = brick_end(course, i, columns);
  ex_vec size = {(end - start) * half, brick_width, brick_height};
  ex_vec centre = {(start + end) / 2.0 * half, 0.0, z + brick_height / 2.0};
  int32_t brick = ex_add_box(scene, centre, size, brick_density * size.x * size.y * size.z);
  int32_t under = course == 0 ? 1 : columns + (course - 1) % 2;
  for (int32_t j = 0; j < under; j++) {
    int32_t from = start, to = end;
    if (course > 0) {
      int32_t s = brick_start(course - 1, j), e = brick_end(course - 1, j, columns);
      from = s > from ? s : from, to = e < to ? e : to;
    }
    if (from >= to) continue;
    int32_t below = course == 0 ? EX_GROUND : below_first + j;
    ex_touch_edge(scene, below, brick, (ex_vec){from * half, 0.0, z}, brick_width, up, mu);
    ex_touch_edge(scene, below, brick, (ex_vec){to * half, 0.0, z}, brick_width, up, mu);
  }
  if (i > 0) {
    ex_touch_edge(scene, brick - 1, brick, (ex_vec){start * half, 0.0, z}, brick_width, right, mu);
    ex_touch_edge(scene, brick - 1, brick, (ex_vec){start * half, 0.0, z + brick_height}, brick_width, right, mu);
  }
}

static frix_status build_wall(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  int32_t columns = (int32_t)value[0], courses = (int32_t)value[1], below_first = 0;
  for (int32_t course = 0; course < courses; course++) {
    int32_t first = scene.body_count, count = columns + course % 2;
    for (int32_t i = 0; i < count; i++) {
      lay_brick(&scene, course, i, columns, below_first, value[2]);
      if (course != courses / 2 || i != count / 2) continue;
      double weight = brick_density * brick_length * brick_width * brick_height * FRIX_EXAMPLE_GRAVITY;
      ex_set_force(&scene, scene.body_count - 1, (ex_vec){0.0, value[3] * weight, 0.0});
    }
    below_first = first;
  }
  return ex_scene_build(&scene, context, "wall", out);
}

const frix_example ex_wall =
    EX_ROW("wall", "a brick wall in running bond, one brick pushed", wall_parameter, build_wall);
