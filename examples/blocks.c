/* One body on a plane: examples whose answer after one step is known in closed form.
 *
 *   slope        rests iff tan(angle) <= mu, else gains h g (sin - mu cos) downhill
 *   slide        speed falls by mu g h in its own direction, the same for every direction
 *   anisotropic  rests iff (g_1/mu)^2 + (g_2/mu2)^2 <= g_N^2 in the axes of the ellipse
 *   hexapyramid  rests; the six normal impulses are any h m g/6 + multiples of (1,-1,1,-1,1,-1)
 *   rolling      v falls by 5/7 mu_r g h / radius on the flat */
#include "degrees.h"
#include "scenes.h"

#include <math.h>

static const double step = 0.01;

/* A plane through the origin, tilted about y: n is its normal, d points downhill, y is level. */
typedef struct plane {
  ex_vec n, d;
} plane;

static plane tilted(double degrees) {
  double s, c;
  ex_sincos(degrees, &s, &c);
  return (plane){{s, 0.0, c}, {c, 0.0, -s}};
}

/* A point of the plane's own frame: x downhill, y level, z above the plane. */
static ex_vec at(plane p, double x, double y, double z) {
  return ex_add(ex_add(ex_scale(x, p.d), (ex_vec){0.0, y, 0.0}), ex_scale(z, p.n));
}

/* A block 0.4 x 0.4 x 0.1 m of 2 kg lying on the plane; mu up to 4 slides before it topples. */
static const double block_side = 0.4, block_height = 0.1, block_density = 125.0;

static int32_t add_block(ex_scene *scene, plane p) {
  double a = block_side / 2.0;
  ex_vec corner[4] = {at(p, -a, 0.0, 0.0), at(p, a, 0.0, 0.0), at(p, a, 0.0, block_height),
                      at(p, -a, 0.0, block_height)};
  return ex_add_prism(scene, corner, 4, block_side, block_density);
}

/* Four corners under the block, all with the same law; the first tangent points downhill. */
static void support_block(ex_scene *scene, plane p, int32_t body, const frix_contact *law) {
  for (int k = 0; k < 4; k++) {
    double x = (k & 1 ? 0.5 : -0.5) * block_side, y = (k & 2 ? 0.5 : -0.5) * block_side;
    ex_link link = ex_link_new(EX_GROUND, body, at(p, x, y, 0.0), p.n, 0.0);
    link.tangent = p.d;
    link.law = *law;
    ex_add_contact(scene, &link);
  }
}

static const frix_example_parameter slope_parameter[] = {
    {"mu", 0.6, 0.0, 2.0, "friction"},
    {"angle", 30.0, 0.0, 70.0, "of the incline, degrees"},
};

static frix_status build_slope(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  plane p = tilted(value[1]);
  frix_contact law = frix_contact_of_dim(3, value[0], 0.0);
  support_block(&scene, p, add_block(&scene, p), &law);
  return ex_scene_build(&scene, context, "slope", out);
}

const frix_example ex_slope =
    EX_ROW("slope", "a block on an incline: rests iff tan(angle) <= mu", slope_parameter, build_slope);

static const frix_example_parameter slide_parameter[] = {
    {"mu", 0.5, 0.0, 2.0, "friction"},
    {"speed", 1.0, 0.0, 100.0, "m/s"},
    {"direction", 30.0, 0.0, 360.0, "degrees from x"},
};

static frix_status build_slide(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  plane p = tilted(0.0);
  int32_t body = add_block(&scene, p);
  double s, c;
  ex_sincos(value[2], &s, &c);
  ex_set_motion(&scene, body, (ex_vec){value[1] * c, value[1] * s, 0.0}, (ex_vec){0.0, 0.0, 0.0});
  frix_contact law = frix_contact_of_dim(3, value[0], 0.0);
  support_block(&scene, p, body, &law);
  return ex_scene_build(&scene, context, "slide", out);
}

const frix_example ex_slide =
    EX_ROW("slide", "a block sliding on the flat in any direction", slide_parameter, build_slide);

