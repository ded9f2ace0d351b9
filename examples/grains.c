/* Piles of round bodies: spheres in a box, discs on a plank. */
#include "degrees.h"
#include "scenes.h"

#include <math.h>
#include <stdlib.h>

/* ---- pile ----
 *
 * Square layers of spheres of radius R, pitch d = 2 R (1 + eps), every second one shifted by half a pitch and d/sqrt 2
 * above the one before: a loose close packing, in which every sphere has its 12 neighbours at distance d. Random
 * shifts of at most eps R keep the gaps in [0, 4 eps R]; contacts with a gap below the margin are part of the problem,
 * and the spheres fall fast enough to close them within the step. */

static const double pile_step = 0.005, pile_radius = 0.05, pile_density = 2500.0, pile_looseness = 0.01;
static const double pile_margin = 0.02; /* in radii: about three contacts for each sphere */

typedef struct pile_box {
  int32_t side; /* spheres along an edge of a layer */
  double pitch;
  double low, high; /* walls in x and y; the floor is at low */
} pile_box;

/* About 1.5 times as high as wide. */
static pile_box pile_geometry(int32_t count) {
  pile_box box = {.side = 1, .pitch = 2.0 * pile_radius * (1.0 + pile_looseness)};
  while (3 * (int64_t)box.side * box.side * box.side < 2 * (int64_t)count) box.side++;
  double slack = pile_radius * pile_looseness;
  box.low = -pile_radius - slack;
  box.high = (box.side - 0.5) * box.pitch + pile_radius + slack;
  return box;
}

static ex_vec pile_position(const pile_box *box, int32_t k, uint64_t *random) {
  int32_t layer = k / (box->side * box->side), i = k / box->side % box->side, j = k % box->side;
  double shift = layer % 2 ? 0.5 : 0.0, amplitude = 0.99 * pile_looseness * pile_radius / sqrt(3.0);
  ex_vec p = {(j + shift) * box->pitch, (i + shift) * box->pitch, layer * box->pitch / sqrt(2.0)};
  p.x += amplitude * ex_random(random);
  p.y += amplitude * ex_random(random);
  p.z += amplitude * ex_random(random);
  return p;
}

static void touch_spheres(ex_scene *scene, int32_t a, int32_t b, double mu) {
  ex_vec pa = scene->body[a].position, between = ex_sub(scene->body[b].position, pa);
  double distance = ex_length(between), gap = distance - 2.0 * pile_radius;
  if (gap > pile_margin * pile_radius) return;
  ex_vec middle = ex_add(pa, ex_scale(0.5, between));
  ex_link link = ex_link_new(a, b, middle, ex_scale(1.0 / distance, between), mu);
  link.gap = gap;
  ex_add_contact(scene, &link);
}

static void touch_wall(ex_scene *scene, int32_t body, ex_vec normal, double offset, double mu) {
  ex_vec p = scene->body[body].position;
  double gap = ex_dot(normal, p) - offset - pile_radius;
  if (gap > pile_margin * pile_radius) return;
  ex_link link = ex_link_new(EX_GROUND, body, ex_sub(p, ex_scale(pile_radius, normal)), normal, mu);
  link.gap = gap;
  ex_add_contact(scene, &link);
}

/* Neighbours that come before sphere k: in its own layer left, before and across, in the layer below any of four. */
static void touch_neighbours(ex_scene *scene, const pile_box *box, int32_t k, double mu) {
  int32_t side = box->side, layer = k / (side * side), i = k / side % side, j = k % side;
  if (j > 0) touch_spheres(scene, k - 1, k, mu);
  if (i > 0) touch_spheres(scene, k - side, k, mu);
  if (layer == 0) return;
  int32_t low = layer % 2 ? 0 : -1;
  for (int32_t di = low; di <= low + 1; di++)
    for (int32_t dj = low; dj <= low + 1; dj++) {
      int32_t ni = i + di, nj = j + dj;
      if (ni < 0 || nj < 0 || ni >= side || nj >= side) continue;
      touch_spheres(scene, ((layer - 1) * side + ni) * side + nj, k, mu);
    }
}

