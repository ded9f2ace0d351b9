/* What must not change a verdict: units.
 *
 * A world built in units that differ by powers of two has the same bits in every number but the exponent. Most methods
 * then give the same bits; those that weigh angles against lengths do not. The verdict must be the same. */
#include "properties.h"

#include <math.h>
#include <string.h>

static bool same_vector(frix_vec3 a, frix_vec3 b, double scale) {
  return a.x * scale == b.x && a.y * scale == b.y && a.z * scale == b.z;
}

/* Whether all bodies of b move as those of a, in b's units. */
static bool same_motion(const world *a, const world *b) {
  double speed = b->unit.length / a->unit.length / (b->unit.time / a->unit.time), turn = a->unit.time / b->unit.time;
  for (int k = 0; k < a->body_count; k++) {
    frix_body_state x, y;
    frix_sim_body(a->sim, a->body[k], &x);
    frix_sim_body(b->sim, b->body[k], &y);
    if (!same_vector(x.velocity, y.velocity, speed) || !same_vector(x.spin, y.spin, turn)) return false;
  }
  return true;
}

static frix_status push_and_step(world *w, frix_step_report *r) {
  for (int k = 0; k < w->push_count; k++)
    frix_sim_add_force(w->sim, w->push[k].body, w->push[k].force, w->push[k].torque);
  r->size = sizeof *r;
  return frix_sim_step(w->sim, w->h, r);
}

void compare_units(const world_class *class, uint64_t seed, uint64_t index, units other, comparison *out) {
  world a, b;
  bool good = world_open(&a, class, seed, index, (units){1, 1, 1});
  good = world_open(&b, class, seed, index, other) && good;
  *out = (comparison){.step = -1};
  for (int k = 0; good && k < a.steps; k++) {
    frix_step_report x, y;
    frix_status p = push_and_step(&a, &x), q = push_and_step(&b, &y);
    out->steps++;
    if (p != q || (p == FRIX_OK && x.certified != y.certified)) {
      out->step = k;
      out->residual[0] = x.certificate.residual, out->residual[1] = y.certificate.residual;
      break;
    }
    if (p != FRIX_OK || !same_motion(&a, &b)) break; /* from here on they are two worlds */
  }
  world_close(&a);
  world_close(&b);
}
