/* Parts that beds by name have in common: walls, grains at random, clumps, lattices. */
#include "bed_draft.h"

#include <math.h>

#include "world.h"

ex_bed_draft ex_draft_begin(frix_context *context, const frix_bed_config *config, uint64_t seed) {
  ex_bed_draft d = {.random = seed};
  d.status = frix_bed_create(context, config, &d.bed);
  return d;
}

frix_status ex_draft_finish(ex_bed_draft *d, frix_bed **out) {
  if (d->status) frix_bed_destroy(d->bed);
  *out = d->status ? NULL : d->bed;
  return d->status;
}

void ex_draft_plane(ex_bed_draft *d, frix_vec3 point, frix_vec3 normal, double mu) {
  frix_bed_wall wall = {.kind = FRIX_BED_PLANE, .point = point, .normal = normal, .mu = mu};
  if (!d->status) d->status = frix_bed_add_wall(d->bed, &wall, NULL);
}

void ex_draft_turned(ex_bed_draft *d, double a0, double a1, double b0, double b1, double mu) {
  frix_bed_wall wall = {.kind = FRIX_BED_TURNED, .a = {a0, a1}, .b = {b0, b1}, .mu = mu};
  if (!d->status) d->status = frix_bed_add_wall(d->bed, &wall, NULL);
}

void ex_draft_box(ex_bed_draft *d, double half, double mu) {
  ex_draft_plane(d, ex_vec3(0, 0, 0), ex_vec3(0, 0, 1), mu);
  for (int s = -1; s <= 1; s += 2) {
    ex_draft_plane(d, ex_vec3(s * half, 0, 0), ex_vec3(-s, 0, 0), mu);
    ex_draft_plane(d, ex_vec3(0, s * half, 0), ex_vec3(0, -s, 0), mu);
  }
}

void ex_draft_grain(ex_bed_draft *d, int32_t size, frix_vec3 p) {
  if (!d->status) d->status = frix_bed_add(d->bed, size, p, ex_vec3(0.0, 0.0, 0.0), NULL);
}

void ex_draft_turned_grain(ex_bed_draft *d, int32_t size, frix_vec3 p) {
  frix_pose pose = {p, {ex_random(&d->random), ex_random(&d->random), ex_random(&d->random), ex_random(&d->random)}};
  frix_vec3 rest = {0.0, 0.0, 0.0};
  if (!d->status) d->status = frix_bed_add_turned(d->bed, size, pose, rest, rest, NULL);
}

double ex_draft_noise(ex_bed_draft *d, double scale) { return scale * ex_random(&d->random); }

double ex_cube_root(double x) {
  double y = 1.0;
  for (int k = 0; k < 200; k++) y -= (y * y * y - x) / (3.0 * y * y);
  return y;
}

void ex_draft_reserve(ex_bed_draft *d, const frix_bed_config *c, double count) {
  int32_t ranks = c->link ? c->link->rank_count : 1;
  if (!d->status) d->status = frix_bed_reserve(d->bed, (int64_t)(ranks > 1 ? 1.2 * count / ranks : count));
}

double ex_clump_of(int32_t spheres, double r, frix_bed_clump *out) {
  static const frix_vec3 corner[4] = {{1, 1, 1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}};
  double part = r / ex_cube_root(spheres), scale = part / sqrt(2.0), most = r;
  *out = (frix_bed_clump){.count = spheres > 1 ? spheres : 0};
  frix_vec3 mean = {0, 0, 0};
  for (int32_t k = 0; k < out->count; k++) {
    out->center[k] = ex_vec3(scale * corner[k].x, scale * corner[k].y, scale * corner[k].z), out->radius[k] = part;
    mean.x += out->center[k].x / spheres, mean.y += out->center[k].y / spheres, mean.z += out->center[k].z / spheres;
  }
  if (out->count) {
    frix_vec3 c = out->center[0];
    most = part +
           sqrt((c.x - mean.x) * (c.x - mean.x) + (c.y - mean.y) * (c.y - mean.y) + (c.z - mean.z) * (c.z - mean.z));
  }
  return most;
}

void ex_draft_lattice(ex_bed_draft *d, frix_vec3 lower, frix_vec3 upper, double pitch, int64_t count, int32_t radii,
                      bool turned) {
  int64_t nx = (int64_t)((upper.x - lower.x) / pitch), ny = (int64_t)((upper.y - lower.y) / pitch);
  double free = 0.04 * pitch;
  if (nx < 1) nx = 1;
  if (ny < 1) ny = 1;
  for (int64_t k = 0; k < count && !d->status; k++) {
    double x = lower.x + ((double)(k % nx) + 0.5) * ((upper.x - lower.x) / (double)nx) + ex_draft_noise(d, free);
    double y = lower.y + ((double)(k / nx % ny) + 0.5) * ((upper.y - lower.y) / (double)ny) + ex_draft_noise(d, free);
    double z = lower.z + ((double)(k / nx / ny) + 0.5) * pitch + ex_draft_noise(d, free);
    if (turned)
      ex_draft_turned_grain(d, (int32_t)(k % radii), ex_vec3(x, y, z));
    else
      ex_draft_grain(d, (int32_t)(k % radii), ex_vec3(x, y, z));
  }
}

void ex_set_radii(frix_bed_config *c, double mean, double spread) {
  c->radius_count = spread > 0.0 ? 3 : 1;
  for (int k = 0; k < c->radius_count; k++) c->radius[k] = mean * (c->radius_count == 1 ? 1.0 : 1.0 + spread * (k - 1));
}
