/* Builder to model: sums masses, moves frames to the centres of mass, sorts lists. */
#include "base/sort.h"
#include "model/builder.h"

#include <stdlib.h>
#include <string.h>

#define FAIL(...) return fx_fail(context, FRIX_ERROR_INPUT, __VA_ARGS__)

static bool copy_name(frix_context *context, const char *from, char **to) {
  *to = NULL;
  return !from || (*to = fx_copy_text(context, from));
}

const frix_model *fx_model_hold(const frix_model *m) {
  atomic_fetch_add(&((frix_model *)m)->holders, 1);
  return m;
}

void frix_model_destroy(frix_model *m) {
  if (!m || atomic_fetch_sub(&m->holders, 1) > 1) return;
  frix_context *context = m->context;
  for (int32_t k = 0; m->body && k < m->body_count; k++) fx_free(context, m->body[k].name);
  for (int32_t k = 0; m->shape && k < m->shape_count; k++) fx_free(context, m->shape[k].name);
  for (int32_t k = 0; m->material && k < m->material_count; k++) fx_free(context, (void *)m->material[k].config.name);
  for (int32_t k = 0; m->joint && k < m->joint_count; k++) fx_free(context, (void *)m->joint[k].config.name);
  for (int32_t k = 0; m->geometry && k < m->geometry_count; k++) fx_geometry_release(context, m->geometry[k]);
  fx_free(context, m->body);
  fx_free(context, m->shape);
  fx_free(context, m->shape_of_id);
  fx_free(context, m->material);
  fx_free(context, m->geometry);
  fx_free(context, m->joint);
  fx_free(context, m->pair);
  fx_free(context, m->excluded);
  if (m->robot.destroy) m->robot.destroy(m->robot.robot);
  fx_free(context, m->robot.body);
  fx_free(context, m->robot.shape_body);
  fx_free(context, m->robot.shape_geom);
  fx_free(context, m->robot.coat);
  fx_free(context, m->robot.coat_pair);
  fx_free(context, m);
}

/* ---- elements ---- */

static frix_status copy_materials(const frix_builder *b, frix_model *m) {
  for (int32_t k = 0; k < b->material_count; k++) {
    char *name;
    if (!copy_name(m->context, b->material[k].name, &name)) return FRIX_ERROR_MEMORY;
    m->material[k].config = b->material[k];
    m->material[k].config.name = name;
  }
  return FRIX_OK;
}

static frix_status copy_shapes(const frix_builder *b, frix_model *m) {
  /* counting sort by body keeps the order of adding within each */
  for (int32_t k = 0; k < b->shape_count; k++)
    if (!b->shape[k].removed) m->body[b->shape[k].body].shape_count++, m->shape_count++;
  for (int32_t k = 1; k < m->body_count; k++)
    m->body[k].shape_start = m->body[k - 1].shape_start + m->body[k - 1].shape_count;
  for (int32_t k = 0; k < m->body_count; k++) m->body[k].shape_count = 0;
  for (int32_t k = 0; k < b->shape_count; k++) {
    const frix_shape_config *c = &b->shape[k].config;
    m->shape_of_id[k] = -1;
    if (b->shape[k].removed) continue;
    fx_body *body = &m->body[b->shape[k].body];
    int32_t at = body->shape_start + body->shape_count++;
    fx_shape *s = &m->shape[at];
    m->shape_of_id[k] = at;
    *s = (fx_shape){.kind = c->kind,
                    .body = b->shape[k].body,
                    .material = (int32_t)c->material.index,
                    .group = c->group,
                    .mask = c->mask,
                    .local = c->pose,
                    .radius = c->radius,
                    .half_length = c->half_length,
                    .half = c->half,
                    .geometry = c->geometry.index ? m->geometry[c->geometry.index - 1] : NULL,
                    .density = c->density,
                    .id = k,
                    .user = c->user};
    s->bound = fx_shape_bound(s);
    if (!copy_name(m->context, c->name, &s->name)) return FRIX_ERROR_MEMORY;
    frix_pose placed = fx_pose_mul(b->body[s->body].pose, s->local);
    if (frix_shape_table((int32_t)c->kind)->flat && !fx_flatten_pose(&placed))
      return fx_fail(m->context, FRIX_ERROR_INPUT, "shape '%s': flat, but its body '%s' does not stand in z = 0",
                     c->name ? c->name : "", b->body[s->body].name ? b->body[s->body].name : "");
  }
  return FRIX_OK;
}

