/* Motion and sweeps of beds with arms (bed_touch.c): contacts whose arms do not lie along their normals, and joints.
 *
 *   y = r + beta (r - r_last);   r_N := max(0, y_N - u_N / (W_N + R)),   u := u + W n (r_N - y_N)
 *   r_T := P_{mu r_N}(y_T - u_T / (largest eigenvalue of W_T + R))
 *
 * Normal and friction of one contact are solved one after the other; the fixed point is the exact law as for spheres.
 * Between steps a grain that turns keeps its angular momentum: w := I^-1 I_before w. */
#include "bed/bed_internal.h"

/* ---- inertia ---- */

frix_status fx_bed_turn(frix_bed *bed) {
  if (!bed->has_arms) return FRIX_OK;
  if (!fx_bed_grow(bed, &bed->turn, 0, &bed->turn_room, bed->count, sizeof *bed->turn)) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < bed->count; k++)
    bed->turn[k] = fx_sym3_turn(bed->place[k].q, bed->kind[bed->place[k].size].inverse);
  return FRIX_OK;
}

double fx_bed_spin_energy(const frix_bed *bed, int32_t k, frix_vec3 s) {
  if (!bed->has_arms) return 0.4 * fx_norm2(s) / bed->speed[k].inverse_mass;
  frix_vec3 w = fx_unrotate(bed->place[k].q, fx_scale(1.0 / bed->speed[k].radius, s));
  return fx_dot(w, fx_sym3_mul(bed->kind[bed->place[k].size].inertia, w));
}

frix_vec3 fx_bed_keep_momentum(const frix_bed *bed, int32_t k, frix_quat before, frix_vec3 s) {
  const fx_bed_kind *kind = &bed->kind[bed->place[k].size];
  frix_vec3 momentum = fx_rotate(before, fx_sym3_mul(kind->inertia, fx_unrotate(before, s)));
  frix_quat q = bed->place[k].q;
  return fx_rotate(q, fx_sym3_mul(kind->inverse, fx_unrotate(q, momentum)));
}

/* ---- impulses ---- */

static void push_one(frix_bed *bed, int32_t k, frix_vec3 arm, frix_vec3 dr) {
  fx_bed_speed *a = &bed->speed[k];
  a->v = fx_mad(a->v, a->inverse_mass, dr);
  a->s = fx_mad(a->s, a->radius, fx_sym3_mul(bed->turn[k], fx_cross(arm, dr)));
}

void fx_bed_arm_push(frix_bed *bed, int64_t k, frix_vec3 dr) {
  const fx_bed_contact *c = &bed->contact[k];
  push_one(bed, c->grain, bed->arm[k].a, dr);
  if (c->other >= 0) push_one(bed, c->other, bed->arm[k].b, fx_neg(dr));
}

/* Root of r' J M^-1 J' r by the rotation. */
static double turn_root(const frix_bed *bed, int32_t k, frix_vec3 arm, frix_vec3 r) {
  frix_vec3 turn = fx_cross(arm, r);
  return sqrt(fx_max(fx_dot(turn, fx_sym3_mul(bed->turn[k], turn)), 0.0));
}

void fx_bed_arm_energy(const frix_bed *bed, int32_t k, frix_vec3 arm, frix_vec3 normal, frix_vec3 across,
                       double *energy) {
  energy[0] += sqrt(3.0 * bed->speed[k].inverse_mass) * (fx_norm(normal) + fx_norm(across));
  energy[1] += sqrt(3.0) * (turn_root(bed, k, arm, normal) + turn_root(bed, k, arm, across));
}

void fx_bed_arm_roots(const frix_bed *bed, int32_t k, frix_vec3 arm, const frix_vec3 frame[3], double root[2]) {
  double normal = turn_root(bed, k, arm, frame[0]), first = turn_root(bed, k, arm, frame[1]),
         second = turn_root(bed, k, arm, frame[2]);
  root[0] = sqrt(3.0) * normal;
  root[1] = sqrt(1.5 * (first * first + second * second));
}

/* ---- sweeps ---- */

static frix_vec3 solve_contact(const fx_bed_law *law, const fx_bed_contact *c, const fx_bed_arm *arm, frix_vec3 y,
                               frix_vec3 u) {
  double y_normal = fx_dot(y, c->n), u_normal = fx_dot(u, c->n);
  double normal = y_normal - (u_normal + c->w + law->R * y_normal) / (arm->W_normal + law->R);
  if (!(normal > 0.0)) return fx_vec(0.0, 0.0, 0.0);
  u = fx_mad(u, normal - y_normal, arm->Wn);
  frix_vec3 y_across = fx_mad(y, -y_normal, c->n), u_across = fx_mad(u, -fx_dot(u, c->n), c->n);
  u_across = fx_mad(u_across, law->R, fx_sub(y_across, c->c));
  frix_vec3 across = fx_mad(y_across, -1.0 / (arm->W_across + law->R), u_across);
  double bound = law->mu * normal, size = fx_norm(across), keep = size > bound ? bound / size : 1.0;
  return fx_mad(fx_scale(normal, c->n), keep, across);
}

void fx_bed_arm_sweep(frix_bed *bed, int32_t block) {
  int32_t first, end;
  double uphill = 0.0, step = 0.0, size = 0.0;
  fx_bed_grains_of(bed, block, &first, &end);
  for (int64_t k = bed->contact_start[first]; k < bed->contact_start[end]; k++) {
    const fx_bed_contact *c = &bed->contact[k];
    const fx_bed_speed *a = &bed->speed[c->grain], *b = c->other >= 0 ? &bed->speed[c->other] : a;
    fx_bed_load *load = &bed->load[k];
    frix_vec3 was = load->r, y = fx_mad(was, bed->momentum, fx_sub(was, load->last));
    frix_vec3 u = fx_bed_slip(bed, c, &a->v, &a->s, &b->v, &b->s);
    frix_vec3 r = solve_contact(&bed->law[c->law], c, &bed->arm[k], y, u);
    if (bed->part < 1.0) r = fx_mad(y, bed->part, fx_sub(r, y)); /* cones are convex */
    frix_vec3 dr = fx_sub(r, y);
    load->last = was;
    load->r = r;
    uphill -= fx_dot(dr, fx_sub(r, was));
    step += fx_norm2(dr);
    size += fx_norm2(r);
    if (!fx_is_zero(dr)) fx_bed_arm_push(bed, k, dr);
  }
  double *sum = fx_bed_sums_of(bed, block);
  sum[FX_SUM_UPHILL] = uphill, sum[FX_SUM_STEP] = step, sum[FX_SUM_SIZE] = size;
  if (bed->bind_count) fx_bed_bind_sweep(bed, block);
}