static const frix_example_parameter pile_parameter[] = {
    {"count", 100.0, 1.0, 1e6, "spheres"},
    {"mu", 0.5, 0.0, 2.0, "friction"},
    {"speed", 0.5, 0.0, 10.0, "of the fall, m/s"},
    {"seed", 1.0, 0.0, 1e9, "of the random shifts"},
    {"stiffness", 0.0, 0.0, 1e15, "of every contact, N/m; 0: rigid"},
    {"closed", 0.0, 0.0, 1.0, "1: the gaps count as closed, a dense pile that its weight begins to load"},
};

static frix_status build_pile(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(pile_step);
  scene.stiffness = value[4];
  int32_t count = (int32_t)value[0];
  uint64_t random = (uint64_t)value[3];
  pile_box box = pile_geometry(count);
  double mass = pile_density * 4.0 / 3.0 * EX_PI * pile_radius * pile_radius * pile_radius;
  for (int32_t k = 0; k < count && !scene.failed; k++) {
    int32_t body = ex_add_sphere(&scene, pile_position(&box, k, &random), pile_radius, mass);
    ex_set_motion(&scene, body, (ex_vec){0.0, 0.0, -value[2]}, (ex_vec){0.0, 0.0, 0.0});
  }
  for (int32_t k = 0; k < count && !scene.failed; k++) {
    touch_wall(&scene, k, (ex_vec){0.0, 0.0, 1.0}, box.low, value[1]);
    touch_wall(&scene, k, (ex_vec){1.0, 0.0, 0.0}, box.low, value[1]);
    touch_wall(&scene, k, (ex_vec){-1.0, 0.0, 0.0}, -box.high, value[1]);
    touch_wall(&scene, k, (ex_vec){0.0, 1.0, 0.0}, box.low, value[1]);
    touch_wall(&scene, k, (ex_vec){0.0, -1.0, 0.0}, -box.high, value[1]);
    touch_neighbours(&scene, &box, k, value[1]);
  }
  for (int32_t i = 0; i < scene.contact_count && value[5] >= 0.5; i++) scene.contact[i].gap = 0.0;
  return ex_scene_build(&scene, context, "pile", out);
}

const frix_example ex_pile = EX_ROW("pile", "spheres falling together in a box", pile_parameter, build_pile);

/* ---- discs: `levels` discs of diameter 3 in a row on a plank, one less in every row above; h = 0.05 ---- */

static const frix_example_parameter discs_parameter[] = {
    {"levels", 6.0, 1.0, 200.0, "rows: 6 are 21 discs, 16 are 136, 20 are 210"},
    {"mu", 0.2, 0.0, 2.0, "friction"},
};

/* The contact of two discs, whose centres are 2 radius apart. */
static void touch_discs(ex_scene *scene, int32_t a, int32_t b, double mu) {
  if (scene->failed) return;
  ex_vec pa = scene->body[a].position, between = ex_sub(scene->body[b].position, pa);
  ex_touch(scene, a, b, ex_add(pa, ex_scale(0.5, between)), ex_unit(between), mu);
}

static frix_status build_discs(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(0.05);
  scene.planar = true;
  const double diameter = 3.0, mass = 1.0;
  int32_t levels = (int32_t)value[0];
  for (int32_t level = 0; level < levels; level++) {
    int32_t row = levels - level;
    for (int32_t k = 0; k < row; k++) {
      ex_body body = {.mass = mass};
      body.position.x = (k + level / 2.0) * diameter;
      body.position.z = (0.5 + level * sqrt(0.75)) * diameter;
      body.inertia[1][1] = mass * diameter * diameter / 8.0;
      int32_t disc = ex_add_body(&scene, &body);
      ex_vec bottom = {body.position.x, 0.0, 0.0};
      if (level == 0) ex_touch(&scene, EX_GROUND, disc, bottom, (ex_vec){0.0, 0.0, 1.0}, value[1]);
      if (k > 0) touch_discs(&scene, disc - 1, disc, value[1]);
      /* the row below began row + 1 discs ago */
      if (level > 0) touch_discs(&scene, disc - row - 1, disc, value[1]);
      if (level > 0) touch_discs(&scene, disc - row, disc, value[1]);
    }
  }
  return ex_scene_build(&scene, context, "discs", out);
}

const frix_example ex_discs = EX_ROW("discs", "a planar cannonball pile of discs", discs_parameter, build_discs);