/* ---- masses ---- */

static fx_mass mass_of_shapes(const frix_model *m, const fx_body *body, bool use_density) {
  fx_mass sum = {0};
  for (int32_t k = 0; k < body->shape_count; k++) {
    const fx_shape *s = &m->shape[body->shape_start + k];
    const fx_shape_row *row = fx_shape_row_of(s->kind);
    if (!row->mass) continue;
    fx_mass part = row->mass(s);
    fx_mass_add(&sum, &part, use_density ? s->density : 1.0, s->local, row->info.flat);
  }
  return sum;
}

static frix_sym3 scaled(double s, frix_sym3 j) {
  return (frix_sym3){s * j.xx, s * j.yy, s * j.zz, s * j.xy, s * j.xz, s * j.yz};
}

static frix_status weigh(const frix_builder *b, frix_model *m, int32_t k) {
  frix_context *context = m->context;
  const frix_body_config *c = &b->body[k];
  fx_body *body = &m->body[k];
  const char *name = c->name ? c->name : "";
  if (c->kind != FRIX_BODY_DYNAMIC) return FRIX_OK;
  frix_sym3 j = c->inertia;
  bool given = j.xx != 0.0 || j.yy != 0.0 || j.zz != 0.0 || j.xy != 0.0 || j.xz != 0.0 || j.yz != 0.0;
  if (given) {
    body->mass = c->mass, body->inertia = j, body->center = c->center;
    if (c->planar) body->inertia = (frix_sym3){.zz = j.zz};
  } else {
    fx_mass sum = mass_of_shapes(m, body, true);
    if (!(sum.mass > 0.0)) sum = c->mass > 0.0 ? mass_of_shapes(m, body, false) : sum;
    if (!(sum.mass > 0.0))
      FAIL("body '%s': is dynamic but has neither mass and inertia nor a shape with volume and density", name);
    double factor = c->mass > 0.0 ? c->mass / sum.mass : 1.0;
    body->mass = c->mass > 0.0 ? c->mass : sum.mass;
    body->inertia = scaled(factor, sum.inertia);
    body->center = sum.center;
  }
  frix_status status = fx_check_mass(context, name, c->planar, body->mass, body->inertia);
  /* shapes move to the central frame */
  for (int32_t s = 0; s < body->shape_count; s++) {
    fx_shape *shape = &m->shape[body->shape_start + s];
    shape->local.p = fx_sub(shape->local.p, body->center);
  }
  return status;
}

/* What follows from where the shapes stand. */
static void measure(frix_model *m, fx_body *body) {
  body->radius = 0.0;
  for (int32_t s = 0; s < body->shape_count; s++) {
    fx_shape *shape = &m->shape[body->shape_start + s];
    frix_quat q = shape->local.q;
    shape->centred = fx_norm2(shape->local.p) == 0.0 && q.w == 1.0 && q.x == 0.0 && q.y == 0.0 && q.z == 0.0;
    body->radius = fx_max(body->radius, fx_norm(shape->local.p) + shape->bound);
  }
}

static frix_status copy_bodies(const frix_builder *b, frix_model *m) {
  for (int32_t k = 0; k < b->body_count; k++) {
    const frix_body_config *c = &b->body[k];
    fx_body *body = &m->body[k];
    body->kind = c->kind;
    body->planar = c->planar;
    body->spawn_only = c->spawn_only;
    body->can_sleep = c->can_sleep;
    body->dof = c->kind != FRIX_BODY_DYNAMIC ? 0 : c->planar ? 3 : 6;
    body->velocity = c->velocity, body->spin = c->spin;
    body->gravity_scale = c->gravity_scale;
    body->user = c->user;
    if (!copy_name(m->context, c->name, &body->name)) return FRIX_ERROR_MEMORY;
    frix_status status = weigh(b, m, k);
    if (status) return status;
    body->start = fx_body_central_pose(body, c->pose);
    measure(m, body);
  }
  return FRIX_OK;
}

