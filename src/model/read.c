/* Reading a model: counts, names, and the configs with computed values. */
#include "model/builder.h"

#include <string.h>

frix_model_counts frix_model_count(const frix_model *m) {
  if (!m) return (frix_model_counts){0};
  return (frix_model_counts){m->body_count - 1, m->shape_count, m->material_count - 1, m->geometry_count,
                             m->joint_count};
}

frix_vec3 frix_model_gravity(const frix_model *m) { return m ? m->gravity : fx_vec(0.0, 0.0, 0.0); }

#define AT(type, count) (m && k >= 0 && k < (count) ? (type){(uint32_t)k + 1, 1} : (type){0, 0})

frix_body_id frix_model_body_at(const frix_model *m, int32_t k) { return AT(frix_body_id, m->body_count - 1); }
/* Those that were removed are passed over. */
frix_shape_id frix_model_shape_at(const frix_model *m, int32_t k) {
  if (!m || k < 0 || k >= m->shape_count) return (frix_shape_id){0, 0};
  if (m->shape_count == m->shape_id_count) return (frix_shape_id){(uint32_t)k + 1, 1};
  for (int32_t id = 0; id < m->shape_id_count; id++)
    if (m->shape_of_id[id] >= 0 && k-- == 0) return (frix_shape_id){(uint32_t)id + 1, 1};
  return (frix_shape_id){0, 0};
}
frix_material_id frix_model_material_at(const frix_model *m, int32_t k) {
  return AT(frix_material_id, m->material_count - 1);
}
frix_geometry_id frix_model_geometry_at(const frix_model *m, int32_t k) {
  return AT(frix_geometry_id, m->geometry_count);
}
/* Null for one that was removed. */
frix_joint_id frix_model_joint_at(const frix_model *m, int32_t k) {
  if (m && k >= 0 && k < m->joint_count && m->joint[k].removed) return (frix_joint_id){0, 0};
  return AT(frix_joint_id, m->joint_count);
}

bool fx_model_has_holes(const frix_model *m) {
  bool holes = m->shape_count < m->shape_id_count;
  for (int32_t k = 0; k < m->joint_count; k++) holes |= m->joint[k].removed;
  return holes;
}

frix_body_id frix_model_find_body(const frix_model *m, const char *name) {
  for (int32_t k = 1; m && name && k < m->body_count; k++)
    if (m->body[k].name && !strcmp(m->body[k].name, name)) return (frix_body_id){(uint32_t)k, 1};
  return (frix_body_id){0, 0};
}

frix_joint_id frix_model_find_joint(const frix_model *m, const char *name) {
  for (int32_t k = 0; m && name && k < m->joint_count; k++)
    if (m->joint[k].config.name && !strcmp(m->joint[k].config.name, name)) return (frix_joint_id){(uint32_t)k + 1, 1};
  return (frix_joint_id){0, 0};
}

static frix_status stale(const frix_model *m, const char *what) {
  return fx_fail(m->context, FRIX_ERROR_INPUT, "%s: no such id in this model", what);
}

frix_status frix_model_body(const frix_model *m, frix_body_id id, frix_body_config *out) {
  if (!m || !out) return FRIX_ERROR_INPUT;
  bool world = id.index == 0 && id.generation == 0;
  if (!world && (id.generation != 1 || id.index == 0 || id.index >= (uint32_t)m->body_count)) return stale(m, "body");
  const fx_body *b = &m->body[id.index];
  *out = frix_body_default();
  out->name = b->name, out->user = b->user;
  out->kind = b->kind, out->planar = b->planar, out->spawn_only = b->spawn_only, out->can_sleep = b->can_sleep;
  out->pose = fx_body_user_pose(b, b->start);
  out->velocity = b->velocity, out->spin = b->spin;
  out->mass = b->mass, out->center = b->center, out->inertia = b->inertia;
  out->gravity_scale = b->gravity_scale;
  return FRIX_OK;
}

