/* Joints as the file has them: type, place, range, springs; and where their numbers stand in a keyframe. */
#include <string.h>

#include "io/mjcf_internal.h"

static const int32_t qpos_size[] = {7, 4, 1, 1}, qvel_size[] = {6, 3, 1, 1};

static bool turns(const fx_mjcf_joint *j) { return j->type == FX_JOINT_HINGE || j->type == FX_JOINT_BALL; }

/* ---- reading ---- */

/* One number; polynomials of higher order are noted. */
static frix_status read_linear(fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, const char *note,
                               double *out, double more[2]) {
  double v[3] = {0};
  const fx_xml_element *where;
  if (!fx_mjcf_text(item, name, &where)) return FRIX_OK;
  frix_status status = fx_mjcf_reals(r, item, name, 1, 3, v, NULL);
  if (status) return status;
  *out = v[0], more[0] = v[1], more[1] = v[2];
  if ((v[1] == 0.0 && v[2] == 0.0) || r->robot) return FRIX_OK;
  return fx_mjcf_missing(r, where, note, "not supported: its linear part counts");
}

static frix_status read_numbers(fx_mjcf_reader *r, fx_mjcf_joint *j) {
  const fx_mjcf_item *item = &j->item;
  double pos[3] = {0}, axis[3] = {0, 0, 1};
  int carries = 0;
  frix_status status;
  if ((status = fx_mjcf_reals(r, item, "pos", 3, 3, pos, NULL)) ||
      (status = fx_mjcf_reals(r, item, "axis", 3, 3, axis, NULL)) || (status = fx_mjcf_real(r, item, "ref", &j->ref)) ||
      (status = fx_mjcf_real(r, item, "springref", &j->spring_ref)) ||
      (status = fx_mjcf_reals(r, item, "range", 2, 2, j->range, NULL)) ||
      (status = fx_mjcf_real(r, item, "margin", &j->margin)) ||
      (status = fx_mjcf_reals(r, item, "actuatorfrcrange", 2, 2, j->force_range, NULL)) ||
      (status =
           read_linear(r, item, "stiffness", "joint stiffness of higher order", &j->stiffness, j->stiffness_more)) ||
      (status = read_linear(r, item, "damping", "joint damping of higher order", &j->damping, j->damping_more)) ||
      (status = fx_mjcf_real(r, item, "frictionloss", &j->friction)) ||
      (status = fx_mjcf_real(r, item, "armature", &j->armature)) ||
      (status = fx_mjcf_reals(r, item, "springdamper", 2, 2, j->spring_damper, NULL)) ||
      (status = fx_mjcf_word(r, item, "actuatorgravcomp", "false true", &carries)) ||
      (status = fx_mjcf_limited(r, item, "limited", "range", &j->limited)) ||
      (status = fx_mjcf_limited(r, item, "actuatorfrclimited", "actuatorfrcrange", &j->force_limited)))
    return status;
  j->carries_gravcomp = carries;
  j->pos = fx_vec(pos[0], pos[1], pos[2]);
  j->axis = fx_vec(axis[0], axis[1], axis[2]);
  if (turns(j)) {
    const fx_mjcf_source *source = fx_mjcf_source_of(item->element);
    double *angle[] = {&j->ref, &j->spring_ref, &j->range[0], &j->range[1]};
    for (size_t k = 0; k < sizeof angle / sizeof *angle; k++) *angle[k] = fx_mjcf_radian(source, *angle[k]);
  }
  return FRIX_OK;
}