/* ---- joints, pairs, exclusions ---- */

static frix_status copy_joints(const frix_builder *b, frix_model *m) {
  frix_context *context = m->context;
  for (int32_t k = 0; k < b->joint_count; k++) {
    fx_joint *j = &m->joint[k];
    char *name;
    j->removed = b->joint[k].kind == FX_JOINT_REMOVED;
    if (j->removed) {
      j->config = frix_joint_default(FRIX_JOINT_BALL);
      continue;
    }
    if (!copy_name(context, b->joint[k].name, &name)) return FRIX_ERROR_MEMORY;
    j->config = b->joint[k];
    j->config.name = name;
    j->a = (int32_t)j->config.a.index, j->b = (int32_t)j->config.b.index;
    bool coupling = j->config.kind == FRIX_JOINT_COUPLING;
    j->first = coupling ? (int32_t)j->config.first.index - 1 : -1;
    j->second = coupling ? (int32_t)j->config.second.index - 1 : -1;
    if (coupling) {
      j->planar = m->joint[j->first].planar && m->joint[j->second].planar;
      continue;
    }
    const fx_body *a = &m->body[j->a], *c = &m->body[j->b];
    j->planar = (a->dof == 3) || (c->dof == 3);
    j->config.frame_a.p = fx_sub(j->config.frame_a.p, a->center);
    j->config.frame_b.p = fx_sub(j->config.frame_b.p, c->center);
    if (j->config.kind != FRIX_JOINT_DISTANCE) continue;
    frix_vec3 d = fx_sub(fx_pose_point(c->start, j->config.frame_b.p), fx_pose_point(a->start, j->config.frame_a.p));
    if (j->config.length < 0.0) j->config.length = fx_norm(d);
    if (!(j->config.length > 0.0))
      FAIL("joint '%s': a distance of zero has no direction; use a ball joint", name ? name : "");
  }
  return FRIX_OK;
}

static int compare_pairs(const void *x, const void *y) {
  const fx_pair *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return a->b < b->b ? -1 : a->b > b->b;
}

bool fx_joint_excludes(const fx_joint *j, fx_pair pair) {
  if (j->config.collide || j->config.kind == FRIX_JOINT_COUPLING || j->removed) return false;
  return j->a < j->b ? j->a == pair.a && j->b == pair.b : j->b == pair.a && j->a == pair.b;
}

static void copy_pairs(const frix_builder *b, frix_model *m) {
  for (int32_t k = 0; k < b->pair_count; k++) {
    const fx_pair_draft *d = &b->pair[k];
    fx_pair_entry *e = &m->pair[k];
    e->surface = fx_surface_of(&d->config);
    e->surface.axis_side = d->a <= d->b ? 0 : 1;
    e->material = d->a <= d->b ? (fx_pair){d->a, d->b} : (fx_pair){d->b, d->a};
  }
  qsort(m->pair, (size_t)m->pair_count, sizeof *m->pair, compare_pairs); /* material stands first */
  for (int32_t k = 0; k < b->excluded_count; k++) m->excluded[m->excluded_count++] = b->excluded[k];
  for (int32_t k = 0; k < m->joint_count; k++) {
    const fx_joint *j = &m->joint[k];
    if (j->config.collide || j->config.kind == FRIX_JOINT_COUPLING || j->removed) continue;
    m->excluded[m->excluded_count++] = j->a < j->b ? (fx_pair){j->a, j->b} : (fx_pair){j->b, j->a};
  }
  qsort(m->excluded, (size_t)m->excluded_count, sizeof *m->excluded, compare_pairs);
}

