/* Joints of a bed: which there are, and whose.
 *
 * A joint belongs to its grain with the lower id, goes where that grain goes, and remembers its impulse. All ranks are
 * told of a new joint; at the next step each keeps those of its own grains. */
#include "bed/bed_internal.h"

#include <stdlib.h>

/* ---- adding ---- */

static int32_t rows_of(frix_joint_kind kind) {
  bool known =
      kind == FRIX_JOINT_BALL || kind == FRIX_JOINT_DISTANCE || kind == FRIX_JOINT_HINGE || kind == FRIX_JOINT_FIXED;
  return known ? frix_joint_table((int32_t)kind)->row_count : 0;
}

static bool is_frame(frix_pose f) { return fx_finite(f.p) && fx_quat_norm2(f.q) > 0.0 && isfinite(fx_quat_norm2(f.q)); }

static const char *trouble_of(const frix_bed *bed, const frix_bed_joint *j) {
  bool world = j->b == -1;
  if (rows_of(j->kind) == 0) return "a joint of a bed is a ball, distance, hinge or fixed one";
  if (j->a < 0 || j->a >= bed->next_id || (!world && (j->b < 0 || j->b >= bed->next_id)) || j->a == j->b)
    return "a joint is between two grains that were added before, or a grain and the world (-1)";
  if (!is_frame(j->frame_a) || !is_frame(j->frame_b)) return "frames of a joint must be finite, with a turn";
  if (j->kind == FRIX_JOINT_DISTANCE && !(j->length > 0.0 && isfinite(j->length)))
    return "the length of a distance must be a positive number";
  if (bed->flow.outlet > -INFINITY) return "a bed with an outlet has no joints";
  if (!bed->has_arms && bed->step_count > 0) return "the first joint of spheres is added before the first step";
  return NULL;
}

frix_status fx_bed_put_joint(frix_bed *bed, const fx_bed_joint *joint) {
  if (!fx_bed_grow(bed, &bed->joint, bed->joint_count, &bed->joint_room, bed->joint_count + 1, sizeof *bed->joint))
    return FRIX_ERROR_MEMORY;
  bed->joint[bed->joint_count++] = *joint;
  bed->has_arms = true;
  bed->contact_count = 0; /* these may have no arms */
  return FRIX_OK;
}

frix_status frix_bed_add_joint(frix_bed *bed, const frix_bed_joint *joint) {
  if (!bed || !joint) return FRIX_ERROR_INPUT;
  const char *trouble = trouble_of(bed, joint);
  if (trouble) return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: %s", trouble);
  bool swapped = joint->b >= 0 && joint->b < joint->a;
  fx_bed_joint own = {.a = swapped ? joint->b : joint->a,
                      .b = swapped ? joint->a : joint->b,
                      .number = bed->next_joint++,
                      .kind = joint->kind,
                      .rows = rows_of(joint->kind),
                      .frame = {swapped ? joint->frame_b : joint->frame_a, swapped ? joint->frame_a : joint->frame_b},
                      .length = joint->length};
  for (int side = 0; side < 2; side++) own.frame[side].q = fx_quat_unit(own.frame[side].q);
  return fx_bed_put_joint(bed, &own);
}

/* ---- order ---- */

static int by_grain(const void *a, const void *b) {
  const fx_bed_joint *x = a, *y = b;
  if (x->a != y->a) return x->a < y->a ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

void fx_bed_order_joints(frix_bed *bed) {
  int64_t kept = 0;
  for (int64_t k = 0; k < bed->joint_count; k++)
    if (bed->joint[k].rows > 0) bed->joint[kept++] = bed->joint[k];
  bed->joint_count = bed->settled = kept;
  if (kept) qsort(bed->joint, (size_t)kept, sizeof *bed->joint, by_grain);
}

int32_t fx_bed_joints_of(const frix_bed *bed, int64_t id, int64_t *first) {
  int64_t low = 0, high = bed->settled;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (bed->joint[middle].a < id)
      low = middle + 1;
    else
      high = middle;
  }
  *first = low;
  while (low < bed->settled && bed->joint[low].a == id) low++;
  return (int32_t)(low - *first);
}

static int by_number(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

frix_status fx_bed_settle_joints(frix_bed *bed) {
  if (bed->settled == bed->joint_count) return FRIX_OK;
  int64_t *id = fx_alloc_raw(bed->context, (size_t)bed->own + 1, sizeof *id);
  if (!id) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < bed->own; k++) id[k] = bed->place[k].id;
  qsort(id, (size_t)bed->own, sizeof *id, by_number);
  for (int64_t k = bed->settled; k < bed->joint_count; k++)
    if (!bsearch(&bed->joint[k].a, id, (size_t)bed->own, sizeof *id, by_number)) bed->joint[k].rows = 0;
  fx_free(bed->context, id);
  fx_bed_order_joints(bed);
  return FRIX_OK;
}

/* ---- asking ---- */

int32_t frix_bed_joint_count(const frix_bed *bed) { return bed ? (int32_t)bed->joint_count : 0; }

frix_status frix_bed_joint_at(const frix_bed *bed, int32_t k, frix_bed_joint *out) {
  if (!bed || !out) return FRIX_ERROR_INPUT;
  if (k < 0 || k >= frix_bed_joint_count(bed))
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: has no joint %d", k);
  const fx_bed_joint *j = &bed->joint[k];
  *out = (frix_bed_joint){.kind = j->kind,
                          .a = j->a,
                          .b = j->b,
                          .frame_a = j->frame[0],
                          .frame_b = j->frame[1],
                          .length = j->length,
                          .row_count = j->rows};
  for (int32_t row = 0; row < j->rows; row++) out->impulse[row] = j->r[row];
  if (bed->h > 0.0) out->force = fx_scale(1.0 / bed->h, j->push);
  return FRIX_OK;
}
