/* Equality constraints: joints of the model between bodies that may be anywhere in the tree.
 *
 *   connect   ball: a point of body1 and the point of body2 that is there at the reference
 *   weld      fixed: as the two stand at the reference, or in the pose relpose
 *   joint     coupling: q1 - ref1 = a0 + a1 (q2 - ref2); without joint2, or with a1 = 0, q1 is held
 *
 * They are rigid here; bodies they join still meet. */
#include <stdio.h>
#include <string.h>

#include "io/mjcf_internal.h"
#include "model/builder.h"

static frix_status missing(fx_mjcf_reader *r, const fx_xml_element *e, const char *what) {
  char name[96];
  snprintf(name, sizeof name, "equality %s%s%s", e->name, *what ? " " : "", what);
  return fx_mjcf_missing(r, e, name, NULL);
}

static frix_status add(fx_mjcf_reader *r, const fx_xml_element *e, const frix_joint_config *config) {
  frix_status status = frix_builder_add_joint(r->builder, config, NULL);
  return status ? fx_mjcf_place(r, e, status) : FRIX_OK;
}

/* ---- between bodies ---- */

/* A place in a body of the file as a frame of the body of the model it is part of. */
static frix_pose in_model(const fx_mjcf_reader *r, int32_t body, frix_pose pose) {
  return fx_pose_mul(r->body[body].in_root, pose);
}

static frix_status join(fx_mjcf_reader *r, const fx_xml_element *e, frix_joint_kind kind, int32_t a, frix_pose at_a,
                        int32_t b, frix_pose at_b) {
  const fx_mjcf_body *x = &r->body[r->body[a].root], *y = &r->body[r->body[b].root];
  if (x == y || (!fx_mjcf_moves(x) && !fx_mjcf_moves(y))) return FRIX_OK; /* nothing moves against the other */
  frix_joint_config config = frix_joint_default(kind);
  config.name = fx_xml_value(e, "name");
  config.a = x->id, config.b = y->id;
  config.frame_a = in_model(r, a, at_a), config.frame_b = in_model(r, b, at_b);
  config.frame_a.q = fx_quat_unit(config.frame_a.q), config.frame_b.q = fx_quat_unit(config.frame_b.q);
  config.collide = true;
  return add(r, e, &config);
}

/* Frames in the two bodies that the constraint holds together. */
static frix_status frames_of(const fx_mjcf_reader *r, const fx_xml_element *e, const frix_pose reference[2],
                             frix_pose at[2]) {
  fx_mjcf_item item = {e, NULL};
  double anchor[3] = {0}, pose[7] = {0};
  bool weld = !strcmp(e->name, "weld");
  frix_status status = fx_mjcf_reals(r, &item, "anchor", 3, 3, anchor, NULL);
  if (!status && weld) status = fx_mjcf_reals(r, &item, "relpose", 7, 7, pose, NULL);
  if (status) return status;
  frix_quat turn = {pose[3], pose[4], pose[5], pose[6]};
  frix_pose between = fx_pose_mul(fx_pose_inverse(reference[0]), reference[1]);
  if (weld && fx_quat_norm2(turn) > 0.0) between = (frix_pose){fx_vec(pose[0], pose[1], pose[2]), fx_quat_unit(turn)};
  at[0] = weld ? between : (frix_pose){fx_vec(anchor[0], anchor[1], anchor[2]), fx_quat_one()};
  at[1] = weld ? fx_pose_one() : (frix_pose){fx_pose_unpoint(between, at[0].p), fx_quat_one()};
  return FRIX_OK;
}

static frix_status join_bodies(fx_mjcf_reader *r, int32_t instance, const fx_xml_element *e, frix_joint_kind kind,
                               const fx_mjcf_motion *reference) {
  fx_mjcf_found found[2];
  int32_t n = 0, a, b;
  frix_status status = fx_mjcf_find(r, instance, e, FX_NAMED_BODY, "body1", &found[0]);
  static const int32_t world = 0; /* the first name of a body */
  found[1] = (fx_mjcf_found){&world, 1};
  if (!status && fx_xml_value(e, "body2")) status = fx_mjcf_find(r, instance, e, FX_NAMED_BODY, "body2", &found[1]);
  while (!status && fx_mjcf_combined(r, FX_NAMED_BODY, &found[0], &found[1], &n, &a, &b)) {
    frix_pose at[2], stand[2] = {reference[a].world, reference[b].world};
    status = frames_of(r, e, stand, at);
    if (!status) status = join(r, e, kind, a, at[0], b, at[1]);
  }
  return status;
}

