/* Which joint of the model the joints of a body become, exactly, or not at all.
 *
 *   one hinge, slide or ball                         hinge, slider, ball
 *   two hinges through one point at right angles     universal: the first axis stays in the parent, the second in the
 * body three hinges through one point                   ball, without what acts along each of them three slides with
 * three hinges or a ball         nothing: the body is free, without what acts along them others the body is fixed to
 * its parent
 *
 * The coordinate of a joint of the model is the number MuJoCo has, qpos, less a shift: an angle is measured within half
 * a turn at the start, so one that starts beyond three radians is counted from there. */
#include <stdio.h>
#include <string.h>

#include "io/mjcf_internal.h"
#include "model/builder.h"

/* ---- which ---- */

static bool same_point(const fx_mjcf_joint *a, const fx_mjcf_joint *b) {
  return fx_norm(fx_sub(a->pos, b->pos)) <= 1e-9 * (1.0 + fx_norm(a->pos));
}

/* Axes of three joints that span space. */
static bool independent(const fx_mjcf_joint *const j[3]) {
  return fabs(fx_dot(j[0]->axis, fx_cross(j[1]->axis, j[2]->axis))) > 1e-3;
}

static fx_mjcf_link link_of(const fx_mjcf_joint *j, int32_t count) {
  const fx_mjcf_joint *hinge[3] = {0}, *slide[3] = {0};
  int32_t hinges = 0, slides = 0, balls = 0;
  if (count == 0) return FX_LINK_NONE;
  if (count == 1) return j->type == FX_JOINT_FREE ? FX_LINK_FREE : FX_LINK_JOINT;
  for (int32_t k = 0; k < count; k++) {
    if (j[k].type == FX_JOINT_HINGE && hinges++ < 3) hinge[hinges - 1] = &j[k];
    if (j[k].type == FX_JOINT_SLIDE && slides++ < 3) slide[slides - 1] = &j[k];
    balls += j[k].type == FX_JOINT_BALL;
  }
  bool point = hinges == 3 && same_point(hinge[0], hinge[1]) && same_point(hinge[0], hinge[2]) && independent(hinge);
  if (count == 2 && hinges == 2 && same_point(hinge[0], hinge[1]) &&
      fabs(fx_dot(hinge[0]->axis, hinge[1]->axis)) < 1e-9)
    return FX_LINK_UNIVERSAL;
  if (count == 3 && point) return FX_LINK_BALL;
  if (slides == 3 && independent(slide) && ((count == 6 && point) || (count == 4 && balls == 1))) return FX_LINK_FREE;
  return FX_LINK_WELD;
}

/* ---- what is lost ---- */

static const char no_coordinate[] = "actuator at a joint without a coordinate";

/* What acts along a joint that has no coordinate of its own in the model. */
static frix_status note_lost(fx_mjcf_reader *r, const fx_mjcf_joint *j, const char *text, bool ball) {
  const struct {
    const char *name;
    bool asked;
  } row[] = {{"joint range", j->limited && j->type != FX_JOINT_FREE},
             {"joint stiffness", j->stiffness > 0.0},
             {"joint damping", j->damping > 0.0 && !ball},
             {"joint frictionloss", j->friction > 0.0 && !ball},
             {"joint armature", j->armature > 0.0 && !ball},
             {no_coordinate, j->free.count + j->bounded.count > 0}};
  frix_status status = FRIX_OK;
  for (size_t k = 0; k < sizeof row / sizeof *row && !status; k++)
    if (row[k].asked) status = fx_mjcf_missing(r, j->item.element, row[k].name, text);
  return status;
}

static frix_status note_weld(fx_mjcf_reader *r, const fx_mjcf_body *body) {
  static const char *const type[] = {"free", "ball", "slide", "hinge"};
  char name[128] = "joints of one body:";
  for (int32_t k = 0; k < body->joint_count; k++) {
    size_t at = strlen(name);
    snprintf(name + at, sizeof name - at, " %s", type[r->joint[body->joint_first + k].type]);
  }
  frix_status status = fx_mjcf_missing(r, r->joint[body->joint_first].item.element, name,
                                       "not supported together; the body is fixed to its parent");
  for (int32_t k = 0; k < body->joint_count && !status; k++) {
    const fx_mjcf_joint *j = &r->joint[body->joint_first + k];
    if (j->free.count + j->bounded.count > 0)
      status = fx_mjcf_missing(r, j->item.element, no_coordinate, "left out: the joint is fixed");
  }
  return status;
}

static frix_status note_body(fx_mjcf_reader *r, const fx_mjcf_body *body) {
  if (body->link == FX_LINK_WELD) return note_weld(r, body);
  const fx_mjcf_joint *j = &r->joint[body->joint_first];
  frix_status status = FRIX_OK;
  if (body->link == FX_LINK_JOINT && j->type == FX_JOINT_BALL) {
    status = note_lost(r, j, "not supported at a ball joint; left out", true);
    if (status || !(j->friction > 0.0)) return status;
    return fx_mjcf_missing(r, j->item.element, "joint frictionloss of a ball",
                           "replaced: one bound for the whole torque instead of one about each axis");
  }
  for (int32_t k = 0; k < body->joint_count && !status; k++) {
    if (body->link == FX_LINK_FREE) status = note_lost(r, &j[k], "not supported at a free body; left out", false);
    if (body->link == FX_LINK_BALL)
      status = note_lost(r, &j[k], "left out: three hinges of one body are a ball joint here", false);
  }
  return status;
}