static frix_status check_numbers(const fx_mjcf_reader *r, const fx_mjcf_joint *j) {
  const fx_xml_element *e = j->item.element;
  bool line = j->type == FX_JOINT_HINGE || j->type == FX_JOINT_SLIDE;
  if (line && !(fx_norm(j->axis) > 1e-14)) return fx_mjcf_fail(r, e, "joint axis: has no length");
  if (line && j->limited && !(j->range[0] < j->range[1]))
    return fx_mjcf_fail(r, e, "joint range: %g is not below %g", j->range[0], j->range[1]);
  if (line && j->force_limited && !(j->force_range[0] < j->force_range[1]))
    return fx_mjcf_fail(r, e, "joint actuatorfrcrange: %g is not below %g", j->force_range[0], j->force_range[1]);
  const struct {
    const char *name;
    double value;
  } row[] = {
      {"stiffness", j->stiffness}, {"damping", j->damping}, {"frictionloss", j->friction}, {"armature", j->armature}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    if (!(row[k].value >= 0.0)) return fx_mjcf_fail(r, e, "joint %s: %g is negative", row[k].name, row[k].value);
  return FRIX_OK;
}

/* A limit acts at its margin; what the file switches off does not act. */
static void settle(const fx_mjcf_reader *r, fx_mjcf_joint *j) {
  memcpy(j->given_range, j->range, sizeof j->range);
  double middle = 0.5 * (j->range[0] + j->range[1]);
  j->range[0] = fx_min(j->range[0] + j->margin, middle), j->range[1] = fx_max(j->range[1] - j->margin, middle);
  if (r->no_limit) j->limited = false;
  if (r->no_friction) j->friction = 0.0;
  if (r->no_spring) j->stiffness = j->stiffness_more[0] = j->stiffness_more[1] = 0.0;
  if (r->no_damper) j->damping = j->damping_more[0] = j->damping_more[1] = 0.0;
}

static frix_status check_company(const fx_mjcf_reader *r, const fx_xml_element *e, const fx_mjcf_at *at,
                                 fx_mjcf_joint_type type) {
  const fx_mjcf_body *body = &r->body[at->body];
  if (at->body == 0) return fx_mjcf_fail(r, e, "the world has no joints");
  if (body->mocap) return fx_mjcf_fail(r, e, "a mocap body has no joints");
  if (type == FX_JOINT_FREE && body->parent != 0)
    return fx_mjcf_fail(r, e, "a free joint belongs to a body that stands directly in <worldbody>");
  if (body->link == FX_LINK_FREE || (type == FX_JOINT_FREE && body->joint_count))
    return fx_mjcf_fail(r, e, "a free joint stands alone: its body has another joint");
  return FRIX_OK;
}

frix_status fx_mjcf_add_joint(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_joint j = {.body = at.body, .instance = at.instance};
  int type = FX_JOINT_HINGE;
  bool plain = !strcmp(e->name, "freejoint"); /* no defaults count for it */
  frix_status status = fx_mjcf_item_of(r, e, plain ? NULL : at.class, &j.item);
  if (!status && !plain) status = fx_mjcf_word(r, &j.item, "type", "free ball slide hinge", &type);
  if (plain) type = FX_JOINT_FREE;
  j.type = (fx_mjcf_joint_type)type;
  if (!status) status = check_company(r, e, &at, j.type);
  if (!status && !plain) status = read_numbers(r, &j);
  if (!status && !plain) status = check_numbers(r, &j);
  if (status) return status;
  settle(r, &j);
  j.pos = fx_pose_point(at.frame, j.pos);
  j.axis = fx_rotate(at.frame.q, fx_unit(j.axis));
  status = fx_mjcf_name_add(r, FX_NAMED_JOINT, r->joint_count, e, &at, &j.name);
  if (status) return status;
  if (!FX_MJCF_ROOM(r, joint)) return FRIX_ERROR_MEMORY;
  r->joint[r->joint_count++] = j;
  r->body[at.body].joint_count++;
  if (j.type == FX_JOINT_FREE) r->body[at.body].link = FX_LINK_FREE;
  return FRIX_OK;
}

/* ---- order ---- */

/* A body's joints may stand behind the bodies it holds; keyframes list them by body. */
frix_status fx_mjcf_place_joints(fx_mjcf_reader *r) {
  int32_t at = 0, *place = FX_TAKE_RAW(&r->arena, int32_t, r->joint_count);
  fx_mjcf_joint *kept = FX_TAKE_RAW(&r->arena, fx_mjcf_joint, r->joint_count);
  if (!place || !kept) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < r->body_count; k++) {
    r->body[k].joint_first = at;
    at += r->body[k].joint_count;
    r->body[k].joint_count = 0;
  }
  for (int32_t k = 0; k < r->joint_count; k++) {
    fx_mjcf_body *body = &r->body[r->joint[k].body];
    kept[k] = r->joint[k];
    place[k] = body->joint_first + body->joint_count++;
  }
  for (int32_t k = 0; k < r->joint_count; k++) r->joint[place[k]] = kept[k];
  fx_mjcf_names *names = &r->names[FX_NAMED_JOINT];
  for (int32_t k = 0; k < names->name_count; k++) names->name[k].thing = place[names->name[k].thing];
  for (int32_t k = 0; k < r->joint_count; k++) {
    fx_mjcf_joint *j = &r->joint[k];
    j->qpos = r->qpos_count, j->qvel = r->qvel_count;
    r->qpos_count += qpos_size[j->type], r->qvel_count += qvel_size[j->type];
  }
  return FRIX_OK;
}
