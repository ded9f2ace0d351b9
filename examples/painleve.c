/* Painleve's rod: one planar contact whose normal and friction directions are not orthogonal in the kinetic metric.
 *
 *   M = diag(m, m, J),  m = 1/(1 - |c|),  J = 1/2,  contact at l (+-1, -1)/sqrt 2 from the centre of mass,  l = sqrt|c|
 *   W = [1 c; c 1],  c = cos(angle):  normal n = (0, 1) and friction d = (sin(angle), c) as unit vectors of a plane
 *   u_N = -p_y,  u_T = -(p_x sin(angle) + p_y c):  the predictor velocity is -p in that plane
 *
 * For p_y > 0 the contact sticks iff p lies in the cone between n + mu d and n - mu d. For p_y <= 0 it opens; where the
 * cone reaches down there (mu |c| > 1) it may also stick, an answer as lawful: Painleve's ambiguity. Reference:
 * D. Kaufman, Coupled principles for computational frictional contact mechanics, 2009, section 6.7. */
#include "degrees.h"
#include "scenes.h"

#include <math.h>

static const frix_example_parameter painleve_parameter[] = {
    {"angle", 60.0, 1.0, 179.0, "between friction and normal in the kinetic metric, degrees"},
    {"mu", 0.4, 0.0, 100.0, "friction"},
    {"px", 0.5, -1e3, 1e3, "predictor, across the normal, sign reversed"},
    {"py", 1.0, -1e3, 1e3, "predictor, along the normal, sign reversed"},
};

static frix_status build_painleve(frix_context *context, const double *value, frix_problem **out) {
  ex_scene scene = ex_scene_new(0.01);
  double s, c;
  ex_sincos(value[0], &s, &c);
  scene.planar = true;
  scene.gravity = 0.0;
  double lever = sqrt(0.5 * fabs(c));
  ex_body rod = {.mass = 1.0 / (1.0 - fabs(c)), .position = {c > 0.0 ? -lever : lever, 0.0, lever}};
  rod.inertia[1][1] = 0.5;
  rod.velocity = (ex_vec){-(value[2] * s + value[3] * c), 0.0, -value[3]};
  int32_t body = ex_add_body(&scene, &rod);
  ex_touch(&scene, EX_GROUND, body, (ex_vec){0.0, 0.0, 0.0}, (ex_vec){0.0, 0.0, 1.0}, value[1]);
  return ex_scene_build(&scene, context, "painleve", out);
}

const frix_example ex_painleve =
    EX_ROW("painleve", "a rod on its tip: friction and normal not orthogonal", painleve_parameter, build_painleve);
