/* Primitives fitted to a mesh: <geom type="box" mesh="m"/> is a box, as MuJoCo makes it.
 *
 * The primitive stands in the mesh's principal axes, the least moment along z, so that what is long lies along z. Its
 * size is that of the box with the mesh's mass and inertia, half widths b_i = sqrt(6 (J_j + J_k - J_i) / m) / 2, or,
 * with the compiler's fitaabb, what holds all vertices in these axes. */
#include "io/mjcf_internal.h"

static void fit_inertia(fx_mjcf_geom *g, const double moment[3], double mass) {
  double b[3];
  for (int k = 0; k < 3; k++)
    b[k] = 0.5 * sqrt(fx_max(0.0, 6.0 * (moment[(k + 1) % 3] + moment[(k + 2) % 3] - moment[k]) / mass));
  for (int k = 0; k < 3; k++) g->size[k] = b[k];
  if (g->type == FX_GEOM_SPHERE) g->size[0] = (b[0] + b[1] + b[2]) / 3.0;
  if (g->type == FX_GEOM_CAPSULE || g->type == FX_GEOM_CYLINDER) {
    g->size[0] = 0.5 * (b[0] + b[1]);
    g->size[1] = g->type == FX_GEOM_CYLINDER ? b[2] : fx_max(0.0, b[2] - 0.5 * g->size[0]);
  }
}

/* The smallest primitive whose own box holds that of the vertices; returns the middle of it. */
static frix_vec3 fit_box(fx_mjcf_geom *g, const fx_mesh *m, frix_pose frame) {
  frix_vec3 low = {INFINITY, INFINITY, INFINITY}, high = fx_neg(low);
  for (int32_t k = 0; k < m->vertex_count; k++) {
    frix_vec3 v = fx_pose_unpoint(frame, m->vertex[k]);
    low = fx_vec(fx_min(low.x, v.x), fx_min(low.y, v.y), fx_min(low.z, v.z));
    high = fx_vec(fx_max(high.x, v.x), fx_max(high.y, v.y), fx_max(high.z, v.z));
  }
  frix_vec3 half = fx_scale(0.5, fx_sub(high, low));
  double across = fx_max(half.x, half.y);
  g->size[0] = half.x, g->size[1] = half.y, g->size[2] = half.z;
  if (g->type == FX_GEOM_SPHERE) g->size[0] = fx_max(across, half.z);
  if (g->type == FX_GEOM_CYLINDER) g->size[0] = across, g->size[1] = half.z;
  if (g->type == FX_GEOM_CAPSULE) g->size[0] = across, g->size[1] = fx_max(0.0, half.z - across);
  return fx_scale(0.5, fx_add(low, high));
}

frix_status fx_mjcf_fit(fx_mjcf_reader *r, fx_mjcf_geom *g) {
  double scale = 1.0;
  const fx_mass *mass = &g->asset->mass;
  frix_status status = fx_mjcf_real(r, &g->item, "fitscale", &scale);
  if (status) return status;
  if (!(mass->mass > 1e-15))
    return fx_mjcf_fail(r, g->item.element, "mesh '%s' has no volume, so nothing can be fitted to it", g->asset->name);
  frix_pose frame = g->asset->frame;
  if (fx_mjcf_source_of(g->item.element)->fit_box)
    frame.p = fx_pose_point(frame, fit_box(g, &g->asset->mesh, frame));
  else
    fit_inertia(g, g->asset->moment, mass->mass);
  for (int k = 0; k < 3; k++) g->size[k] *= scale;
  g->pose = fx_pose_mul(g->pose, frame);
  g->asset = NULL;
  return FRIX_OK;
}
