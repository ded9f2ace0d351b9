/* Joints on points of soft surfaces.
 *
 * The frame of a joint on a soft body lies in the undeformed body. Where its origin is a point of the surface the joint
 * holds that point wherever deformation takes it: place p + R (X + U q), velocity v + w x r + R U s, so that a linear
 * row d has d . R U in the columns of the amplitudes. Axes of the joint turn with the frame of the body. Elsewhere, and
 * for sliders, which run along a's axis and not at one point of it, the whole joint is held by that frame. */
#include "sim/softs.h"

#include "linalg/product.h"

static const double on_point = 1e-3; /* of the body's size: how far an origin is from a point it means */

static int32_t nearest_point(const fx_soft_body *b, frix_vec3 p) {
  const frix_soft_info *info = &b->soft->info;
  int32_t best = -1;
  double least = on_point * b->size;
  for (int32_t k = 0; k < info->point_count; k++) {
    double off = fx_norm(fx_sub(info->point[k], p));
    if (off <= least) best = k, least = off;
  }
  return best;
}

frix_status fx_softs_find_held(frix_sim *sim) {
  fx_softs *s = sim->softs;
  const frix_model *model = sim->model;
  s->held = FX_TAKE(&s->arena, int32_t, 2 * (size_t)model->joint_count + 1);
  if (!s->held) return FRIX_ERROR_MEMORY;
  for (int32_t j = 0; j < model->joint_count; j++)
    for (int32_t side = 0; side < 2; side++) {
      const fx_joint *joint = &model->joint[j];
      bool fits = joint->config.kind != FRIX_JOINT_COUPLING && joint->config.kind != FRIX_JOINT_SLIDER;
      const fx_soft_body *b = fits ? fx_soft_at(sim, side ? joint->b : joint->a) : NULL;
      frix_vec3 origin = (side ? joint->config.frame_b : joint->config.frame_a).p;
      s->held[2 * j + side] = b ? nearest_point(b, origin) : -1;
    }
  return FRIX_OK;
}

int32_t fx_soft_held(const frix_sim *sim, int32_t j, int32_t side) {
  return sim->softs && sim->softs->held ? sim->softs->held[2 * j + side] : -1;
}

/* Numbers of the state, or those the step has moved on to: they belong to the pose. */
static const double *amplitudes_of(const frix_sim *sim, const fx_soft_body *b) {
  frix_pose p = sim->state.pose[b->slot], q = b->x->pose;
  bool same = p.p.x == q.p.x && p.p.y == q.p.y && p.p.z == q.p.z && p.q.w == q.q.w && p.q.x == q.q.x &&
              p.q.y == q.q.y && p.q.z == q.q.z;
  return same ? b->x->amplitude : sim->state.robot + b->at;
}

static frix_vec3 shape_times(const fx_soft_body *b, int32_t point, const double *x) {
  int32_t k = b->soft->info.coordinates;
  double sum[3] = {0.0, 0.0, 0.0};
  if (k) fx_add_products(3, k, b->soft->info.shape + 3 * (size_t)point * (size_t)k, x, sum);
  return fx_vec(sum[0], sum[1], sum[2]);
}

frix_vec3 fx_soft_held_place(const frix_sim *sim, int32_t slot, int32_t point) {
  const fx_soft_body *b = fx_soft_at(sim, slot);
  frix_vec3 moved = shape_times(b, point, amplitudes_of(sim, b));
  return fx_pose_point(sim->state.pose[slot], fx_add(b->soft->info.point[point], moved));
}

frix_vec3 fx_soft_held_bending(const frix_sim *sim, int32_t slot, int32_t point) {
  const fx_soft_body *b = fx_soft_at(sim, slot);
  return fx_rotate(sim->state.pose[slot].q,
                   shape_times(b, point, sim->state.robot + b->at + b->soft->info.coordinates));
}

void fx_soft_held_row(const frix_sim *sim, int32_t slot, int32_t point, frix_vec3 d, double *J) {
  const fx_soft_body *b = fx_soft_at(sim, slot);
  frix_vec3 own = fx_unrotate(sim->state.pose[slot].q, d);
  const double part[3] = {own.x, own.y, own.z};
  int32_t k = b->soft->info.coordinates;
  if (k) fx_add_rows(3, k, b->soft->info.shape + 3 * (size_t)point * (size_t)k, part, J + 6);
}