/* What has no volume stands on what does not move. */
static frix_status check_planes(const fx_mjcf_reader *r) {
  for (int32_t k = 0; k < r->geom_count; k++) {
    const fx_mjcf_geom *g = &r->geom[k];
    if ((g->type == FX_GEOM_PLANE || g->type == FX_GEOM_HFIELD) && fx_mjcf_moves(&r->body[r->body[g->body].root]))
      return fx_mjcf_fail(r, g->item.element, "a %s stands on the world, not on a body that moves",
                          g->type == FX_GEOM_PLANE ? "plane" : "height field");
  }
  return FRIX_OK;
}

frix_status fx_mjcf_links(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  r->body[0].own = true, r->body[0].in_root = fx_pose_one();
  for (int32_t k = 1; k < r->body_count && !status; k++) {
    fx_mjcf_body *body = &r->body[k];
    const fx_mjcf_body *parent = &r->body[body->parent];
    body->link = link_of(body->joint_count ? &r->joint[body->joint_first] : NULL, body->joint_count);
    if (r->reduced && body->joint_count && !(body->link == FX_LINK_FREE && body->joint_count == 1))
      body->link = FX_LINK_TREE;
    body->own = fx_mjcf_moves(body) || body->parent == 0;
    body->root = body->own ? k : parent->root;
    body->in_root = body->own ? fx_pose_one() : fx_pose_mul(parent->in_root, r->motion[k].local);
    if (!r->reduced) status = note_body(r, body);
  }
  return status ? status : check_planes(r);
}

/* ---- what acts along a coordinate ---- */

/* Springs and dampers of actuators are servos: their work is work. */
static void set_drive(frix_axis_config *axis, const fx_mjcf_drive *d, double bound, double shift) {
  double force = d->force - d->stiffness * shift;
  axis->max_force = bound;
  if (d->stiffness == 0.0 && d->damping == 0.0) {
    axis->motor = force != 0.0 ? FRIX_MOTOR_FORCE : FRIX_MOTOR_NONE;
    axis->target = fx_clamp(force, -bound, bound);
    axis->max_force = INFINITY;
    return;
  }
  axis->motor = FRIX_MOTOR_SERVO;
  axis->gain = d->stiffness, axis->rate_gain = d->damping;
  axis->target = d->stiffness > 0.0 ? force / d->stiffness : 0.0;
  axis->target_rate = d->stiffness > 0.0 ? 0.0 : force / d->damping;
}

/* One motor for all: drives without a bound go together, one with a bound stands alone or beside passive springs. */
static frix_status set_drives(fx_mjcf_reader *r, const fx_mjcf_joint *j, frix_axis_config *axis) {
  fx_mjcf_drive all = j->bounded.count ? j->bounded : j->free;
  double bound = j->bounded.count ? j->bound : INFINITY;
  if (!all.count) return FRIX_OK;
  if (j->force_limited) {
    if (-j->force_range[0] != j->force_range[1] || (j->bounded.count && j->free.count))
      return fx_mjcf_missing(r, j->item.element, "joint actuatorfrcrange",
                             "not supported where it is not symmetric or several servos act; the drive is left out");
    bound = fx_min(bound, j->force_range[1]);
  } else if (j->bounded.count && j->free.count) { /* beside the bounded one the others are a spring and a damper */
    double k = axis->stiffness + j->free.stiffness;
    if (!(k > 0.0) && j->free.force != 0.0)
      return fx_mjcf_missing(r, j->item.element, "actuators of several kinds at one joint", "not supported; left out");
    axis->rest = k > 0.0 ? (axis->stiffness * axis->rest + j->free.force - j->free.stiffness * j->shift) / k : 0.0;
    axis->stiffness = k, axis->damping += j->free.damping;
  }
  set_drive(axis, &all, bound, j->shift);
  return FRIX_OK;
}

static frix_status axis_of(fx_mjcf_reader *r, const fx_mjcf_joint *j, frix_axis_config *axis) {
  axis->limited = j->limited;
  if (j->limited) axis->lower = j->range[0] - j->shift, axis->upper = j->range[1] - j->shift;
  axis->friction = j->friction;
  axis->stiffness = j->stiffness, axis->rest = j->spring_ref - j->shift;
  axis->damping = j->damping;
  axis->armature = j->armature;
  return set_drives(r, j, axis);
}

/* ---- joints of the model ---- */

/* z along an axis, x along another or anywhere. */
static frix_quat frame_along(frix_vec3 z, const frix_vec3 *x) {
  if (!x) return fx_mjcf_to_z(z);
  frix_vec3 across = fx_unit(fx_mad(*x, -fx_dot(*x, z), z));
  return fx_quat_of_axes(across, fx_cross(z, across), z);
}