static const frix_example_parameter anisotropic_parameter[] = {
    {"mu", 0.3, 0.0, 2.0, "friction along the axis"},
    {"mu2", 0.9, 0.0, 2.0, "friction across it"},
    {"axis", 0.0, -180.0, 180.0, "of the ellipse, degrees from downhill"},
    {"angle", 30.0, 0.0, 70.0, "of the incline, degrees"},
};

static frix_status build_anisotropic(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  plane p = tilted(value[3]);
  frix_contact law = {.cone = FRIX_CONE_ELLIPTIC, .dim = 3, .mu = value[0], .mu2 = value[1]};
  ex_sincos(value[2], &law.axis[1], &law.axis[0]);
  support_block(&scene, p, add_block(&scene, p), &law);
  return ex_scene_build(&scene, context, "anisotropic", out);
}

const frix_example ex_anisotropic =
    EX_ROW("anisotropic", "a block on an incline with elliptic friction", anisotropic_parameter, build_anisotropic);

static const frix_example_parameter hexapyramid_parameter[] = {
    {"mu", 0.5, 0.0, 2.0, "friction"},
    {"mass", 1.0, 1e-3, 1e3, "kg"},
    {"facets", 0.0, 0.0, FRIX_MAX_FACETS, "of the friction pyramid; below 3: the exact circular cone"},
};

/* Base: a regular hexagon of radius 1 m; height 1 m, so the centre of mass is 1/4 m above the table. At rest no answer
 * depends on the inertia: that of the circular cone of the same radius and height serves. */
static frix_status build_hexapyramid(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  double mass = value[1], side = 3.0 / 20.0 * mass + 3.0 / 80.0 * mass;
  ex_body body = {.mass = mass, .position = {0.0, 0.0, 0.25}};
  body.inertia[0][0] = body.inertia[1][1] = side;
  body.inertia[2][2] = 3.0 / 10.0 * mass;
  int32_t index = ex_add_body(&scene, &body);
  double tall = sqrt(3.0) / 2.0;
  const double x[6] = {1.0, 0.5, -0.5, -1.0, -0.5, 0.5}, y[6] = {0.0, tall, tall, 0.0, -tall, -tall};
  for (int k = 0; k < 6; k++) {
    ex_link link = ex_link_new(EX_GROUND, index, (ex_vec){x[k], y[k], 0.0}, (ex_vec){0.0, 0.0, 1.0}, value[0]);
    if (value[2] >= 3.0) link.law.cone = FRIX_CONE_PYRAMID, link.law.facets = (int32_t)value[2];
    ex_add_contact(&scene, &link);
  }
  return ex_scene_build(&scene, context, "hexapyramid", out);
}

const frix_example ex_hexapyramid =
    EX_ROW("hexapyramid", "a hexagonal pyramid on a table: many force solutions, one motion", hexapyramid_parameter,
           build_hexapyramid);

static const frix_example_parameter rolling_parameter[] = {
    {"mu", 0.5, 0.0, 2.0, "sliding friction"},
    {"mu_r", 0.01, 0.0, 1.0, "rolling friction, m"},
    {"angle", 0.0, 0.0, 70.0, "of the plane, degrees"},
    {"speed", 1.0, 0.0, 100.0, "m/s, rolling without slip, downhill"},
    {"count", 1.0, 1.0, 10000.0, "spheres side by side, each an island"},
};

static frix_status build_rolling(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(step);
  const double radius = 0.1, mass = 1.0;
  plane p = tilted(value[2]);
  for (int32_t k = 0; k < (int32_t)value[4]; k++) {
    double y = 3.0 * radius * k, speed = value[3];
    int32_t body = ex_add_sphere(&scene, at(p, 0.0, y, radius), radius, mass);
    ex_set_motion(&scene, body, ex_scale(speed, p.d), (ex_vec){0.0, speed / radius, 0.0});
    ex_link link = ex_link_new(EX_GROUND, body, at(p, 0.0, y, 0.0), p.n, 0.0);
    link.tangent = p.d;
    link.law = frix_contact_of_dim(5, value[0], value[1]);
    ex_add_contact(&scene, &link);
  }
  return ex_scene_build(&scene, context, "rolling", out);
}

const frix_example ex_rolling =
    EX_ROW("rolling", "spheres rolling down a plane with rolling friction", rolling_parameter, build_rolling);