frix_status frix_builder_compile(frix_builder *b, frix_model **out) {
  if (!b || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  frix_context *context = b->context;
  frix_model *m = FX_NEW(context, frix_model, 1);
  if (!m) return FRIX_ERROR_MEMORY;
  m->context = context;
  atomic_init(&m->holders, 1);
  m->gravity = b->gravity;
  m->body_count = b->body_count, m->shape_id_count = b->shape_count, m->material_count = b->material_count;
  m->joint_count = b->joint_count, m->pair_count = b->pair_count;
  m->body = FX_NEW(context, fx_body, b->body_count);
  m->shape = FX_NEW(context, fx_shape, b->shape_count);
  m->shape_of_id = FX_NEW(context, int32_t, b->shape_count);
  m->material = FX_NEW(context, fx_material, b->material_count);
  m->geometry = FX_NEW(context, fx_geometry *, b->geometry_count);
  m->joint = FX_NEW(context, fx_joint, b->joint_count);
  m->pair = FX_NEW(context, fx_pair_entry, b->pair_count);
  m->excluded = FX_NEW(context, fx_pair, b->excluded_count + b->joint_count);
  frix_status status = FRIX_ERROR_MEMORY;
  if (!m->body || !m->shape || !m->shape_of_id || !m->material || !m->geometry || !m->joint || !m->pair || !m->excluded)
    goto cleanup;

  for (int32_t k = 0; k < b->geometry_count; k++, m->geometry_count++) {
    m->geometry[k] = b->geometry[k];
    atomic_fetch_add(&m->geometry[k]->reference_count, 1);
  }
  if ((status = copy_materials(b, m)) || (status = copy_shapes(b, m)) || (status = copy_bodies(b, m)) ||
      (status = copy_joints(b, m)))
    goto cleanup;
  copy_pairs(b, m);
  *out = m;
  return FRIX_OK;

cleanup:
  frix_model_destroy(m);
  return status;
}

/* ---- the very bits of a model that was compiled before ---- */

/* The same but for rounding, and flat where the other is. */
static bool same_pose(frix_pose a, frix_pose b, double scale, bool flat) {
  double slack = 1e-9 * (1.0 + scale + fx_norm(a.p));
  frix_quat d = {a.q.w - b.q.w, a.q.x - b.q.x, a.q.y - b.q.y, a.q.z - b.q.z};
  if (flat && (a.p.z != 0.0 || a.q.x != 0.0 || a.q.y != 0.0)) return false;
  return fx_norm(fx_sub(a.p, b.p)) <= slack && fx_quat_norm2(d) <= 1e-18;
}

frix_status fx_model_restore_frames(frix_model *m, const frix_pose *start, const frix_pose *local,
                                    const frix_pose (*frame)[2]) {
  frix_context *context = m->context;
  for (int32_t k = 1; k < m->body_count; k++) {
    if (!same_pose(start[k], m->body[k].start, fx_norm(m->body[k].center), m->body[k].planar))
      FAIL("model: body %d does not stand where its frame says", k);
    m->body[k].start = start[k];
  }
  for (int32_t k = 0; k < m->shape_id_count; k++) {
    fx_shape *s = &m->shape[m->shape_of_id[k]];
    if (!same_pose(local[k], s->local, fx_norm(m->body[s->body].center), frix_shape_table((int32_t)s->kind)->flat))
      FAIL("model: shape %d does not stand where its body says", k);
    s->local = local[k];
  }
  for (int32_t k = 0; k < m->body_count; k++) measure(m, &m->body[k]);
  for (int32_t k = 0; k < m->joint_count; k++) {
    fx_joint *j = &m->joint[k];
    if (j->config.kind == FRIX_JOINT_COUPLING || j->removed) continue;
    if (!same_pose(frame[k][0], j->config.frame_a, fx_norm(m->body[j->a].center), false) ||
        !same_pose(frame[k][1], j->config.frame_b, fx_norm(m->body[j->b].center), false))
      FAIL("model: the frames of joint %d do not stand where its bodies say", k);
    j->config.frame_a = frame[k][0], j->config.frame_b = frame[k][1];
  }
  return FRIX_OK;
}