/* How far a number stands at the start, and from where it is counted. */
static void set_shift(const fx_mjcf_reader *r, fx_mjcf_joint *j) {
  j->start = r->start.qpos ? r->start.qpos[j->qpos] : j->ref;
  j->shift = j->type == FX_JOINT_HINGE && fabs(j->start) > 3.0 ? j->start : 0.0;
}

/* Frames at the reference, turned so that the coordinate there is ref - shift. */
static void set_frames(const fx_mjcf_reader *r, const fx_mjcf_body *body, frix_joint_config *config) {
  const fx_mjcf_joint *j = &r->joint[body->joint_first];
  bool universal = body->link == FX_LINK_UNIVERSAL;
  frix_vec3 x = {1.0, 0.0, 0.0}, z = {0.0, 0.0, 1.0};
  bool ball = config->kind == FRIX_JOINT_BALL;
  frix_pose frame = {j->pos, ball ? fx_quat_one() : frame_along(j->axis, universal ? &j[1].axis : NULL)};
  frix_pose parent = fx_pose_mul(r->body[body->parent].in_root, body->place);
  config->frame_a = fx_pose_mul(parent, frame);
  config->frame_b = frame;
  if (config->kind == FRIX_JOINT_SLIDER) config->frame_a.p = fx_pose_point(config->frame_a, fx_vec(0.0, 0.0, -j->ref));
  if (config->kind == FRIX_JOINT_HINGE || universal)
    config->frame_a.q = fx_quat_mul(config->frame_a.q, fx_mjcf_turn(z, j->shift - j->ref));
  if (universal) config->frame_b.q = fx_quat_mul(config->frame_b.q, fx_mjcf_turn(x, j[1].ref - j[1].shift));
}

static frix_joint_kind kind_of(const fx_mjcf_reader *r, const fx_mjcf_body *body) {
  static const frix_joint_kind kind[] = {
      [FX_JOINT_BALL] = FRIX_JOINT_BALL, [FX_JOINT_SLIDE] = FRIX_JOINT_SLIDER, [FX_JOINT_HINGE] = FRIX_JOINT_HINGE};
  if (body->link == FX_LINK_UNIVERSAL) return FRIX_JOINT_UNIVERSAL;
  return body->link == FX_LINK_BALL ? FRIX_JOINT_BALL : kind[r->joint[body->joint_first].type];
}

static frix_status add_joint(fx_mjcf_reader *r, const fx_mjcf_body *body) {
  fx_mjcf_joint *j = &r->joint[body->joint_first];
  const fx_mjcf_body *parent = &r->body[r->body[body->parent].root];
  frix_joint_config config = frix_joint_default(kind_of(r, body));
  frix_status status = FRIX_OK;
  config.name = j->name;
  config.a = parent->id, config.b = body->id;
  /* bodies meet what they hang on only where that cannot move */
  config.collide = r->no_parent_filter || !(fx_mjcf_moves(parent) || parent->mocap);
  for (int32_t k = 0; k < body->joint_count; k++) {
    bool line = body->link == FX_LINK_UNIVERSAL || (body->link == FX_LINK_JOINT && config.kind != FRIX_JOINT_BALL);
    set_shift(r, &j[k]);
    if (line && !status) status = axis_of(r, &j[k], &config.axis[k]);
  }
  if (body->link == FX_LINK_JOINT && config.kind == FRIX_JOINT_BALL)
    config.axis[0].damping = j->damping, config.axis[0].armature = j->armature, config.axis[0].friction = j->friction;
  if (status) return status;
  set_frames(r, body, &config);
  frix_joint_id id;
  status = frix_builder_add_joint(r->builder, &config, &id);
  if (status) return fx_mjcf_place(r, j->item.element, status);
  for (int32_t k = 0; k < body->joint_count && body->link != FX_LINK_BALL; k++) j[k].id = id, j[k].coordinate = k;
  return FRIX_OK;
}

/* A link meets what it hangs on only where that cannot move. */
static frix_status keep_apart(const fx_mjcf_reader *r, const fx_mjcf_body *body) {
  const fx_mjcf_body *parent = &r->body[r->body[body->parent].root];
  bool meets = r->no_parent_filter || !(fx_mjcf_moves(parent) || parent->mocap);
  return meets ? FRIX_OK : frix_builder_exclude(r->builder, parent->id, body->id);
}

frix_status fx_mjcf_link_build(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  for (int32_t k = 1; k < r->body_count && !status; k++)
    if (r->body[k].link == FX_LINK_TREE) status = keep_apart(r, &r->body[k]);
  for (int32_t k = 1; k < r->body_count && !status; k++)
    if (r->body[k].link == FX_LINK_JOINT || r->body[k].link == FX_LINK_UNIVERSAL || r->body[k].link == FX_LINK_BALL)
      status = add_joint(r, &r->body[k]);
  return status;
}
