/* Equalities and keyframes of a tree. */
#include <string.h>

#include "io/mjcf_robot.h"

/* ---- equalities ---- */

/* Frames of bodies: the first given, the second where it is at the reference, or in the pose relpose. */
static frix_status body_frames(fx_robot_maker *m, const fx_mjcf_item *item, fx_tree_equality *e) {
  double anchor[3] = {0}, pose[7] = {0};
  bool weld = e->kind == FX_EQUAL_WELD;
  frix_status status = fx_mjcf_reals(m->r, item, "anchor", 3, 3, anchor, NULL);
  if (!status && weld) status = fx_mjcf_reals(m->r, item, "relpose", 7, 7, pose, NULL);
  if (status) return status;
  frix_vec3 point = fx_vec(anchor[0], anchor[1], anchor[2]);
  frix_quat turn = {pose[3], pose[4], pose[5], pose[6]};
  e->at[0] = e->at[1] = fx_pose_one();
  if (!weld) {
    e->at[0].p = point;
    return FRIX_OK;
  }
  e->at[1].p = point; /* the anchor of a weld is in the second body */
  if (fx_quat_norm2(turn) > 0.0) {
    e->of_sites = true;
    e->at[0] = (frix_pose){fx_vec(pose[0], pose[1], pose[2]), fx_quat_unit(turn)};
  } else {
    e->second_given = true;
  }
  return FRIX_OK;
}

static frix_status join(fx_robot_maker *m, const fx_mjcf_item *item, fx_tree_equality *e, const fx_robot_reference x[2],
                        bool sites, int32_t copy) {
  int32_t a = fx_robot_thing(m, &x[0], copy), b = fx_robot_thing(m, &x[1], copy);
  e->first = a, e->second = b < 0 ? 0 : b;
  if (!sites) return body_frames(m, item, e);
  e->of_sites = true;
  e->first = m->r->site[a].body, e->second = m->r->site[b].body;
  e->at[0] = m->r->site[a].pose, e->at[1] = m->r->site[b].pose;
  return FRIX_OK;
}

static frix_status couple(fx_robot_maker *m, const fx_mjcf_item *item, fx_tree_equality *e,
                          const fx_robot_reference x[2], int32_t copy) {
  e->first = fx_robot_thing(m, &x[0], copy), e->second = fx_robot_thing(m, &x[1], copy);
  if (e->first == e->second) return fx_mjcf_fail(m->r, item->element, "equality: couples a coordinate with itself");
  for (int k = 0; k < 2 && e->kind == FX_EQUAL_JOINT; k++) {
    int32_t j = k ? e->second : e->first;
    if (j >= 0 && fx_joint_v_size(m->tree->joint[j].kind) != 1)
      return fx_mjcf_fail(m->r, item->element, "equality joint: takes hinges and slides only");
  }
  return fx_mjcf_reals(m->r, item, "polycoef", 0, 5, e->coef, NULL);
}

static frix_status read_equality(fx_robot_maker *m, int32_t instance, const fx_xml_element *e) {
  static const char *const word[] = {"connect", "weld", "joint", "tendon"};
  fx_mjcf_item item;
  fx_tree_equality out = {.torque_scale = 1.0, .coef = {0.0, 1.0, 0.0, 0.0, 0.0}};
  int kind = 0, active = 1;
  while (kind < 4 && strcmp(e->name, word[kind])) kind++;
  if (kind == 4) return fx_mjcf_missing(m->r, e, "equality of flex or distance", NULL);
  out.kind = (fx_tree_equality_kind)kind;
  frix_status status = fx_mjcf_item_of(m->r, e, fx_mjcf_source_of(e)->classes, &item);
  if (!status) status = fx_mjcf_word(m->r, &item, "active", "false true", &active);
  if (!status) status = fx_mjcf_real(m->r, &item, "torquescale", &out.torque_scale);
  if (status) return status;
  out.active = active;
  bool sites = kind < 2 && fx_xml_value(e, "site1");
  const char *first = sites ? "site1" : kind < 2 ? "body1" : kind == 2 ? "joint1" : "tendon1", *text;
  const char *second = sites ? "site2" : kind < 2 ? "body2" : kind == 2 ? "joint2" : "tendon2";
  fx_mjcf_named named = sites ? FX_NAMED_SITE : kind < 2 ? FX_NAMED_BODY : kind == 2 ? FX_NAMED_JOINT : FX_NAMED_TENDON;
  fx_robot_reference x[2] = {{0}};
  if ((status = fx_mjcf_need(m->r, &item, first, &text)) ||
      (sites && (status = fx_mjcf_need(m->r, &item, second, &text))) ||
      (status = fx_robot_refer(m, instance, e, named, first, &x[0])) ||
      (status = fx_robot_refer(m, instance, e, named, second, &x[1])))
    return status;
  int32_t copies = x[0].found.count > x[1].found.count ? x[0].found.count : x[1].found.count;
  if (!x[0].found.count) copies = 0;
  int32_t k, end;
  status = fx_robot_copies(m, instance, e, &x[x[1].found.count > x[0].found.count], copies, &k, &end);
  for (; k < end && !status; k++) {
    if (!FX_ROBOT_ROOM(m, equality)) return FRIX_ERROR_MEMORY;
    fx_tree_equality copy = out;
    status = kind < 2 ? join(m, &item, &copy, x, sites, k) : couple(m, &item, &copy, x, k);
    copy.name = fx_robot_name_of(m, instance, e, &x[0], k);
    m->tree->equality[m->tree->equality_count++] = copy;
  }
  return status;
}

