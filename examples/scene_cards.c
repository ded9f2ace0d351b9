/* Thin things that stand on edge: a card house and a row of dominoes. */
#include "world.h"

#include <math.h>
#include <stdio.h>

/* ---- card house ----
 *
 *        C D|D' C'       a card leans by the angle a; it stands on its inner lower edge B,
 *         /  |  \        meets its mirror image with the inner upper edge D
 *        /   |   \       and carries the next floor with its outer upper edge C
 *      A/B   |   B'\A'
 *
 * With t the thickness, L the length, B = (0, 0):  A = (-t cos a, t sin a),  D = (L sin a, L cos a),  C = A + D.
 * Apexes are L + clearance apart, so that floor cards lie end to end and rest on the edges C' and C of two apexes. */

static const double card_length = 0.090, card_width = 0.060, card_thickness = 0.002, card_density = 700.0;
static const double card_lean = 25.0, card_clearance = 0.001; /* degrees; m between lying cards, below 2 t cos a */
static const double block_side = 0.035, block_drop = 0.10, block_first = 1.0, block_every = 1.5;

enum { LEVELS, CARD_MU, BLOW };

static const frix_option_info card_parameter[] = {
    [LEVELS] = EX_WHOLE("levels", 4, 1, 40, "storeys"),
    [CARD_MU] = EX_REAL("mu", 0.8, 0, 2, "friction"),
    [BLOW] = EX_WHOLE("blow", 0, 0, 100, "wooden blocks dropped on it, the first after 1 s, then one every 1.5 s"),
};

static double storey_height(void) {
  double s, c;
  ex_sincos(card_lean, &s, &c);
  return card_thickness * s + card_length * c + card_thickness;
}

static void add_card(ex_world *world, int32_t number, frix_pose pose, bool lying) {
  char name[32];
  snprintf(name, sizeof name, "card_%d", (int)number);
  pose.p.y += world->perturbed ? ex_noise(world, 1e-4) : 0.0;
  frix_body_config body = ex_body(name, pose);
  frix_shape_config shape = lying ? ex_box(card_length / 2.0, card_width / 2.0, card_thickness / 2.0)
                                  : ex_box(card_thickness / 2.0, card_width / 2.0, card_length / 2.0);
  shape.density = card_density;
  ex_put(world, &body, &shape);
}

static frix_status build_cardhouse(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[CARD_MU], 0.1, seed);
  double s, c, pitch = card_length + card_clearance, z = 0.0;
  ex_sincos(card_lean, &s, &c);
  double ax = -card_thickness * c, az = card_thickness * s, dx = card_length * s, dz = card_length * c;
  int32_t levels = (int32_t)value[LEVELS], number = 0;
  ex_add_ground(&world);
  for (int32_t level = 0; level < levels; level++) {
    double first = (level - levels + 1) * pitch / 2.0; /* the house stands over x = 0 */
    for (int32_t k = 0; k < levels - level; k++)
      for (int side = 0; side < 2; side++) {
        double sign = side ? -1.0 : 1.0, foot = first + k * pitch - sign * dx;
        frix_pose pose = {{foot + sign * 0.5 * (ax + dx), 0.0, z + 0.5 * (az + dz)},
                          ex_turned(sign * card_lean, 0.0, 1.0, 0.0)};
        add_card(&world, number++, pose, false);
      }
    z += az + dz;
    for (int32_t k = 0; k + 1 < levels - level; k++)
      add_card(&world, number++, ex_at(first + (k + 0.5) * pitch, 0.0, z + card_thickness / 2.0), true);
    z += card_thickness;
  }
  frix_body_config block = ex_body("block", ex_at(0.0, 0.0, z + block_drop));
  frix_shape_config wood = ex_box(block_side / 2.0, block_side / 2.0, block_side / 2.0);
  block.spawn_only = true;
  wood.density = card_density;
  if (value[BLOW] > 0.0) ex_put(&world, &block, &wood);
  return world.status;
}

/* Block k falls on the right flank, the left flank, nearer to the middle, and so on around. */
static frix_status drive_cardhouse(frix_sim *sim, const frix_model *model, const double *value, double h) {
  double levels = value[LEVELS], pitch = card_length + card_clearance;
  for (int32_t k = 0; k < (int32_t)value[BLOW]; k++) {
    if (!ex_due(sim, block_first + k * block_every, h)) continue;
    double part = 1.0 - (k / 2 % 3) / 3.0, x = (k % 2 ? -0.5 : 0.5) * part * (levels - 0.7) * pitch;
    double y = (k % 3 - 1) * 0.2 * card_width, z = levels * storey_height() + block_drop;
    frix_pose pose = {{x, y, z}, ex_turned(20.0 + 25.0 * (k % 5), 0.6, 0.8, 0.0)};
    return frix_sim_spawn(sim, frix_model_find_body(model, "block"), pose, ex_vec3(0.0, 0.0, 0.0),
                          ex_vec3(0.0, 0.0, 0.0), NULL);
  }
  return FRIX_OK;
}

const frix_scene ex_scene_cardhouse = {
    .name = "cardhouse",
    .summary = "a house of leaning and lying cards; blocks may fall on it",
    EX_PARAMETERS(card_parameter),
    .step = 0.005,
    .time = 5.0,
    .stands = true,
    .build = build_cardhouse,
    .drive = drive_cardhouse,
};

/* ---- dominoes ----
 *
 * A tile b thick and H high turns over its edge when its centre rises by (sqrt(b^2 + H^2) - H)/2; the first one is
 * given twice that energy, 1/2 J_edge w^2 with J_edge = m (b^2 + H^2)/3. */

static const double tile_thickness = 0.0075, tile_width = 0.024, tile_height = 0.048;

enum { TILES, SPACING, TILE_MU };

static const frix_option_info tile_parameter[] = {
    [TILES] = EX_WHOLE("n", 20, 1, 10000, "tiles"),
    [SPACING] = EX_REAL("spacing", 0.024, 0.009, 0.05, "distance from tile to tile, m, including the tile of 7.5 mm"),
    [TILE_MU] = EX_REAL("mu", 0.3, 0, 2, "friction"),
};

static frix_status build_dominoes(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, false, value[TILE_MU], 0.0, seed);
  const double g = 9.81;
  double diagonal = tile_thickness * tile_thickness + tile_height * tile_height;
  double spin = sqrt(2.0 * g * (sqrt(diagonal) - tile_height) * 3.0 / diagonal);
  frix_shape_config shape = ex_box(tile_thickness / 2.0, tile_width / 2.0, tile_height / 2.0);
  shape.density = 1200.0;
  ex_add_ground(&world);
  for (int32_t k = 0; k < (int32_t)value[TILES]; k++) {
    char name[32];
    snprintf(name, sizeof name, "tile_%d", (int)k);
    double turn = world.perturbed ? ex_noise(&world, 2.0) : 0.0;
    frix_body_config body = ex_body(name, ex_at(k * value[SPACING], 0.0, tile_height / 2.0));
    body.pose.q = ex_turned(turn, 0.0, 0.0, 1.0);
    if (k == 0) {
      /* turns about its lower front edge */
      body.spin = ex_vec3(0.0, spin, 0.0);
      body.velocity = ex_vec3(spin * tile_height / 2.0, 0.0, spin * tile_thickness / 2.0);
    }
    ex_put(&world, &body, &shape);
  }
  return world.status;
}

const frix_scene ex_scene_dominoes = {
    .name = "dominoes",
    .summary = "a row of tiles, the first one pushed over",
    EX_PARAMETERS(tile_parameter),
    .step = 0.001,
    .time = 2.0,
    .build = build_dominoes,
};
