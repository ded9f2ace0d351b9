/* An arch of flat-faced voussoirs on the ground, in the plane; half span (semicircle: mean radius) 1 m.
 *
 *   semicircle  joints along the radii; stands, friction apart, from thickness 0.1075 on (many voussoirs)
 *   catenary    y = a (cosh(x_0/a) - cosh(x/a)): by arc length s from the crown the direction is (a, s)/sqrt(a^2 +
 * s^2), so that dx = a ds / sqrt(a^2 + s^2), integrated by Simpson's rule; joints along the normals, feet cut level */
#include "world.h"

#include <math.h>
#include <stdio.h>

enum { VOUSSOIRS, THICKNESS, MU, SHAPE, BLOW };
enum { SEMICIRCLE, CATENARY };
enum { BLOW_NONE, BLOW_KEYSTONE, BLOW_LEG };
enum { MAX_VOUSSOIRS = 401, PIECES = 64 };

static const frix_option_info parameter[] = {
    [VOUSSOIRS] = EX_WHOLE("voussoirs", 25, 3, MAX_VOUSSOIRS, "stones"),
    [THICKNESS] = EX_REAL("thickness", 0.2, 0.01, 0.8, "thickness of the ring over half the span"),
    [MU] = EX_REAL("mu", 0.6, 0, 2, "friction"),
    [SHAPE] = EX_CHOICE("shape", SEMICIRCLE, 2, "semicircle|catenary", "shape of the centre line"),
    [BLOW] =
        EX_CHOICE("blow", BLOW_NONE, 3, "none|keystone|leg", "three stones dropped on the crown, or thrown at a leg"),
};

/* Arc length from crown to foot over a: the foot leans by 1 in 4 to the vertical. */
static const double foot_length = 4.0;
static const double blow_first = 0.5, blow_every = 1.0, dropped_side = 0.15, thrown_side = 0.30;
enum { BLOWS = 3 };

typedef struct joint {
  frix_vec3 inner, outer;
} joint;

/* ---- centre lines ---- */

static void semicircle(joint *at, int32_t n, double thickness) {
  for (int32_t k = 0; k <= n; k++) {
    double s, c;
    ex_sincos(180.0 * k / n, &s, &c);
    at[k].inner = ex_vec3((1.0 - thickness / 2.0) * c, (1.0 - thickness / 2.0) * s, 0.0);
    at[k].outer = ex_vec3((1.0 + thickness / 2.0) * c, (1.0 + thickness / 2.0) * s, 0.0);
  }
}

/* The abscissa of the catenary at arc length s from its crown, a = 1. */
static double abscissa(double s) {
  double sum = 0.0, piece = s / PIECES;
  for (int k = 0; k < PIECES; k++) {
    double left = k * piece, middle = left + piece / 2.0, right = left + piece;
    sum += piece / 6.0 *
           (1.0 / sqrt(1.0 + left * left) + 4.0 / sqrt(1.0 + middle * middle) + 1.0 / sqrt(1.0 + right * right));
  }
  return sum;
}

static void catenary(joint *at, int32_t n, double thickness) {
  double span = abscissa(foot_length), rise = sqrt(1.0 + foot_length * foot_length);
  for (int32_t k = 0; k <= n; k++) {
    /* from the right foot over the crown to the left one */
    double s = foot_length * (1.0 - 2.0 * k / n), root = sqrt(1.0 + s * s);
    double x = (s < 0.0 ? -abscissa(-s) : abscissa(s)) / span, y = (rise - root) / span;
    double nx = s / root, ny = 1.0 / root, half = thickness / 2.0; /* the outward normal */
    at[k].inner = ex_vec3(x - half * nx, y - half * ny, 0.0);
    at[k].outer = ex_vec3(x + half * nx, y + half * ny, 0.0);
    if (k > 0 && k < n) continue;
    /* along the centre line down, or up, to the ground; the direction there is (1, -s) */
    at[k].inner.x += at[k].inner.y / s, at[k].inner.y = 0.0;
    at[k].outer.x += at[k].outer.y / s, at[k].outer.y = 0.0;
  }
}

/* ---- the scene ---- */

static frix_status build(frix_builder *builder, const double *value, uint64_t seed) {
  ex_world world = ex_world_new(builder, true, value[MU], 0.0, seed);
  joint at[MAX_VOUSSOIRS + 1];
  int32_t n = (int32_t)value[VOUSSOIRS];
  ex_add_ground(&world);
  if (value[SHAPE] == SEMICIRCLE)
    semicircle(at, n, value[THICKNESS]);
  else
    catenary(at, n, value[THICKNESS]);
  for (int32_t k = 0; k < n; k++) {
    char name[32];
    snprintf(name, sizeof name, k == n / 2 ? "keystone" : "voussoir_%d", (int)k);
    frix_vec3 corner[4] = {at[k].inner, at[k].outer, at[k + 1].outer, at[k + 1].inner};
    frix_shape_config shape = ex_polygon(&world, corner, 4);
    frix_body_config body = ex_body(name, ex_at(0.0, 0.0, 0.0));
    ex_put(&world, &body, &shape);
  }
  frix_body_config stone = ex_body("stone", ex_at(0.0, 3.0, 0.0));
  double half = (value[BLOW] == BLOW_LEG ? thrown_side : dropped_side) / 2.0;
  frix_shape_config square = ex_box(half, half, 0.0);
  stone.spawn_only = true;
  if (value[BLOW] != BLOW_NONE) ex_put(&world, &stone, &square);
  return world.status;
}

static frix_status drive(frix_sim *sim, const frix_model *model, const double *value, double h) {
  for (int k = 0; value[BLOW] != BLOW_NONE && k < BLOWS; k++) {
    if (!ex_due(sim, blow_first + k * blow_every, h)) continue;
    bool leg = value[BLOW] == BLOW_LEG;
    double span = value[SHAPE] == SEMICIRCLE ? 1.0 : abscissa(foot_length);
    double rise = value[SHAPE] == SEMICIRCLE ? 1.0 : (sqrt(1.0 + foot_length * foot_length) - 1.0) / span;
    frix_pose pose =
        leg ? ex_at(2.0, 0.45 * rise, 0.0) : ex_at(0.0, rise + value[THICKNESS] / 2.0 + 0.3 + k * dropped_side, 0.0);
    frix_vec3 velocity = leg ? ex_vec3(-10.0, 1.0, 0.0) : ex_vec3(0.0, 0.0, 0.0);
    return frix_sim_spawn(sim, frix_model_find_body(model, "stone"), pose, velocity, ex_vec3(0.0, 0.0, 0.0), NULL);
  }
  return FRIX_OK;
}

const frix_scene ex_scene_arch = {
    .name = "arch",
    .summary = "an arch without mortar; stones may be dropped on its crown or thrown at a leg",
    EX_PARAMETERS(parameter),
    .step = 0.01,
    .time = 5.0,
    .stands = true,
    .build = build,
    .drive = drive,
};