frix_status fx_robot_equalities(fx_robot_maker *m) { return fx_robot_read_all(m, "equality", read_equality); }

/* ---- keyframes ---- */

/* A copy of a list, or of what it is where the file does not say. */
static double *list_of(fx_robot_maker *m, const double *given, const double *otherwise, int32_t count) {
  double *list = FX_TAKE(&m->r->out->arena, double, count);
  const double *from = given ? given : otherwise;
  if (list && from && count) memcpy(list, from, (size_t)count * sizeof *list);
  return list;
}

static bool fill_mocap(fx_robot_maker *m, const fx_mjcf_numbers *n, fx_tree_key *key) {
  const fx_tree *t = m->tree;
  key->mocap = FX_TAKE(&m->r->out->arena, double, 7 * t->mocap_count);
  if (!key->mocap) return false;
  for (int32_t b = 1; b < t->body_count; b++) {
    int32_t k = t->body[b].mocap;
    if (k < 0) continue;
    const frix_pose *p = &t->body[b].place;
    const double place[7] = {p->p.x, p->p.y, p->p.z, p->q.w, p->q.x, p->q.y, p->q.z};
    memcpy(key->mocap + 7 * k, n->mpos ? n->mpos + 3 * k : place, 3 * sizeof(double));
    memcpy(key->mocap + 7 * k + 3, n->mquat ? n->mquat + 4 * k : place + 3, 4 * sizeof(double));
  }
  return true;
}

/* Lists of keyframes count for whole files only: where actuators are left out it is not known whose numbers they are.
 */
void fx_robot_key_sizes(const fx_tree *t, fx_mjcf_reader *r) {
  r->robot_act_count = t->left_out ? -1 : t->act_count;
  r->robot_ctrl_count = t->left_out ? -1 : t->ctrl_count;
}

frix_status fx_robot_keys(fx_robot_maker *m) {
  fx_mjcf_reader *r = m->r;
  fx_tree *t = m->tree;
  fx_robot_key_sizes(t, r);
  frix_status status = fx_mjcf_keys_read(r);
  if (status) return status;
  t->key_count = r->key_count;
  t->key = FX_TAKE(&r->out->arena, fx_tree_key, t->key_count);
  if (!t->key) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->key_count; k++) {
    const fx_mjcf_numbers *n = &r->numbers[k];
    fx_tree_key *key = &t->key[k];
    *key = (fx_tree_key){.name = r->key[k].name, .time = r->key[k].time};
    key->qpos = list_of(m, n->qpos, t->qpos0, t->q_count);
    key->qvel = list_of(m, n->qvel, NULL, t->dof_count);
    key->ctrl = list_of(m, n->ctrl, NULL, t->ctrl_count);
    key->act = list_of(m, n->act, NULL, t->act_count);
    if (!key->qpos || !key->qvel || !key->ctrl || !key->act || !fill_mocap(m, n, key)) return FRIX_ERROR_MEMORY;
  }
  return FRIX_OK;
}