static frix_status join_sites(fx_mjcf_reader *r, int32_t instance, const fx_xml_element *e, frix_joint_kind kind) {
  fx_mjcf_found found[2];
  int32_t n = 0, a, b;
  frix_status status = fx_mjcf_find(r, instance, e, FX_NAMED_SITE, "site1", &found[0]);
  if (!status) status = fx_mjcf_find(r, instance, e, FX_NAMED_SITE, "site2", &found[1]);
  while (!status && fx_mjcf_combined(r, FX_NAMED_SITE, &found[0], &found[1], &n, &a, &b))
    status = join(r, e, kind, r->site[a].body, r->site[a].pose, r->site[b].body, r->site[b].pose);
  return status;
}

/* ---- between joints ---- */

/* A coordinate that stays where it is told: a motor with all the force it takes. */
static frix_status hold(fx_mjcf_reader *r, const fx_xml_element *e, const fx_mjcf_joint *j, double number) {
  frix_axis_config *axis = &r->builder->joint[j->id.index - 1].axis[j->coordinate];
  if (axis->motor != FRIX_MOTOR_NONE) return missing(r, e, "of a joint with an actuator");
  axis->motor = FRIX_MOTOR_POSITION;
  axis->target = number - j->shift;
  axis->max_force = axis->max_speed = INFINITY;
  return FRIX_OK;
}

static frix_status couple(fx_mjcf_reader *r, const fx_xml_element *e, const fx_mjcf_joint *first,
                          const fx_mjcf_joint *second, const double c[5]) {
  if (c[2] != 0.0 || c[3] != 0.0 || c[4] != 0.0) return missing(r, e, "of higher order");
  if (!first->id.index || (second && !second->id.index)) return missing(r, e, "of a joint without a coordinate");
  if (!second || c[1] == 0.0) return hold(r, e, first, first->ref + c[0]);
  frix_joint_config config = frix_joint_default(FRIX_JOINT_COUPLING);
  config.name = fx_xml_value(e, "name");
  config.first = first->id, config.first_axis = first->coordinate;
  config.second = second->id, config.second_axis = second->coordinate;
  config.ratio = c[1];
  config.offset = c[0] + c[1] * (second->shift - second->ref) - (first->shift - first->ref);
  return add(r, e, &config);
}

static frix_status join_joints(fx_mjcf_reader *r, int32_t instance, const fx_xml_element *e) {
  fx_mjcf_item item = {e, NULL};
  double c[5] = {0, 1, 0, 0, 0};
  fx_mjcf_found found[2];
  int32_t n = 0, a, b;
  bool two = fx_xml_value(e, "joint2") != NULL;
  frix_status status = fx_mjcf_reals(r, &item, "polycoef", 0, 5, c, NULL);
  if (!status) status = fx_mjcf_find(r, instance, e, FX_NAMED_JOINT, "joint1", &found[0]);
  if (!status && two) status = fx_mjcf_find(r, instance, e, FX_NAMED_JOINT, "joint2", &found[1]);
  if (!two) found[1] = found[0];
  while (!status && fx_mjcf_combined(r, FX_NAMED_JOINT, &found[0], &found[1], &n, &a, &b))
    status = couple(r, e, &r->joint[a], two ? &r->joint[b] : NULL, c);
  return status;
}

/* ---- all ---- */

static frix_status is_active(const fx_mjcf_reader *r, const fx_xml_element *e, bool *out) {
  fx_mjcf_item item;
  int active = 1;
  frix_status status = fx_mjcf_item_of(r, e, fx_mjcf_source_of(e)->classes, &item);
  if (!status) status = fx_mjcf_word(r, &item, "active", "false true", &active);
  *out = active;
  return status;
}

static frix_status add_equality(fx_mjcf_reader *r, int32_t instance, const fx_xml_element *e,
                                const fx_mjcf_motion *reference) {
  bool active;
  frix_status status = is_active(r, e, &active);
  if (status || !active) return status;
  bool weld = !strcmp(e->name, "weld");
  if (!strcmp(e->name, "joint")) return join_joints(r, instance, e);
  if (!weld && strcmp(e->name, "connect")) return missing(r, e, "");
  frix_joint_kind kind = weld ? FRIX_JOINT_FIXED : FRIX_JOINT_BALL;
  return fx_xml_value(e, "site1") ? join_sites(r, instance, e, kind) : join_bodies(r, instance, e, kind, reference);
}

frix_status fx_mjcf_equalities(fx_mjcf_reader *r) {
  const fx_mjcf_numbers none = {0};
  fx_mjcf_motion *reference = FX_TAKE(&r->arena, fx_mjcf_motion, r->body_count);
  if (!reference) return FRIX_ERROR_MEMORY;
  fx_mjcf_move(r, &none, reference);
  int32_t instance = -1;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next_of_all(r, "equality", &instance, e));)
    if (!r->no_equality) status = add_equality(r, instance, e, reference);
  return status;
}