frix_status frix_model_shape(const frix_model *m, frix_shape_id id, frix_shape_config *out, frix_body_id *body) {
  if (!m || !out) return FRIX_ERROR_INPUT;
  if (id.generation != 1 || id.index == 0 || id.index > (uint32_t)m->shape_id_count || m->shape_of_id[id.index - 1] < 0)
    return stale(m, "shape");
  const fx_shape *s = &m->shape[m->shape_of_id[id.index - 1]];
  *out = frix_shape_default();
  out->name = s->name, out->user = s->user;
  out->kind = s->kind, out->radius = s->radius, out->half_length = s->half_length, out->half = s->half;
  out->pose = s->local;
  out->pose.p = fx_add(s->local.p, m->body[s->body].center);
  out->density = s->density, out->group = s->group, out->mask = s->mask;
  if (s->material) out->material = (frix_material_id){(uint32_t)s->material, 1};
  if (s->geometry) out->geometry = (frix_geometry_id){(uint32_t)s->geometry->number, 1};
  if (body) *body = (frix_body_id){(uint32_t)s->body, s->body ? 1u : 0u};
  return FRIX_OK;
}

frix_status frix_model_material(const frix_model *m, frix_material_id id, frix_material_config *out) {
  if (!m || !out) return FRIX_ERROR_INPUT;
  bool none = id.index == 0 && id.generation == 0;
  if (!none && (id.generation != 1 || id.index == 0 || id.index >= (uint32_t)m->material_count))
    return stale(m, "material");
  *out = m->material[id.index].config;
  return FRIX_OK;
}

frix_status frix_model_geometry(const frix_model *m, frix_geometry_id id, frix_geometry_config *out) {
  if (!m || !out) return FRIX_ERROR_INPUT;
  if (id.generation != 1 || id.index == 0 || id.index > (uint32_t)m->geometry_count) return stale(m, "geometry");
  const fx_geometry *g = m->geometry[id.index - 1];
  bool convex = g->kind == FRIX_GEOMETRY_HULL || g->kind == FRIX_GEOMETRY_POLYGON;
  *out = frix_geometry_default();
  out->name = g->name, out->user = g->user, out->kind = g->kind;
  out->point_count = convex ? g->hull.vertex_count : g->vertex_count;
  out->point = convex ? g->hull.vertex : g->vertex;
  out->triangle_count = g->triangle_count, out->triangle = g->triangle;
  out->row_count = g->row_count, out->column_count = g->column_count;
  out->width = g->width, out->depth = g->depth, out->height = g->height;
  return FRIX_OK;
}

/* World and static bodies have their central frame at the user's, so subtracting and adding the centre is exact there.
 */
frix_status frix_model_joint(const frix_model *m, frix_joint_id id, frix_joint_config *out) {
  if (!m || !out) return FRIX_ERROR_INPUT;
  if (id.generation != 1 || id.index == 0 || id.index > (uint32_t)m->joint_count || m->joint[id.index - 1].removed)
    return stale(m, "joint");
  const fx_joint *j = &m->joint[id.index - 1];
  *out = j->config;
  if (j->config.kind == FRIX_JOINT_COUPLING) return FRIX_OK;
  out->frame_a.p = fx_add(out->frame_a.p, m->body[j->a].center);
  out->frame_b.p = fx_add(out->frame_b.p, m->body[j->b].center);
  return FRIX_OK;
}

frix_status frix_model_pair(const frix_model *m, frix_material_id a, frix_material_id b, frix_material_config *out) {
  frix_material_config ignored;
  if (!m || !out) return FRIX_ERROR_INPUT;
  if (frix_model_material(m, a, &ignored) || frix_model_material(m, b, &ignored)) return FRIX_ERROR_INPUT;
  fx_surface s = fx_model_surface(m, (int32_t)a.index, (int32_t)b.index);
  *out = frix_material_default();
  out->mu = s.mu, out->mu2 = s.anisotropic ? s.mu2 : 0.0;
  if (s.anisotropic) out->axis = s.axis;
  out->rolling = s.rolling, out->spinning = s.spinning;
  out->restitution = s.restitution, out->stiffness = s.stiffness;
  return FRIX_OK;
}

bool fx_model_excluded(const frix_model *m, int32_t body_a, int32_t body_b) {
  fx_pair key = body_a < body_b ? (fx_pair){body_a, body_b} : (fx_pair){body_b, body_a};
  for (int32_t low = 0, high = m->excluded_count; low < high;) {
    int32_t middle = low + (high - low) / 2;
    fx_pair at = m->excluded[middle];
    if (at.a == key.a && at.b == key.b) return true;
    if (at.a < key.a || (at.a == key.a && at.b < key.b)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}
